//! Mixtures of experts: what they recover, what they reduce to, and what hard samples do to them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::ensemble::{Experts, FittedExperts, Routed};
use dolmen::learner::density::mixture::OneOrMany;
use dolmen::learner::linear::{Logistic, Ridge};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression};
use rand::{Rng, RngExt};

fn run() -> Run {
    Run::with_threads(3, 2).unwrap()
}

fn normal(rng: &mut impl Rng) -> f64 {
    let (a, b): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

fn one<T: Routed>(experts: &Experts, sample: &Sample<'_, T>) -> FittedExperts {
    experts.fit_experts(sample, &run()).unwrap().remove(0)
}

fn of_count(count: usize) -> Experts {
    Experts { count: OneOrMany::One(count), ..Experts::default() }
}

/// Intercept and two slopes of the gate's scores, of the lines, and the lines' standard deviations.
const GATES: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [0.5, 3.0, 0.0], [0.0, 0.0, 3.0]];
const LINES: [[f64; 3]; 3] = [[1.0, 2.0, 0.0], [-1.0, -2.0, 1.0], [3.0, 0.5, -1.5]];
const DEVIATIONS: [f64; 3] = [0.2, 0.4, 0.3];

/// Rows, numbers, and which of the three lines made each.
fn three_lines(rows: usize) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let mut rng = Run::with_threads(17, 1).unwrap().rng();
    let (mut x, mut y, mut line) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rows {
        let row = [1.0, rng.random_range(-2.0..2.0), rng.random_range(-2.0..2.0)];
        let shares = true_shares(&row);
        let at: f64 = rng.random();
        let k = usize::from(at > shares[0]) + usize::from(at > shares[0] + shares[1]);
        x.extend([row[1], row[2]]);
        y.push(dot(&LINES[k], &row) + DEVIATIONS[k] * normal(&mut rng));
        line.push(k);
    }
    (x, y, line)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn true_shares(row: &[f64; 3]) -> [f64; 3] {
    let scores = GATES.map(|gate| dot(&gate, row).exp());
    scores.map(|score| score / scores.iter().sum::<f64>())
}

/// The diagonal of (X'X)^-1 for rows of 3, by cofactors.
fn inverse_diagonal(rows: &[[f64; 3]]) -> [f64; 3] {
    let g = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
    let minor = |a: usize, b: usize| g(a, a) * g(b, b) - g(a, b) * g(a, b);
    let determinant = g(0, 0) * minor(1, 2) - g(0, 1) * (g(0, 1) * g(2, 2) - g(0, 2) * g(1, 2))
        + g(0, 2) * (g(0, 1) * g(1, 2) - g(0, 2) * g(1, 1));
    [minor(1, 2), minor(0, 2), minor(0, 1)].map(|minor| minor / determinant)
}

#[test]
fn three_known_experts_are_recovered() {
    let (values, y, line) = three_lines(3000);
    let x = Features::numeric(values, 2).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let experts = Experts {
        ridge: 1e-6,
        gate_ridge: 1e-6,
        prior: 1e-3,
        tolerance: 1e-9,
        iterations: 1000,
        ..of_count(3)
    };
    let model = one(&experts, &sample);
    assert_eq!(Fitted::<Regression>::diagnostics(&model).converged, Some(true));
    let found: Vec<[f64; 3]> = (0..3)
        .map(|k| {
            let (intercept, slopes) = model.coefficients(k, 0);
            [intercept, slopes[0], slopes[1]]
        })
        .collect();
    let mut who = Vec::new();
    for k in 0..3 {
        let off =
            |e: &usize| found[*e].iter().zip(&LINES[k]).map(|(a, b)| (a - b).abs()).sum::<f64>();
        let expert = (0..3).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        let own: Vec<[f64; 3]> = (0..line.len())
            .filter(|&i| line[i] == k)
            .map(|i| [1.0, x.rows().row(i)[0], x.rows().row(i)[1]])
            .collect();
        // Standard errors as if each row's expert were known. Where lines overlap rows are unsure, which adds to them:
        // four of these are two to three of the true ones.
        for (j, inverse) in inverse_diagonal(&own).into_iter().enumerate() {
            let bound = 4.0 * DEVIATIONS[k] * inverse.sqrt();
            let (found, truth) = (found[expert][j], LINES[k][j]);
            assert!((found - truth).abs() < bound, "line {k}: {found} not {truth} +- {bound}");
        }
        let error = DEVIATIONS[k] / (2.0 * own.len() as f64).sqrt();
        assert!((model.deviations()[expert] - DEVIATIONS[k]).abs() < 4.0 * error);
        who.push(expert);
    }
    let mut off = 0.0;
    for row in x.rows().iter() {
        let (found, truth) = (model.route(row), true_shares(&[1.0, row[0], row[1]]));
        off += who.iter().zip(truth).map(|(&e, t)| (found[e] - t).abs()).sum::<f64>();
    }
    assert!(off / 3000.0 / 3.0 < 0.02, "shares are off by {}", off / 9000.0);
}

#[test]
fn the_strongest_expert_alone_is_asked_with_top_1() {
    let (values, y, _) = three_lines(400);
    let x = Features::numeric(values, 2).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let soft = one(&of_count(3), &sample);
    let hard = one(&Experts { top: Some(1), ..of_count(3) }, &sample);
    let two = one(&Experts { top: Some(2), ..of_count(3) }, &sample);
    let predicted = predict::<Regression>(&hard, x.rows(), &run()).unwrap();
    let pairs = predict::<Regression>(&two, x.rows(), &run()).unwrap();
    for (i, row) in x.rows().iter().enumerate() {
        let shares = soft.route(row);
        let strongest = (0..3).max_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap();
        let weakest = (0..3).min_by(|&a, &b| shares[a].total_cmp(&shares[b])).unwrap();
        assert_eq!(predicted[i], soft.expert(strongest, row)[0]);
        let asked = (0..3).filter(|k| *k != weakest);
        let both: f64 = asked.map(|k| shares[k] * soft.expert(k, row)[0]).sum();
        assert!((pairs[i] - both / (1.0 - shares[weakest])).abs() < 1e-12 * (1.0 + both.abs()));
    }
}

fn labels(codes: Vec<u32>) -> Labels {
    Labels::new(["a", "b", "c"].map(String::from), codes).unwrap()
}

#[test]
fn one_expert_is_ridge_or_logistic_regression() {
    let (values, y, line) = three_lines(300);
    let x = Features::numeric(values, 2).unwrap();
    let weights: Vec<f64> = (0..300).map(|i| f64::from(i % 4)).collect();
    for penalty in [0.1, 30.0] {
        let experts = Experts { ridge: penalty, ..of_count(1) };
        let sample = Sample::<Regression>::new(x.rows(), &y).unwrap().counted(&weights).unwrap();
        let ridge = Ridge { lambda: penalty.into(), ..Ridge::default() };
        let expected = &ridge.fit(&sample, &run()).unwrap()[0];
        close(&predict(expected.as_ref(), x.rows(), &run()).unwrap(), &one(&experts, &sample), &x);
        let classes = labels(line.iter().map(|k| *k as u32).collect());
        let sample = Sample::new(x.rows(), &classes).unwrap().counted(&weights).unwrap();
        let logistic = Logistic { lambda: penalty.into(), tolerance: 1e-10, ..Logistic::default() };
        let expected = &logistic.fit(&sample, &run()).unwrap()[0];
        let expected = predict(expected.as_ref(), x.rows(), &run()).unwrap();
        let found = predict::<Classification>(&one(&experts, &sample), x.rows(), &run()).unwrap();
        assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-8));
    }
}

fn close(expected: &[f64], model: &FittedExperts, x: &Features) {
    let found = predict::<Regression>(model, x.rows(), &run()).unwrap();
    assert!(expected.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-9));
}

#[test]
fn a_row_of_weight_two_is_the_row_twice() {
    let (values, y, line) = three_lines(120);
    let x = Features::numeric(values, 2).unwrap();
    let weights: Vec<f64> = (0..120).map(|i| f64::from(1 + i % 2)).collect();
    let twice: Vec<usize> = (0..120).flat_map(|i| vec![i; 1 + i % 2]).collect();
    let experts = Experts { iterations: 40, ..of_count(3) };
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let weighted = one(&experts, &sample.counted(&weights).unwrap());
    let repeated = one(&experts, &sample.select(&twice).borrow());
    // EM from the same start: the sums differ in their rounding, which forty iterations pass on.
    let predicted = predict::<Regression>(&weighted, x.rows(), &run()).unwrap();
    let expected = predict::<Regression>(&repeated, x.rows(), &run()).unwrap();
    assert!(expected.iter().zip(&predicted).all(|(a, b)| (a - b).abs() < 1e-7));
    let classes = labels(line.iter().map(|k| *k as u32).collect());
    let sample = Sample::<Classification>::new(x.rows(), &classes).unwrap();
    let weighted = one(&experts, &sample.counted(&weights).unwrap());
    let repeated = one(&experts, &sample.select(&twice).borrow());
    let predicted = predict::<Classification>(&weighted, x.rows(), &run()).unwrap();
    let expected = predict::<Classification>(&repeated, x.rows(), &run()).unwrap();
    assert!(expected.iter().zip(&predicted).all(|(a, b)| (a - b).abs() < 1e-7));
}

/// Two logistic regressions with opposite signs, one on each side of the second column.
#[test]
fn experts_of_classes_find_what_one_line_cannot() {
    let mut rng = Run::with_threads(5, 1).unwrap().rng();
    let values: Vec<f64> = (0..2400).map(|_| rng.random_range(-2.0..2.0)).collect();
    let code = |row: &[f64]| u32::from(row[0] * row[1].signum() > 0.0);
    let classes = labels(values.chunks_exact(2).map(code).collect());
    let x = Features::numeric(values, 2).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &classes).unwrap();
    let right = |count: usize| {
        let found = predict::<Classification>(&one(&of_count(count), &sample), x.rows(), &run());
        let rows = found.unwrap();
        let best = |row: &[f64]| (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        rows.chunks_exact(3).enumerate().filter(|(i, row)| best(row) == classes.class(*i)).count()
    };
    assert!(right(1) < 720, "one line guesses");
    assert!(right(2) > 1150, "{} of 1200", right(2));
}

#[test]
fn hard_samples_are_fitted() {
    let constant = Features::numeric([3.0, 1.0, 3.0, 2.0, 3.0, 5.0, 3.0, 8.0].into(), 2).unwrap();
    for rows in 1..=4 {
        let chosen: Vec<usize> = (0..rows).collect();
        for y in [vec![1.0, 2.0, 9.0, 4.0], vec![7.0; 4], vec![1e9, 1e9 + 1.0, 1e9, 1e9]] {
            let sample = Sample::<Regression>::new(constant.rows(), &y).unwrap();
            let model = one(&of_count(4), &sample.select(&chosen).borrow());
            let found = predict::<Regression>(&model, constant.rows(), &run()).unwrap();
            assert!(found.iter().all(|f| f.is_finite()), "{found:?}");
            if y[0] == y[1] {
                assert!(found.iter().all(|f| (f - 7.0).abs() < 1e-9), "{found:?}");
            }
        }
        for codes in [vec![1, 1, 1, 1], vec![0, 2, 0, 2]] {
            let classes = labels(codes.clone());
            let sample = Sample::<Classification>::new(constant.rows(), &classes).unwrap();
            let model = one(&of_count(4), &sample.select(&chosen).borrow());
            let found = predict::<Classification>(&model, constant.rows(), &run()).unwrap();
            assert!(found.chunks(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
            // Laplace's rule for each class that no row had.
            let (seen, total) = (if codes[0] == 1 || rows == 1 { 1 } else { 2 }, rows as f64);
            let unseen = 1.0 / (total + 3.0 - f64::from(seen));
            let new = usize::from(codes[0] != 1);
            assert!(found.chunks(3).all(|row| (row[new] - unseen).abs() < 1e-12), "{found:?}");
        }
    }
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let x = Features::numeric(vec![1.0, 2.0], 1).unwrap();
    let y = vec![1.0, 2.0];
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let usual = Experts::default;
    for (name, experts) in [
        ("count", of_count(0)),
        ("count", Experts { count: Vec::new().into(), ..usual() }),
        ("restarts", Experts { restarts: 0, ..usual() }),
        ("ridge", Experts { ridge: -1.0, ..usual() }),
        ("gate_ridge", Experts { gate_ridge: f64::NAN, ..usual() }),
        ("prior", Experts { prior: 0.0, ..usual() }),
        ("iterations", Experts { iterations: 0, ..usual() }),
        ("tolerance", Experts { tolerance: 0.0, ..usual() }),
        ("top", Experts { top: Some(0), ..usual() }),
    ] {
        let message = experts.fit_experts(&sample, &run()).unwrap_err().to_string();
        assert!(message.contains(name), "{message}");
    }
    // So few rows have a hundred experts all the same.
    let message = of_count(101).fit_experts(&sample, &run()).unwrap_err().to_string();
    assert!(
        message.contains("count must be at most 100, having 2 rows to learn from"),
        "{message}"
    );
    let bad = vec![1.0, f64::NAN];
    let sample = Sample::<Regression>::new(x.rows(), &bad).unwrap();
    assert!(usual().fit_experts(&sample, &run()).is_err());
    let ladder = Experts { count: vec![2, 4].into(), top: Some(1), ..usual() };
    let names = Learner::<Regression>::members(&ladder);
    assert_eq!(names, ["experts(count=2, top=1)", "experts(count=4, top=1)"]);
}
