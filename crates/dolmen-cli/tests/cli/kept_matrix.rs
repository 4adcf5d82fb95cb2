//! The matrix that a fit keeps and another goes on with, and keys of the rows that the options name.

use std::fs;

use crate::folder::{Folder, IRIS};

#[test]
fn kept_columns_stay_when_the_usual_members_join_them() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--target", "Species", "--check", "none", "--oos", "m.parquet"];
    folder.succeeds(&[&fit[..], &["--model", "adaboost(rounds=7)"]].concat());
    let report = folder.json(&fit);
    let names = report["members"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap());
    let names: Vec<&str> = names.collect();
    assert!(names.contains(&"adaboost(rounds=7)"), "{names:?}");
    assert!(names.len() > 5, "{names:?}");
    let weighed = folder.json(&["weigh", "m.parquet", "--errors", "none"]);
    assert_eq!(weighed["members"].as_array().unwrap().len(), names.len());
}

#[test]
fn a_file_that_is_no_matrix_is_not_written_over() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--drop", "Species", "--model", "gaussian"];
    folder.succeeds(&[&fit[..], &["-o", "m.dolmen"]].concat());
    folder.succeeds(&["predict", "m.dolmen", IRIS, "-o", "other.parquet"]);
    let before = fs::read(folder.path("other.parquet")).unwrap();
    let refused = [&fit[..], &["--oos", "other.parquet"]].concat();
    folder.refuses_naming(&refused, &["other.parquet", "no out-of-sample matrix"]);
    assert_eq!(fs::read(folder.path("other.parquet")).unwrap(), before);
    folder.refuses_naming(&[&fit[..], &["--oos", "m.csv"]].concat(), &["m.csv", ".parquet"]);
}

/// Forty rows that grow with their number.
fn series() -> Folder {
    let row = |i: u32| format!("{i},{},{}\n", i % 7, f64::from(i) + f64::from(i * 37 % 11));
    Folder::with("d.csv", format!("when,x,y\n{}", (0..80).map(row).collect::<String>()))
}

#[test]
fn a_plan_in_order_of_time_without_a_column_takes_the_rows_as_they_stand() {
    let folder = series();
    let by = |plan: &str| {
        let mut fit = vec!["fit", "d.csv", "--target", "y", "--plan", plan, "--drop"];
        let members = ["--model", "tree", "--model", "tuned(of=ridge(lambda=[0.1, 10]))"];
        fit.push(if plan.contains("column") { "none" } else { "when" });
        fit.extend(members);
        if plan.contains("column") {
            fit.drain(6..8);
        }
        folder.dolmen(&[&fit[..], &["--format", "json"]].concat())
    };
    let (named, unnamed) = (by("time(column=when, folds=4)"), by("time(folds=4)"));
    assert_eq!((named.code, unnamed.code), (0, 0), "{} {}", named.stderr, unnamed.stderr);
    assert!(unnamed.stderr.contains("in order of time"), "{}", unnamed.stderr);
    let scores = |text: &str| {
        let report: serde_json::Value = serde_json::from_str(text).unwrap();
        report["members"].as_array().unwrap().iter().map(|m| m["score"].clone()).collect::<Vec<_>>()
    };
    // The splits inside the members are in order of time, too.
    assert_eq!(scores(&named.stdout), scores(&unnamed.stdout));
}

#[test]
fn a_column_that_is_dropped_and_needed_is_told_as_such() {
    let folder = series();
    let fit = ["fit", "d.csv", "--target", "y", "--time", "when", "--drop", "when"];
    folder.refuses_naming(&fit, &["when", "--drop"]);
    let typo = ["fit", "d.csv", "--target", "y", "--plan", "time(column=when, foldz=3)"];
    folder.refuses_naming(&typo, &["foldz", "folds", "kind"]);
}

#[test]
fn a_class_that_the_model_does_not_know_is_named() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--target", "Species", "--model", "tree", "--alone"];
    folder.succeeds(&[&fit[..], &["-o", "m.dolmen"]].concat());
    let rows = fs::read_to_string(IRIS).unwrap().replace("virginica", "zeta");
    folder.write("other.csv", rows);
    folder.refuses_naming(&["score", "m.dolmen", "other.csv"], &["row 101", "zeta"]);
}

/// Squared errors of targets in small units are small, and the words about them must not change.
#[test]
fn words_and_figures_do_not_depend_on_the_unit_of_the_target() {
    let folder = Folder::new();
    let table = |unit: f64| {
        let row = |i: u32| {
            let x = f64::from(i * 29 % 61) / 10.0;
            let y = unit * (x.sin() * 3.0 + f64::from(i * 37 % 17) / 9.0);
            format!("{x},{},{y:e}\n", i % 5)
        };
        format!("x,z,y\n{}", (0..90).map(row).collect::<String>())
    };
    let kept = |unit: f64| {
        folder.write("d.csv", table(unit));
        let fit = ["fit", "d.csv", "-q", "--target", "y", "--model", "tree", "--model", "ridge"];
        let text = folder.succeeds(&[&fit[..], &["--model", "neighbours"]].concat());
        let line =
            |start: &str| text.lines().find(|line| line.starts_with(start)).map(String::from);
        assert!(!text.contains("+0 (se 0)"), "{text}");
        let words = line("kept").unwrap();
        (words.split(':').next().unwrap().to_string(), line("alike"))
    };
    assert_eq!(kept(1.0), kept(1e-12));
}
