//! `dolmen advise`: what it says of data whose answer is known, the shape of its report, and what it refuses.

use std::fmt::Write;

use serde_json::Value;

use crate::folder::{Folder, IRIS, keys};

/// A number between 0 and 1 for each pair, as if drawn at random: bits of SplitMix64.
fn even(i: usize, j: usize) -> f64 {
    let mut z = (i as u64 * 16 + j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Rows of three columns and a target made from them and from noise between -1 and 1.
fn table(rows: usize, target: impl Fn(f64, f64, f64, f64) -> String) -> String {
    let mut text = "a,b,c,y\n".to_string();
    for i in 0..rows {
        let [a, b, c, noise] = [1, 2, 3, 7].map(|j| 2.0 * even(i, j) - 1.0);
        writeln!(text, "{a},{b},{c},{}", target(a, b, c, noise)).unwrap();
    }
    text
}

fn reason<'a>(report: &'a Value, topic: &str) -> &'a Value {
    let reasons = report["reasons"].as_array().unwrap();
    reasons.iter().find(|reason| reason["topic"] == topic).unwrap_or(&Value::Null)
}

#[test]
fn a_straight_line_is_recognised() {
    let line = |a: f64, b: f64, _: f64, noise: f64| format!("{}", 2.0 * a - b + noise);
    let folder = Folder::with("d.csv", table(400, line));
    let report = folder.json(&["advise", "d.csv", "--target", "y", "-q"]);
    assert_eq!(report["choice"], "linear");
    assert_eq!(report["command"], "dolmen fit d.csv --target y --model ridge -o model.dolmen");
    assert!(reason(&report, "signal")["value"].as_f64().unwrap() > 0.5);
    assert!(reason(&report, "shape")["value"].as_f64().unwrap() < 0.0);
    let reasons = report["reasons"].as_array().unwrap();
    assert!((3..=6).contains(&reasons.len()));
    for reason in reasons {
        assert_eq!(keys(reason), ["says", "se", "topic", "value"]);
    }
    assert_eq!(report["facts"]["rows"], 400);
}

#[test]
fn noise_is_recognised() {
    let noise = |_: f64, _: f64, _: f64, noise: f64| noise.to_string();
    let folder = Folder::with("d.csv", table(300, noise));
    let report = folder.json(&["advise", "d.csv", "--target", "y", "-q"]);
    assert_eq!(report["choice"], "baseline");
    assert_eq!(report["models"], serde_json::json!(["mean"]));
}

#[test]
fn what_is_not_linear_is_recognised_with_categories_and_missing_values() {
    let mut text = "a,b,colour,y\n".to_string();
    for i in 0..500 {
        let (a, b) = (2.0 * even(i, 1) - 1.0, 2.0 * even(i, 2) - 1.0);
        let colour = ["red", "green", "", "blue"][i % 4];
        let a_cell = if i % 9 == 0 { String::new() } else { a.to_string() };
        let class = if (a > 0.0) == (b > 0.0) { "yes" } else { "no" };
        writeln!(text, "{a_cell},{b},{colour},{class}").unwrap();
    }
    let folder = Folder::with("d.csv", text);
    let report = folder.json(&["advise", "d.csv", "--target", "y", "-q"]);
    assert_ne!(report["choice"], "linear");
    assert_ne!(report["choice"], "baseline");
    let shape = reason(&report, "shape");
    assert!(shape["value"].as_f64().unwrap() > 4.0 * shape["se"].as_f64().unwrap(), "{shape}");
    assert_eq!(report["facts"]["categorical"], 1);
    // The same on any number of threads, and as text with the command to run.
    let printed = |threads| {
        folder.succeeds(&["advise", "d.csv", "--target", "y", "-q", "--threads", threads])
    };
    assert_eq!(printed("1"), printed("2"));
    assert!(printed("1").lines().last().unwrap().starts_with("next           dolmen fit d.csv"));
}

#[test]
fn densities_and_the_command_that_comes_next() {
    let folder = Folder::new();
    let report = folder.json(&["advise", IRIS, "--drop", "Species", "-q"]);
    assert_eq!(report["facts"]["task"], "density");
    assert_ne!(report["choice"], "baseline", "iris has groups");
    let command = report["command"].as_str().unwrap();
    assert!(command.contains("--drop Species"), "{command}");
    // What is said to come next works.
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    if !command.contains('\'') {
        folder.succeeds(&[&words[..], &["-q"]].concat());
        assert_eq!(folder.names(), ["model.dolmen"]);
    }
}

/// A tree is certain of classes that copies of a row contradict: its loss counts, but is not infinite.
#[test]
fn certainties_that_turn_out_wrong_are_no_infinite_losses() {
    let mut text = "a,b,y\n".to_string();
    for i in 0..200 {
        let (a, b) = (even(i, 1), even(i, 2));
        let flipped = i % 40 == 0;
        let class = if (a > 0.5) == flipped { "no" } else { "yes" };
        writeln!(text, "{a},{b},{class}").unwrap();
    }
    let folder = Folder::with("d.csv", text);
    let report = folder.json(&["advise", "d.csv", "--target", "y", "-q"]);
    for member in report["probe"]["members"].as_array().unwrap() {
        for key in ["gain", "behind"] {
            assert!(member[key]["mean"].is_number() && member[key]["se"].is_number(), "{member}");
        }
    }
    let printed = folder.succeeds(&["advise", "d.csv", "--target", "y", "-q"]);
    assert!(!printed.contains("inf"), "{printed}");
    let clipped = report["probe"]["clipped"].as_array().unwrap();
    assert_eq!(clipped.is_empty(), !printed.contains("counts as 1e-15"), "{printed}");
}

#[test]
fn large_tables_are_probed_in_part() {
    let line = |a: f64, b: f64, c: f64, noise: f64| format!("{}", a * b + c + 0.3 * noise);
    let folder = Folder::with("d.csv", table(6000, line));
    let report = folder.json(&["advise", "d.csv", "--target", "y", "-q"]);
    assert_eq!(
        (report["probe"]["rows"].as_u64(), report["facts"]["rows"].as_u64()),
        (Some(2000), Some(6000))
    );
    assert!(report["reasons"].as_array().unwrap().len() <= 6);
}

#[test]
fn what_cannot_be_advised_on_is_refused() {
    let folder = Folder::with("few.csv", "a,y\n1,2\n2,3\n3,5\n");
    folder.refuses_naming(&["advise", "few.csv", "--target", "y"], &["few.csv", "3 rows"]);
    folder.refuses_naming(&["advise", "few.csv", "--target", "z"], &["few.csv", "'z'"]);
    folder.refuses_naming(&["advise", "nowhere.csv"], &["nowhere.csv"]);
    folder.write("one.csv", "a,y\n1,x\n2,x\n3,x\n");
    folder.refuses_naming(&["advise", "one.csv", "--target", "y"], &["one.csv", "one class"]);
    folder.write("empty.csv", "");
    folder.refuses_naming(&["advise", "empty.csv"], &["empty.csv", "empty"]);
}
