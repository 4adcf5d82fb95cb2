//! `dolmen compare`: the shape of its report, and agreement with the reference in distribution.

use serde_json::Value;

use crate::folder::{DIABETES, Folder, IRIS, keys};

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
        assert_eq!(keys(method), ["finite_share", "mean", "name", "p_value", "se"]);
    }
    let weights = report["mean_weights"].as_array().unwrap();
    assert_eq!((weights.len(), keys(&weights[0])), (6, vec!["name", "weight"]));
    let total: f64 = weights.iter().map(|w| w["weight"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);
    // Splits run in parallel; the result does not depend on how many.
    let printed = |threads| folder.succeeds(&[&arguments[..], &["--threads", threads]].concat());
    assert_eq!(printed("1"), printed("2"));
}

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
    let report = Folder::new().json(&["compare", IRIS, "-q", "--test-rows", "20"]);
    agrees(&report, &IRIS_REFERENCE);
}

#[test]
fn diabetes_agrees_with_the_reference() {
    let report = Folder::new().json(&["compare", DIABETES, "-q", "--test-rows", "20"]);
    agrees(&report, &DIABETES_REFERENCE);
}
