//! Generative models: weights of log joint columns, joint models, two-dependence estimators, random networks.

use std::fmt::Write;

use crate::folder::{Folder, IRIS, assert_close, keys, weights};

/// ln p(x, class) of two members for twelve rows: each right about its own half.
fn joints(log: bool) -> String {
    let mut text = String::from("truth,a:yes,a:no,b:yes,b:no\n");
    for i in 0..12 {
        let truth = if i % 2 == 0 { "yes" } else { "no" };
        let (sure, unsure) = (0.5 + f64::from(i) / 40.0, 0.4 - f64::from(i) / 40.0);
        let pair = |p: f64| if i % 2 == 0 { [p, 1.0 - p] } else { [1.0 - p, p] };
        let (a, b) = if i % 3 == 0 { (unsure, sure) } else { (sure, unsure) };
        write!(text, "{truth}").unwrap();
        // The members differ in how probable they find the row itself.
        for (joint, density) in [(pair(a), 0.3), (pair(b), 0.02 + 0.05 * f64::from(i % 4))] {
            for p in joint {
                let p = p * density;
                write!(text, ",{}", if log { p.ln() } else { p }).unwrap();
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn log_joint_columns_are_weighed_by_lmg() {
    let folder = Folder::with("j.csv", joints(true));
    let arguments = ["weigh", "j.csv", "--target", "truth", "--log"];
    let report = folder.json(&arguments);
    assert_eq!((&report["task"], &report["method"]), (&"joint".into(), &"simplex".into()));
    assert!(report["kkt_residual"].as_f64().unwrap() <= 1e-8);
    let found = weights(&report);
    assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    // No weights on a grid are better.
    let rows: Vec<Vec<f64>> = joints(true)
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let score = |a: f64| {
        let row = |(i, row): (usize, &Vec<f64>)| {
            let mixed = |c: usize| a * row[c].exp() + (1.0 - a) * row[2 + c].exp();
            (mixed(i % 2) / (mixed(0) + mixed(1))).ln()
        };
        rows.iter().enumerate().map(row).sum::<f64>() / rows.len() as f64
    };
    let best = (0..=1000).map(|k| score(f64::from(k) / 1000.0)).fold(f64::MIN, f64::max);
    let reached = report["score"].as_f64().unwrap();
    assert!(reached >= best - 1e-9 && (reached - score(found[0])).abs() < 1e-9);
    let text = folder.succeeds(&arguments);
    assert!(text.contains("method         lmg, KKT residual"), "{text}");
}

#[test]
fn what_is_no_log_joint_probability_is_refused() {
    let folder = Folder::with("j.csv", joints(true));
    let missing_log = ["weigh", "j.csv", "--target", "truth"];
    folder.refuses_naming(&missing_log, &["row 1", "a:yes", "probability"]);
    assert!(folder.dolmen(&missing_log).stderr.contains("--log"));
    folder.refuses_naming(&[&missing_log[..], &["--log", "--method", "em"]].concat(), &["method"]);
    folder.write("n.csv", "y,a\n1,2\n3,4\n");
    folder.refuses_naming(&["weigh", "n.csv", "--target", "y", "--log"], &["member:class"]);
    folder.write("u.csv", "truth,a:yes,a:no\nyes,-1,-2\nmaybe,-1,-2\n");
    folder.refuses_naming(&["weigh", "u.csv", "--target", "truth", "--log"], &["maybe"]);
}

#[test]
fn a_joint_model_predicts_classes() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--target", "Species", "--task", "joint", "-o", "m.dolmen"];
    let report = folder.json(&fit);
    assert_eq!(report["task"], "joint");
    assert!(report["kkt_residual"].as_f64().unwrap() <= 1e-8);
    let score = folder.json(&["score", "m.dolmen", IRIS, "-q"]);
    assert!(score["figures"]["error"].as_f64().unwrap() < 0.05);
    assert_eq!(keys(&score["figures"]), ["auc", "brier", "error", "log_loss"]);
    let predicted = folder.succeeds(&["predict", "m.dolmen", IRIS, "-q"]);
    let mut lines = predicted.lines();
    assert_eq!(lines.next(), Some("class,p(setosa),p(versicolor),p(virginica)"));
    for line in lines {
        let cells: Vec<f64> = line.split(',').skip(1).map(|cell| cell.parse().unwrap()).collect();
        assert!((cells.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line}");
    }
    let inspected = folder.json(&["inspect", "m.dolmen"]);
    assert_eq!(inspected["task"], "joint");
    folder.refuses_naming(&["sample", "m.dolmen"], &["joint"]);
    folder.refuses_naming(&[&fit[..], &["--model", "forest"]].concat(), &["joint", "forest"]);
}

#[test]
fn one_dependence_members_take_the_columns_as_their_roots() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--target", "Species"];
    let names = |report: &serde_json::Value| -> Vec<String> {
        let members = report["members"].as_array().unwrap();
        members.iter().map(|m| m["name"].as_str().unwrap().to_string()).collect()
    };
    let report = folder.json(&[&fit[..], &["--model", "ode", "--model", "a2de"]].concat());
    let found = names(&report);
    assert_eq!(found.len(), 5);
    assert_eq!(found[0], "ode(root=Sepal.Length)");
    let one = folder.json(&[&fit[..], &["--model", "ode(root=[Petal.Width])"]].concat());
    assert_eq!(names(&one), ["ode(root=Petal.Width)"]);
    let joint = ["--task", "joint", "--model", "lmd-ode"];
    folder.refuses_naming(&[&fit[..], &joint].concat(), &["lmd-ode"]);
}

#[test]
fn random_networks_give_the_rows_that_are_asked_for() {
    let folder = Folder::new();
    let small = ["generate", "network", "--attributes", "4", "--values", "3", "--width", "2"];
    let files = ["--rows", "50", "-o", "n.csv", "--test-rows", "20", "--test-output", "t.csv"];
    let report = folder.json(&[&small[..], &files].concat());
    let expected = ["arcs", "induced_width", "output", "rows", "values", "variables"];
    assert_eq!(keys(&report), expected);
    assert!(report["induced_width"].as_u64().unwrap() <= 2);
    assert!(report["arcs"].as_array().unwrap().len() >= 4);
    let (train, test) = (folder.read("n.csv"), folder.read("t.csv"));
    assert_eq!((train.lines().count(), test.lines().count()), (51, 21));
    assert_eq!(train.lines().next(), Some("a1,a2,a3,a4,class"));
    assert_ne!(train.lines().nth(1), None);
    // The same rows on stdout; other rows by another seed.
    let printed = folder.succeeds(&[&small[..], &["--rows", "50"]].concat());
    assert_eq!(printed, train);
    assert_ne!(folder.succeeds(&[&small[..], &["--rows", "50", "--seed", "1"]].concat()), train);
    for (name, value) in [("--values", "1"), ("--width", "0"), ("--rows", "0")] {
        let reason = [name.trim_start_matches('-')];
        folder.refuses_naming(&["generate", "network", name, value], &reason);
    }
    let report = folder.json(&["fit", "n.csv", "-q", "--target", "class", "--model", "aode"]);
    assert_close(&weights(&report), &[1.0], 0.0);
}
