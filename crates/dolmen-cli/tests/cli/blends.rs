//! Predictions from elsewhere: any combiner, the combined predictions, calibration and intervals; and `dolmen split`.

use std::fmt::Write;

use crate::folder::{Folder, column, mean, weights};

/// Three forecasts of 120 numbers: one good by day, one by night, one useless.
fn forecasts(first: usize, rows: usize, truth: bool) -> String {
    let mut text =
        String::from(if truth { "y,day,night,flat,hour\n" } else { "day,night,flat,hour\n" });
    for i in first..first + rows {
        let noise = |k: usize| ((i * 7919 + k * 7907) % 101) as f64 / 101.0 - 0.5;
        let (y, hour) = (10.0 + 6.0 * noise(1), i % 24);
        let (day, night) = if hour < 12 { (0.4, 4.0) } else { (4.0, 0.4) };
        if truth {
            write!(text, "{y},").unwrap();
        }
        writeln!(text, "{},{},10,{hour}", y + day * noise(2), y + night * noise(3)).unwrap();
    }
    text
}

#[test]
fn the_combined_predictions_are_the_weighted_ones() {
    let folder = Folder::with("f.csv", forecasts(0, 120, true));
    let report =
        folder.json(&["weigh", "f.csv", "-q", "--target", "y", "--drop", "hour", "-o", "c.csv"]);
    assert_eq!(report["output"], "c.csv");
    let w = weights(&report);
    let (data, combined) = (folder.read("f.csv"), column(&folder.read("c.csv"), "mean"));
    let parts = ["day", "night", "flat"].map(|name| column(&data, name));
    for (i, found) in combined.iter().enumerate() {
        let expected: f64 = w.iter().zip(&parts).map(|(w, part)| w * part[i]).sum();
        assert!((found - expected).abs() < 1e-9, "row {i}: {found} {expected}");
    }
    // Standard output has the rows, and nothing else.
    let rows =
        folder.succeeds(&["weigh", "f.csv", "-q", "--target", "y", "--drop", "hour", "-o", "-"]);
    assert_eq!(rows, folder.read("c.csv"));
    // Densities come back as they were given.
    folder.write("d.csv", "a,b\n0.5,0.2\n0.1,0.3\n0.4,0.4\n");
    let report = folder.json(&["weigh", "d.csv", "-q", "-o", "c.json"]);
    let w = weights(&report);
    let rows: serde_json::Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    let density = rows[0]["density"].as_f64().unwrap();
    assert!((density - (w[0] * 0.5 + w[1] * 0.2)).abs() < 1e-12);
}

#[test]
fn a_gate_over_given_inputs_wins_where_members_take_turns() {
    let folder = Folder::with("f.csv", forecasts(0, 240, true));
    folder.write("next.csv", forecasts(240, 48, false));
    let usual = ["weigh", "f.csv", "-q", "--target", "y", "--inputs", "hour"];
    let methods = ["--method", "simplex", "--method", "ridge", "--method", "gate"];
    let report = folder.json(&[&usual[..], &methods].concat());
    assert!(report["method"].as_str().unwrap().starts_with("gate(lambda="), "{report}");
    assert!(report["check"]["gain_over_best"]["mean"].as_f64().unwrap() > 0.0);
    let gate = [&usual[..], &["--method", "gate", "--apply", "next.csv", "-o", "next.out.csv"]];
    folder.succeeds(&[&gate.concat()[..], &["--interval", "0.9"]].concat());
    let (combined, truth) = (folder.read("next.out.csv"), forecasts(240, 48, true));
    let (found, y) = (column(&combined, "mean"), column(&truth, "y"));
    let error = |predicted: &[f64]| {
        mean(&predicted.iter().zip(&y).map(|(p, y)| (p - y).powi(2)).collect::<Vec<_>>())
    };
    assert!(error(&found) < 0.5 * error(&column(&truth, "day")), "{}", error(&found));
    let (lower, upper) = (column(&combined, "lower"), column(&combined, "upper"));
    let held = (0..48).filter(|&i| (lower[i]..=upper[i]).contains(&y[i])).count();
    assert!(held >= 38, "{held} of 48");
    // Without inputs there is no gate, and the hint says how to have one.
    let outcome = folder.dolmen(&["weigh", "f.csv", "--target", "y", "--method", "gate"]);
    assert!(outcome.code == 2 && outcome.stderr.contains("--inputs"), "{}", outcome.stderr);
    folder.refuses_naming(&[&usual[..], &["--method", "bma"]].concat(), &["bma"]);
    folder.refuses_naming(&[&usual[..], &["--method", "ridgee"]].concat(), &["method", "ridgee"]);
}

#[test]
fn classes_are_pooled_and_calibrated() {
    // One member, right in four of five rows, that says 0.99.
    let mut text = String::from("truth,sure:no,sure:yes,flat:no,flat:yes\n");
    for i in 0..100 {
        // One in five, spread over the folds, which are dealt in turn.
        let (truth, wrong) = (i % 2, (i / 10 + i / 2) % 5 == 0);
        let yes = if (truth == 1) == wrong { 0.01 } else { 0.99 };
        writeln!(text, "{},{},{yes},0.5,0.5", ["no", "yes"][truth], 1.0 - yes).unwrap();
    }
    let folder = Folder::with("p.csv", text);
    let alone = ["--drop", "flat:no", "--drop", "flat:yes"];
    let best = [&["weigh", "p.csv", "-q", "--target", "truth"][..], &alone].concat();
    let calibrated = [&best[..], &["--calibrate", "temperature", "-o", "c.csv"]].concat();
    let report = folder.json(&calibrated);
    assert!(report["calibration"]["Temperature"].as_f64().unwrap() > 1.0, "{report}");
    let p = column(&folder.read("c.csv"), "p(yes)");
    assert!(p.iter().all(|p| (p.max(1.0 - p) - 0.8).abs() < 0.02), "{p:?}");
    assert!(folder.read("c.csv").starts_with("class,p(no),p(yes)\n"));
    for method in ["log-pool", "logistic", "logistic(on=logits)"] {
        let usual = ["weigh", "p.csv", "-q", "--target", "truth", "--method", method];
        let report = folder.json(&usual);
        assert!(report["check"]["stack"]["mean"].as_f64().unwrap() > -0.7, "{method}: {report}");
    }
    folder.refuses_naming(
        &[&best[..], &["--interval", "0.9", "-o", "c.csv"]].concat(),
        &["interval"],
    );
    folder.write("d.csv", "a,b\n0.5,0.2\n0.1,0.3\n0.4,0.4\n");
    folder.refuses_naming(&["weigh", "d.csv", "--calibrate", "isotonic"], &["calibration"]);
}

#[test]
fn tables_are_split_by_class_group_and_time() {
    let mut text = String::from("id,patient,day,ill\n");
    for i in 0..100 {
        let ill = if i % 5 == 0 { "yes" } else { "no" };
        writeln!(text, "{i:03},p{},2024-{:02}-01,{ill}", i % 10, i % 12 + 1).unwrap();
    }
    let folder = Folder::with("v.csv", &text);
    let parts = || (folder.read("v.train.csv"), folder.read("v.test.csv"));
    let split = |more: &[&str]| folder.json(&[&["split", "v.csv"], more].concat());
    let report = split(&["--stratify", "ill", "--test", "0.2"]);
    assert_eq!((&report["train"]["rows"], &report["test"]["rows"]), (&80.into(), &20.into()));
    let (train, test) = parts();
    assert_eq!(test.matches(",yes").count(), 4);
    // Together they are the table, and every cell is spelled as it was.
    let mut lines: Vec<&str> = train.lines().chain(test.lines().skip(1)).collect();
    lines[1..].sort_unstable();
    assert_eq!(lines, text.lines().collect::<Vec<_>>());
    split(&["--groups", "patient", "--test", "30"]);
    let patients = |text: &str| -> Vec<String> {
        let all = text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_string());
        let mut all: Vec<String> = all.collect();
        all.sort();
        all.dedup();
        all
    };
    let (train, test) = parts();
    assert_eq!((patients(&train).len(), patients(&test).len()), (7, 3));
    split(&["--time", "day", "--test", "0.25"]);
    let (train, test) = parts();
    let days = |text: &str| -> Vec<String> {
        text.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().to_string()).collect()
    };
    assert!(days(&train).iter().max() < days(&test).iter().min());
    split(&["--train-output", "a.parquet", "--test-output", "b.json"]);
    assert!(folder.succeeds(&["inspect", "a.parquet", "-q"]).contains("75 rows"));
    let same = ["split", "v.csv", "--train-output", "a.csv", "--test-output", "a.csv"];
    folder.refuses_naming(&same, &["same file"]);
    folder.refuses_naming(&["split", "v.csv", "--test", "100"], &["test"]);
    folder.refuses_naming(&["split", "v.csv", "--test", "half"], &["test"]);
    folder.refuses_naming(&["split", "v.csv", "--groups", "patiant"], &["'patiant'"]);
}

#[test]
fn a_model_tells_what_it_found() {
    let folder = Folder::with("f.csv", forecasts(0, 60, true));
    let fit = ["fit", "f.csv", "-q", "--keep", "day", "--keep", "night", "--model", "gaussian"];
    let kernel = ["--model", "kernel(bandwidth=0.5)", "-o", "m.dolmen", "--keep-stack"];
    folder.succeeds(&[&fit[..], &kernel].concat());
    let report = folder.json(&["inspect", "m.dolmen"]);
    let series = |member: usize, name: &str| {
        let all = report["members"][member]["series"].as_array().unwrap();
        all.iter().find(|series| series["name"] == name).unwrap().clone()
    };
    let data = folder.read("f.csv");
    let means = series(0, "mean");
    assert_eq!(means["labels"][1], "night of component 1");
    let found = means["values"][1].as_f64().unwrap();
    assert!((found - mean(&column(&data, "night"))).abs() < 1e-6, "{found}");
    assert_eq!(series(1, "bandwidth")["labels"], serde_json::json!(["day", "night"]));
    let text = folder.succeeds(&["inspect", "m.dolmen"]);
    assert!(text.contains("bandwidth") && text.contains("standard deviation"), "{text}");
}

#[test]
fn fit_says_that_a_model_is_not_kept() {
    let folder = Folder::with("f.csv", forecasts(0, 60, true));
    let fit = ["fit", "f.csv", "--keep", "day", "--model", "gaussian"];
    let said = |more: &[&str]| folder.dolmen(&[&fit[..], more].concat()).stderr;
    assert!(said(&[]).contains("the model is not kept"), "{}", said(&[]));
    assert!(!said(&["-o", "m.dolmen"]).contains("not kept"));
}
