//! Ordinary tables, as they come: indices, identifiers, dates, texts, gaps, odd delimiters, tiny classes, few rows.

use std::fmt::Write;

use crate::folder::{Folder, IRIS};

/// Quick members of both tasks.
const QUICK: [&str; 4] = ["--model", "tree", "--model", "neighbours(k=3)"];

fn wave(i: usize, pace: f64) -> f64 {
    (i as f64 * pace).sin()
}

/// So many rows made from their number, below a header.
fn rows(header: &str, count: usize, row: impl Fn(usize) -> String) -> String {
    (0..count).fold(format!("{header}\n"), |mut text, i| {
        writeln!(text, "{}", row(i)).unwrap();
        text
    })
}

/// The notes that a call gives.
fn notes(folder: &Folder, arguments: &[&str]) -> String {
    let outcome = folder.dolmen(arguments);
    assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
    outcome.stderr
}

#[test]
fn columns_that_tell_rows_apart_are_left_out() {
    let text = rows(",id,name,note,x,y", 40, |i| {
        let long = format!("so much was written about case {i} that it is of no use here");
        format!("{i},{},n{i},{long},{},{}", 1000 - 7 * i, wave(i, 1.7), wave(i, 0.3))
    });
    let folder = Folder::with("d.csv", text);
    let fit = ["fit", "d.csv", "--target", "y", "--model", "tree", "--alone", "-o", "m.dolmen"];
    let said = notes(&folder, &fit);
    for column in ["Unnamed: 0", "id", "name", "note"] {
        assert!(said.contains(&format!("column '{column}' is left out")), "{said}");
    }
    assert!(folder.succeeds(&["inspect", "d.csv"]).contains("column 'id' is left out"));
    let columns = folder.json(&["inspect", "m.dolmen"])["columns"].to_string();
    assert!(columns.contains('x') && !columns.contains("name\":\"id"), "{columns}");
    let said = notes(&folder, &[&fit[..], &["--all-columns"]].concat());
    assert!(!said.contains("left out"), "{said}");
    let said = notes(&folder, &[&fit[..], &["--schema", "id=numeric"]].concat());
    assert!(!said.contains("'id'") && said.contains("'name'"), "{said}");
    let said = notes(&folder, &[&fit[..], &["--keep", "id", "--keep", "x"]].concat());
    assert!(!said.contains("left out"), "{said}");
    // A running number is used where there is nothing else.
    let folder = Folder::with("d.csv", rows("n,y", 30, |i| format!("{i},{}", wave(i, 0.3))));
    assert!(!notes(&folder, &fit).contains("left out"));
}

/// Rows drawn from a density of dates have the numbers that dates become, and are read as such.
#[test]
fn rows_drawn_from_a_density_with_dates_are_read_back() {
    let mut text = String::from("when,x\n");
    for i in 0..120 {
        let (month, day) = (i % 12 + 1, i % 28 + 1);
        writeln!(text, "20{:02}-{month:02}-{day:02},{}", i % 3 + 20, i * 37 % 41).unwrap();
    }
    let folder = Folder::with("d.csv", text);
    let fit = ["fit", "d.csv", "--model", "gaussian", "--alone", "-o", "m.dolmen", "-q"];
    folder.succeeds(&fit);
    for drawn in ["drawn.csv", "drawn.parquet"] {
        folder.succeeds(&["sample", "m.dolmen", "--rows", "30", "-o", drawn]);
        let said = folder.succeeds(&["predict", "m.dolmen", drawn]);
        assert_eq!(said.lines().count(), 31);
        assert!(!said.contains("inf"), "{said}");
        folder.succeeds(&["score", "m.dolmen", drawn]);
    }
    // Neither the dates nor all of their numbers.
    let half = folder.read("drawn.csv").replacen("when.", "then.", 1);
    folder.write("half.csv", half);
    folder.refuses_naming(&["predict", "m.dolmen", "half.csv"], &["'when'"]);
}

#[test]
fn dates_are_numbers_the_same_for_new_rows() {
    let day = |i: usize| format!("20{:02}-{:02}-{:02}", 10 + i / 12, 1 + i % 12, 1 + i % 28);
    let text = rows("when,y", 240, |i| format!("{},{}", day(i), i % 12 + 1));
    let folder = Folder::with("d.csv", &text);
    let fit = ["fit", "d.csv", "--target", "y", "--model", "tree", "--alone", "-o", "m.dolmen"];
    let said = notes(&folder, &fit);
    assert!(said.contains("when.year, when.month") && said.contains("since 2010-01-01"), "{said}");
    // The month says it all, in rows of other years and without the first date.
    folder.write("new.csv", "when\n2031-05-02\n2032-11-30\n");
    let predicted = folder.succeeds(&["predict", "m.dolmen", "new.csv"]);
    let months: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!((months[0] - 5.0).abs() < 1.0 && (months[1] - 11.0).abs() < 1.0, "{predicted}");
    folder.write("bad.csv", "when\n2031-05-02\nlater\n");
    folder.refuses_naming(
        &["predict", "m.dolmen", "bad.csv"],
        &["bad.csv", "row 2", "column 'when'", "'later'"],
    );
    assert!(folder.succeeds(&["inspect", "d.csv"]).contains("date"));
    // A density has one number for a date.
    let said = notes(&folder, &["fit", "d.csv", "--model", "gaussian", "--alone"]);
    assert!(said.contains("is used as when.days ("), "{said}");
    // Declared categories stay categories.
    let said = notes(&folder, &[&fit[..], &["--schema", "when=categorical"]].concat());
    assert!(!said.contains("dates"), "{said}");
}

#[test]
fn rows_without_a_target_are_left_out_and_counted() {
    let text = rows("x,t", 30, |i| {
        let class = if i % 10 == 3 { "" } else { ["a", "b"][i % 2] };
        format!("{},{class}", wave(i, 0.9))
    });
    let folder = Folder::with("d.csv", &text);
    let fit = ["fit", "d.csv", "--target", "t", "--model", "tree", "--alone", "-o", "m.dolmen"];
    assert!(notes(&folder, &fit).contains("3 of 30 rows have no 't' and are left out"));
    assert_eq!(folder.json(&fit)["rows"], 27);
    assert!(notes(&folder, &["score", "m.dolmen", "d.csv"]).contains("3 rows without a target"));
}

#[test]
fn words_for_missing_values_are_added_and_remembered() {
    let text = rows("x,z,y", 40, |i| {
        let x = if i % 8 == 1 { "-999".into() } else { wave(i, 1.3).to_string() };
        let z = if i % 9 == 1 { "NA".into() } else { wave(i, 2.3).to_string() };
        format!("{x},{z},{}", wave(i, 1.3))
    });
    let folder = Folder::with("d.csv", &text);
    for words in [&["--missing", "-999"][..], &["--missing=-999"]] {
        let report = folder.json(&[&["inspect", "d.csv"], words].concat());
        assert_eq!(report["columns"][0]["missing"], 5);
        assert_eq!(report["columns"][1]["missing"], 5);
    }
    let fit = ["fit", "d.csv", "--target", "y", "--model", "tree", "--alone", "-o", "m.dolmen"];
    folder.succeeds(&[&fit[..], &["--missing", "-999"]].concat());
    folder.write("new.csv", "x,z\n-999,0\n,0\n");
    let predicted = folder.succeeds(&["predict", "m.dolmen", "new.csv"]);
    let lines: Vec<&str> = predicted.lines().collect();
    assert_eq!(lines[1], lines[2]);
    // The hint of a word among numbers is one that works.
    folder.write(
        "words.csv",
        rows("x,y", 40, |i| if i == 7 { "none,1".into() } else { text_row(i) }),
    );
    let error = folder.dolmen(&["inspect", "words.csv"]).stderr;
    assert!(error.contains("--missing 'none'"), "{error}");
    assert_eq!(
        folder.json(&["inspect", "words.csv", "--missing", "none"])["columns"][0]["missing"],
        1
    );
}

fn text_row(i: usize) -> String {
    format!("{},{}", wave(i, 0.7), wave(i, 0.2))
}

#[test]
fn delimiters_are_found_or_named() {
    let cells = rows("x\ty", 20, |i| text_row(i).replace(',', "\t"));
    let folder = Folder::with("d.csv", &cells);
    for more in [&[][..], &["--delimiter", "\\t"], &["--delimiter", "tab"]] {
        let report = folder.json(&[&["inspect", "d.csv"], more].concat());
        assert_eq!(report["columns"].as_array().unwrap().len(), 2);
    }
    folder.write("s.csv", cells.replace('\t', ";"));
    assert_eq!(folder.json(&["inspect", "s.csv"])["columns"][1]["name"], "y");
}

#[test]
fn a_target_of_few_whole_numbers_is_questioned() {
    let text = rows("x,y", 40, |i| format!("{},{}", wave(i, 0.7), i % 2));
    let folder = Folder::with("d.csv", &text);
    let fit = ["fit", "d.csv", "--target", "y", "--model", "tree", "--alone"];
    assert!(notes(&folder, &fit).contains("--task classify"));
    assert!(notes(&folder, &["advise", "d.csv", "--target", "y"]).contains("--task classify"));
    assert!(folder.succeeds(&["inspect", "d.csv"]).contains("--task classify"));
    for more in [["--task", "classify"], ["--task", "regress"], ["--schema", "y=numeric"]] {
        let said = notes(&folder, &[&fit[..], &more].concat());
        assert!(!said.contains("--task classify"), "{said}");
    }
}

#[test]
fn usual_members_that_cannot_leave_and_named_ones_stop() {
    // A class with one row: no mixture can be fitted to it.
    let text = rows("a,b,t", 41, |i| {
        let class = if i == 0 { "rare" } else { ["p", "q"][i % 2] };
        format!("{},{},{class}", wave(i, 1.7), wave(i, 0.6) + (i % 2) as f64)
    });
    let folder = Folder::with("d.csv", &text);
    let report = folder.json(&["fit", "d.csv", "--target", "t", "-o", "m.dolmen"]);
    assert!(report["members"].as_array().unwrap().len() > 3, "{report}");
    let left_out = report["left_out"].as_array().unwrap();
    assert!(left_out.iter().any(|l| l.as_str().unwrap().starts_with("bayes(")), "{report}");
    let shown = folder.succeeds(&["fit", "d.csv", "--target", "t"]);
    assert!(shown.contains("left out       bayes("), "{shown}");
    let named =
        ["fit", "d.csv", "--target", "t", "--model", "bayes(density=mixture(components=2))"];
    folder.refuses_naming(&named, &["bayes"]);
    // A constant column stops kernels, not densities.
    folder.write("c.csv", rows("a,b", 40, |i| format!("{},1", wave(i, 1.7))));
    let report = folder.json(&["fit", "c.csv"]);
    assert!(!report["left_out"].as_array().unwrap().is_empty(), "{report}");
}

#[test]
fn one_model_as_it_is() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "--target", "Species", "--alone", "-o", "m.dolmen"];
    let report = folder.json(&[&fit[..], &["--model", "aode"]].concat());
    assert_eq!(report["members"][0]["weight"], 1.0);
    assert_eq!(report["folds"], 0);
    assert!(folder.succeeds(&["predict", "m.dolmen", IRIS]).lines().count() == 151);
    folder.refuses_naming(&[&fit[..], &QUICK].concat(), &["alone", "2"]);
    folder.refuses(&fit);
    folder.refuses(&[&fit[..], &["--model", "aode", "--folds", "5"]].concat());
}

#[test]
fn tables_too_small_for_the_folds() {
    let folder = Folder::with("d.csv", "x,y\n1,2\n2,4.5\n3,5\n");
    let fit = ["fit", "d.csv", "--target", "y", "--model", "mean", "-o", "m.dolmen"];
    assert!(notes(&folder, &fit).contains("there are 3"));
    folder.write("g.csv", rows("x,y,g", 12, |i| format!("{},1", text_row(i))));
    let fit = ["fit", "g.csv", "--target", "y", "--groups", "g", "--model", "mean"];
    assert!(notes(&folder, &fit).contains("too few rows or groups for folds"));
}

#[test]
fn a_text_among_dates_is_named() {
    let mut text = String::from("d,x,y\n");
    (1..=60).for_each(|i| {
        let date = if i == 7 {
            "2020-02-30".into()
        } else {
            format!("2020-{:02}-{:02}", i % 12 + 1, i % 28 + 1)
        };
        text.push_str(&[date, (i % 9).to_string(), i.to_string()].join(","));
        text.push('\n');
    });
    let folder = Folder::with("t.csv", text);
    let fit = ["fit", "t.csv", "--target", "y", "--model", "ridge", "--alone"];
    let told = folder.dolmen(&fit);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stderr.contains("it holds dates, but '2020-02-30' is none"), "{}", told.stderr);
    let told = folder.dolmen(&[&fit[..], &["--missing", "2020-02-30"]].concat());
    assert!(!told.stderr.contains("left out"), "{}", told.stderr);
}

#[test]
fn weight_on_one_class_only_is_refused() {
    let rows: Vec<String> =
        (0..40).map(|i| format!("{i},{},{}", i % 2, ["a", "b"][i % 2])).collect();
    let folder = Folder::with("t.csv", format!("x,w,c\n{}\n", rows.join("\n")));
    let fit = ["fit", "t.csv", "--target", "c", "--weights", "w"];
    folder.refuses_naming(&fit, &["'c'", "only one class", "weight"]);
}
