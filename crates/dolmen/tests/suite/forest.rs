//! Forests: a slow oracle for their trees, what they tell of themselves, and the inputs they must bear.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use dolmen::catalogue::Catalogue;
use dolmen::learner::Stored;
use dolmen::learner::tree::forest::{ClassWeights, Importance};
use dolmen::learner::tree::{ExtraTrees, FittedForest, Forest};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::table::{Features, Field, Kind, Rows, Schema};
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of normal-like columns, and a number that the first two of them make.
fn numbers(rows: usize, columns: usize, seed: u64) -> (Features, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut cell = || (0..4).map(|_| rng.random::<f64>() - 0.5).sum::<f64>();
    let values: Vec<f64> = (0..rows * columns).map(|_| cell()).collect();
    let y =
        values.chunks(columns).map(|row| row[0] + (4.0 * row[1]).sin() + 0.3 * cell()).collect();
    (Features::numeric(values, columns).unwrap(), y)
}

fn two_classes(y: &[f64]) -> Labels {
    let codes = y.iter().map(|y| u32::from(*y > 0.3)).collect();
    Labels::new(["no", "yes"].map(String::from), codes).unwrap()
}

/// One tree that sees all rows and columns.
fn single(columns: usize, min_leaf: f64) -> Forest {
    Forest {
        trees: 1,
        columns: Some(columns),
        min_leaf: Some(min_leaf),
        smoothing: 0.0,
        bootstrap: Some(false),
        ..Forest::default()
    }
}

fn fit_numbers(learner: &dyn Learner<Regression>, x: Rows<'_>, y: &Vec<f64>) -> Vec<f64> {
    let run = Run::with_threads(3, 2).unwrap();
    let model = learner.fit(&Sample::new(x, y).unwrap(), &run).unwrap().remove(0);
    predict(model.as_ref(), x, &run).unwrap()
}

fn fit_classes(
    learner: &dyn Learner<Classification>,
    sample: &Sample<'_, Classification>,
) -> FittedForest<Classification> {
    let run = Run::with_threads(3, 2).unwrap();
    let model = learner.fit(sample, &run).unwrap().remove(0);
    FittedForest::restore(&model.record().unwrap(), Catalogue::standard().registry()).unwrap()
}

/// The regression tree of BreimanEtAl1984 by trying everything: what it predicts for its own rows.
fn oracle(x: &Features, y: &[f64], rows: &[usize], min_leaf: usize, out: &mut [f64]) {
    let mean = |rows: &[usize]| rows.iter().map(|&i| y[i]).sum::<f64>() / rows.len() as f64;
    let worth = |rows: &[usize]| mean(rows).powi(2) * rows.len() as f64;
    let mut best = (worth(rows) + 1e-12, None);
    for j in 0..x.rows().width() {
        let mut sorted = rows.to_vec();
        sorted.sort_by(|&a, &b| x.rows().row(a)[j].total_cmp(&x.rows().row(b)[j]));
        for cut in min_leaf..=sorted.len().saturating_sub(min_leaf) {
            if cut == 0
                || cut == sorted.len()
                || x.rows().row(sorted[cut - 1])[j] == x.rows().row(sorted[cut])[j]
            {
                continue;
            }
            let reached = worth(&sorted[..cut]) + worth(&sorted[cut..]);
            if reached > best.0 {
                best = (reached, Some((sorted[..cut].to_vec(), sorted[cut..].to_vec())));
            }
        }
    }
    match best.1 {
        Some((left, right)) => {
            oracle(x, y, &left, min_leaf, out);
            oracle(x, y, &right, min_leaf, out);
        }
        None => rows.iter().for_each(|&i| out[i] = mean(rows)),
    }
}

#[test]
fn a_tree_is_that_of_the_slow_way() {
    // Two hundred distinct values a column have bins of their own.
    let (x, y) = numbers(2600, 3, 1);
    let rounded = x.rows().values().iter().map(|v| (v * 60.0).round() / 60.0).collect();
    let x = Features::numeric(rounded, 3).unwrap();
    for min_leaf in [40, 150] {
        let mut expected = vec![0.0; y.len()];
        oracle(&x, &y, &(0..y.len()).collect::<Vec<_>>(), min_leaf, &mut expected);
        let said = fit_numbers(&single(3, min_leaf as f64), x.rows(), &y);
        for (i, (a, b)) in said.iter().zip(&expected).enumerate() {
            assert!((a - b).abs() < 1e-5, "row {i}: {a} instead of {b}");
        }
    }
}

#[test]
fn a_depth_beyond_any_tree_is_none() {
    let (x, y) = numbers(60, 2, 4);
    let free = fit_numbers(&single(2, 1.0), x.rows(), &y);
    for depth in [64, u32::MAX as usize, usize::MAX] {
        let deep = Forest { depth: Some(depth), ..single(2, 1.0) };
        assert_eq!(fit_numbers(&deep, x.rows(), &y), free, "{depth}");
    }
}

#[test]
fn two_classes_are_numbers_and_three_are_like_two() {
    let (x, y) = numbers(3000, 4, 2);
    let labels = two_classes(&y);
    let indicator: Vec<f64> = labels.codes().iter().map(|&c| f64::from(c)).collect();
    let forest = Forest { trees: 3, columns: Some(2), depth: Some(5), ..single(4, 20.0) };
    let mean = fit_numbers(&forest, x.rows(), &indicator);
    let three =
        Labels::new(["no", "yes", "never"].map(String::from), labels.codes().to_vec()).unwrap();
    let run = Run::with_threads(3, 1).unwrap();
    let chances = |labels: &Labels| {
        let sample = Sample::<Classification>::new(x.rows(), labels).unwrap();
        predict(forest.fit(&sample, &run).unwrap()[0].as_ref(), x.rows(), &run).unwrap()
    };
    let (two, three) = (chances(&labels), chances(&three));
    for (i, mean) in mean.iter().enumerate() {
        assert!((two[2 * i + 1] - mean).abs() < 1e-6, "row {i}");
        assert!((three[3 * i + 1] - mean).abs() < 1e-6, "row {i}");
        assert!(three[3 * i + 2].abs() < 1e-12);
    }
}

#[test]
fn a_row_of_weight_two_counts_as_two_rows() {
    let (x, y) = numbers(300, 3, 4);
    let rounded: Vec<f64> = x.rows().values().iter().map(|v| (v * 20.0).round()).collect();
    let x = Features::numeric(rounded, 3).unwrap();
    let twice: Vec<usize> = (0..300).chain((0..300).step_by(3)).collect();
    let weights: Vec<f64> = (0..300).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
    let labels = two_classes(&y);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let forest = Forest { trees: 4, columns: Some(2), depth: Some(4), ..single(3, 6.0) };
    let run = Run::with_threads(1, 1).unwrap();
    let weighted = forest.fit(&sample.counted(&weights).unwrap(), &run).unwrap();
    let repeated = forest.fit(&sample.select(&twice).borrow(), &run).unwrap();
    let said = |model: &dyn Fitted<Classification>| predict(model, x.rows(), &run).unwrap();
    for (a, b) in said(weighted[0].as_ref()).iter().zip(said(repeated[0].as_ref())) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
}

/// The out-of-bag accuracy of a forest on 12 000 rows, and its accuracy on as many fresh ones.
fn accuracies(seed: u64) -> [f64; 2] {
    let (x, y) = numbers(24_000, 6, seed);
    // Every fifth label is turned over.
    let codes = (0..).zip(&y).map(|(i, y)| u32::from(*y > 0.3) ^ u32::from(i % 5 == 0)).collect();
    let labels = Labels::new(["no", "yes"].map(String::from), codes).unwrap();
    let known: Vec<usize> = (0..12_000).collect();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let forest = Forest { trees: 150, min_leaf: Some(5.0), ..Forest::default() };
    let fitted = fit_classes(&forest, &sample.select(&known).borrow());
    let run = Run::with_threads(0, 2).unwrap();
    let chances = predict(&fitted, x.rows().slice(12_000..24_000), &run).unwrap();
    let is_right = |(row, class): &(&[f64], &u32)| (row[1] > row[0]) == (**class == 1);
    let right = chances.chunks(2).zip(&labels.codes()[12_000..]).filter(is_right).count();
    let series = fitted.diagnostics().series;
    let own = series.iter().find(|series| series.name == "out-of-bag").unwrap();
    assert_eq!(own.labels, ["log score", "accuracy"]);
    [own.values[1], right as f64 / 12_000.0]
}

#[test]
fn out_of_bag_accuracy_is_that_on_fresh_rows() {
    // One draw of rows tells the two apart by 0.7 % (a standard error); five of them together by 0.3 %.
    let draws: Vec<[f64; 2]> = [5, 11, 12, 13, 14].map(accuracies).into();
    let [own, fresh] = [0, 1].map(|k| draws.iter().map(|draw| draw[k]).sum::<f64>());
    assert!((own / fresh - 1.0).abs() < 0.01, "{draws:?}");
}

#[test]
fn out_of_bag_error_is_that_on_fresh_rows() {
    let (x, y) = numbers(60_000, 6, 10);
    let (known, fresh) = (y[..30_000].to_vec(), &y[30_000..]);
    let run = Run::with_threads(0, 2).unwrap();
    let sample = Sample::<Regression>::new(x.rows().slice(0..30_000), &known).unwrap();
    let forest = Forest { trees: 150, min_leaf: Some(5.0), ..Forest::default() };
    let model = forest.fit(&sample, &run).unwrap().remove(0);
    let fitted = FittedForest::<Regression>::restore(
        &model.record().unwrap(),
        Catalogue::standard().registry(),
    );
    let said = predict(model.as_ref(), x.rows().slice(30_000..60_000), &run).unwrap();
    let squares: f64 = said.iter().zip(fresh).map(|(a, b)| (a - b).powi(2)).sum();
    let (own, held_out) = (fitted.unwrap().out_of_bag().unwrap(), (squares / 30_000.0).sqrt());
    assert!((own / held_out - 1.0).abs() < 0.01, "{own} {held_out}");
}

#[test]
fn out_of_bag_predictions_are_those_of_the_trees_that_had_not_drawn_the_row() {
    let (x, y) = numbers(20_000, 5, 17);
    let labels = Labels::new(
        ["a", "b", "c"].map(String::from),
        y.iter().map(|y| u32::from(*y > 0.0) + u32::from(*y > 0.6)).collect(),
    )
    .unwrap();
    let run = Run::with_threads(4, 2).unwrap();
    let forest = Forest { trees: 2, ..Forest::default() };

    // A row that neither of two trees has drawn is predicted by both; one that both have drawn by none.
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let (fitted, out_of_bag) = forest.fit_with_out_of_bag(&sample, &run).unwrap();
    let said = predict(&fitted, x.rows(), &run).unwrap();
    let rows = out_of_bag.predictions.chunks(3).zip(said.chunks(3)).zip(&out_of_bag.trees);
    let mut counts = [0.0; 3];
    for ((own, all), &trees) in rows {
        counts[trees as usize] += 1.0 / 20_000.0;
        match trees {
            0 => assert!(own.iter().all(|chance| chance.is_nan())),
            1 => assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-12),
            _ => assert_eq!(own, all),
        }
    }
    let missed = (-1.0_f64).exp();
    let expected = [(1.0 - missed).powi(2), 2.0 * missed * (1.0 - missed), missed * missed];
    // Four standard errors.
    assert!(counts.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.015), "{counts:?}");

    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let (fitted, out_of_bag) = forest.fit_with_out_of_bag(&sample, &run).unwrap();
    let heard: Vec<usize> = (0..y.len()).filter(|&row| out_of_bag.trees[row] > 0).collect();
    let square = |&row: &usize| (out_of_bag.predictions[row] - y[row]).powi(2);
    let error = (heard.iter().map(square).sum::<f64>() / heard.len() as f64).sqrt();
    assert!((error - fitted.out_of_bag().unwrap()).abs() < 1e-12);

    assert!(ExtraTrees(forest).fit_with_out_of_bag(&sample, &run).is_err());
}

#[test]
fn importances_sum_to_one_and_find_the_columns_that_matter() {
    let (x, y) = numbers(3000, 6, 6);
    let labels = two_classes(&y);
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    for importance in [Importance::Impurity, Importance::Permutation] {
        let forest = Forest { trees: 40, importance, ..Forest::default() };
        let fitted = fit_classes(&forest, &sample);
        let shares = fitted.importance();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
        assert!(shares[..2].iter().all(|a| shares[2..].iter().all(|b| *a > 2.0 * b)), "{shares:?}");
        if importance == Importance::Permutation {
            assert!(shares[2..].iter().sum::<f64>() < 0.03, "{shares:?}");
        }
    }
    let refused = ExtraTrees(Forest { importance: Importance::Permutation, ..Forest::default() });
    assert!(refused.fit(&sample, &Run::with_threads(0, 1).unwrap()).is_err());
}

#[test]
fn balanced_classes_count_the_same() {
    let (x, y) = numbers(2000, 3, 7);
    let codes = y.iter().map(|y| u32::from(*y > 1.2)).collect();
    let labels = Labels::new(["common", "rare"].map(String::from), codes).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let mean_of_rare = |class_weights| {
        let forest = Forest { trees: 30, class_weights, min_leaf: Some(20.0), ..Forest::default() };
        let fitted = fit_classes(&forest, &sample);
        let said = predict(&fitted, x.rows(), &Run::with_threads(0, 1).unwrap()).unwrap();
        said.chunks(2).map(|row| row[1]).sum::<f64>() / 2000.0
    };
    let share = f64::from(labels.codes().iter().sum::<u32>()) / 2000.0;
    assert!((mean_of_rare(ClassWeights::Equal) - share).abs() < 0.02);
    assert!(mean_of_rare(ClassWeights::Balanced) > 1.3 * share);
}

/// A number, a category of five levels, and missing values that mean something.
fn mixed(rows: usize) -> (Features, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let levels: Arc<[String]> = ["a", "b", "c", "d", "e"].map(String::from).into();
    let fields = vec![
        Field { name: "number".into(), kind: Kind::Numeric },
        Field { name: "category".into(), kind: Kind::Categorical { levels } },
    ];
    let (mut values, mut y) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let level = rng.random_range(0..5);
        let is_missing = rng.random::<f64>() < 0.2;
        let number = rng.random::<f64>();
        y.push([3.0, 0.0, 2.0, 0.0, 1.0][level] + if is_missing { 10.0 } else { number });
        values.extend([if is_missing { f64::NAN } else { number }, level as f64]);
    }
    (Features::new(values, Arc::new(Schema::new(fields))).unwrap(), y)
}

#[test]
fn categories_and_missing_values_are_learned_from() {
    let (x, y) = mixed(2000);
    let extra = ExtraTrees(Forest { trees: 20, min_leaf: Some(1.0), ..Forest::default() });
    let learners: [&dyn Learner<Regression>; 2] = [&single(2, 1.0), &extra];
    for learner in learners {
        let said = fit_numbers(learner, x.rows(), &y);
        let squares: f64 = said.iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(squares / 2000.0 < 0.01, "{learner:?}: {squares}");
    }
    // A level that was never seen goes somewhere.
    let run = Run::with_threads(0, 1).unwrap();
    let model =
        Forest::default().fit(&Sample::<Regression>::new(x.rows(), &y).unwrap(), &run).unwrap();
    let unseen =
        Features::new(vec![0.5, 5.0, f64::NAN, f64::NAN], Arc::clone(x.rows().schema())).unwrap();
    let said = predict(model[0].as_ref(), unseen.rows(), &run).unwrap();
    assert!(said[0] > 0.0 && said[0] < 5.0 && said[1] > 5.0, "{said:?}");
}

#[test]
fn wrong_parameters_are_refused() {
    let (x, y) = numbers(20, 2, 9);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let run = Run::with_threads(0, 1).unwrap();
    let wrong = [
        Forest { trees: 0, ..Forest::default() },
        Forest { columns: Some(0), ..Forest::default() },
        Forest { min_leaf: Some(-1.0), ..Forest::default() },
        Forest { smoothing: f64::NAN, ..Forest::default() },
        Forest { bins: 1, ..Forest::default() },
    ];
    for forest in wrong {
        assert!(forest.fit(&sample, &run).is_err(), "{forest:?}");
    }
}

/// Two copies of each row: one that was drawn would give the other away.
#[test]
fn out_of_bag_rows_are_of_groups_that_were_not_drawn() {
    let run = Run::with_threads(3, 2).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let noise: Vec<f64> = (0..600).map(|_| rng.random::<f64>()).collect();
    let twice: Vec<f64> = noise.iter().chain(&noise).copied().collect();
    let y: Vec<f64> = (0..200).map(|_| rng.random::<f64>()).collect();
    let y: Vec<f64> = y.iter().chain(&y).copied().collect();
    let x = Features::numeric(twice, 3).unwrap();
    let groups: Vec<u32> = (0..400).map(|row| 7 * (row % 200)).collect();
    let explained = |sample: &Sample<'_, Regression>| {
        let (_, own) = Forest::default().fit_with_out_of_bag(sample, &run).unwrap();
        let mean = y.iter().sum::<f64>() / 400.0;
        let errors = own.predictions.iter().zip(&y).map(|(said, y)| (said - y).powi(2));
        1.0 - errors.sum::<f64>() / y.iter().map(|y| (y - mean).powi(2)).sum::<f64>()
    };
    let alone = Sample::new(x.rows(), &y).unwrap();
    let together = alone.grouped(&groups).unwrap();
    let (alone, together) = (explained(&alone), explained(&together));
    assert!(alone > 0.5 && together < 0.1, "{alone} {together}");
}

/// Leaves keep a few digits: of what lies far from all other rows, not of these.
#[test]
fn one_value_far_from_all_others_costs_these_nothing() {
    let (x, mut y) = numbers(400, 2, 5);
    y[17] = 1e9;
    let exact = ExtraTrees(Forest { trees: 20, min_leaf: Some(1.0), ..Forest::default() });
    let found = fit_numbers(&exact, x.rows(), &y);
    let are_off =
        found.iter().zip(&y).filter(|(found, y)| (*found - *y).abs() > 1e-6 * y.abs().max(1.0));
    // Some rows share their bins with others.
    let are_off = are_off.count();
    assert!(are_off < 40, "{are_off} of 400");
}
