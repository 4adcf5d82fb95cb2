//! What is found from all rows of a table that is read block by block, however few of them are in the sample: weights of every kind, the
//! decision what is kept, and the matrix.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use dolmen::Run;
use dolmen::catalogue::Catalogue;
use dolmen::recipe::stream::Cut;
use dolmen::recipe::{Fit, Matrix, Recipe};
use dolmen::table::{Categories, Column, Table};
use dolmen::target::Target;
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
            assert!((a - b).abs() < 1e-7, "{method}: {a} {b}");
        }
        let score = |fit: &Fit| json(fit)["score"].as_f64().unwrap();
        let (a, b) = (score(&whole), score(&streamed));
        assert!((a - b).abs() < 1e-7 * a.abs(), "{method}: {a} {b}");
        let notes = streamed.report.data_notes().join(" ");
        assert!(!notes.contains("the combination"), "{method}: {notes}");
    }
    let (_, sampled) = both(&classes_of("greedy"), &labelled(), "1500K");
    let notes = sampled.report.data_notes().join(" ");
    assert!(notes.contains("come: the combination"), "{notes}");
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
    // Penalties are named: with groups they are chosen by folds of the groups in memory, and by the sums of a pass in blocks.
    let members = "target = 'target'\nmembers = ['ridge(lambda=1)', 'ridge(lambda=500)']\n";
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
