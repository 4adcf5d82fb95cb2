//! Joint probabilities: LMG as a problem of weights, and generative learners as members of a stack.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::combine::weigh::{Errors, WeighOptions, weigh};
use dolmen::combine::{Method, Weighable, Weights};
use dolmen::ensemble::{Ensemble, Stack};
use dolmen::learner::Stored;
use dolmen::learner::refit;
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::oos::OutOfSample;
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::solver::problem::WeightProblem;
use dolmen::solver::simplex::{JointScore, LmgOptions};
use dolmen::spec::Spec;
use dolmen::table::{Features, Field, Kind, Schema};
use dolmen::target::{Labels, Target};
use dolmen::task::{Classification, Joint};
use proptest::prelude::*;
use serde_json::Value;

fn run() -> Run {
    Run::with_threads(0, 2).unwrap()
}

fn golden() -> Value {
    serde_json::from_str(include_str!("../fixtures/one_dependence.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(parts) => parts.iter().flat_map(numbers).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}: {found:?}, {expected:?}");
    }
}

/// The mean of row scores, each with its share.
fn weighted_mean(scores: &[f64], shares: &[f64]) -> f64 {
    let counted = scores.iter().zip(shares).filter(|(_, share)| **share > 0.0);
    counted.map(|(score, share)| score * share).sum()
}

/// What the reference's four one-dependence estimators say of rows left out.
fn golden_matrix() -> OutOfSample<Joint> {
    let golden = golden();
    let codes = numbers(&golden["y"]).iter().map(|c| *c as u32).collect();
    let labels = Labels::new(["0", "1", "2"].map(String::from), codes).unwrap();
    let columns = golden["ode_log_joint_loo"].as_array().unwrap();
    let member = |(u, column): (usize, &Value)| (format!("ode {u}"), numbers(column));
    let members = columns.iter().enumerate().map(member).collect();
    OutOfSample::from_columns(members, labels, None).unwrap()
}

#[test]
fn weighing_joint_columns_gives_the_reference_weights() {
    let golden = golden();
    let matrix = golden_matrix();
    let weights = Weights { prior: 2.0, ..Weights::default() };
    let options = WeighOptions { weights, draws: 20, ..WeighOptions::default() };
    let weighing = weigh(&matrix, &options, &run()).unwrap();
    let found: Vec<f64> = weighing.members.iter().map(|member| member.weight).collect();
    close(&found, &numbers(&golden["maplmg"]["weights"]), 1e-9);
    assert!(weighing.kkt_residual.unwrap() <= 1e-8 && weighing.converged);
    assert_eq!((weighing.task.name(), weighing.rows), ("joint", matrix.rows()));
}

/// The objective of FORMULAS section 4, without its prior, written out.
fn objective(matrix: &OutOfSample<Joint>, alpha: &[f64]) -> f64 {
    let mixed = |i: usize, c: usize| -> f64 {
        alpha.iter().enumerate().map(|(u, a)| a * matrix.row(u, i)[c].exp()).sum()
    };
    let row = |i: usize| {
        let all: f64 = (0..matrix.width()).map(|c| mixed(i, c)).sum();
        (mixed(i, matrix.target().class(i)) / all).ln()
    };
    (0..matrix.rows()).map(row).sum()
}

#[test]
fn scores_objective_and_gradient_are_those_of_the_formula() {
    let golden = golden();
    let point = &golden["maplmg"]["check_point"];
    let alpha = numbers(&point["alpha"]);
    let matrix = golden_matrix();
    let problem = Joint::problem(&matrix).unwrap();
    let scores: f64 = problem.row_scores(&alpha).iter().sum();
    assert!((scores - objective(&matrix, &alpha)).abs() < 1e-10);
    let log_prior: f64 = alpha.iter().map(|a| a.ln()).sum();
    assert!((scores + log_prior - point["log_posterior"].as_f64().unwrap()).abs() < 1e-9);
    // The gradient, by differences of the row scores.
    let step = 1e-6;
    for (u, expected) in numbers(&point["gradient"]).into_iter().enumerate() {
        let moved = |by: f64| {
            let mut alpha = alpha.clone();
            alpha[u] += by;
            objective(&matrix, &alpha) + alpha.iter().map(|a| a.ln()).sum::<f64>()
        };
        let slope = (moved(step) - moved(-step)) / (2.0 * step);
        assert!((slope - expected).abs() < 1e-5, "{slope} is not {expected}");
    }
}

#[test]
fn the_curvature_of_the_sandwich_is_that_of_the_score() {
    let matrix = golden_matrix();
    let problem = Joint::problem(&matrix).unwrap();
    let alpha = [0.4, 0.3, 0.2, 0.1];
    let (curvature, _) = problem.sandwich(&alpha, &[0, 1, 2, 3]);
    let (step, rows) = (1e-4, matrix.rows() as f64);
    for i in 0..4 {
        for j in 0..4 {
            let moved = |a: f64, b: f64| {
                let mut alpha = alpha;
                alpha[i] += a;
                alpha[j] += b;
                objective(&matrix, &alpha) / rows
            };
            let second =
                moved(step, step) - moved(step, -step) - moved(-step, step) + moved(-step, -step);
            let expected = -second / (4.0 * step * step);
            let found = curvature.get(i, j);
            assert!((found - expected).abs() < 1e-5, "{i} {j}: {found} is not {expected}");
        }
    }
}

#[test]
fn other_shares_and_fewer_members_are_smaller_problems() {
    let matrix = golden_matrix();
    let problem = Joint::problem(&matrix).unwrap();
    // The first ten rows alone, without the second member.
    let rows = 10;
    let mut shares = vec![0.0; matrix.rows()];
    shares[..rows].fill(1.0 / rows as f64);
    let found = problem.optimum(&shares, &[0.25; 4], &[0, 2, 3]);
    let chosen: Vec<usize> = (0..rows).collect();
    let column = |u: usize| (matrix.members()[u].clone(), matrix.column(u)[..rows * 3].to_vec());
    let smaller = OutOfSample::<Joint>::from_columns(
        [0, 2, 3].map(column).into(),
        matrix.target().select(&chosen),
        None,
    );
    let smaller = Joint::problem(&smaller.unwrap()).unwrap();
    let expected = smaller.solve(&LmgOptions::default(), &run()).unwrap();
    assert_eq!(found.weights[1], 0.0);
    close(&[found.weights[0], found.weights[2], found.weights[3]], &expected.weights, 1e-7);
    assert!((found.score - expected.score).abs() < 1e-10);
    assert!(
        (weighted_mean(&problem.row_scores(&found.weights), &shares) - found.score).abs() < 1e-12
    );
}

#[test]
fn methods_that_do_not_suit_are_refused_and_rows_without_information_left_out() {
    let matrix = golden_matrix();
    for method in [Method::Em, Method::NonNegative] {
        let options = WeighOptions { weights: method.into(), ..WeighOptions::default() };
        assert!(weigh(&matrix, &options, &run()).unwrap_err().to_string().contains("joint"));
    }
    for method in [Method::Uniform, Method::Best, Method::Greedy, Method::PseudoBma] {
        let options = WeighOptions {
            weights: method.into(),
            errors: Errors::None,
            ..WeighOptions::default()
        };
        let found = weigh(&matrix, &options, &run()).unwrap();
        assert!(found.kkt_residual.is_none());
        let total: f64 = found.members.iter().map(|member| member.weight).sum();
        assert!((total - 1.0).abs() < 1e-12);
    }
    let nothing = f64::NEG_INFINITY;
    let own = vec![vec![-1.0, nothing, -2.0], vec![-2.0, nothing, -1.0]];
    let all = vec![vec![-0.5, -0.1, -1.5], vec![-1.5, nothing, -0.5]];
    let problem = JointScore::from_log(own, all).unwrap();
    assert_eq!(problem.shares(), [0.5, 0.0, 0.5]);
    let scores = problem.row_scores(&[0.5, 0.5]);
    assert!(scores[0].is_finite() && scores[1] == nothing);
    // Without the one member that knows a row there is no way up, and no endless search for one.
    let own = vec![vec![-1.0, -1.0], vec![nothing, -1.0]];
    let all = vec![vec![-0.5, -0.5], vec![-0.5, -0.5]];
    let found = JointScore::from_log(own, all).unwrap().optimum(&[0.5, 0.5], &[0.5, 0.5], &[1]);
    assert!(!found.converged && found.score == nothing);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_optimum_meets_its_conditions_and_is_no_worse_than_the_mean(
        rows in prop::collection::vec(prop::array::uniform3((-6.0..0.0_f64, 0.01..3.0_f64)), 5..40),
    ) {
        let own: Vec<Vec<f64>> = (0..3).map(|m| rows.iter().map(|r| r[m].0).collect()).collect();
        let all: Vec<Vec<f64>> =
            (0..3).map(|m| rows.iter().map(|r| r[m].0 + r[m].1).collect()).collect();
        let problem = JointScore::from_log(own, all).unwrap();
        let found = problem.solve(&LmgOptions::default(), &run()).unwrap();
        prop_assert!(found.residual <= 1e-8, "{found:?}");
        prop_assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let score = |weights: &[f64]| {
            weighted_mean(&problem.row_scores(weights), problem.shares())
        };
        prop_assert!((score(&found.weights) - found.score).abs() < 1e-10);
        prop_assert!(found.score >= score(&[1.0 / 3.0; 3]) - 1e-10);
    }
}

/// Rows of three categories with the golden classes, or the same as numbers.
fn features(categorical: bool) -> (Features, Labels) {
    let golden = golden();
    let field = |(u, values): (usize, f64)| Field {
        name: format!("a{u}"),
        kind: if categorical {
            let levels = (0..values as usize).map(|v| v.to_string()).collect();
            Kind::Categorical { levels }
        } else {
            Kind::Numeric
        },
    };
    let fields = numbers(&golden["cards"]).into_iter().enumerate().map(field).collect();
    let wobble = |(i, v): (usize, f64)| if categorical { v } else { v + (i as f64).sin() };
    let values: Vec<f64> = numbers(&golden["X"]).into_iter().enumerate().map(wobble).collect();
    let codes = numbers(&golden["y"]).iter().map(|c| *c as u32).collect();
    let labels = Labels::new(["0", "1", "2"].map(String::from), codes).unwrap();
    (Features::new(values, Arc::new(Schema::new(fields))).unwrap(), labels)
}

fn learner(spec: &str, x: &Features) -> Box<dyn Learner<Joint>> {
    Catalogue::standard().learner_for(&Spec::parse(spec).unwrap(), x.rows().schema()).unwrap()
}

#[test]
fn ode_without_roots_has_one_member_per_column() {
    let (x, _) = features(true);
    let names = ["ode(root=a0)", "ode(root=a1)", "ode(root=a2)", "ode(root=a3)"];
    assert_eq!(learner("ode", &x).members(), names);
    assert_eq!(learner("ode(root=[a2])", &x).members(), names[2..3]);
    let stack = learner("stack(members=[ode, naive-bayes])", &x).members();
    assert_eq!(stack.len(), 1);
    assert!(stack[0].starts_with("stack(members=[ode(root=[a0, a1"), "{stack:?}");
    assert!(Joint::learner(&Spec::parse("ode").unwrap()).is_err());
    let (x, y) = features(true);
    let sample = Sample::<Joint>::new(x.rows(), &y).unwrap();
    let strange = learner("ode(root=[nothing])", &x).fit(&sample, &run()).unwrap_err();
    assert!(strange.to_string().contains("nothing"), "{strange}");
}

#[test]
fn a_stack_of_joint_members_predicts_classes_after_it_is_stored() {
    for (categorical, specs) in [
        (true, ["ode", "naive-bayes", "a2de"]),
        (false, ["bayes(density=gaussian)", "bayes(density=mixture(components=2))", "lmg-ode"]),
    ] {
        let (x, y) = features(categorical);
        let sample = Sample::<Joint>::new(x.rows(), &y).unwrap();
        let members = specs.map(|spec| learner(spec, &x));
        let ensemble = Stack::<Joint>::default().members(members).fit_ensemble(&sample, &run());
        let ensemble = ensemble.unwrap();
        let joint = predict(&ensemble, x.rows(), &run()).unwrap();
        let posterior = Joint::posteriors(&joint, 3);
        assert!(posterior.chunks(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
        let record = ensemble.record().unwrap();
        let restored =
            Ensemble::<Joint>::restore(&record, Catalogue::standard().registry()).unwrap();
        assert_eq!(predict(&restored, x.rows(), &run()).unwrap(), joint);
        // Three classes are guessed right by one in three.
        let right = posterior
            .chunks(3)
            .enumerate()
            .filter(|(i, row)| dolmen::math::first_largest(row) == y.class(*i));
        assert!(right.count() > x.rows().rows() / 2);
    }
}

#[test]
fn a_joint_model_and_the_classifier_of_the_same_name_say_the_same() {
    let (x, y) = features(true);
    let joint = Sample::<Joint>::new(x.rows(), &y).unwrap();
    let classes = Sample::<Classification>::new(x.rows(), &y).unwrap();
    for spec in ["naive-bayes", "aode", "a2de(threshold=2)", "bma-aode", "lmg-ode"] {
        let model = &learner(spec, &x).fit(&joint, &run()).unwrap()[0];
        let said = predict(model.as_ref(), x.rows(), &run()).unwrap();
        let other = Classification::learner(&Spec::parse(spec).unwrap()).unwrap();
        let other = &other.fit(&classes, &run()).unwrap()[0];
        let expected = predict(other.as_ref(), x.rows(), &run()).unwrap();
        close(&Joint::posteriors(&said, 3), &expected, 1e-12);
    }
}

#[test]
fn counts_shared_by_folds_are_those_of_each_fold() {
    let (x, y) = features(true);
    let weights: Vec<f64> = (0..x.rows().rows()).map(|i| (i % 3) as f64).collect();
    let plain = Sample::<Joint>::new(x.rows(), &y).unwrap();
    let folds = Plan::in_turn(plain.rows(), 4);
    // Folds, and all pairs of them as one plan.
    let plans = [folds.of_pairs(), folds];
    for (sample, plan) in
        plans.iter().flat_map(|plan| [(plain, plan), (plain.counted(&weights).unwrap(), plan)])
    {
        for spec in ["naive-bayes", "ode", "aode(threshold=2)", "a2de", "bma-aode", "lmg-ode"] {
            let learner = learner(spec, &x);
            let shared = learner.out_of_sample(&sample, plan, &run()).unwrap();
            let slow = refit(learner.as_ref(), &sample, plan, &run()).unwrap();
            for (a, b) in shared.splits.iter().flatten().zip(slow.splits.iter().flatten()) {
                close(a, b, 1e-12);
            }
        }
    }
}
