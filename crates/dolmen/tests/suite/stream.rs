//! What is found from all rows of a table that is read block by block, however few of them are in the sample: weights of every kind, the
//! decision what is kept, and the matrix.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::Run;
use dolmen::catalogue::Catalogue;
use dolmen::learner::Sample;
use dolmen::learner::linear::Ridge;
use dolmen::recipe::stream::Cut;
use dolmen::recipe::{Fit, Matrix, Recipe};
use dolmen::table::{Categories, Column, Features, Table};
use dolmen::target::Target;
use dolmen::task::Regression;
use serde_json::Value;

use crate::passes::{classes, inputs, pooled_by, signal, table};

const ROWS: usize = 2000;

/// Inputs with numbers to predict.
fn numbers(offset: f64) -> Table {
    let target = signal(ROWS).iter().map(|value| value + offset).collect();
    let mut columns = inputs(ROWS);
    columns.push(("target".into(), Column::Numeric(target)));
    Table::new(columns).unwrap()
}

/// Inputs with classes to predict.
fn labelled() -> Table {
    let labels = classes(ROWS);
    let names = (0..ROWS).map(|i| Some(labels.classes()[labels.class(i)].as_str()));
    let mut columns = inputs(ROWS);
    columns.push(("target".into(), Column::Categorical(Categories::new(names))));
    Table::new(columns).unwrap()
}

/// The fit in memory, and that in blocks with a sample of a part of the rows.
fn both(recipe: &str, table: &Table, memory: &str) -> (Fit, Fit) {
    let recipe = Recipe::from_toml(recipe).unwrap();
    let run = Run::new(0);
    let whole = recipe.fit(table, &run).unwrap();
    let little = Recipe { memory: Some(memory.into()), ..recipe };
    let streamed = little.fit_blocks(&Cut { table: table.clone(), rows: 611 }, &run).unwrap();
    let notes = streamed.report.data_notes().join(" ");
    assert!(notes.contains("from a sample of"), "{notes}");
    (whole, streamed)
}

const RIDGES: &str = "target = 'target'\nmembers = ['ridge', 'ridge(lambda=500)', 'ridge(lambda=20, standardise=false)', 'ridge(lambda=1e7)']\n";

#[test]
fn weights_of_every_method_come_from_all_rows() {
    let numbers_of = |method: &str| {
        format!(
            "{RIDGES}combiners = ['{method}']\nplan = 'hashed(folds=4)'\ncheck = 'none'\nkeep_all = true"
        )
    };
    let classes_of = |method: &str| {
        format!(
            "target = 'target'\nmembers = ['naive-bayes', 'aode', 'a2de(bins=3)']\ncombiners = ['{method}']\n\
             plan = 'hashed(folds=4)'\ncheck = 'none'\nkeep_all = true"
        )
    };
    let mut cases = Vec::new();
    for offset in [0.0, 1e7] {
        for method in ["simplex", "non-negative", "uniform", "best"] {
            cases.push((method, numbers_of(method), numbers(offset)));
        }
    }
    for method in
        ["simplex", "simplex(prior=30)", "em", "em(prior=2)", "uniform", "best", "pseudo-bma"]
    {
        cases.push((method, classes_of(method), labelled()));
    }
    for (method, recipe, table) in cases {
        let (whole, streamed) = both(&recipe, &table, "1500K");
        let (a, b) = (pooled_by(&whole), pooled_by(&streamed));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-8, "{method}: {a} {b}");
        }
        let score = |fit: &Fit| json(fit)["score"].as_f64().unwrap();
        let (a, b) = (score(&whole), score(&streamed));
        assert!((a - b).abs() < 1e-7 * a.abs(), "{method}: {a} {b}");
        let notes = streamed.report.data_notes().join(" ");
        assert!(!notes.contains("the combination"), "{method}: {notes}");
    }
    // All rows were predicted unseen, however many the combination is learned from.
    for method in ["greedy", "log-pool"] {
        let (whole, sampled) = both(&classes_of(method), &labelled(), "1500K");
        assert_eq!(json(&sampled)["rows"], json(&whole)["rows"], "{method}");
    }
    let (_, sampled) = both(&classes_of("greedy"), &labelled(), "1500K");
    let notes = sampled.report.data_notes().join(" ");
    assert!(notes.contains("rows come the combination, scores and gains"), "{notes}");
}

fn json(fit: &Fit) -> Value {
    serde_json::to_value(&fit.report).unwrap()
}

/// What is kept is decided by the same rows as the weights are found from: by all.
#[test]
fn the_decision_comes_from_all_rows() {
    let densities = "members = ['gaussian', 'mixture(components=2)', 'mixture(components=3)']\nplan = 'hashed(folds=4)'\ncheck = 'matrix'";
    // The second does nothing that the first does not do better.
    let alike = "target = 'target'\nmembers = ['ridge(lambda=1)', 'ridge(lambda=100000)']\nplan = 'hashed(folds=4)'\ncheck = 'matrix'\ncombiners = ['simplex']";
    let equal = "target = 'target'\nmembers = ['ridge(lambda=1)', 'ridge(lambda=1.1)']\nplan = 'hashed(folds=4)'\ncheck = 'matrix'\ncombiners = ['best']";
    let cases = [
        (densities, table(20_000), "2M"),
        (alike, numbers(0.0), "1500K"),
        (equal, numbers(0.0), "1500K"),
    ];
    for (recipe, table, memory) in cases {
        let (whole, streamed) = both(recipe, &table, memory);
        let (whole, streamed) = (json(&whole), json(&streamed));
        assert_eq!(whole["kept"], streamed["kept"], "{recipe}");
        let (a, b) = (&whole["check"], &streamed["check"]);
        assert_eq!(a["checked_rows"], b["checked_rows"]);
        assert_eq!(a["verdict"]["kept"], b["verdict"]["kept"]);
        for part in [
            "stack",
            "best_member",
            "uniform",
            "gain_over_best",
            "gain_over_uniform",
            "uniform_over_best",
        ] {
            for figure in ["mean", "se"] {
                let (a, b) = (a[part][figure].as_f64().unwrap(), b[part][figure].as_f64().unwrap());
                assert!((a - b).abs() < 1e-8, "{part} {figure}: {a} {b}");
            }
        }
    }
}

/// The matrix that is kept of a fit in blocks is that of the fit in memory, weights and groups included.
#[test]
fn the_kept_matrix_is_that_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::new(0);
    let with_keys = |table: Table| {
        let mut columns: Vec<(String, Column)> = table.into_columns().collect();
        let weights =
            (0..ROWS).map(|i| f64::from(u8::from(i > 700)) * (1 + i % 3) as f64).collect();
        columns.push(("w".into(), Column::Numeric(weights)));
        let groups = (0..ROWS).map(|i| Some(["a", "b", "c", "d", "e", "f", "g"][i % 7]));
        columns.push(("g".into(), Column::Categorical(Categories::new(groups))));
        Table::new(columns).unwrap()
    };
    let text = "members = ['MEMBERS']\nplan = 'hashed(folds=4)'\ncheck = 'none'\nweights = 'w'\ngroups = 'g'\n";
    let cases = [
        (text.replace("MEMBERS", "gaussian', 'mixture(components=2)"), None),
        (
            text.replace("MEMBERS", "ridge', 'ridge(lambda=500)") + "target = 'target'",
            Some(numbers(0.0)),
        ),
        (text.replace("MEMBERS", "naive-bayes', 'aode") + "target = 'target'", Some(labelled())),
    ];
    for (recipe, table_of_case) in cases {
        let recipe = Recipe::from_toml(&recipe).unwrap();
        let data = with_keys(table_of_case.unwrap_or_else(|| table(ROWS)));
        let whole = recipe.fit(&data, &run).unwrap().matrix.unwrap();
        let path = folder.path().join("m.parquet");
        let source = Cut { table: data, rows: 611 };
        recipe.fit_blocks_with(Catalogue::standard(), &source, Some(&path), &run).unwrap();
        let kept = Matrix::read(&path, &run).unwrap().unwrap();
        assert_eq!(
            (kept.members(), kept.rows(), kept.task()),
            (whole.members(), whole.rows(), whole.task())
        );
        let parts = |matrix: &Matrix| match matrix {
            Matrix::Density(own) => parts_of(own),
            Matrix::Classification(own) => parts_of(own),
            Matrix::Joint(own) => parts_of(own),
            Matrix::Regression(own) => parts_of(own),
        };
        let (a, b) = (parts(&whole), parts(&kept));
        assert_eq!((&a.0, &a.1), (&b.0, &b.1));
        for (a, b) in a.2.iter().zip(&b.2) {
            assert!((a - b).abs() < 1e-9 * a.abs().max(1.0), "{a} {b}");
        }
        std::fs::remove_file(path).unwrap();
    }
}

type Parts = (Vec<usize>, Option<Vec<u32>>, Vec<f64>);

/// Table rows, groups, and all numbers: weights, then the members' columns.
fn parts_of<T: dolmen::task::Task>(matrix: &dolmen::oos::OutOfSample<T>) -> Parts {
    let columns = (0..matrix.members().len()).flat_map(|m| matrix.column(m).to_vec());
    let numbers = matrix.weights().unwrap().iter().copied().chain(columns).collect();
    (matrix.table_rows().to_vec(), matrix.groups().map(<[u32]>::to_vec), numbers)
}

#[test]
fn rows_without_a_target_are_not_in_the_kept_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.parquet");
    let mut columns: Vec<(String, Column)> = numbers(0.0).into_columns().collect();
    if let Some((_, Column::Numeric(values))) = columns.last_mut() {
        // The whole of a block, and a row of another.
        values[..700].fill(f64::NAN);
        values[1500] = f64::NAN;
    }
    let source = Cut { table: Table::new(columns).unwrap(), rows: 611 };
    let recipe = "target = 'target'\nmembers = ['ridge', 'mean']\ncheck = 'none'\nfolds = 3";
    let recipe = Recipe::from_toml(recipe).unwrap();
    recipe.fit_blocks_with(Catalogue::standard(), &source, Some(&path), &Run::new(0)).unwrap();
    let kept = Matrix::read(&path, &Run::new(0)).unwrap().unwrap();
    assert_eq!(kept.rows(), ROWS - 701);
}

/// The fold of a row is drawn by its place in the table, or by its group, whichever rows have no target and whether groups are numbers.
#[test]
fn folds_are_those_of_memory() {
    let with = |targets: &dyn Fn(usize) -> bool, name: &str, column: Column| {
        let mut columns: Vec<(String, Column)> = numbers(0.0).into_columns().collect();
        if let Some((_, Column::Numeric(values))) = columns.last_mut() {
            (0..ROWS).filter(|i| !targets(*i)).for_each(|i| values[i] = f64::NAN);
        }
        columns.push((name.into(), column));
        Table::new(columns).unwrap()
    };
    let numbered = || Column::Numeric((0..ROWS).map(|i| 1.5 * (i % 37) as f64).collect());
    let named = Column::Categorical(Categories::new((0..ROWS).map(|i| Some(["a", "b"][i % 2]))));
    // Where groups are given, the penalty is chosen by folds of them, too.
    let members = "target = 'target'\nmembers = ['ridge', 'ridge(lambda=500)']\n";
    let recipe = format!("{members}plan = 'hashed(folds=4)'\ncheck = 'none'\nkeep_all = true\n");
    let cases = [
        (with(&|i| i % 5 != 2 && !(300..1100).contains(&i), "other", named), ""),
        (with(&|_| true, "g", numbered()), "groups = 'g'"),
        (with(&|i| i % 3 > 0, "g", numbered()), "groups = 'g'"),
    ];
    for (table, groups) in cases {
        let (whole, streamed) = both(&format!("{recipe}{groups}"), &table, "1500K");
        for (a, b) in json(&whole)["members"]
            .as_array()
            .unwrap()
            .iter()
            .zip(json(&streamed)["members"].as_array().unwrap())
        {
            let (a, b) = (a["score"].as_f64().unwrap(), b["score"].as_f64().unwrap());
            assert!((a - b).abs() < 1e-9 * a.abs(), "{groups}: {a} {b}");
        }
        assert_eq!(json(&whole)["table_rows"], json(&streamed)["table_rows"]);
    }
}

/// Rows of a group are alike, and its inputs tell it from the others: leaving out single rows would have a penalty learn groups by heart. In
/// memory and block by block it is chosen by the same folds of groups, and so are penalties and roots of classifiers.
#[test]
fn what_is_chosen_by_folds_honours_groups_in_blocks() {
    let (rows, groups) = (1800, 60);
    // As good as drawn, so that the groups' effects do not follow from their inputs.
    let wave = |k: usize, j: usize| {
        6.0 * (((k * 131 + j) as f64 * 12.9898).sin() * 43_758.545_3).fract().abs() - 3.0
    };
    let noise = |i: usize| ((i * i) as f64 * 0.37).sin();
    let group = |i: usize| i * 7 % groups;
    let column = |j: usize| {
        let value = |i: usize| wave(group(i), j) + 0.01 * noise(i + 5000 * j);
        Column::Numeric((0..rows).map(value).collect())
    };
    let effect = |i: usize| wave(group(i), 77);
    let inputs: Vec<(String, Column)> = (0..25).map(|j| (format!("x{j}"), column(j))).collect();
    let number = Column::Numeric((0..rows).map(|i| effect(i) + 0.1 * noise(i)).collect());
    let class = |i: usize| Some(if effect(i) + noise(i) > 0.0 { "yes" } else { "no" });
    let classes = Column::Categorical(Categories::new((0..rows).map(class)));
    let named: Vec<String> = (0..groups).map(|k| format!("g{k}")).collect();
    let by_name =
        Column::Categorical(Categories::new((0..rows).map(|i| Some(named[group(i)].as_str()))));
    let by_number = Column::Numeric((0..rows).map(|i| 0.5 * group(i) as f64).collect());
    let stack = "plan = 'hashed(folds=4)'\ncheck = 'none'\nkeep_all = true\ntarget = 'target'\ncombiners = ['simplex']\n";
    let regressions = format!("{stack}members = ['ridge', 'ridge(lambda=500)']\ngroups = 'g'");
    let classifiers = format!(
        "{stack}members = ['logistic(tolerance=1e-10)', 'lmd-ode(bins=3)', 'naive-bayes']\ngroups = 'g'"
    );
    let run = Run::new(0);
    for groups in [by_name, by_number] {
        for (recipe, target) in [(&regressions, &number), (&classifiers, &classes)] {
            let mut columns =
                if recipe == &regressions { inputs.clone() } else { inputs[..4].to_vec() };
            columns.push(("target".into(), target.clone()));
            columns.push(("g".into(), groups.clone()));
            let table = Table::new(columns).unwrap();
            let recipe = Recipe::from_toml(recipe).unwrap();
            let whole = json(&recipe.fit(&table, &run).unwrap());
            for rows in [1800, 431] {
                let source = Cut { table: table.clone(), rows };
                let streamed = json(&recipe.fit_blocks(&source, &run).unwrap());
                let members = |report: &Value| report["members"].as_array().unwrap().clone();
                for (a, b) in members(&whole).iter().zip(members(&streamed)) {
                    assert_eq!(a["name"], b["name"]);
                    for figure in ["score", "weight"] {
                        let (a, b) = (a[figure].as_f64().unwrap(), b[figure].as_f64().unwrap());
                        assert!((a - b).abs() < 1e-7 * a.abs().max(1.0), "{figure}: {a} {b}");
                    }
                }
            }
        }
    }
    // By single rows another penalty is chosen, by which groups are learned by heart.
    let value = |i: usize| (0..25).map(move |j| wave(group(i), j) + 0.01 * noise(i + 5000 * j));
    let x = Features::numeric((0..rows).flat_map(value).collect(), 25).unwrap();
    let y: Vec<f64> = (0..rows).map(|i| effect(i) + 0.1 * noise(i)).collect();
    let of_rows: Vec<u32> = (0..rows).map(|i| group(i) as u32).collect();
    let sample = Sample::<Regression>::new(x.rows(), &y).unwrap();
    let lambda = |sample: &Sample<'_, Regression>| {
        Ridge::default().fit_ridges(sample, &run).unwrap()[0].lambda()
    };
    let (by_groups, by_rows) = (lambda(&sample.grouped(&of_rows).unwrap()), lambda(&sample));
    assert!(by_groups > 10.0 * by_rows, "{by_groups} {by_rows}");
}

/// A class of a few rows among thousands is in the sample, at its weight: members of passes are those of memory, others know the class.
#[test]
fn rare_classes_are_in_the_sample() {
    let rows = 20_000;
    for (every, others) in [(4001, "b"), (307, "c")] {
        let values = crate::passes::rows(rows, 2, 0.0);
        let column = |j: usize| Column::Numeric(values[j..].iter().step_by(2).copied().collect());
        let class = |i: usize| match i {
            _ if i % every == 5 => Some("rare"),
            _ if values[2 * i] > 3.0 => Some("a"),
            _ => Some(others),
        };
        // Only one class but for the rare one in the first case.
        let class =
            |i: usize| class(i).map(|own| if every == 4001 && own == "a" { "b" } else { own });
        let classes = Column::Categorical(Categories::new((0..rows).map(class)));
        let table = Table::new(vec![
            ("x".into(), column(0)),
            ("y".into(), column(1)),
            ("target".into(), classes),
        ])
        .unwrap();
        let text = "target = 'target'\nmembers = ['naive-bayes', 'aode']\ncombiners = ['simplex']\nplan = 'hashed(folds=4)'\ncheck = 'none'\nkeep_all = true";
        let (whole, streamed) = both(text, &table, "1M");
        let score = |fit: &Fit| json(fit)["score"].as_f64().unwrap();
        let (a, b) = (score(&whole), score(&streamed));
        assert!((a - b).abs() < 1e-9, "{a} {b}");
        // The members say nearly the same of the class.
        for (a, b) in pooled_by(&whole).iter().zip(pooled_by(&streamed)) {
            assert!((a - b).abs() < 1e-5, "{a} {b}");
        }
        let notes = streamed.report.data_notes().join(" ");
        let all = (0..rows).filter(|i| i % every == 5).count();
        let told = format!("of {all} of 'rare'");
        assert!(notes.contains("rare classes") && notes.contains(&told), "{notes}");
        // The share of the class among the weights of the sample is that of the table.
        let Some(Matrix::Classification(matrix)) = &streamed.matrix else { panic!("no matrix") };
        let rare = matrix.target().classes().iter().position(|class| class == "rare").unwrap();
        let weights = matrix.weights().unwrap();
        let of_rare: f64 = (0..matrix.rows())
            .filter(|&i| matrix.target().class(i) == rare)
            .map(|i| weights[i])
            .sum();
        let (share, expected) = (of_rare / weights.iter().sum::<f64>(), all as f64 / rows as f64);
        assert!((share / expected - 1.0).abs() < 0.15, "{share} {expected}");
        // A member without passes.
        let sampled = text.replace("'aode'", "'tree(depth=3)'") + "\ndrop_failed = false";
        let recipe = Recipe { memory: Some("1M".into()), ..Recipe::from_toml(&sampled).unwrap() };
        let source = Cut { table: table.clone(), rows: 4096 };
        let notes = recipe.fit_blocks(&source, &Run::new(0)).unwrap().report.data_notes().join(" ");
        assert!(notes.contains("were fitted"), "{notes}");
    }
}

/// Adds up what is planned and what is done.
#[derive(Default)]
struct Heard(std::sync::Mutex<std::collections::BTreeMap<String, [u64; 2]>>);

impl Heard {
    fn add(&self, what: &str, side: usize, steps: u64) {
        self.0.lock().unwrap().entry(what.into()).or_default()[side] += steps;
    }
}

impl dolmen::run::Progress for Heard {
    fn plan(&self, steps: u64) {
        self.add("steps", 0, steps);
    }
    fn advance(&self, steps: u64, _what: &str) {
        self.add("steps", 1, steps);
    }
    fn plan_work(&self, work: &dolmen::run::Work<'_>) {
        self.add(work.what, 0, work.steps);
    }
    fn finish(&self, what: &str, steps: u64, _spent: std::time::Duration) {
        self.add(what, 1, steps);
    }
}

/// Fits in passes come to their end in parts, and the whole of what was planned is done.
#[test]
fn passes_tell_how_far_they_have_come() {
    let heard = std::sync::Arc::new(Heard::default());
    let run = Run::new(0).reporting(heard.clone());
    let text = "members = ['gaussian', 'mixture(components=3)']\nfolds = 3\ncheck = 'none'";
    let source = Cut { table: table(3000), rows: 800 };
    Recipe::from_toml(text).unwrap().fit_blocks(&source, &run).unwrap();
    drop(run);
    let heard = heard.0.lock().unwrap();
    for member in ["gaussian", "mixture(components=3)"] {
        let [planned, done] = heard[member];
        assert_eq!(planned, done, "{member}: {heard:?}");
        assert!(planned > 4, "{heard:?}");
    }
}
