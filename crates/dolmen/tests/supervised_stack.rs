//! Stacks of classifiers and regressions: the OOS/HO procedure, every combiner, checks, calibration and intervals.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dolmen::combine::library::combiner;
use dolmen::combine::{Combiner, Evidence, Learned, Weights, log_evidence};
use dolmen::ensemble::{Calibration, CalibrationKind, Check, Ending, Ensemble, Stack};
use dolmen::learner::library::Library;
use dolmen::learner::linear::{Lambda, Ridge};
use dolmen::learner::spec::Spec;
use dolmen::learner::{Fitted, Learner, Run, Sample, predict};
use dolmen::oos::{OnFailure, OutOfSample, Trials, collect};
use dolmen::plan::Plan;
use dolmen::store::{Record, Stored};
use dolmen::table::{Features, Rows};
use dolmen::task::{Classification, Labels, Regression};
use dolmen::{Error, Result};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use serde_json::Value;

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap_or(f64::NAN)).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{what}: {found}, not {expected}"
    );
}

/// A learner that sees functions of the inputs.
#[derive(Debug)]
struct Seeing {
    name: &'static str,
    see: fn(&[f64]) -> Vec<f64>,
    ridge: Ridge,
}

#[derive(Debug)]
struct Seen {
    see: fn(&[f64]) -> Vec<f64>,
    model: Box<dyn Fitted<Regression>>,
}

fn seen(x: Rows<'_>, see: fn(&[f64]) -> Vec<f64>) -> Features {
    let rows: Vec<Vec<f64>> = x.iter().map(see).collect();
    Features::numeric(rows.concat(), rows[0].len()).unwrap()
}

impl Learner<Regression> for Seeing {
    fn members(&self) -> Vec<String> {
        vec![self.name.into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let x = seen(sample.x(), self.see);
        let model = self.ridge.fit(&sample.with_inputs(x.rows())?, run)?.remove(0);
        Ok(vec![Box::new(Seen { see: self.see, model })])
    }
}

impl Fitted<Regression> for Seen {
    fn width(&self) -> usize {
        1
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.model.predict_into(seen(x, self.see).rows(), out)
    }
    fn record(&self) -> Result<Record> {
        self.model.record()
    }
}

fn plain_ridge(lambda: f64) -> Ridge {
    Ridge { lambda: lambda.into(), standardise: false }
}

/// The four base learners of the reference.
fn bases() -> Vec<Box<dyn Learner<Regression>>> {
    let base = |name, lambda, see| {
        Box::new(Seeing { name, see, ridge: plain_ridge(lambda) }) as Box<dyn Learner<Regression>>
    };
    vec![
        base("ridge 1", 1.0, <[f64]>::to_vec),
        base("ridge 10", 10.0, <[f64]>::to_vec),
        base("squares", 0.1, |x| x.iter().copied().chain(x.iter().map(|x| x * x)).collect()),
        base("first", 1.0, |x| x[..1].to_vec()),
    ]
}

/// Every matrix, the chosen penalty, the stacker and its predictions are those of the reference [Himmetoglu2019].
#[test]
fn the_oos_ho_procedure_is_that_of_the_reference() {
    let golden: Value = serde_json::from_str(include_str!("fixtures/stacking.json")).unwrap();
    let x = Features::numeric(matrix(&golden["X"]).concat(), 3).unwrap();
    let y = numbers(&golden["y"]);
    let folds: Vec<usize> = numbers(&golden["folds"]).iter().map(|v| *v as usize).collect();
    let plan = Plan::from_folds(&folds).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let owned = bases();
    let learners: Vec<&dyn Learner<Regression>> = owned.iter().map(AsRef::as_ref).collect();
    let plain = collect(&learners, &sample, &plan, OnFailure::Stop, &run()).unwrap();
    let trials = Trials::nested(plain, &learners, &sample, &plan, OnFailure::Stop, &run()).unwrap();
    let held_out = matrix(&golden["HO"]);
    for (i, row) in held_out.iter().enumerate() {
        for (m, expected) in row.iter().enumerate() {
            close(trials.matrix.row(m, i)[0], *expected, 1e-9, "X_HO");
        }
    }
    for (fold, trial) in trials.folds.iter().enumerate() {
        let expected = golden["OOS_by_ho_fold"][fold].as_array().unwrap();
        assert_eq!(trial.learned_from.rows() + trial.held_out.rows(), 30);
        for (i, &row) in trial.learned_from.table_rows().iter().enumerate() {
            for (m, expected) in numbers(&expected[row]).iter().enumerate() {
                close(trial.learned_from.row(m, i)[0], *expected, 1e-9, "X_OOS");
            }
        }
    }

    let grid = numbers(&golden["Lambda_grid"]);
    let stacker = Ridge { lambda: Lambda::Ladder(grid), standardise: false };
    let boxed: Box<dyn Learner<Regression>> = Box::new(stacker);
    let stack = Stack::new(Learned::new(boxed))
        .members(bases())
        .check(Check::Nested)
        .ending(Ending::Average);
    let ensemble = stack.fit_on(&sample, &plan, &run()).unwrap();
    let assessment = ensemble.assessment().unwrap();
    for (candidate, sse) in assessment.candidates.iter().zip(numbers(&golden["sse"])) {
        close(-30.0 * candidate.score.mean, sse, 1e-9, &candidate.name);
    }
    let best = golden["Lambda"].as_f64().unwrap();
    assert_eq!(assessment.chosen, format!("ridge(lambda={best})"));
    let coefficients = &ensemble.combination().diagnostics().series[0].values;
    close(coefficients[0], golden["beta"].as_f64().unwrap(), 1e-9, "beta");
    for (found, expected) in coefficients[1..].iter().zip(numbers(&golden["Omega"])) {
        close(*found, expected, 1e-9, "Omega");
    }
    let query = Features::numeric(matrix(&golden["query"]).concat(), 3).unwrap();
    let features = matrix(&golden["test_features"]);
    for (m, model) in ensemble.models().enumerate() {
        for (i, found) in predict(model, query.rows(), &run()).unwrap().iter().enumerate() {
            close(*found, features[i][m], 1e-9, "test feature");
        }
    }
    let predicted = predict(&ensemble, query.rows(), &run()).unwrap();
    for (found, expected) in predicted.iter().zip(numbers(&golden["test_prediction"])) {
        close(*found, expected, 1e-9, "test prediction");
    }
}

/// With the same folds and penalty, matrix, stacker and predictions are those of scikit-learn's StackingRegressor.
#[test]
fn a_ridge_stack_is_a_stacking_regressor() {
    let peer: Value =
        serde_json::from_str(include_str!("fixtures/stacking_regressor.json")).unwrap();
    let x = Features::numeric(matrix(&peer["X"]).concat(), 3).unwrap();
    let y = numbers(&peer["y"]);
    let folds: Vec<usize> = numbers(&peer["folds"]).iter().map(|v| *v as usize).collect();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stacker: Box<dyn Learner<Regression>> = Box::new(plain_ridge(0.5));
    let stack = Stack::new(Learned::new(stacker)).members(bases());
    let ensemble = stack.fit_on(&sample, &Plan::from_folds(&folds).unwrap(), &run()).unwrap();
    let found = ensemble.matrix().unwrap();
    for (i, row) in matrix(&peer["matrix"]).iter().enumerate() {
        row.iter().enumerate().for_each(|(m, v)| close(found.row(m, i)[0], *v, 1e-9, "matrix"));
    }
    let coefficients = &ensemble.combination().diagnostics().series[0].values;
    close(coefficients[0], peer["intercept"].as_f64().unwrap(), 1e-9, "intercept");
    for (found, expected) in coefficients[1..].iter().zip(numbers(&peer["coefficients"])) {
        close(*found, expected, 1e-9, "coefficient");
    }
    let query = Features::numeric(matrix(&peer["query"]).concat(), 3).unwrap();
    let predicted = predict(&ensemble, query.rows(), &run()).unwrap();
    for (found, expected) in predicted.iter().zip(numbers(&peer["prediction"])) {
        close(*found, expected, 1e-9, "prediction");
    }
}

fn spec(text: &str) -> Spec {
    Spec::parse(text).unwrap()
}

fn learners<T: Library>(specs: &[&str]) -> Vec<Box<dyn Learner<T>>> {
    specs.iter().map(|text| T::learner(&spec(text)).unwrap()).collect()
}

fn stack_by<T: Library>(text: &str, members: &[&str]) -> Stack<T> {
    Stack::choosing(vec![combiner::<T>(&spec(text)).unwrap()]).members(learners::<T>(members))
}

/// Numbers with a bend, and noise.
fn bent(rows: usize, seed: u64) -> (Features, Vec<f64>) {
    let mut rng = run().child(seed).rng();
    let x: Vec<f64> = (0..rows * 2).map(|_| rng.random_range(-2.0..2.0)).collect();
    let mut noise = || -> f64 { StandardNormal.sample(&mut rng) };
    let y = x.chunks_exact(2).map(|x| x[0].abs() * 2.0 + x[1] + 0.3 * noise()).collect();
    (Features::numeric(x, 2).unwrap(), y)
}

/// Three classes about three centres.
fn flowers(rows: usize, seed: u64) -> (Features, Labels) {
    let mut rng = run().child(seed).rng();
    let codes: Vec<u32> = (0..rows).map(|i| (i % 3) as u32).collect();
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let x =
        codes.iter().flat_map(|&c| [normal() + f64::from(c) * 1.5, normal() - f64::from(c % 2)]);
    let x = Features::numeric(x.collect(), 2).unwrap();
    (x, Labels::new(["a", "b", "c"].map(String::from), codes).unwrap())
}

/// Counts how often it is fitted.
#[derive(Debug, Default)]
struct Counting(Arc<AtomicUsize>);

impl Learner<Regression> for Counting {
    fn members(&self) -> Vec<String> {
        vec!["counting".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        plain_ridge(1.0).fit(sample, run)
    }
}

#[test]
fn pairs_of_folds_share_their_fits() {
    let (x, y) = bent(60, 1);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    for (check, ending, fits) in [
        (Check::Nested, Ending::Refit, 6 * 5 / 2 + 6 + 1),
        (Check::Nested, Ending::Average, 6 * 5 / 2 + 6),
        (Check::Matrix, Ending::Refit, 6 + 1),
        (Check::Matrix, Ending::Average, 6),
    ] {
        let count = Arc::new(AtomicUsize::new(0));
        let stack = Stack::default().member(Counting(Arc::clone(&count)));
        let stack = stack.members(learners::<Regression>(&["mean"])).folds(6);
        stack.check(check).ending(ending).fit_ensemble(&sample, &run()).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), fits, "{check:?} {ending:?}");
    }
}

/// Every combiner gives proper predictions, the same after a stay in a file and on any number of threads.
#[test]
fn every_combiner_combines_classes() {
    let (x, labels) = flowers(120, 2);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let (fresh, truth) = flowers(90, 3);
    let members = ["logistic(lambda=1)", "bayes(density=gaussian)", "class-frequencies"];
    let loss = |predicted: &[f64]| {
        let rows = predicted.chunks_exact(3).enumerate();
        -rows.map(|(i, row)| row[truth.class(i)].ln()).sum::<f64>() / 90.0
    };
    for text in [
        "simplex(prior=2)",
        "em",
        "uniform",
        "best",
        "greedy(rounds=10)",
        "pseudo-bma",
        "pseudo-bma+",
        "logistic",
        "logistic(on=logits, lambda=1)",
        "log-pool",
        "gate",
        "bma",
        "learner(of=tree(depth=3), inputs=true)",
        "learner(of=stack(members=[logistic, class-frequencies], combiner=log-pool), on=logits)",
    ] {
        let stack = stack_by::<Classification>(text, &members).folds(4);
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let predicted = predict(&ensemble, fresh.rows(), &run()).unwrap();
        for row in predicted.chunks_exact(3) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{text}: {row:?}");
            assert!(row.iter().all(|p| (0.0..=1.0 + 1e-12).contains(p)), "{text}: {row:?}");
        }
        // Better than the class frequencies, ln 3.
        assert!(loss(&predicted) < 1.09, "{text}: {}", loss(&predicted));
        let again = Ensemble::restore(&ensemble.record().unwrap(), &Classification::registry());
        assert_eq!(predict(&again.unwrap(), fresh.rows(), &run()).unwrap(), predicted, "{text}");
        let alone = Run::with_threads(0, 1).unwrap();
        let other = stack.fit_ensemble(&sample, &alone).unwrap();
        assert_eq!(predict(&other, fresh.rows(), &alone).unwrap(), predicted, "{text}");
    }
}

#[test]
fn every_combiner_combines_numbers() {
    let (x, y) = bent(150, 4);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let (fresh, truth) = bent(100, 5);
    let members = ["ridge(lambda=1)", "tree", "mean"];
    for text in [
        "simplex",
        "uniform",
        "best",
        "non-negative",
        "greedy",
        "ridge",
        "ridge(lambda=1, inputs=true)",
        "gate",
        "bma",
        "learner(of=stack(members=[ridge, tree], combiner=ridge), inputs=true)",
    ] {
        let members = if text == "bma" { &["ridge(lambda=1)", "mean"][..] } else { &members[..] };
        let stack = stack_by::<Regression>(text, members).folds(4);
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let predicted = predict(&ensemble, fresh.rows(), &run()).unwrap();
        let mean = truth.iter().sum::<f64>() / 100.0;
        let square =
            |p: &dyn Fn(usize) -> f64| (0..100).map(|i| (truth[i] - p(i)).powi(2)).sum::<f64>();
        assert!(square(&|i| predicted[i]) < square(&|_| mean), "{text}");
        let again = Ensemble::restore(&ensemble.record().unwrap(), &Regression::registry());
        assert_eq!(predict(&again.unwrap(), fresh.rows(), &run()).unwrap(), predicted, "{text}");
    }
}

#[test]
fn combiners_refuse_what_does_not_suit_them() {
    let (x, y) = bent(40, 6);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let refused = |text: &str, word: &str| {
        let error = match combiner::<Regression>(&spec(text)) {
            Err(error) => error,
            Ok(combiner) => {
                let stack = Stack::choosing(vec![combiner]);
                let stack = stack.members(learners::<Regression>(&["mean", "tree"])).folds(3);
                stack.fit_ensemble(&sample, &run()).unwrap_err()
            }
        };
        assert!(error.to_string().contains(word), "{text}: {error}");
    };
    refused("log-pool", "class probabilities");
    refused("logistic", "logistic");
    refused("bma", "tree");
    refused("em", "method");
    refused("gate(lambda=[-1])", "lambda");
    refused("simplexx", "simplex");
    refused("ridge(lamda=1)", "lamda");
}

/// Predictions of two members for rows of two classes.
fn pair_of_members(rows: usize) -> OutOfSample<Classification> {
    let mut rng = run().child(9).rng();
    let codes: Vec<u32> = (0..rows).map(|_| u32::from(rng.random::<f64>() < 0.5)).collect();
    let member = |rng: &mut rand_chacha::ChaCha8Rng, sharpness: f64| -> Vec<f64> {
        let row = |&c: &u32| {
            let noise: f64 = StandardNormal.sample(rng);
            let p = 1.0 / (1.0 + (-sharpness * (2.0 * f64::from(c) - 1.0 + noise)).exp());
            [1.0 - p, p]
        };
        codes.iter().flat_map(row).collect()
    };
    let columns =
        vec![("one".into(), member(&mut rng, 0.4)), ("two".into(), member(&mut rng, 0.7))];
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    OutOfSample::from_columns(columns, labels, None).unwrap()
}

#[test]
fn the_powers_of_a_log_pool_are_optimal() {
    let oos = pair_of_members(300);
    let found = combiner::<Classification>(&spec("log-pool(lambda=0)")).unwrap();
    let pool = found.fit(&Evidence::from(&oos), &run()).unwrap().remove(0);
    let powers = pool.weights().unwrap().to_vec();
    // Timid members ask for powers above 1.
    assert!(powers.iter().sum::<f64>() > 1.5, "{powers:?}");
    let score = |w: &[f64]| {
        let log = |i: usize, c: usize| w[0] * oos.row(0, i)[c].ln() + w[1] * oos.row(1, i)[c].ln();
        let row = |i: usize| {
            let own = oos.target().class(i);
            log(i, own) - (log(i, 0).exp() + log(i, 1).exp()).ln()
        };
        (0..300).map(row).sum::<f64>() / 300.0
    };
    let best = score(&powers);
    for (a, b) in [(1e-3, 0.0), (-1e-3, 0.0), (0.0, 1e-3), (0.0, -1e-3), (1e-3, -1e-3)] {
        assert!(score(&[powers[0] + a, powers[1] + b]) < best, "{a} {b}");
    }
    let slope =
        (score(&[powers[0] + 1e-5, powers[1]]) - score(&[powers[0] - 1e-5, powers[1]])) / 2e-5;
    assert!(slope.abs() < 1e-8, "{slope}");
}

#[test]
fn simplex_weights_on_the_true_class_are_the_limit_of_em() {
    let oos = pair_of_members(200);
    let weigh = |weights: &Weights| -> Vec<f64> {
        let found = weights.fit(&Evidence::from(&oos), &run()).unwrap();
        found[0].weights().unwrap().to_vec()
    };
    for prior in [1.0, 2.0] {
        let exact = weigh(&Weights { prior, ..Weights::default() });
        // CM05's EM for the mixture of posteriors, run far beyond the papers' stopping rule.
        let mut alpha = [0.5, 0.5];
        for _ in 0..200_000 {
            let mut next = [prior - 1.0; 2];
            for i in 0..200 {
                let own = oos.target().class(i);
                let p = [alpha[0] * oos.row(0, i)[own], alpha[1] * oos.row(1, i)[own]];
                next.iter_mut().zip(p).for_each(|(next, p1)| *next += p1 / (p[0] + p[1]));
            }
            let total = next[0] + next[1];
            alpha = next.map(|n| n / total);
        }
        exact.iter().zip(alpha).for_each(|(a, b)| close(*a, b, 1e-6, "weight"));
    }
}

/// Right about one side of 0, lost on the other.
#[derive(Debug)]
struct OneSided(f64);

#[derive(Debug)]
struct Sided(f64);

impl Learner<Classification> for OneSided {
    fn members(&self) -> Vec<String> {
        vec![format!("right where {}", self.0)]
    }
    fn fit(
        &self,
        _: &Sample<'_, Classification>,
        _: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        Ok(vec![Box::new(Sided(self.0))])
    }
}

impl Fitted<Classification> for Sided {
    fn width(&self) -> usize {
        2
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        for (row, out) in x.iter().zip(out.chunks_exact_mut(2)) {
            let knows = row[0] * self.0 > 0.0;
            let p = if !knows {
                0.5
            } else if row[1] > 0.0 {
                0.95
            } else {
                0.05
            };
            out.copy_from_slice(&[1.0 - p, p]);
        }
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        Err(Error::shape("a record", 1, 0))
    }
}

#[test]
fn a_gate_sends_rows_to_the_member_that_knows_them() {
    let mut rng = run().child(11).rng();
    let x: Vec<f64> = (0..400).map(|_| rng.random_range(-1.0..1.0)).collect();
    let codes = x.chunks_exact(2).map(|x| u32::from(x[1] > 0.0)).collect();
    let x = Features::numeric(x, 2).unwrap();
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let gate = combiner::<Classification>(&spec("gate")).unwrap();
    let stack = Stack::choosing(vec![gate]).member(OneSided(1.0)).member(OneSided(-1.0));
    let ensemble = stack.check(Check::Nested).folds(5).fit_ensemble(&sample, &run()).unwrap();
    let assessment = ensemble.assessment().unwrap();
    assert_ne!(assessment.chosen, "gate(constant)");
    let score =
        |name: &str| assessment.candidates.iter().find(|c| c.name == name).unwrap().score.mean;
    // Constant weights of 1/2 each give about ln 0.725 a row; a perfect gate would give ln 0.95.
    assert!(score("gate(constant)") < 0.75_f64.ln(), "{assessment:?}");
    assert!(score(&assessment.chosen) > 0.85_f64.ln(), "{assessment:?}");
    // Held strongly enough, the gate is constant.
    let oos = ensemble.matrix().unwrap();
    let evidence = Evidence { x: Some(x.rows()), ..Evidence::from(oos) };
    let held = combiner::<Classification>(&spec("gate(lambda=[1e6], tolerance=1e-9)")).unwrap();
    let columns = [oos.column(0), oos.column(1)];
    let combined = held.fit(&evidence, &run()).unwrap().into_iter().map(|combination| {
        let mut out = vec![0.0; 400];
        combination.combine_into(&columns, 2, x.rows(), &mut out).unwrap();
        out
    });
    let combined: Vec<Vec<f64>> = combined.collect();
    for (constant, gated) in combined[0].iter().zip(&combined[1]) {
        close(*gated, *constant, 1e-5, "held to constants");
    }
}

#[test]
fn bma_weighs_by_bic() {
    let (x, y) = bent(80, 12);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = stack_by::<Regression>("bma", &["ridge(lambda=0)", "ridge(lambda=60)", "mean"]);
    let ensemble = stack.folds(4).fit_ensemble(&sample, &run()).unwrap();
    // The normal likelihood at its optimum, three coefficients (or one) and a variance.
    let evidence = |model: &dyn Fitted<Regression>, parameters: f64| {
        let predicted = predict(model, x.rows(), &run()).unwrap();
        let rss: f64 = y.iter().zip(predicted).map(|(y, p)| (y - p).powi(2)).sum();
        let variance = rss / 80.0;
        let normal = |y: f64| -0.5 * ((std::f64::consts::TAU * variance).ln() + y / variance);
        80.0 * normal(rss / 80.0) - 0.5 * parameters * 80.0_f64.ln()
    };
    let logs: Vec<f64> =
        ensemble.models().zip([4.0, 4.0, 2.0]).map(|(model, k)| evidence(model, k)).collect();
    for (model, log) in ensemble.models().zip(&logs) {
        close(log_evidence(model, &sample, &run()).unwrap(), *log, 1e-9, "log evidence");
    }
    let largest = logs.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
    let total: f64 = logs.iter().map(|log| (log - largest).exp()).sum();
    for (weight, log) in ensemble.combination().weights().unwrap().iter().zip(&logs) {
        close(*weight, (log - largest).exp() / total, 1e-9, "weight");
    }
}

#[test]
fn a_stack_that_is_not_better_is_replaced_by_its_best_member() {
    let (x, y) = bent(90, 13);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    // Equal weights of a good and a useless member are worse than the good one.
    let stack = |replace: bool| {
        let stack = stack_by::<Regression>("uniform", &["forest(trees=20)", "mean"]).folds(5);
        let stack = stack.check(Check::Nested).replaced_if_not_better(replace);
        stack.fit_ensemble(&sample, &run()).unwrap()
    };
    let kept = stack(false);
    assert!(!kept.is_replaced());
    assert!(kept.assessment().unwrap().gain_over_best.mean < 0.0);
    let replaced = stack(true);
    assert!(replaced.is_replaced());
    assert_eq!(replaced.combination().weights().unwrap(), [1.0, 0.0]);
    let forest = predict(replaced.models().next().unwrap(), x.rows(), &run()).unwrap();
    assert_eq!(predict(&replaced, x.rows(), &run()).unwrap(), forest);
}

/// Says what another learner says, but far too surely.
#[derive(Debug)]
struct Boastful(Box<dyn Learner<Classification>>);

#[derive(Debug)]
struct Boast(Box<dyn Fitted<Classification>>);

impl Learner<Classification> for Boastful {
    fn members(&self) -> Vec<String> {
        vec!["boastful".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        Ok(vec![Box::new(Boast(self.0.fit(sample, run)?.remove(0)))])
    }
}

impl Fitted<Classification> for Boast {
    fn width(&self) -> usize {
        3
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.0.predict_into(x, out)?;
        for row in out.chunks_exact_mut(3) {
            row.iter_mut().for_each(|p| *p = p.powi(4));
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|p| *p /= total);
        }
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        self.0.record()
    }
}

#[test]
fn calibration_takes_back_what_is_too_sure() {
    let (x, labels) = flowers(300, 14);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let (fresh, truth) = flowers(300, 15);
    let fit = |kind: Option<CalibrationKind>| {
        let honest = Classification::learner(&spec("logistic(lambda=1)")).unwrap();
        let stack = Stack::default().member(Boastful(honest)).folds(5);
        let stack = match kind {
            Some(kind) => stack.calibrated(kind),
            None => stack,
        };
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let predicted = predict(&ensemble, fresh.rows(), &run()).unwrap();
        let rows = predicted.chunks_exact(3).enumerate();
        let loss = -rows.map(|(i, row)| row[truth.class(i)].max(1e-12).ln()).sum::<f64>() / 300.0;
        (ensemble, loss)
    };
    let (_, plain) = fit(None);
    let (cooled, loss) = fit(Some(CalibrationKind::Temperature));
    // The powers of 4 are to be undone.
    let Some(Calibration::Temperature(temperature)) = cooled.calibration() else { panic!() };
    assert!((2.5..6.0).contains(temperature), "{temperature}");
    assert!(loss < 0.8 * plain, "{loss} {plain}");
    let (_, stepped) = fit(Some(CalibrationKind::Isotonic));
    assert!(stepped < plain, "{stepped} {plain}");
    let (x, y) = bent(40, 16);
    let numbers = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = Stack::default().members(learners::<Regression>(&["mean"]));
    let error = stack.calibrated(CalibrationKind::Isotonic).fit_ensemble(&numbers, &run());
    assert!(error.unwrap_err().to_string().contains("class probabilities"));
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let (x, y) = bent(200, 17);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let (fresh, truth) = bent(1000, 18);
    for ending in [Ending::Average, Ending::Refit] {
        let stack =
            stack_by::<Regression>("simplex", &["ridge(lambda=1)", "tree", "neighbours(k=5)"]);
        let stack = stack.folds(10).check(Check::Nested).ending(ending);
        let ensemble = stack.fit_ensemble(&sample, &run()).unwrap();
        let again =
            Ensemble::restore(&ensemble.record().unwrap(), &Regression::registry()).unwrap();
        for level in [0.5, 0.9] {
            let intervals = ensemble.intervals(fresh.rows(), level, &run()).unwrap().unwrap();
            let inside = intervals.iter().zip(&truth).filter(|(b, y)| (b[0]..=b[1]).contains(y));
            let share = inside.count() as f64 / 1000.0;
            // Three standard errors of the share, for the fresh rows and for the 200 that set the quantile.
            let slack = 3.0 * (level * (1.0 - level) * (1.0 / 1000.0 + 1.0 / 200.0)).sqrt();
            assert!((share - level).abs() < slack, "{ending:?} {level}: {share}");
            assert_eq!(again.intervals(fresh.rows(), level, &run()).unwrap().unwrap(), intervals);
        }
        assert!(ensemble.intervals(fresh.rows(), 1.0, &run()).is_err());
    }
    let unchecked =
        stack_by::<Regression>("simplex", &["mean"]).fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(unchecked.intervals(fresh.rows(), 0.9, &run()).unwrap(), None);
}

/// Cannot be fitted without the first row.
#[derive(Debug)]
struct Fragile(f64);

impl Learner<Regression> for Fragile {
    fn members(&self) -> Vec<String> {
        vec!["fragile".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        // 90 rows in 5 folds: 72 are left without one fold, 54 without two.
        if (sample.rows() as f64) < self.0 {
            return Err(Error::shape("rows that it needs", self.0 as usize, sample.rows()));
        }
        plain_ridge(1.0).fit(sample, run)
    }
}

#[test]
fn a_member_that_fails_only_without_two_folds_is_handled_as_any_other() {
    let (x, y) = bent(90, 19);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = |on_failure| {
        let stack = Stack::default()
            .member(Fragile(60.0))
            .members(learners::<Regression>(&["mean", "tree"]));
        stack.folds(5).check(Check::Nested).on_failure(on_failure)
    };
    let error = stack(OnFailure::Stop).fit_ensemble(&sample, &run()).unwrap_err().to_string();
    assert!(error.contains("fragile") && error.contains("rows that it needs"), "{error}");
    let ensemble = stack(OnFailure::Drop).fit_ensemble(&sample, &run()).unwrap();
    assert_eq!(ensemble.names().collect::<Vec<_>>(), ["mean", "tree"]);
    assert_eq!(ensemble.matrix().unwrap().failures()[0].0, "fragile");
}

#[test]
fn a_tuned_learner_is_the_best_rung_of_its_ladder() {
    let (x, y) = bent(120, 20);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let tuned = Regression::learner(&spec("tuned(of=[neighbours(k=[1, 5, 100]), mean])")).unwrap();
    assert_eq!(tuned.members(), ["tuned(neighbours, mean)"]);
    let model = tuned.fit(&sample, &run()).unwrap().remove(0);
    let five = Regression::learner(&spec("neighbours(k=5)")).unwrap().fit(&sample, &run()).unwrap();
    let predictions = |model: &dyn Fitted<Regression>| predict(model, x.rows(), &run()).unwrap();
    assert_eq!(predictions(model.as_ref()), predictions(five[0].as_ref()));
}

#[test]
fn nested_checks_need_a_partition() {
    let (x, y) = bent(40, 21);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let stack = Stack::default().members(learners::<Regression>(&["mean", "tree"]));
    let error = stack.folds(2).check(Check::Nested).fit_ensemble(&sample, &run()).unwrap_err();
    assert!(error.to_string().contains("3 folds"), "{error}");
}

/// Remembers its rows; of others it knows nothing.
#[derive(Debug)]
struct Memoriser;

#[derive(Debug)]
struct Memory(Vec<(Vec<f64>, f64)>);

impl Learner<Regression> for Memoriser {
    fn members(&self) -> Vec<String> {
        vec!["memoriser".into()]
    }
    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        _: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let rows = sample.x().iter().zip(sample.target());
        Ok(vec![Box::new(Memory(rows.map(|(x, y)| (x.to_vec(), *y)).collect()))])
    }
}

impl Fitted<Regression> for Memory {
    fn width(&self) -> usize {
        1
    }
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        for (row, out) in x.iter().zip(out) {
            *out = self.0.iter().find(|(seen, _)| seen == row).map_or(1e3, |(_, y)| *y);
        }
        Ok(())
    }
    fn record(&self) -> Result<Record> {
        Err(Error::shape("a record", 1, 0))
    }
}

/// On its own rows it is perfect, which a naive weighing would believe.
#[test]
fn a_memorising_learner_gets_no_weight() {
    let (x, y) = bent(120, 22);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    for text in ["simplex", "non-negative", "best", "greedy"] {
        let stack = Stack::choosing(vec![combiner::<Regression>(&spec(text)).unwrap()]);
        let stack = stack.member(Memoriser).members(learners::<Regression>(&["ridge(lambda=1)"]));
        let ensemble = stack.folds(5).check(Check::Nested).fit_ensemble(&sample, &run()).unwrap();
        // What is left is the shift of a constant 1000, by less than the noise.
        assert!(ensemble.combination().weights().unwrap()[0] < 1e-4, "{text}");
        let memory = predict(ensemble.models().next().unwrap(), x.rows(), &run()).unwrap();
        assert_eq!(memory, y);
        let assessment = ensemble.assessment().unwrap();
        assert!(assessment.gain_over_best.mean.abs() < 0.01, "{assessment:?}");
    }
}
