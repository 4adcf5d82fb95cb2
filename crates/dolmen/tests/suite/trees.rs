//! Decision trees agree with scikit-learn, and boosting does what its parts promise.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use dolmen::catalogue::Catalogued;
use dolmen::error::Error;
use dolmen::learner::tree::boost::loss::{Link, Loss};
use dolmen::learner::tree::cart::{Alpha, DecisionTree};
use dolmen::learner::tree::{Boost, FittedBoost};
use dolmen::learner::{Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Features, Field, Kind, Schema};
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    columns: usize,
    x: Vec<f64>,
    y: Vec<f64>,
    classes: Vec<u32>,
    weights: Vec<f64>,
    fresh: Vec<f64>,
    cases: Vec<Case>,
    paths: Paths,
}

#[derive(Deserialize)]
struct Case {
    task: String,
    weighted: bool,
    spec: String,
    leaves: usize,
    predictions: Vec<f64>,
    importance: Vec<f64>,
}

#[derive(Deserialize)]
struct Paths {
    regression: Vec<f64>,
    classification: Vec<f64>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("../fixtures/trees.json")).unwrap()
}

fn run() -> Run {
    Run::with_threads(3, 2).unwrap()
}

fn labels(codes: &[u32], classes: usize) -> Labels {
    let names: Vec<String> = (0..classes).map(|c| c.to_string()).collect();
    Labels::new(names, codes.to_vec()).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{what}: {found} for {expected}");
    }
}

#[test]
fn imagined_rows_are_shared_by_the_classes() {
    let x = Features::numeric((0..8).map(f64::from).collect(), 1).unwrap();
    let classes = labels(&[0, 0, 0, 0, 1, 1, 2, 2], 4);
    let sample = Sample::<Classification>::new(x.rows(), &classes).unwrap();
    let tree = DecisionTree { min_leaf: 8.0, alpha: Alpha::Given(0.0), ..DecisionTree::default() };
    let model = tree.fit(&sample, &run()).unwrap().remove(0);
    let said = predict(model.as_ref(), x.rows().slice(0..1), &run()).unwrap();
    assert_close(&said, &[4.5 / 10.0, 2.5 / 10.0, 2.5 / 10.0, 0.5 / 10.0], "one leaf");
}

#[test]
fn trees_are_those_of_scikit_learn() {
    let fixture = fixture();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let fresh = Features::numeric(fixture.fresh, fixture.columns).unwrap();
    let labels = labels(&fixture.classes, 3);
    for case in &fixture.cases {
        let spec = Spec::parse(&format!("tree({})", case.spec)).unwrap();
        let tree: DecisionTree = spec.read().unwrap();
        let weights =
            if case.weighted { fixture.weights.clone() } else { vec![1.0; x.rows().rows()] };
        let (model, found) = if case.task == "regression" {
            let sample = Sample::<Regression>::new(x.rows(), &fixture.y).unwrap();
            let model = tree.fit_regression(&sample.counted(&weights).unwrap(), &run()).unwrap();
            let found = predict::<Regression>(&model, fresh.rows(), &run()).unwrap();
            (model, found)
        } else {
            let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
            let model =
                tree.fit_classification(&sample.counted(&weights).unwrap(), &run()).unwrap();
            let found = predict::<Classification>(&model, fresh.rows(), &run()).unwrap();
            (model, found)
        };
        let what = format!("{} {}", case.task, case.spec);
        assert_eq!(model.tree().leaves(), case.leaves, "{what}");
        assert_close(&found, &case.predictions, &what);
        assert_close(model.importance(), &case.importance, &what);
    }
}

#[test]
fn the_pruning_path_is_that_of_scikit_learn() {
    let fixture = fixture();
    let x = Features::numeric(fixture.x, fixture.columns).unwrap();
    let tree = DecisionTree { min_leaf: 4.0, alpha: Alpha::Given(0.0), ..DecisionTree::default() };
    let sample = Sample::<Regression>::new(x.rows(), &fixture.y).unwrap();
    let model = tree.fit_regression(&sample, &run()).unwrap();
    // Theirs begins with 0, where nothing is pruned.
    assert_close(model.alphas(), &fixture.paths.regression[1..], "variance");
    let labels = labels(&fixture.classes, 3);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let model = tree.fit_classification(&sample, &run()).unwrap();
    assert_close(model.alphas(), &fixture.paths.classification[1..], "gini");
}

#[test]
fn alpha_by_cross_validation_finds_the_step_in_the_noise() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let x: Vec<f64> = (0..400).map(|_| rng.random::<f64>()).collect();
    let y: Vec<f64> =
        x.iter().map(|x| f64::from(u8::from(*x > 0.4)) + rng.random::<f64>() - 0.5).collect();
    let x = Features::numeric(x, 1).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let leaves =
        |tree: &DecisionTree| tree.fit_regression(&sample, &run()).unwrap().tree().leaves();
    let full = DecisionTree { alpha: Alpha::Given(0.0), ..DecisionTree::default() };
    assert!(leaves(&full) > 200);
    let chosen = leaves(&DecisionTree::default());
    assert!((2..=8).contains(&chosen), "{chosen}");
    assert_eq!(leaves(&DecisionTree { one_se: true, ..DecisionTree::default() }), 2);
}

/// A table with a wave, a missing part, a category and noise.
fn table(rows: usize) -> (Features, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let levels: Arc<[String]> = ["a", "b", "c", "never"].map(String::from).into();
    let mut fields: Vec<Field> =
        (0..10).map(|j| Field { name: format!("x{j}"), kind: Kind::Numeric }).collect();
    fields.push(Field { name: "c".into(), kind: Kind::Categorical { levels } });
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let mut row: Vec<f64> = (0..10).map(|_| rng.random::<f64>()).collect();
        row.push(f64::from(rng.random_range(0..3)));
        let mut value = (6.0 * row[0]).sin() + row[1] + if row[10] == 1.0 { 2.0 } else { 0.0 };
        if rng.random::<f64>() < 0.1 {
            row[2] = f64::NAN;
            value += 1.0;
        }
        y.push(value + 0.3 * (rng.random::<f64>() - 0.5));
        x.extend(row);
    }
    (Features::new(x, Arc::new(Schema::new(fields))).unwrap(), y)
}

fn boosted(boost: &Boost, x: &Features, y: &[f64], run: &Run) -> FittedBoost {
    let loss = dolmen::learner::tree::boost::loss::Squared;
    boost.fit_loss(&loss, x.rows(), y, None, run).unwrap()
}

fn mean_square(model: &FittedBoost, x: &Features, y: &[f64]) -> f64 {
    let scores = model.scores(x.rows()).unwrap();
    scores.iter().zip(y).map(|(s, y)| (s - y).powi(2)).sum::<f64>() / y.len() as f64
}

#[test]
fn scores_are_sums_over_trees_and_the_same_on_any_number_of_threads() {
    let (x, y) = table(9000);
    let boost = Boost { rounds: Some(20), ..Boost::default() };
    let model = boosted(&boost, &x, &y, &run());
    let scores = model.scores(x.rows()).unwrap();
    let start = y.iter().sum::<f64>() / y.len() as f64;
    for (row, score) in x.rows().iter().zip(&scores) {
        let walked: f64 = model.trees().iter().map(|tree| tree.value(tree.leaf(row))[0]).sum();
        assert!((walked + start - score).abs() < 1e-9);
    }
    let one = boosted(&boost, &x, &y, &Run::with_threads(3, 1).unwrap());
    let bits = |model: &FittedBoost| -> Vec<u64> {
        model.scores(x.rows()).unwrap().iter().map(|s| s.to_bits()).collect()
    };
    assert_eq!(bits(&one), bits(&model));
    assert!(mean_square(&model, &x, &y) < 0.1, "{}", mean_square(&model, &x, &y));
    assert!((model.importance().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(model.importance()[10] > 0.2 && model.importance()[2] > 0.02);
}

#[test]
fn an_unseen_category_goes_the_way_of_missing_values() {
    let (x, y) = table(2000);
    let model = boosted(&Boost { rounds: Some(10), ..Boost::default() }, &x, &y, &run());
    let row = |category: f64| {
        let mut values = x.rows().row(0).to_vec();
        values[10] = category;
        let features = Features::new(values, x.rows().schema().clone()).unwrap();
        model.scores(features.rows()).unwrap()[0]
    };
    assert_eq!(row(3.0), row(f64::NAN));
    assert_eq!(row(4.0), row(f64::NAN));
    assert_ne!(row(0.0), row(1.0));
}

#[test]
fn monotone_columns_are_monotone() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let values: Vec<f64> = (0..3000).map(|_| rng.random::<f64>()).collect();
    let noisy = |row: &[f64]| (9.0 * row[0]).sin() + row[0] - 2.0 * row[1] + (7.0 * row[2]).cos();
    let y: Vec<f64> = values.chunks(3).map(|row| noisy(row) + rng.random::<f64>()).collect();
    let x = Features::numeric(values, 3).unwrap();
    let (increasing, decreasing) = (vec!["x1".into()], vec!["x2".into()]);
    let free =
        boosted(&Boost { rounds: Some(60), min_leaf: 5.0, ..Boost::default() }, &x, &y, &run());
    let bound =
        Boost { rounds: Some(60), min_leaf: 5.0, increasing, decreasing, ..Boost::default() };
    let bound = boosted(&bound, &x, &y, &run());
    let falls = |model: &FittedBoost, column: usize| -> (usize, usize) {
        let (mut falls, mut rises) = (0, 0);
        for start in 0..20 {
            let at = |step: usize| {
                let mut row = x.rows().row(start).to_vec();
                row[column] = step as f64 / 50.0;
                row
            };
            let rows = Features::numeric((0..50).flat_map(at).collect(), 3).unwrap();
            let scores = model.scores(rows.rows()).unwrap();
            falls += scores.windows(2).filter(|pair| pair[1] < pair[0]).count();
            rises += scores.windows(2).filter(|pair| pair[1] > pair[0]).count();
        }
        (falls, rises)
    };
    assert!(falls(&free, 0).0 > 0 && falls(&free, 1).1 > 0);
    assert!(falls(&bound, 0).0 == 0 && falls(&bound, 0).1 > 0);
    assert!(falls(&bound, 1).1 == 0 && falls(&bound, 1).0 > 0);
    assert!(falls(&bound, 2).0 > 0 && falls(&bound, 2).1 > 0);
}

#[test]
fn boosting_stops_early_where_more_rounds_only_fit_noise() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let values: Vec<f64> = (0..4000).map(|_| rng.random::<f64>()).collect();
    let y: Vec<f64> = values.chunks(2).map(|row| row[0] + 2.0 * rng.random::<f64>()).collect();
    let x = Features::numeric(values, 2).unwrap();
    let model = boosted(&Boost::default(), &x, &y, &run());
    assert!((5..200).contains(&model.rounds()), "{}", model.rounds());
    let all = boosted(&Boost { rounds: Some(300), ..Boost::default() }, &x, &y, &run());
    assert_eq!(all.rounds(), 300);
    let patient = Boost { rounds: Some(300), patience: Some(5), ..Boost::default() };
    assert!(boosted(&patient, &x, &y, &run()).rounds() < 200);
}

#[test]
fn a_row_of_weight_two_counts_as_two_rows() {
    let (x, y) = table(600);
    let codes: Vec<u32> = y.iter().map(|y| u32::from(*y > 1.0)).collect();
    let weights: Vec<f64> = (0..600).map(|i| f64::from(i % 3)).collect();
    let twice: Vec<usize> = (0..600).flat_map(|i| vec![i; i % 3]).collect();
    let labels = labels(&codes, 2);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let copies = sample.select(&twice);
    for text in
        ["boost(rounds=10)", "tree(min_leaf=6, alpha=0.002)", "tree(criterion=entropy, alpha=0)"]
    {
        let learner = Classification::learner(&Spec::parse(text).unwrap()).unwrap();
        let fit = |sample: &Sample<'_, Classification>| {
            let model = learner.fit(sample, &run()).unwrap().remove(0);
            predict(model.as_ref(), x.rows(), &run()).unwrap()
        };
        let weighted = fit(&sample.counted(&weights).unwrap());
        assert_close(&weighted, &fit(&copies.borrow()), text);
    }
}

/// Gentle AdaBoost (FriedmanHastieTibshirani2000, algorithm 4): each stump is the weighted least-squares fit to the signs z
/// under the weights exp(-z F). That is what Newton's step on the exponential loss must be.
#[test]
fn exponential_loss_on_stumps_is_gentle_adaboost() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let values: Vec<f64> = (0..400).map(|_| (rng.random::<f64>() * 20.0).floor()).collect();
    let is_one = |row: &[f64]| row[0] + row[1] + 10.0 * rng.random::<f64>() > 22.0;
    let codes: Vec<u32> = values.chunks(2).map(is_one).map(u32::from).collect();
    let x = Features::numeric(values, 2).unwrap();
    let targets: Vec<f64> = codes.iter().map(|c| f64::from(*c)).collect();
    let boost =
        Boost { rounds: Some(4), rate: 1.0, leaves: 2, l2: 0.0, min_leaf: 1.0, ..Boost::default() };
    let loss = dolmen::learner::tree::boost::loss::Exponential;
    let model = boost.fit_loss(&loss, x.rows(), &targets, None, &run()).unwrap();
    let signs: Vec<f64> = codes.iter().map(|c| 2.0 * f64::from(*c) - 1.0).collect();
    let ones = f64::from(codes.iter().sum::<u32>());
    let mut scores = vec![0.5 * (ones / (200.0 - ones)).ln(); 200];
    for tree in model.trees() {
        let weights: Vec<f64> = signs.iter().zip(&scores).map(|(z, f)| (-z * f).exp()).collect();
        // The weighted square explained by a stump, and its means.
        let stump = |column: usize, threshold: f64| {
            let mut sums = [[0.0; 2]; 2];
            for (i, row) in x.rows().iter().enumerate() {
                let side = &mut sums[usize::from(row[column] > threshold)];
                side[0] += weights[i] * signs[i];
                side[1] += weights[i];
            }
            let explained: f64 =
                sums.iter().filter(|s| s[1] > 0.0).map(|s| s[0] * s[0] / s[1]).sum();
            (explained, sums.map(|s| s[0] / s[1]))
        };
        let all = (0..2).flat_map(|column| (0..19).map(move |cut| (column, f64::from(cut) + 0.5)));
        let best = all.map(|(c, t)| stump(c, t)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        for (leaf, mean) in best.1.iter().enumerate() {
            assert!((tree.value(leaf)[0] - mean).abs() < 1e-5, "{:?} {best:?}", tree.values());
        }
        for (score, row) in scores.iter_mut().zip(x.rows().iter()) {
            *score += tree.value(tree.leaf(row))[0];
        }
    }
}

#[test]
fn absolute_loss_puts_medians_into_leaves() {
    let (x, y) = table(500);
    let spec = "boost(loss=absolute, rounds=1, rate=1, leaves=5)";
    let learner = Regression::learner(&Spec::parse(spec).unwrap()).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let model = learner.fit(&sample, &run()).unwrap().remove(0);
    let found = predict(model.as_ref(), x.rows(), &run()).unwrap();
    let mut leaves: Vec<(u64, Vec<f64>)> = Vec::new();
    for (found, y) in found.iter().zip(&y) {
        match leaves.iter_mut().find(|leaf| leaf.0 == found.to_bits()) {
            Some(leaf) => leaf.1.push(*y),
            None => leaves.push((found.to_bits(), vec![*y])),
        }
    }
    assert_eq!(leaves.len(), 5);
    for (bits, mut values) in leaves {
        values.sort_by(f64::total_cmp);
        let middle = f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]);
        assert!((f64::from_bits(bits) - middle).abs() < 1e-9);
    }
}

#[test]
fn a_quantile_is_one() {
    let (x, y) = table(4000);
    let spec = "boost(loss=quantile, quantile=0.9, rounds=1, rate=1)";
    let learner = Regression::learner(&Spec::parse(spec).unwrap()).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let model = learner.fit(&sample, &run()).unwrap().remove(0);
    let found = predict(model.as_ref(), x.rows(), &run()).unwrap();
    let below = found.iter().zip(&y).filter(|(found, y)| y < found).count() as f64 / 4000.0;
    // Each of the 31 leaves is right to within a row.
    assert!((below - 0.9).abs() <= 31.0 / 4000.0, "{below}");
}

#[test]
fn one_enormous_target_does_not_coarsen_the_others() {
    let (x, mut y) = table(3000);
    let plain = boosted(&Boost { rounds: Some(30), ..Boost::default() }, &x, &y, &run());
    let error = mean_square(&plain, &x, &y);
    let largest =
        (0..3000).max_by(|&a, &b| x.rows().row(a)[3].total_cmp(&x.rows().row(b)[3])).unwrap();
    y[largest] = 1e9;
    // A leaf of its own takes the outlier away; what is left is as good as before.
    let boost = Boost { rounds: Some(60), min_leaf: 1.0, l2: 0.0, rate: 0.9, ..Boost::default() };
    let model = boosted(&boost, &x, &y, &run());
    let scores = model.scores(x.rows()).unwrap();
    let rest: f64 = (0..3000).filter(|&i| i != largest).map(|i| (scores[i] - y[i]).powi(2)).sum();
    assert!(rest / 3000.0 < 10.0 * error, "{} {error}", rest / 3000.0);
}

/// ln cosh(y - F), a loss of one's own.
#[derive(Debug)]
struct LogCosh;

impl Loss for LogCosh {
    fn start(&self, targets: &[f64], weights: &[f64]) -> Vec<f64> {
        let total: f64 = weights.iter().sum();
        vec![targets.iter().zip(weights).map(|(y, w)| w * y).sum::<f64>() / total]
    }
    fn loss(&self, target: f64, scores: &[f64]) -> f64 {
        (target - scores[0]).cosh().ln()
    }
    fn gradients(&self, targets: &[f64], scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        for (i, (y, score)) in targets.iter().zip(scores).enumerate() {
            g[i] = (score - y).tanh();
            h[i] = 1.0 - g[i] * g[i];
        }
    }
    fn link(&self) -> Link {
        Link::Identity
    }
}

#[test]
fn a_loss_of_ones_own_is_descended_on() {
    let (x, y) = table(1000);
    let boost = Boost { rounds: Some(40), ..Boost::default() };
    let model = boost.fit_loss(&LogCosh, x.rows(), &y, None, &run()).unwrap();
    assert!(mean_square(&model, &x, &y) < 0.15, "{}", mean_square(&model, &x, &y));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let (x, y) = table(60);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    for text in [
        "boost(rounds=0)",
        "boost(leaves=1)",
        "boost(rate=0)",
        "boost(rows=1.5)",
        "boost(bins=300)",
        "boost(loss=logistic)",
        "boost(loss=poisson)",
        "boost(increasing=[nowhere])",
        "boost(increasing=[x1], decreasing=[x1])",
        "boost(decreasing=[c])",
        "tree(depth=0)",
        "tree(alpha=-1)",
        "tree(criterion=gini)",
        "tree(folds=1)",
    ] {
        let learner = Regression::learner(&Spec::parse(text).unwrap());
        let error = learner.and_then(|learner| learner.fit(&sample, &run())).unwrap_err();
        assert!(matches!(error, Error::Param { .. }), "{text}: {error}");
    }
}
