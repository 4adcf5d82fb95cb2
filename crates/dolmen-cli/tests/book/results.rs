//! The pages of results: those that take seconds are what the program writes now, and the figures of all are judged by the rule.

use std::fs;
use std::path::Path;
use std::process::Command;

use dolmen::Run;
use dolmen::table::{self, Column, ReadOptions, Table};
use dolmen_papers::experiments;
use dolmen_papers::page::{OVERVIEW, overview, standings, write_overview};

use crate::{root, updating};

/// Experiments whose full runs take seconds.
const CHEAP: [&str; 4] = ["sw99-fig1", "sw99-fig3", "ot95-fig1", "him19-pairs"];

#[test]
fn pages_are_what_the_program_writes() {
    let Some(root) = root() else { return };
    let (kept, fresh) = (root.join("book/src/results"), tempfile::tempdir().unwrap());
    let folder = if updating() { kept.as_path() } else { fresh.path() };
    let output = Command::new(env!("CARGO_BIN_EXE_dolmen"))
        .arg("reproduce")
        .args(CHEAP)
        .args(["-q", "-o"])
        .arg(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for entry in fs::read_dir(fresh.path()).unwrap() {
        let name = entry.unwrap().file_name();
        // The overview of a few pages is not that of all.
        if name == OVERVIEW {
            continue;
        }
        let [own, other] = [fresh.path(), kept.as_path()]
            .map(|at| fs::read_to_string(at.join(&name)).unwrap_or_default());
        assert!(is_same(&own, &other), "{} is another one now: make results", name.display());
    }
}

/// The overview counts what the pages beside it say.
#[test]
fn the_overview_is_that_of_the_pages() {
    let Some(root) = root() else { return };
    let folder = root.join("book/src/results");
    let standings = standings(&folder);
    assert_eq!(standings.len(), experiments().len(), "a page is missing");
    let kept = fs::read_to_string(folder.join(OVERVIEW)).unwrap_or_default();
    if updating() {
        write_overview(&folder).unwrap();
    } else {
        assert_eq!(kept, overview(&standings), "{OVERVIEW} is another one now: make update-book");
    }
}

/// Whether two files say the same: processors round the last digits of numbers that are written whole in their own ways.
fn is_same(own: &str, other: &str) -> bool {
    let cells = |text: &str| -> Vec<String> { text.split([',', '\n']).map(String::from).collect() };
    let is_near = |(a, b): (&String, &String)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a == b,
    };
    let (own, other) = (cells(own), cells(other));
    own.len() == other.len() && own.iter().zip(&other).all(is_near)
}

#[test]
fn figures_that_differ_say_why_and_those_that_agree_do() {
    let Some(root) = root() else { return };
    let mut lines = 0;
    for entry in fs::read_dir(root.join("book/src/results")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|own| own == "csv") {
            lines += judged(&path);
        }
    }
    assert!(lines > 50, "{lines} figures");
}

/// Looks at the verdicts of a file; how many there are.
fn judged(path: &Path) -> usize {
    let table = table::read(path, &ReadOptions::default(), &Run::new(0)).unwrap();
    if table.column("allowed").is_err() {
        return 0;
    }
    for row in 0..table.rows() {
        let place = format!("{}, line {}", path.display(), row + 2);
        let [ours, paper, allowed] =
            ["ours", "paper", "allowed"].map(|name| number(&table, name, row));
        match word(&table, "verdict", row).as_str() {
            "differs" => assert!(!word(&table, "why", row).is_empty(), "{place} does not say why"),
            "agrees" => assert!((ours - paper).abs() <= allowed, "{place} does not agree"),
            _ => {}
        }
    }
    table.rows()
}

fn word(table: &Table, name: &str, row: usize) -> String {
    match table.column(name) {
        Ok(Column::Categorical(words)) => words.level(row).unwrap_or_default().to_string(),
        _ => String::new(),
    }
}

fn number(table: &Table, name: &str, row: usize) -> f64 {
    match table.column(name) {
        Ok(Column::Numeric(values)) => values[row],
        _ => f64::NAN,
    }
}
