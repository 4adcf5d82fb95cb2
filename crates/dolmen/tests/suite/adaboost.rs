//! AdaBoost: agreement with scikit-learn, its endings, and any learner in place of stumps.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::catalogue::Catalogue;
use dolmen::ensemble::{AdaBoost, FittedAdaBoost};
use dolmen::learner::Stored;
use dolmen::learner::tree::Forest;
use dolmen::learner::{Diagnostics, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::Classification;
use serde::Deserialize;

/// One fit of scikit-learn's.
#[derive(Deserialize)]
struct Case {
    x: Vec<Vec<f64>>,
    y: Vec<u32>,
    weights: Option<Vec<f64>>,
    rounds: usize,
    alphas: Vec<f64>,
    errors: Vec<f64>,
    decision: serde_json::Value,
}

fn cases() -> std::collections::BTreeMap<String, Case> {
    serde_json::from_str(include_str!("../fixtures/adaboost.json")).unwrap()
}

fn features(rows: &[Vec<f64>]) -> Features {
    Features::numeric(rows.concat(), rows[0].len()).unwrap()
}

fn labels(codes: &[u32]) -> Labels {
    let classes = codes.iter().max().unwrap() + 1;
    Labels::new((0..classes).map(|c| c.to_string()).collect::<Vec<_>>(), codes.to_vec()).unwrap()
}

/// Fits, and gives the fitted vote through its record, with its chances of the rows.
fn fit(learner: &AdaBoost, sample: &Sample<'_, Classification>) -> (FittedAdaBoost, Vec<f64>) {
    let run = Run::with_threads(0, 2).unwrap();
    let model = learner.fit(sample, &run).unwrap().remove(0);
    let registry = Catalogue::standard().registry();
    let fitted = FittedAdaBoost::restore(&model.record().unwrap(), registry).unwrap();
    let chances = predict(model.as_ref(), sample.x(), &run).unwrap();
    (fitted, chances)
}

fn series(diagnostics: &Diagnostics, name: &str) -> Vec<f64> {
    diagnostics.series.iter().find(|series| series.name == name).unwrap().values.clone()
}

fn assert_close(ours: &[f64], theirs: &[f64], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (round, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() < 1e-6, "{what} {round}: {a} and {b}");
    }
}

#[test]
fn weights_and_errors_are_those_of_scikit_learn() {
    for (name, case) in cases() {
        let (x, y) = (features(&case.x), labels(&case.y));
        let mut sample = Sample::new(x.rows(), &y).unwrap();
        if let Some(weights) = &case.weights {
            sample = sample.counted(weights).unwrap();
        }
        let run = Run::with_threads(0, 1).unwrap();
        let model = AdaBoost::stumps(case.rounds).fit(&sample, &run).unwrap().remove(0);
        let diagnostics = model.diagnostics();
        assert_close(&series(&diagnostics, "alpha"), &case.alphas, &format!("{name}: alpha"));
        assert_close(&series(&diagnostics, "error"), &case.errors, &format!("{name}: error"));
        assert_eq!(diagnostics.iterations, Some(case.alphas.len()));
    }
}

#[test]
fn chances_follow_the_votes_of_scikit_learn() {
    let case = &cases()["two"];
    let (x, y) = (features(&case.x), labels(&case.y));
    let sample = Sample::new(x.rows(), &y).unwrap();
    let (fitted, chances) = fit(&AdaBoost::stumps(case.rounds), &sample);
    let total: f64 = fitted.alphas().iter().sum();
    // Their decision is twice the difference of the votes over the sum of the weights.
    let decision: Vec<f64> = serde_json::from_value(case.decision.clone()).unwrap();
    for (row, decision) in chances.chunks(2).zip(decision) {
        let votes = (row[1] / row[0]).ln() / fitted.scale();
        assert!((votes - decision * total / 2.0).abs() < 1e-6, "{votes} {decision}");
    }
}

#[test]
fn any_learner_can_be_boosted() {
    let case = &cases()["two"];
    let (x, y) = (features(&case.x), labels(&case.y));
    let sample = Sample::new(x.rows(), &y).unwrap();
    // A forest of one tree that sees everything and splits once is a stump.
    let stump = Forest {
        trees: 1,
        columns: Some(3),
        depth: Some(1),
        min_leaf: Some(0.0),
        smoothing: 0.0,
        bootstrap: Some(false),
        ..Forest::default()
    };
    let learner: std::sync::Arc<dyn Learner<Classification>> = std::sync::Arc::new(stump);
    let (generic, chances) = fit(&AdaBoost::of(learner, case.rounds), &sample);
    let (fast, expected) = fit(&AdaBoost::stumps(case.rounds), &sample);
    assert_close(generic.alphas(), fast.alphas(), "alpha");
    assert_close(&chances, &expected, "chance");
}

#[test]
fn a_round_without_errors_is_the_last() {
    let x = Features::numeric((0..20).map(f64::from).collect(), 1).unwrap();
    let y = labels(&(0..20).map(|i| u32::from(i > 11)).collect::<Vec<_>>());
    let (fitted, chances) = fit(&AdaBoost::stumps(30), &Sample::new(x.rows(), &y).unwrap());
    assert_eq!(fitted.errors(), [0.0]);
    assert!(chances[0] > 0.97 && chances[39] > 0.97, "{chances:?}");
}

#[test]
fn guessing_no_better_than_chance_ends_with_the_frequencies() {
    // Every value has both classes equally often.
    let x = Features::numeric((0..40).map(|i| f64::from(i / 2 % 2)).collect(), 1).unwrap();
    let y = labels(&(0..40).map(|i| i % 2).collect::<Vec<_>>());
    let (fitted, chances) = fit(&AdaBoost::stumps(30), &Sample::new(x.rows(), &y).unwrap());
    assert!(fitted.alphas().is_empty());
    assert_eq!(chances, vec![0.5; 80]);
}

#[test]
fn wrong_parameters_are_refused() {
    let x = Features::numeric(vec![0.0, 1.0], 1).unwrap();
    let y = labels(&[0, 1]);
    let sample = Sample::new(x.rows(), &y).unwrap();
    let run = Run::with_threads(0, 1).unwrap();
    for learner in [AdaBoost::stumps(0), AdaBoost::trees(5, 0)] {
        assert!(learner.fit(&sample, &run).is_err(), "{learner:?}");
    }
}
