//! Linear models against scikit-learn, against each other and against plain refitting.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::learner::linear::{Lambda, Logistic, Ridge};
use dolmen::learner::{Learner, Sample, SimpleModel};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression};
use serde_json::Value;

fn fixture() -> Value {
    serde_json::from_str(include_str!("../fixtures/linear.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap()],
    }
}

fn features(rows: &Value) -> Features {
    Features::numeric(numbers(rows), rows[0].as_array().unwrap().len()).unwrap()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs() / expected.abs().max(1.0);
        assert!(error <= tolerance, "{what}: {found} instead of {expected}");
    }
}

fn run() -> Run {
    Run::with_threads(3, 2).unwrap()
}

/// Rows with an indicator, a column of small spread about a large mean, and a constant one.
fn awkward(rows: usize) -> (Features, Vec<f64>, Vec<f64>) {
    let wave = |i: usize, k: usize| ((i * (2 * k + 3)) as f64 * 0.7 + k as f64).sin();
    let row = |i: usize| {
        let indicator = f64::from(u8::from(i.is_multiple_of(3)));
        [wave(i, 0), 1e6 + 0.01 * wave(i, 1), indicator, 0.1, 50.0 * wave(i, 2) + wave(i, 0)]
    };
    let x = Features::numeric((0..rows).flat_map(row).collect(), 5).unwrap();
    let y = (0..rows).map(|i| 7.0 + 2.0 * wave(i, 0) - wave(i, 1) + 0.5 * wave(i, 5)).collect();
    let weights = (0..rows).map(|i| (i % 4) as f64 * 0.5).collect();
    (x, y, weights)
}

#[test]
fn ridge_agrees_with_scikit_learn() {
    let fixture = fixture();
    for case in fixture["ridge"].as_array().unwrap() {
        let wide = case["data"] == "wide";
        let (x, y) = if wide { ("wide", "wide_y") } else { ("x", "y") };
        let (x, y) = (features(&fixture[x]), numbers(&fixture[y]));
        let weights = numbers(&fixture["weights"]);
        let mut sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
        if case["weighted"] == true {
            sample = sample.counted(&weights).unwrap();
        }
        let lambda = case["lam"].as_f64().unwrap().into();
        let ridge = Ridge { lambda, standardise: case["standardise"] == true };
        let model = &ridge.fit_ridges(&sample, &run()).unwrap()[0];
        assert_near(model.coefficients(), &numbers(&case["coefficients"]), 1e-10, "coefficients");
        assert_near(&[model.intercept()], &numbers(&case["intercept"]), 1e-10, "intercept");
    }
}

#[test]
fn shared_sums_give_what_refitting_gives() {
    let (x, y, weights) = awkward(120);
    let plain = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let weighted = plain.counted(&weights).unwrap();
    let plans = [
        Plan::k_fold(120, 7, &run()).unwrap(),
        Plan::in_turn(120, 120),
        Plan::in_turn(120, 5).of_pairs(),
        Plan::bootstrap(120, 5, &run()).unwrap(),
    ];
    let ridge = |lambda: Lambda, standardise| Ridge { lambda, standardise };
    // Without common scales the columns' spreads are 1e7 apart: a small penalty would show the rounding of either way.
    let ridges = [
        ridge([1e-3, 1.0, 100.0].into(), true),
        ridge(Lambda::default(), true),
        ridge([10.0, 100.0].into(), false),
    ];
    for (sample, ridge) in [plain, weighted].iter().flat_map(|s| ridges.iter().map(move |r| (s, r)))
    {
        for plan in &plans {
            let fast = ridge.out_of_sample(sample, plan, &run()).unwrap();
            let slow = dolmen::learner::refit(ridge, sample, plan, &run()).unwrap();
            assert_eq!(fast.failures, slow.failures);
            for (fast, slow) in fast.splits.iter().flatten().zip(slow.splits.iter().flatten()) {
                assert_near(fast, slow, 1e-10, "out of sample");
            }
        }
    }
}

#[test]
fn a_fold_that_holds_all_of_a_columns_spread_is_refitted() {
    // Without the first fold the last column is constant but for a trace, and an indicator to boot.
    let (x, y, _) = awkward(60);
    let mut values = x.rows().values().to_vec();
    for (i, row) in values.chunks_exact_mut(5).enumerate() {
        row[4] = if i < 20 { 1e9 * row[0] } else { f64::from(u8::from(i % 2 == 0)) };
    }
    let x = Features::numeric(values, 5).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let folds: Vec<usize> = (0..60).map(|i| i / 20).collect();
    let plan = Plan::from_folds(&folds).unwrap();
    let ridge = Ridge { lambda: 0.5.into(), standardise: true };
    let fast = ridge.out_of_sample(&sample, &plan, &run()).unwrap();
    let slow = dolmen::learner::refit(&ridge, &sample, &plan, &run()).unwrap();
    assert_near(&fast.splits[0][0], &slow.splits[0][0], 1e-10, "first fold");
}

#[test]
fn the_chosen_penalty_has_the_least_error_of_leaving_rows_out_one_by_one() {
    let fixture = fixture();
    let (x, y) = (features(&fixture["x"]), numbers(&fixture["y"]));
    let wide = (features(&fixture["wide"]), numbers(&fixture["wide_y"]));
    for (x, y) in [(x, y), wide] {
        let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
        // Unstandardised: the closed form keeps the scales of all rows.
        let chosen = Ridge { standardise: false, ..Ridge::default() };
        let chosen = chosen.fit_ridges(&sample, &run()).unwrap().remove(0);
        let one_by_one = |lambda: f64| {
            let ridge = Ridge { lambda: lambda.into(), standardise: false };
            let plan = Plan::in_turn(y.len(), y.len());
            let block = dolmen::learner::refit(&ridge, &sample, &plan, &run()).unwrap();
            let said = block.averaged::<Regression>(&plan, 1).remove(0);
            let errors = said.iter().zip(&y).map(|(f, y)| (y - f) * (y - f));
            errors.sum::<f64>() / y.len() as f64
        };
        let least = one_by_one(chosen.lambda());
        assert_near(&[chosen.leave_one_out().unwrap()], &[least], 1e-9, "leave-one-out error");
        let step = 10_f64.powf(0.25);
        assert!(least <= one_by_one(chosen.lambda() / step));
        // Nothing is to be learned from the wide rows: the strongest penalty of the grid is best.
        assert!(y.len() < 10 || least <= one_by_one(chosen.lambda() * step));
    }
}

#[test]
fn a_row_of_weight_two_is_the_row_twice_for_ridge() {
    let (x, y, _) = awkward(30);
    let weights: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
    let repeated: Vec<usize> = (0..30).flat_map(|i| vec![i; i % 3]).collect();
    for lambda in [0.7.into(), Lambda::default()] {
        let ridge = Ridge { lambda, standardise: true };
        let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
        let twice = sample.select(&repeated);
        let weighted = ridge.fit_ridges(&sample.counted(&weights).unwrap(), &run()).unwrap();
        let repeated = ridge.fit_ridges(&twice.borrow(), &run()).unwrap();
        let (weighted, repeated) = (&weighted[0], &repeated[0]);
        assert_near(weighted.coefficients(), repeated.coefficients(), 1e-9, "coefficients");
        assert_near(&[weighted.lambda()], &[repeated.lambda()], 1e-9, "lambda");
    }
}

fn labels(codes: &Value) -> Labels {
    let codes: Vec<u32> = numbers(codes).into_iter().map(|code| code as u32).collect();
    let classes = codes.iter().max().unwrap() + 1;
    Labels::new((0..classes).map(|c| c.to_string()).collect::<Vec<_>>(), codes).unwrap()
}

/// A tolerance that leaves nothing but rounding.
fn exact(lambda: impl Into<Lambda>) -> Logistic {
    Logistic { lambda: lambda.into(), tolerance: 1e-12, ..Logistic::default() }
}

#[test]
fn logistic_agrees_with_scikit_learn() {
    let fixture = fixture();
    let x = features(&fixture["x"]);
    let weights = numbers(&fixture["weights"]);
    for case in fixture["logistic"].as_array().unwrap() {
        let labels = labels(&fixture[case["target"].as_str().unwrap()]);
        let mut sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
        if case["weighted"] == true {
            sample = sample.counted(&weights).unwrap();
        }
        let lambda = case["lam"].as_f64().unwrap();
        let logistic = Logistic { standardise: case["standardise"] == true, ..exact(lambda) };
        let model = &logistic.fit_logistics(&sample, &run()).unwrap()[0];
        let expected: Vec<Vec<f64>> =
            case["coefficients"].as_array().unwrap().iter().map(numbers).collect();
        // Of two classes, the second has the coefficients.
        let first = usize::from(expected.len() == 1);
        for (c, expected) in expected.iter().enumerate() {
            assert_near(model.coefficients(first + c), expected, 1e-8, "coefficients");
        }
        let width = model.width();
        for (i, expected) in case["probabilities"].as_array().unwrap().iter().enumerate() {
            let mut row = vec![0.0; width];
            model.predict_row(x.rows().row(i), &mut row);
            assert_near(&row, &numbers(expected), 1e-8, "probabilities");
        }
    }
}

#[test]
fn a_ladder_holds_what_its_rungs_are_alone() {
    let fixture = fixture();
    let (x, labels) = (features(&fixture["x"]), labels(&fixture["three"]));
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let ladder = exact([0.5, 200.0, 5.0]).fit_logistics(&sample, &run()).unwrap();
    for (rung, lambda) in ladder.iter().zip([0.5, 200.0, 5.0]) {
        let alone = &exact(lambda).fit_logistics(&sample, &run()).unwrap()[0];
        for class in 0..3 {
            assert_near(rung.coefficients(class), alone.coefficients(class), 1e-9, "rung");
        }
    }
}

#[test]
fn a_row_of_weight_two_is_the_row_twice_for_logistic() {
    let fixture = fixture();
    let (x, labels) = (features(&fixture["x"]), labels(&fixture["three"]));
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let weights: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let repeated = sample.select((0..40).flat_map(|i| vec![i; i % 3]).collect::<Vec<_>>());
    let weighted = exact(0.4).fit_logistics(&sample.counted(&weights).unwrap(), &run()).unwrap();
    let repeated = exact(0.4).fit_logistics(&repeated.borrow(), &run()).unwrap();
    for class in 0..3 {
        let (weighted, repeated) = (&weighted[0], &repeated[0]);
        assert_near(weighted.coefficients(class), repeated.coefficients(class), 1e-9, "class");
    }
}

#[test]
fn separable_classes_and_classes_without_rows_are_fitted() {
    let x = Features::numeric((0..20).map(f64::from).collect(), 1).unwrap();
    let codes = (0..20).map(|i| 2 * u32::from(i >= 10)).collect();
    let labels = Labels::new(["a", "b", "c"].map(String::from), codes).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    for lambda in [0.0, 1e-4, 1.0] {
        let model = &exact(lambda).fit_logistics(&sample, &run()).unwrap()[0];
        let mut row = [0.0; 3];
        model.predict_row(&[2.0], &mut row);
        assert!(row[0] > 0.85 && row[2] < 0.1, "{row:?}");
        // Laplace: one of the 20 rows and the one to come.
        assert!(
            (row[1] - 1.0 / 21.0).abs() < 1e-12 && (row.iter().sum::<f64>() - 1.0).abs() < 1e-12
        );
    }
}

#[test]
fn the_optimum_of_more_columns_than_rows_is_one() {
    let wave = |at: usize| (at as f64 * 1.7 + (at as f64).sqrt()).sin();
    let (rows, columns, lambda) = (30, 90, 0.7);
    let x = Features::numeric((0..rows * columns).map(wave).collect(), columns).unwrap();
    for classes in [2, 3] {
        let codes: Vec<u32> = (0..rows as u32).map(|i| i % classes).collect();
        let names: Vec<String> = (0..classes).map(|c| c.to_string()).collect();
        let labels = Labels::new(names, codes.clone()).unwrap();
        let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
        let logistic = Logistic { standardise: false, ..exact(lambda) };
        let model = &logistic.fit_logistics(&sample, &run()).unwrap()[0];
        let first = usize::from(classes == 2);
        for class in first..classes as usize {
            // The gradient: sum_i (p_ic - [c_i = c]) x_ij + lambda b_cj.
            let mut gradient: Vec<f64> =
                model.coefficients(class).iter().map(|b| lambda * b).collect();
            for (i, code) in codes.iter().enumerate() {
                let mut row = vec![0.0; classes as usize];
                model.predict_row(x.rows().row(i), &mut row);
                let residual = row[class] - f64::from(u8::from(*code as usize == class));
                let terms = gradient.iter_mut().zip(x.rows().row(i));
                terms.for_each(|(gradient, x)| *gradient += residual * x);
            }
            assert_near(&gradient, &vec![0.0; columns], 1e-8, "gradient");
        }
    }
}

#[test]
fn the_chosen_penalty_of_classes_knows_noise_from_signal() {
    let wave = |at: usize| (at as f64 * 1.7 + (at as f64).sqrt()).sin();
    let x = Features::numeric((0..900).map(wave).collect(), 3).unwrap();
    let chosen = |class: &dyn Fn(usize) -> bool| {
        let codes = (0..300).map(|i| u32::from(class(i))).collect();
        let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
        let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
        Logistic::default().fit_logistics(&sample, &run()).unwrap()[0].lambda()
    };
    let noise = chosen(&|i| wave(11 * i + 5) > 0.0);
    let signal = chosen(&|i| wave(3 * i) + 0.3 * wave(11 * i + 5) > 0.0);
    assert!(noise > 20.0 * signal, "{noise} {signal}");
}
