//! Mixtures of products with atoms: densities of columns whose values repeat.

use dolmen::learner::density::Atoms;
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::task::Density;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Model = Box<dyn Fitted<Density>>;

fn run() -> Run {
    Run::with_threads(3, 1).unwrap()
}

/// Rows of two groups, in units of a quarter: 0 is an atom of the first column in one group, the second column has few values, the third none
/// that repeat.
fn rows(count: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut values = Vec::new();
    for i in 0..count {
        let group = i % 2;
        let spread = (8.0 * (rng.random::<f64>() + rng.random::<f64>())).round() / 4.0 + 1.0;
        let is_zero = group == 0 && rng.random::<f64>() < 0.8;
        values.push(if is_zero { 0.0 } else { spread + group as f64 });
        values.push(f64::from(rng.random_range(0..3_u8)) + 2.0 * group as f64);
        values.push(rng.random::<f64>() + group as f64);
    }
    values
}

/// The first columns of the rows.
fn table(count: usize, columns: usize) -> Features {
    let values = rows(count);
    let kept = values.chunks_exact(3).flat_map(|row| &row[..columns]).copied().collect();
    Features::numeric(kept, columns).unwrap()
}

fn fit(x: &Features, components: usize) -> Model {
    let learner = Atoms { components: vec![components].into(), ..Atoms::default() };
    learner.fit(&Sample::new(x.rows(), &()).unwrap(), &run()).unwrap().remove(0)
}

fn logs(model: &dyn Fitted<Density>, values: Vec<f64>, columns: usize) -> Vec<f64> {
    let x = Features::numeric(values, columns).unwrap();
    predict(model, x.rows(), &run()).unwrap()
}

#[test]
fn a_column_with_atoms_integrates_to_one_and_to_its_cdf() {
    for components in [1, 3] {
        let model = fit(&table(300, 1), components);
        // Cells end at eighths, so that no step of the quadrature has an edge within.
        let step = 1.0 / 256.0;
        let places: Vec<f64> = (0..60 * 256).map(|i| -20.0 + (f64::from(i) + 0.5) * step).collect();
        let densities = logs(model.as_ref(), places.clone(), 1);
        let mut below = 0.0;
        for (x, log) in places.iter().zip(densities) {
            below += log.exp() * step;
            let cdf = model.density().unwrap().cdf(x + 0.5 * step).unwrap();
            assert!((below - cdf).abs() < 1e-4, "{below} below {x}, not {cdf}");
        }
        assert!((below - 1.0).abs() < 1e-4, "{below}");
        let middle = model.density().unwrap().quantile(0.01).unwrap();
        assert!(model.density().unwrap().cdf(middle).unwrap() >= 0.01);
    }
}

#[test]
fn two_columns_integrate_to_one() {
    let model = fit(&table(300, 2), 3);
    let step = 1.0 / 32.0;
    let line = |from: f64, steps: u32| (0..steps).map(move |i| from + (f64::from(i) + 0.5) * step);
    let cells = line(-4.0, 640).flat_map(|x| line(-4.0, 480).flat_map(move |y| [x, y]));
    let total: f64 = logs(model.as_ref(), cells.collect(), 2).iter().map(|log| log.exp()).sum();
    assert!((total * step * step - 1.0).abs() < 1e-3, "{}", total * step * step);
}

#[test]
fn an_atom_has_its_share_of_the_rows_over_its_cell() {
    let mut values = vec![0.0; 60];
    values.extend((0..40).map(|i| 1.0 + 0.25 * f64::from(i)));
    let model = fit(&Features::numeric(values, 1).unwrap(), 1);
    // 60 of 100 rows, and the prior's row and half.
    let share = logs(model.as_ref(), vec![0.0], 1)[0].exp() * 0.25;
    assert!((share - 0.6).abs() < 0.002, "{share}");
    assert_eq!(logs(model.as_ref(), vec![0.1], 1), logs(model.as_ref(), vec![0.0], 1));
}

#[test]
fn scaling_a_column_shifts_log_densities_by_the_logarithm() {
    let values = rows(200);
    let x = Features::numeric(values.clone(), 3).unwrap();
    let (scale, shift) = (64.0, 64.0_f64.ln());
    let scaled: Vec<f64> =
        values.iter().enumerate().map(|(e, x)| if e % 3 == 0 { scale * x } else { *x }).collect();
    let (a, b) = (fit(&x, 3), fit(&Features::numeric(scaled.clone(), 3).unwrap(), 3));
    let (p, q) = (logs(a.as_ref(), values, 3), logs(b.as_ref(), scaled, 3));
    for (p, q) in p.iter().zip(q) {
        assert!((p - shift - q).abs() < 1e-11, "{p} {q}");
    }
}

#[test]
fn the_order_of_rows_and_weights_or_copies_of_them_do_not_matter() {
    let values = rows(200);
    let places = rows(20);
    let one = fit(&Features::numeric(values.clone(), 3).unwrap(), 1);
    let expected = logs(one.as_ref(), places.clone(), 3);
    let backwards: Vec<f64> = values.chunks_exact(3).rev().flatten().copied().collect();
    let turned = fit(&Features::numeric(backwards, 3).unwrap(), 1);
    for (p, q) in expected.iter().zip(logs(turned.as_ref(), places.clone(), 3)) {
        assert!((p - q).abs() < 1e-10, "{p} {q}");
    }
    let counts: Vec<f64> = (0..200).map(|i| f64::from(1 + i % 3)).collect();
    let x = Features::numeric(values.clone(), 3).unwrap();
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap().counted(&counts).unwrap();
    let learner = Atoms { components: vec![1].into(), share: 0.05, ..Atoms::default() };
    let weighted = learner.fit(&sample, &run()).unwrap().remove(0);
    let copies = values.chunks_exact(3).zip(&counts).flat_map(|(row, n)| row.repeat(*n as usize));
    let x = Features::numeric(copies.collect(), 3).unwrap();
    let copied = learner.fit(&Sample::new(x.rows(), &()).unwrap(), &run()).unwrap().remove(0);
    let copied = logs(copied.as_ref(), places.clone(), 3);
    for (p, q) in logs(weighted.as_ref(), places, 3).iter().zip(copied) {
        assert!((p - q).abs() < 1e-10, "{p} {q}");
    }
}

#[test]
fn each_iteration_raises_the_posterior() {
    let mut values = rows(200);
    values.iter_mut().step_by(11).for_each(|x| *x = f64::NAN);
    let x = Features::numeric(values, 3).unwrap();
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let mut before = f64::NEG_INFINITY;
    for iterations in 1..30 {
        let learner = Atoms { iterations, tolerance: 0.0, restarts: 1, ..Atoms::default() };
        let model = learner.fit(&sample, &run()).unwrap().remove(0);
        let objective = model.diagnostics().objective.unwrap();
        assert!(objective >= before - 1e-9 * before.abs(), "{objective} after {before}");
        before = objective;
    }
}

#[test]
fn constant_columns_and_values_that_were_never_seen_have_densities() {
    let values: Vec<f64> = (0..40).flat_map(|i| [7.0, f64::from(i % 2)]).collect();
    let model = fit(&Features::numeric(values, 2).unwrap(), 2);
    let seen = logs(model.as_ref(), vec![7.0, 1.0], 2)[0];
    for row in [[7.5, 1.0], [7.0, 1.6], [8.0, -3.0], [f64::NAN, 2.0]] {
        let log = logs(model.as_ref(), row.to_vec(), 2)[0];
        assert!(log.is_finite() && log < seen, "{row:?}: {log}");
    }
    assert_eq!(logs(model.as_ref(), vec![f64::INFINITY, 1.0], 2), [f64::NEG_INFINITY]);
}

#[test]
fn atoms_are_drawn_as_themselves() {
    let x = table(400, 3);
    let model = fit(&x, 4);
    let drawn = model.density().unwrap().sample(20_000, &run()).unwrap();
    let share = |rows: &[f64]| {
        rows.chunks_exact(3).filter(|row| row[0] == 0.0).count() as f64 * 3.0 / rows.len() as f64
    };
    let expected = share(&x.rows().values());
    // The model's own share is within a row of that of the rows; 4 standard errors of 20 000 draws.
    let error = 4.0 * (expected * (1.0 - expected) / 20_000.0).sqrt() + 1.0 / 400.0;
    assert!((share(&drawn) - expected).abs() < error, "{} {expected}", share(&drawn));
    // Nothing falls into a cell but the atom, and few of few values are new.
    assert!(drawn.chunks_exact(3).all(|row| row[0] == 0.0 || row[0].abs() >= 0.125));
    let new = drawn.chunks_exact(3).filter(|row| row[1].fract() != 0.0).count();
    assert!(new < 200, "{new}");
}

#[test]
fn conditionals_follow_the_pattern_of_atoms() {
    let model = fit(&table(400, 3), 4);
    let joint = model.density().unwrap();
    let at_zero = joint.condition(&[(0, 0.0)]).unwrap();
    let marginal = joint.marginal(&[0]).unwrap();
    let below = logs(marginal.as_ref(), vec![0.0], 1)[0];
    for row in [[1.0, 0.5], [3.0, 1.5], [2.0, 0.9]] {
        let whole = logs(model.as_ref(), vec![0.0, row[0], row[1]], 3)[0];
        let part = logs(at_zero.as_ref(), row.to_vec(), 2)[0];
        assert!((whole - below - part).abs() < 1e-9, "{row:?}");
    }
    // Zeros are of the first group, whose third column is below 1.
    assert!(at_zero.marginal(&[1]).unwrap().cdf(1.0).unwrap() > 0.95);
}

#[test]
fn what_cannot_be_is_refused() {
    let x = table(30, 2);
    let sample = Sample::<Density>::new(x.rows(), &()).unwrap();
    let wrong = [
        Atoms { components: vec![31].into(), ..Atoms::default() },
        Atoms { components: Vec::new().into(), ..Atoms::default() },
        Atoms { share: 0.0, ..Atoms::default() },
        Atoms { beta: 0.0, ..Atoms::default() },
        Atoms { restarts: 0, ..Atoms::default() },
        Atoms { tolerance: f64::NAN, ..Atoms::default() },
    ];
    for learner in wrong {
        assert!(learner.fit(&sample, &run()).is_err(), "{learner:?}");
    }
    let infinite = Features::numeric(vec![0.0, f64::INFINITY, 1.0], 1).unwrap();
    let sample = Sample::<Density>::new(infinite.rows(), &()).unwrap();
    assert!(Atoms::default().fit(&sample, &run()).is_err());
}
