//! `dolmen compare`: the shape of its report, and agreement with the reference in distribution.

use std::fmt::Write;

use serde_json::Value;

use crate::folder::{Folder, IRIS, keys};

const METHODS: [&str; 6] =
    ["stacking", "cv", "uniform", "cheating", "cv-bandwidth", "single-gaussian"];

#[test]
fn the_methods_and_keys_of_the_report() {
    let folder = Folder::new();
    let arguments = ["compare", IRIS, "-q", "--repeats", "3", "--test-rows", "20"];
    let report = folder.json(&arguments);
    let methods = report["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names, METHODS);
    for method in methods {
        assert_eq!(keys(method), ["finite_share", "mean", "name", "p_value", "se", "split_scores"]);
    }
    let weights = report["mean_weights"].as_array().unwrap();
    assert_eq!((weights.len(), keys(&weights[0])), (12, vec!["name", "weight"]));
    let total: f64 = weights.iter().map(|w| w["weight"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);
    // Splits run in parallel; the result does not depend on how many.
    let printed = |threads| folder.succeeds(&[&arguments[..], &["--threads", threads]].concat());
    assert_eq!(printed("1"), printed("2"));
}

/// The members of the paper's experiments, and its size of the test part.
const PAPER: [&str; 6] = [
    "--model",
    "kernel(shape=triangular, bandwidth=[0.1, 0.4, 1.5])",
    "--model",
    "mixture(components=[2, 4, 8], schedule=sw99)",
    "--test-rows",
    "20",
];

/// A method's mean over 50 splits with 20 test rows in the reference implementation, and its finite share.
type Expected = (&'static str, f64, f64);

const IRIS_REFERENCE: [Expected; 6] = [
    ("stacking", 21.4, 1.0),
    ("cv", 19.7, 1.0),
    ("uniform", 16.4, 1.0),
    ("cheating", 20.3, 1.0),
    ("cv-bandwidth", 16.2, 0.74),
    ("single-gaussian", -53.7, 1.0),
];
const DIABETES_REFERENCE: [Expected; 6] = [
    ("stacking", 30.8, 1.0),
    ("cv", 25.4, 1.0),
    ("uniform", 28.7, 1.0),
    ("cheating", 28.7, 1.0),
    ("cv-bandwidth", 19.3, 0.66),
    ("single-gaussian", -352.9, 1.0),
];

/// Both means come from 50 random splits, so their difference has sqrt(2) times the standard error of one.
fn agrees(report: &Value, reference: &[Expected]) {
    for (found, (name, mean, share)) in report["methods"].as_array().unwrap().iter().zip(reference)
    {
        let number = |key: &str| found[key].as_f64().unwrap();
        let allowed = 2.0 * 2_f64.sqrt() * number("se");
        assert_eq!(found["name"], *name);
        assert!((number("mean") - mean).abs() <= allowed, "{name}: {found} against {mean}");
        let share_error = (2.0 * share * (1.0 - share) / 50.0).sqrt();
        assert!(
            (number("finite_share") - share).abs() <= 2.0 * share_error + 1e-9,
            "{name}: {found}"
        );
    }
}

#[test]
fn iris_agrees_with_the_reference() {
    let report = Folder::new().json(&[&["compare", IRIS, "-q"], &PAPER[..]].concat());
    agrees(&report, &IRIS_REFERENCE);
}

/// The set is under the GPL, so it is not part of this repository: where it does not lie beside it, nothing is tested.
#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn diabetes_agrees_with_the_reference() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/papers");
    let data = format!("{shared}/reaven_miller_diabetes.csv");
    if !std::path::Path::new(&data).exists() {
        eprintln!("skipped: reaven_miller_diabetes.csv does not lie beside the repository");
        return;
    }
    let report = Folder::new().json(&[&["compare", &data, "-q"], &PAPER[..]].concat());
    agrees(&report, &DIABETES_REFERENCE);
}

/// A file with two classes that the second column almost gives away.
fn two_classes(rows: usize) -> String {
    let mut text = String::from("size,colour,class\n");
    for i in 0..rows {
        let class = if i % 2 == 0 { "yes" } else { "no" };
        let colour = if i % 9 == 4 { "red" } else { class };
        writeln!(text, "{},{colour},{class}", (i * 37) % 11).unwrap();
    }
    text
}

#[test]
fn classes_are_compared_by_their_figures() {
    let folder = Folder::with("c.csv", two_classes(60));
    let members = ["--model", "naive-bayes", "--model", "class-frequencies"];
    let splits = ["--repeats", "2", "--outer-folds", "3", "--folds", "3"];
    let arguments = [&["compare", "c.csv", "-q", "--target", "class"][..], &members, &splits];
    let report = folder.json(&arguments.concat());
    assert_eq!((&report["task"], &report["outer_folds"]), (&"classification".into(), &3.into()));
    let methods = report["methods"].as_array().unwrap();
    let names: Vec<&str> = methods.iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names[..4], METHODS[..4]);
    assert_eq!(names[4..], ["naive-bayes", "class-frequencies"]);
    let expected = [
        "corrected_p_value",
        "figures",
        "finite_share",
        "mean",
        "name",
        "p_value",
        "se",
        "split_scores",
    ];
    assert_eq!(keys(&methods[1]), expected);
    let figures = methods[1]["figures"].as_array().unwrap();
    let named: Vec<&str> = figures.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(named, ["log_loss", "error", "brier", "auc"]);
    let text = folder.succeeds(&arguments.concat());
    assert!(text.contains("corrected t p") && text.contains("2 times 3 folds"), "{text}");
}

#[test]
fn few_groups_make_fewer_folds_and_test_rows_are_the_true_ones() {
    let mut text = String::from("x,y,g\n");
    (0..40).for_each(|i| writeln!(text, "{i},{},{}", 3 * i + i % 4, i % 4).unwrap());
    let folder = Folder::with("g.csv", text);
    let usual = ["compare", "g.csv", "-q", "--target", "y", "--groups", "g", "--model", "ridge"];
    let report = folder.json(&[&usual[..], &["--repeats", "2", "--test-rows", "4"]].concat());
    assert_eq!(report["test_rows"], 10);
    assert!(report["notes"][0].as_str().unwrap().contains("there are 3"), "{report}");
    let text = folder.succeeds(&[&usual[..], &["--repeats", "1", "--test-rows", "4"]].concat());
    assert!(text.contains("1 random split of 40 rows") && text.contains("10 test rows"), "{text}");
    // One split has no standard error and no test.
    assert!(!text.contains("NaN"), "{text}");
    let report = folder.json(&[&usual[..], &["--repeats", "1", "--test-rows", "4"]].concat());
    assert!(report["methods"][1]["p_value"].is_null(), "{report}");
}

#[test]
fn several_sets_give_wins_draws_and_losses() {
    let folder = Folder::with("a.csv", two_classes(60));
    folder.write("b.csv", two_classes(90));
    let members = ["--model", "naive-bayes", "--model", "class-frequencies"];
    let splits = ["--members-only", "--repeats", "2", "--outer-folds", "5", "--target-last"];
    let arguments = [&["compare", "a.csv", "b.csv", "-q"][..], &members, &splits].concat();
    let report = folder.json(&arguments);
    assert_eq!(report["sets"].as_array().unwrap().len(), 2);
    assert_eq!(report["sets"][1]["file"], "b.csv");
    let tallies = report["tallies"].as_array().unwrap();
    assert_eq!(tallies.len(), 4);
    assert_eq!(tallies[0]["outcomes"], serde_json::json!([2, 0, 0]), "{}", tallies[0]);
    let text = folder.succeeds(&arguments);
    assert!(text.contains("naive-bayes - class-frequencies  2/0/0 (2/0/0)"), "{text}");
    assert!(text.contains("over 2 sets"), "{text}");
}

#[test]
fn numbers_are_compared_and_mistakes_named() {
    let mut text = String::from("x,y\n");
    (0..40).for_each(|i| writeln!(text, "{i},{}", 3 * i + i % 4).unwrap());
    let folder = Folder::with("n.csv", text);
    let members = ["--model", "ridge", "--model", "mean"];
    let usual = [&["compare", "n.csv", "-q", "--target", "y"][..], &members].concat();
    let report = folder.json(&[&usual[..], &["--members-only", "--repeats", "3"]].concat());
    assert_eq!((&report["task"], &report["test_rows"]), (&"regression".into(), &4.into()));
    let figure = &report["methods"][0]["figures"][0];
    assert_eq!(figure["name"], "rmse");
    assert!(figure["mean"].as_f64().unwrap() < 3.0);
    folder.refuses_naming(&["compare", "n.csv", "--target", "z"], &["z"]);
    folder.refuses_naming(&["compare", "n.csv", "--task", "classify"], &["task"]);
    folder.refuses_naming(&[&usual[..], &["--test-rows", "40"]].concat(), &["40", "n.csv"]);
    folder.refuses_naming(&["compare", "-", "--target-last"], &["target-last"]);
    assert_eq!(folder.dolmen(&["compare", "n.csv", "--random-networks"]).code, 2);
    assert_eq!(folder.dolmen(&["compare"]).code, 2);
    let both = [&usual[..], &["--test-rows", "4", "--outer-folds", "4"]].concat();
    assert_eq!(folder.dolmen(&both).code, 2);
    // The first of many blocks of time has too few rows before it for a plan with a gap.
    let mut days = String::from("t,x,y\n");
    (0..40).for_each(|i| writeln!(days, "{i},{},{}", i % 7, 3 * i + i % 4).unwrap());
    folder.write("days.csv", days);
    let plan = ["--plan", "time(column=t, folds=4, gap=5)", "--outer-folds", "12"];
    let timed = [&["compare", "days.csv", "-q", "--target", "y"][..], &members, &plan].concat();
    folder.refuses_naming(&timed, &["gap", "5 distinct times"]);
    let hint = folder.dolmen(&timed).stderr;
    assert!(hint.contains("5 rows before it: fewer outer folds"), "{hint}");
}

/// Sets of classes and of numbers have other figures: each stands in its own column, and in none where there is none.
#[test]
fn sets_of_unlike_tasks_keep_their_figures_apart() {
    let folder = Folder::with("classes.csv", two_classes(40));
    let numbers: Vec<String> = (0..40).map(|i| format!("{i},{}", i % 7)).collect();
    folder.write("numbers.csv", format!("x,y\n{}\n", numbers.join("\n")));
    let members = ["--model", "tree", "--model", "neighbours(k=3)", "--repeats", "2", "-q"];
    let compare = ["compare", "classes.csv", "numbers.csv", "--target-last"];
    let text = folder.succeeds(&[&compare[..], &members].concat());
    let line = |start: &str| -> Vec<String> {
        let found: Vec<&str> = text.lines().filter(|line| line.starts_with(start)).collect();
        assert_eq!(found.len(), 1, "{start}: {text}");
        found[0].split("  ").map(str::trim).filter(|s| !s.is_empty()).map(String::from).collect()
    };
    let header = line("pair");
    for pair in ["stacking - tree", "stacking - neighbours(k=3)", "stacking - cv"] {
        let cells = line(pair);
        assert_eq!(cells.len(), header.len(), "{text}");
        for (figure, cell) in header.iter().zip(&cells).skip(1) {
            // One set each: the counts of a cell sum to 1.
            let counts: usize = cell
                .split(' ')
                .next()
                .unwrap()
                .split('/')
                .map(|n| n.parse::<usize>().unwrap())
                .sum();
            let sets = if figure == "score" { 2 } else { 1 };
            assert_eq!(counts, sets, "{pair}, {figure}: {text}");
        }
    }
}
