//! Fits in passes: the same in memory, in pieces, on their way through bytes, and from blocks of a table.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use dolmen::Run;
use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::learner::density::Gaussian;
use dolmen::learner::density::mixture::{Covariance, GaussianMixture, OneOrMany};
use dolmen::learner::linear::{Lambda, Ridge};
use dolmen::learner::pass::{AnyPass, AnyStep, Piece};
use dolmen::learner::{Fitted, Learner, Sample, Weights};
use dolmen::recipe::Recipe;
use dolmen::recipe::stream::Cut;
use dolmen::spec::Spec;
use dolmen::table::{Categories, Column, Features, Rows, Schema, Table};
use dolmen::target::{Labels, Target};
use dolmen::task::{Classification, Density, Joint, Regression, Task};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rows of three clusters; a share of the values is missing.
pub(crate) fn rows(n: usize, d: usize, missing: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut value = || {
        let centre = f64::from(rng.random_range(0..3_u8)) * 4.0;
        let value = centre + rng.random::<f64>() + rng.random::<f64>() - 1.0;
        if rng.random::<f64>() < missing { f64::NAN } else { value }
    };
    (0..n * d).map(|_| value()).collect()
}

/// Makes the passes over pieces of so many rows; states and sums go through bytes as between two machines.
fn in_pieces<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    piece: usize,
    run: &Run,
) -> Vec<Box<dyn Fitted<T>>> {
    let registry = Catalogue::standard().registry();
    let mut pass = learner.pass(sample.x(), run).unwrap().unwrap();
    loop {
        let record = pass.record().unwrap();
        let mut total = None;
        for first in (0..sample.rows()).step_by(piece) {
            let there: Box<dyn AnyPass<T>> = registry.restore(&record).unwrap();
            let rows: Vec<usize> = (first..sample.rows().min(first + piece)).collect();
            // Chosen rows know where they stand.
            let part = sample.select(rows);
            let sums = there.sums(&Piece::new(part.borrow(), 0)).unwrap();
            let sums = pass.read_sums(&there.write_sums(&sums).unwrap()).unwrap();
            match &mut total {
                None => total = Some(sums),
                Some(total) => pass.merge(total, sums).unwrap(),
            }
        }
        match pass.next(total.unwrap()).unwrap() {
            AnyStep::Again(next) => pass = next,
            AnyStep::Done(models) => return models,
        }
    }
}

fn learners() -> Vec<Box<dyn Learner<Density>>> {
    let mixture = |covariance| GaussianMixture {
        components: OneOrMany::Many(vec![2, 3]),
        covariance,
        ..GaussianMixture::default()
    };
    vec![
        Box::new(Gaussian::default()),
        Box::new(mixture(Covariance::Full)),
        Box::new(mixture(Covariance::Tied)),
        Box::new(mixture(Covariance::Diagonal)),
    ]
}

#[test]
fn one_piece_gives_the_bits_of_a_fit_in_memory_and_several_nearly_so() {
    let run = Run::new(3);
    for missing in [0.0, 0.1] {
        let x = Features::numeric(rows(3000, 3, missing), 3).unwrap();
        let weights: Vec<f64> = (0..3000).map(|i| f64::from(i % 4)).collect();
        let weights = Weights::new(weights).unwrap();
        let sample = Sample::<Density>::new(x.rows(), &()).unwrap().weighted(&weights).unwrap();
        for learner in learners() {
            let expected = learner.fit(&sample, &run).unwrap();
            let whole = in_pieces(learner.as_ref(), &sample, 3000, &run);
            let parts = in_pieces(learner.as_ref(), &sample, 700, &run);
            for ((expected, whole), parts) in expected.iter().zip(whole).zip(parts) {
                assert_eq!(expected.record().unwrap(), whole.record().unwrap(), "{learner:?}");
                let ln_p = |model: &dyn Fitted<Density>| {
                    let mut out = vec![0.0; 3000];
                    model.predict_into(x.rows(), &mut out).map(|()| out).unwrap()
                };
                let pairs = ln_p(expected.as_ref()).into_iter().zip(ln_p(parts.as_ref()));
                let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(worst < 1e-9, "{learner:?}: {worst}");
            }
        }
    }
}

pub(crate) fn table(n: usize) -> Table {
    let values = rows(n, 2, 0.0);
    let column = |j: usize| Column::Numeric(values[j..].iter().step_by(2).copied().collect());
    Table::new(vec![("x".into(), column(0)), ("y".into(), column(1))]).unwrap()
}

#[test]
fn blocks_give_the_stack_of_the_whole_table() {
    let recipe = Recipe::from_toml(
        "members = ['gaussian', 'named(of=mixture(components=2), name=two)', 'mixture(components=3)']\nplan = 'hashed(folds=4)'\ncheck = 'matrix'",
    )
    .unwrap();
    let run = Run::new(0);
    let table = table(5000);
    let whole = recipe.fit(&table, &run).unwrap();
    let weights = |report: &dolmen::recipe::FitReport| {
        let json = serde_json::to_value(report).unwrap();
        let members = json["members"].as_array().unwrap().clone();
        members.iter().map(|m| m["weight"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    for rows in [5000, 1111] {
        let source = Cut { table: table.clone(), rows };
        let streamed = recipe.fit_blocks(&source, &run).unwrap();
        let (a, b) = (weights(&whole.report), weights(&streamed.report));
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9, "{a} {b} in blocks of {rows}");
        }
        assert_eq!(a.len(), 3);
    }
}

/// The weights, or powers, of what was fitted.
pub(crate) fn pooled_by(fit: &dolmen::recipe::Fit) -> Vec<f64> {
    fit.model.parameters().array("weights").unwrap().1.to_vec()
}

#[test]
fn the_sample_changes_what_is_said_of_errors_not_the_weights() {
    let recipe = Recipe::from_toml(
        "members = ['gaussian', 'mixture(components=2)', 'mixture(components=3)']\nplan = 'hashed(folds=4)'\ncheck = 'matrix'\nkeep_stack = true\nkeep_all = true",
    )
    .unwrap();
    let run = Run::new(0);
    let source = Cut { table: table(20_000), rows: 4096 };
    let much = recipe.fit_blocks(&source, &run).unwrap();
    // Memory for a sample of some thousand rows.
    let modest = Recipe { memory: Some("2M".into()), ..recipe };
    let little = modest.fit_blocks(&source, &run).unwrap();
    let notes = little.report.data_notes().join(" ");
    assert!(notes.contains("sample of") && !notes.contains("were fitted"), "{notes}");
    let (a, b) = (pooled_by(&much), pooled_by(&little));
    assert_eq!((a.len(), b.len()), (3, 3));
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
    // Scores and gains speak of the same rows, which are all.
    let json = serde_json::to_value(&little.report).unwrap();
    assert_eq!(json["rows"], 20_000);
    let best = json["members"].as_array().unwrap().iter().find(|m| m["name"] == json["best"]);
    let gain = json["score"].as_f64().unwrap() - best.unwrap()["score"].as_f64().unwrap();
    assert!((gain - json["gain_over_best"]["mean"].as_f64().unwrap()).abs() < 1e-9, "{json}");
}

/// Four numbers, with a category of three levels; some values of all are missing but in the last column.
pub(crate) fn inputs(n: usize) -> Vec<(String, Column)> {
    let values = rows(n, 4, 0.05);
    let number = |j: usize| {
        let value = |v: &f64| if j == 3 && v.is_nan() { 0.5 } else { *v };
        Column::Numeric(values[j..].iter().step_by(4).map(value).collect())
    };
    let text = |i: usize| match i * 7 % 10 {
        0 => None,
        1..4 => Some("red"),
        4..7 => Some("green"),
        _ => Some("blue"),
    };
    let colours = Column::Categorical(Categories::new((0..n).map(text)));
    let rounded = match number(3) {
        Column::Numeric(values) => Column::Numeric(values.iter().map(|v| v.round()).collect()),
        other @ Column::Categorical(_) => other,
    };
    vec![
        ("x1".into(), number(0)),
        ("x2".into(), number(1)),
        ("colour".into(), colours),
        ("x3".into(), number(2)),
        ("x4".into(), number(3)),
        ("rounded".into(), rounded),
    ]
}

/// What the target of a row depends on.
pub(crate) fn signal(n: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    let table = Table::new(inputs(n)).unwrap();
    let x = Arc::new(Schema::of(&table)).encode(&table).unwrap();
    let known = |value: f64| if value.is_nan() { 1.0 } else { value };
    let row = |row: &[f64]| known(row[0]) - 0.5 * known(row[1]) + 0.7 * known(row[2]) + row[4];
    x.rows().iter().map(|values| row(values) + 3.0 * rng.random::<f64>()).collect()
}

fn features(n: usize) -> Features {
    let table = Table::new(inputs(n)).unwrap();
    Arc::new(Schema::of(&table)).encode(&table).unwrap()
}

pub(crate) fn classes(n: usize) -> Labels {
    let class = |s: &f64| if *s < 3.0 { 0 } else { 1 + u32::from(*s > 8.0) };
    Labels::new(["a", "b", "c"].map(String::from), signal(n).iter().map(class).collect()).unwrap()
}

fn learner<T: Catalogued>(spec: &str) -> Box<dyn Learner<T>> {
    Catalogue::standard().learner(&Spec::parse(spec).unwrap()).unwrap()
}

/// The largest difference between what two models say of some rows.
fn difference<T: Task>(a: &dyn Fitted<T>, b: &dyn Fitted<T>, x: Rows<'_>) -> f64 {
    let predicted = |model: &dyn Fitted<T>| {
        let mut out = vec![0.0; x.rows() * model.width()];
        model.predict_into(x, &mut out).map(|()| out).unwrap()
    };
    let pairs = predicted(a).into_iter().zip(predicted(b));
    pairs.map(|(a, b)| if a == b { 0.0 } else { (a - b).abs() }).fold(0.0, f64::max)
}

/// Fits in pieces of several sizes agree with the fit in memory.
fn pieces_agree<T: Catalogued>(specs: &[&str], sample: &Sample<'_, T>, within: f64) {
    let run = Run::new(3);
    for spec in specs {
        let learner = learner::<T>(spec);
        let expected = learner.fit(sample, &run).unwrap();
        for piece in [sample.rows(), 700] {
            let found = in_pieces(learner.as_ref(), sample, piece, &run);
            assert_eq!(found.len(), expected.len(), "{spec}");
            for (expected, found) in expected.iter().zip(&found) {
                let worst = difference(expected.as_ref(), found.as_ref(), sample.x());
                assert!(worst <= within, "{spec} in pieces of {piece}: {worst}");
            }
        }
    }
}

const RIDGES: [&str; 3] = [
    "ridge",
    "ridge(lambda=[0.1, 10], standardise=false)",
    "encoded(of=ridge, standardise=true, one_hot=true, impute={numbers=median, categories=most-frequent})",
];

#[test]
fn ridge_regressions_agree_in_pieces() {
    let x = features(3000);
    let y = signal(3000);
    let weights = Weights::new((0..3000).map(|i| f64::from(i % 4)).collect()).unwrap();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    pieces_agree(&RIDGES, &sample, 1e-9);
    pieces_agree(&RIDGES, &sample.weighted(&weights).unwrap(), 1e-9);
    // Groups of unlike sizes, and so few that some folds have none.
    for groups in [1, 3, 40] {
        let groups: Vec<u32> = (0..3000_u32).map(|i| (i * i / 7) % groups).collect();
        let grouped = sample.grouped(&groups).unwrap();
        pieces_agree(&RIDGES, &grouped, 1e-9);
        pieces_agree(&RIDGES, &grouped.weighted(&weights).unwrap(), 1e-9);
    }
}

#[test]
fn a_ridge_regression_in_one_piece_has_the_bits_of_the_fit_in_memory() {
    let x = Features::numeric(rows(3000, 4, 0.0), 4).unwrap();
    let y = signal(3000);
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let run = Run::new(3);
    for lambda in [Lambda::default(), Lambda::from([0.0, 2.0])] {
        let ridge = Ridge { lambda, ..Ridge::default() };
        let expected = ridge.fit(&sample, &run).unwrap();
        let found = in_pieces(&ridge, &sample, 3000, &run);
        for (expected, found) in expected.iter().zip(found) {
            assert_eq!(expected.record().unwrap(), found.record().unwrap());
        }
    }
}

const COUNTING: [&str; 9] = [
    "naive-bayes",
    "naive-bayes(bins=9, missing=ignore, columns=3)",
    "ode(root=[x1, colour])",
    "aode",
    "aode(missing=ignore, columns=4)",
    "a2de(bins=3)",
    "bma-aode",
    "aode(bins=40)",
    "ode(root=rounded, columns=2)",
];

#[test]
fn counts_are_the_same_in_pieces() {
    let x = features(3000);
    let labels = classes(3000);
    let counts: Vec<f64> = (0..3000).map(|i| f64::from(i % 4)).collect();
    let weights = Weights::new(counts.clone()).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let run = Run::new(3);
    for sample in [sample, sample.counted(&counts).unwrap()] {
        for spec in COUNTING {
            let learner = learner::<Classification>(spec);
            let expected = learner.fit(&sample, &run).unwrap();
            for piece in [3000, 700] {
                let found = in_pieces(learner.as_ref(), &sample, piece, &run);
                for (expected, found) in expected.iter().zip(found) {
                    assert_eq!(expected.record().unwrap(), found.record().unwrap(), "{spec}");
                }
            }
        }
    }
    pieces_agree(&COUNTING, &sample.weighted(&weights).unwrap(), 1e-9);
    let joint = Sample::<Joint>::new(x.rows(), &labels).unwrap();
    pieces_agree(&COUNTING, &joint, 0.0);
    // Weights of roots are found on rows that are drawn, here all of them.
    let roots = ["lmd-ode", "lmg-ode(bins=4)", "lmd-ode(prior=3)"];
    pieces_agree(&roots, &sample, 1e-9);
    pieces_agree(&roots, &sample.weighted(&weights).unwrap(), 1e-9);
    pieces_agree(&roots[1..2], &joint, 1e-9);
    // With groups whole folds of them are left out.
    let groups: Vec<u32> = (0..3000_u32).map(|i| (i * i / 7) % 40).collect();
    pieces_agree(&roots, &sample.grouped(&groups).unwrap(), 1e-9);
}

/// Quantiles of weighted rows lie at rows here, which sums in another order must not miss.
#[test]
fn bins_of_weighted_rows_are_the_same_in_pieces() {
    let (n, columns) = (5001, 12);
    let x = Features::numeric(rows(n, columns, 0.0), columns).unwrap();
    let labels = classes(n);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let any: Vec<f64> = (0..n).map(|_| rng.random::<f64>() + 0.01).collect();
    // As many copies as rows before the place, in more ways than one.
    let tenths: Vec<f64> = (0..n).map(|i| [0.3, 0.7, 1.1, 0.9][i % 4]).collect();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    for weights in [any, tenths] {
        let weights = Weights::new(weights).unwrap();
        pieces_agree(&["naive-bayes", "aode(bins=8)"], &sample.weighted(&weights).unwrap(), 1e-10);
    }
}

/// Beyond the rows on which roots are weighed first, all rows decide, as they do in memory.
#[test]
fn roots_are_weighed_on_all_rows() {
    let (n, columns) = (130_000, 4);
    let x = Features::numeric(rows(n, columns, 0.02), columns).unwrap();
    let number = |i: usize, j: usize| Some(x.rows().row(i)[j]).filter(|value| !value.is_nan());
    let lean = |i: usize| number(i, 0).unwrap_or(1.0) * 0.3 - number(i, 1).unwrap_or(4.0) * 0.2;
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let class = |i: usize| u32::from(lean(i) + rng.random::<f64>() * 4.0 > 2.0);
    let labels = Labels::new(["a", "b"].map(String::from), (0..n).map(class).collect()).unwrap();
    let weights = Weights::new((0..n).map(|i| f64::from(1 + i as u32 % 3)).collect()).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    let run = Run::new(3);
    // Groups that the inputs tell apart, so that it matters that they are left out as a whole.
    let groups: Vec<u32> = (0..n).map(|i| (x.rows().row(i)[3].abs() * 40.0) as u32).collect();
    let grouped = sample.weighted(&weights).unwrap().grouped(&groups).unwrap();
    for sample in [sample, sample.weighted(&weights).unwrap(), grouped] {
        for spec in ["lmd-ode", "lmg-ode(bins=4)", "lmd-ode(prior=0)"] {
            let learner = learner::<Classification>(spec);
            let roots = |models: &[Box<dyn Fitted<Classification>>]| {
                models[0].diagnostics().series[0].values.clone()
            };
            let expected = roots(&learner.fit(&sample, &run).unwrap());
            let found = roots(&in_pieces(learner.as_ref(), &sample, 50_000, &run));
            for (a, b) in expected.iter().zip(&found) {
                assert!((a - b).abs() < 1e-6, "{spec}: {expected:?} in memory, {found:?}");
            }
        }
    }
}

#[test]
fn logistic_regressions_agree_in_pieces() {
    let specs = [
        "logistic(tolerance=1e-10)",
        "logistic(lambda=[0.5, 20], standardise=false, tolerance=1e-10)",
        "logistic(lambda=0.1, tolerance=1e-10)",
    ];
    // However early the search may stop: its last step doubles the digits.
    let usual =
        ["logistic", "logistic(lambda=[0.5, 20], standardise=false)", "logistic(lambda=0.1)"];
    let x = features(3000);
    let three = classes(3000);
    let two = (0..3000).map(|i| u32::from(three.class(i) > 0)).collect();
    let two = Labels::new(["a", "b"].map(String::from), two).unwrap();
    let weights = Weights::new((0..3000).map(|i| f64::from(i % 4)).collect()).unwrap();
    for labels in [&two, &three] {
        let sample = Sample::<Classification>::new(x.rows(), labels).unwrap();
        for sample in [sample, sample.weighted(&weights).unwrap()] {
            pieces_agree(&specs, &sample, 1e-9);
            pieces_agree(&usual, &sample, 1e-8);
        }
    }
}

/// 1053 parameters: their pairs are not summed, so that L-BFGS asks for pass after pass.
#[test]
fn wide_logistic_regressions_agree_in_pieces() {
    let (n, columns) = (1500, 350);
    let x = Features::numeric(rows(n, columns, 0.0), columns).unwrap();
    let value = |i: usize| x.rows().row(i)[0] - x.rows().row(i)[1] + 0.3 * x.rows().row(i)[2];
    let class = |i: usize| (value(i) / 3.0).floor().clamp(-2.0, 1.0) as i32 + 2;
    let codes = (0..n).map(|i| class(i) as u32).collect();
    let labels = Labels::new(["a", "b", "c", "d"].map(String::from), codes).unwrap();
    let sample = Sample::<Classification>::new(x.rows(), &labels).unwrap();
    pieces_agree(&["logistic(lambda=[30, 300], tolerance=1e-9)"], &sample, 1e-6);
}

fn member_weights(report: &dolmen::recipe::FitReport) -> Vec<f64> {
    let json = serde_json::to_value(report).unwrap();
    let members = json["members"].as_array().unwrap();
    members.iter().map(|m| m["weight"].as_f64().unwrap()).collect()
}

/// The stack fitted block by block has the weights of that in memory.
fn blocks_agree(recipe: &str, target: Column, within: f64) {
    let mut columns = inputs(2000);
    columns.push(("target".into(), target));
    tables_agree(recipe, &Table::new(columns).unwrap(), within);
}

fn tables_agree(recipe: &str, table: &Table, within: f64) {
    let recipe = Recipe::from_toml(recipe).unwrap();
    let run = Run::new(0);
    let expected = member_weights(&recipe.fit(table, &run).unwrap().report);
    assert!(expected.len() > 1);
    for rows in [2000, 611] {
        let source = Cut { table: table.clone(), rows };
        let streamed = recipe.fit_blocks(&source, &run).unwrap();
        let found = member_weights(&streamed.report);
        let notes = streamed.report.data_notes().join(" ");
        assert!(!notes.contains("sample"), "{notes}");
        assert_eq!(expected.len(), found.len());
        for (a, b) in expected.iter().zip(&found) {
            assert!((a - b).abs() < within, "{a} {b} in blocks of {rows}");
        }
    }
}

#[test]
fn blocks_give_the_stack_of_regressions() {
    blocks_agree(
        "target = 'target'\nmembers = ['ridge', 'ridge(lambda=500)', 'ridge(lambda=20, standardise=false)']\n\
         plan = 'hashed(folds=4)'\ncheck = 'matrix'",
        Column::Numeric(signal(2000)),
        1e-9,
    );
}

/// Rows without a target weigh nothing: penalties mean what they do in memory, whatever weights such rows have.
#[test]
fn rows_without_a_target_have_no_say_in_what_a_weight_means() {
    let is_gone = |i: usize| i % 5 == 2;
    let target = signal(2000).into_iter().enumerate();
    let target = target.map(|(i, y)| if is_gone(i) { f64::NAN } else { y }).collect();
    let weight = |i: usize| if is_gone(i) { 40.0 } else { 1.0 + (i % 3) as f64 };
    let mut columns = inputs(2000);
    columns.push(("target".into(), Column::Numeric(target)));
    columns.push(("w".into(), Column::Numeric((0..2000).map(weight).collect())));
    tables_agree(
        "target = 'target'\nweights = 'w'\nmembers = ['ridge(lambda=500)', 'ridge(lambda=20, standardise=false)']\n\
         plan = 'hashed(folds=4)'\ncheck = 'matrix'",
        &Table::new(columns).unwrap(),
        1e-9,
    );
}

#[test]
fn blocks_give_the_stack_of_counting_classifiers() {
    let labels = classes(2000);
    let names = (0..2000).map(|i| Some(labels.classes()[labels.class(i)].as_str()));
    blocks_agree(
        "target = 'target'\nmembers = ['naive-bayes', 'aode', 'bma-aode', 'a2de(bins=3)']\ncombiners = ['simplex']\n\
         plan = 'hashed(folds=4)'\ncheck = 'matrix'",
        Column::Categorical(Categories::new(names)),
        1e-9,
    );
}

#[test]
fn blocks_give_the_stack_of_logistic_regressions() {
    let labels = classes(2000);
    let names = (0..2000).map(|i| Some(labels.classes()[labels.class(i)].as_str()));
    blocks_agree(
        "target = 'target'\nmembers = ['logistic(tolerance=1e-10)', 'logistic(lambda=300, tolerance=1e-10)', 'naive-bayes']\ncombiners = ['simplex']\n\
         plan = 'hashed(folds=4)'\ncheck = 'matrix'",
        Column::Categorical(Categories::new(names)),
        1e-8,
    );
}

/// The powers of a logarithmic pool are those of all rows, however few of them are in the sample.
#[test]
fn blocks_give_the_powers_of_a_logarithmic_pool() {
    let labels = classes(2000);
    let names = (0..2000).map(|i| Some(labels.classes()[labels.class(i)].as_str()));
    let mut columns = inputs(2000);
    columns.push(("target".into(), Column::Categorical(Categories::new(names))));
    let table = Table::new(columns).unwrap();
    let text = "target = 'target'\nmembers = ['naive-bayes', 'aode', 'a2de(bins=3)']\ncombiners = ['log-pool']\n\
                plan = 'hashed(folds=4)'\ncheck = 'none'\nkeep_all = true";
    let recipe = Recipe::from_toml(text).unwrap();
    let run = Run::new(0);
    let expected = pooled_by(&recipe.fit(&table, &run).unwrap());
    assert_eq!(expected.len(), 3);
    let little = Recipe { memory: Some("1500K".into()), ..recipe.clone() };
    for (recipe, is_sampled) in [(recipe, false), (little, true)] {
        let source = Cut { table: table.clone(), rows: 611 };
        let streamed = recipe.fit_blocks(&source, &run).unwrap();
        let notes = streamed.report.data_notes().join(" ");
        assert_eq!(notes.contains("sample of"), is_sampled, "{notes}");
        for (a, b) in expected.iter().zip(pooled_by(&streamed)) {
            assert!((a - b).abs() < 1e-8, "{a} {b}, {notes}");
        }
    }
}
