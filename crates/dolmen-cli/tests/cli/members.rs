//! Members that cannot be fitted or used: which of them leave, and what is said of those that stop a fit.

use crate::folder::{Folder, IRIS};

const NUMBERS: [&str; 7] = ["fit", IRIS, "--target", "Sepal.Length", "--drop", "Species", "-q"];

fn names(report: &serde_json::Value) -> Vec<&str> {
    report["members"].as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect()
}

#[test]
fn of_a_ladder_only_the_bad_rung_leaves() {
    let folder = Folder::new();
    for more in [&["--check", "matrix"][..], &["--check", "nested"], &["--final", "average"]] {
        let ladder = ["--model", "neighbours(k=[0, 5, 25])", "--model", "ridge(lambda=1)"];
        let fit = [&NUMBERS[..], &ladder, &["--folds", "3"], more].concat();
        // Named members stop the fit, and the rung at fault is named.
        let line = folder.refuses(&fit);
        assert!(line.contains("'neighbours(k=0)'") && line.contains("k must be"), "{line}");
        let dropping = [&fit[..], &["--drop-failed", "-o", "m.dolmen"]].concat();
        let report = folder.json(&dropping);
        let all = ["neighbours(k=5)", "neighbours(k=25)", "ridge(lambda=1)"];
        assert_eq!(names(&report), all);
        let left_out = report["left_out"].as_array().unwrap();
        assert_eq!(left_out.len(), 1);
        assert!(left_out[0].as_str().unwrap().starts_with("neighbours(k=0): "), "{left_out:?}");
        // The others are what they would be without it.
        let sound = ["--model", "neighbours(k=[5, 25])", "--model", "ridge(lambda=1)"];
        let sound = [&NUMBERS[..], &sound, &["--folds", "3"], more].concat();
        let sound = folder.json(&sound);
        for key in ["members", "check", "kept", "figures"] {
            assert_eq!(report[key], sound[key], "{key} with {more:?}");
        }
        folder.succeeds(&["score", "m.dolmen", IRIS]);
        std::fs::remove_file(folder.path("m.dolmen")).unwrap();
    }
}

#[test]
fn rungs_that_are_too_large_for_the_rows_leave_too() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "--drop", "Species", "-q", "--model", "mixture(components=[2, 10000])"];
    assert!(folder.refuses(&fit).contains("mixture(components=10000)"));
    let report = folder.json(&[&fit[..], &["--drop-failed"]].concat());
    assert_eq!(names(&report), ["mixture(components=2)"]);
    // What is chosen from a ladder is fitted without its other rungs.
    let chosen = ["--model", "tuned(of=[ridge(lambda=[-1, 1]), mean])"];
    let report = folder.json(&[&NUMBERS[..], &chosen].concat());
    assert_eq!(names(&report).len(), 1);
}

/// Rates far beyond the range made boosting predict infinity.
#[test]
fn a_rate_that_leads_to_infinity_is_refused() {
    let folder = Folder::new();
    let fit = ["--model", "boost(rate=1e300)", "--alone", "-o", "m.dolmen"];
    let line = folder.refuses(&[&NUMBERS[..], &fit].concat());
    assert!(line.contains("rate must be above 0 and at most 2, but is 1e300"), "{line}");
}

#[test]
fn one_member_as_it_is_has_no_folds_and_nothing_that_needs_them() {
    let folder = Folder::new();
    let alone = [&NUMBERS[..], &["--model", "ridge", "--alone"]].concat();
    for more in [&["--intervals", "local"][..], &["--keep-matrix"], &["--keep-all"]] {
        let outcome = folder.dolmen(&[&alone[..], more].concat());
        assert_eq!(outcome.code, 2);
        assert!(outcome.stderr.contains(more[0]), "{}", outcome.stderr);
    }
    for field in ["keep_matrix = true", "intervals = 'local'", "plan = 'k-fold'", "folds = 4"] {
        folder.write("r.toml", format!("alone = true\nmembers = ['ridge']\n{field}\n"));
        let fit = [&NUMBERS[..], &["--recipe", "r.toml"]].concat();
        folder.refuses_naming(&fit, &["alone"]);
    }
    let none = [&NUMBERS[..], &["--folds", "0"]].concat();
    folder.refuses_naming(&none, &["folds", "at least 2"]);
    assert!(folder.dolmen(&none).stderr.contains("--alone"));
}
