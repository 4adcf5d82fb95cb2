//! Ctrl-C in the middle of long work.
#![cfg(unix)]

use std::fmt::Write;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::folder::Folder;

/// Rows enough that the usual members need long for them.
const MANY: u64 = 60_000;

/// A table of so many rows.
fn table(rows: u64) -> String {
    let mut text = String::from("a,b,c,d,e,f,y\n");
    for i in 0..rows {
        let cell = |k: u64| (((i * 6 + k) * 2_654_435_761) % 1_000_003) as f64 / 1_000_003.0;
        let cells: Vec<f64> = (0..6).map(cell).collect();
        let y = cells[0] * 3.0 + (cells[1] * 9.0).sin() + cells[2] * cells[3];
        cells.iter().for_each(|cell| write!(text, "{cell},").unwrap());
        writeln!(text, "{y}").unwrap();
    }
    text
}

/// The program at work on a long fit, with these options beside the usual ones.
fn at_work(folder: &Folder, options: &[&str]) -> Child {
    let child = Command::new(env!("CARGO_BIN_EXE_dolmen"))
        .args(["fit", "data.csv", "--target", "y", "-o", "model.dolmen", "--threads", "2"])
        .args(options)
        .current_dir(folder.path("."))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let child = child.unwrap();
    sleep(Duration::from_millis(1500));
    child
}

/// Presses Ctrl-C so many times.
fn interrupt(child: &Child, times: usize) {
    for _ in 0..times {
        let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.unwrap().success(), "the program has ended by itself");
    }
}

/// Waits for the end, and says how long it took and with what status the program left.
fn ended(mut child: Child) -> (Duration, Option<i32>) {
    let asked = Instant::now();
    while asked.elapsed() < Duration::from_secs(20) {
        if let Some(status) = child.try_wait().unwrap() {
            return (asked.elapsed(), status.code());
        }
        sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("the program did not end");
}

#[test]
fn an_interrupted_fit_leaves_at_once_and_leaves_nothing() {
    let folder = Folder::with("data.csv", table(MANY));
    for times in [1, 2] {
        let child = at_work(&folder, &[]);
        interrupt(&child, times);
        let (took, code) = ended(child);
        assert_eq!(code, Some(130), "{times} times");
        // It takes a third of a second where nothing looks at the flag; the rest is for a machine that is busy.
        assert!(took < Duration::from_secs(3), "{times} times: {took:?}");
        assert_eq!(folder.names(), ["data.csv"], "{times} times");
    }
}

/// A member that takes hours, whatever the table.
const LONG: [&str; 4] = ["--budget", "10h", "--model", "boost(rounds=100000, min_leaf=1)"];

#[test]
fn under_a_budget_an_interrupted_fit_keeps_the_members_that_are_done() {
    let folder = Folder::with("data.csv", table(2000));
    let child = at_work(&folder, &[&["--model", "mean"], &LONG[..]].concat());
    interrupt(&child, 1);
    assert_eq!(ended(child).1, Some(0));
    assert_eq!(folder.names(), ["data.csv", "model.dolmen"]);
}

#[test]
fn under_a_budget_a_fit_that_is_interrupted_before_any_member_is_done_leaves_the_baseline() {
    let folder = Folder::with("data.csv", table(2000));
    let child = at_work(&folder, &LONG);
    interrupt(&child, 1);
    assert_eq!(ended(child).1, Some(0));
    assert_eq!(folder.names(), ["data.csv", "model.dolmen"]);
    let said = folder.succeeds(&["inspect", "model.dolmen"]);
    assert!(said.contains("class-frequencies") || said.contains("mean"), "{said}");
}

/// Drawing rows, and writing them to somebody who does not read.
#[test]
fn an_interrupted_draw_says_so() {
    let folder = Folder::with("data.csv", "x\n1\n2\n4\n7\n9\n");
    folder.succeeds(&["fit", "data.csv", "--model", "gaussian", "--alone", "-o", "m", "-q"]);
    for rows in ["30000000", "3000000"] {
        let child = Command::new(env!("CARGO_BIN_EXE_dolmen"))
            .args(["sample", "m", "--rows", rows])
            .current_dir(folder.path("."))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.unwrap();
        let mut stderr = child.stderr.take().unwrap();
        sleep(Duration::from_millis(700));
        interrupt(&child, 1);
        // Nobody reads what it writes, so it ends only if the signal ends it.
        assert_eq!(ended(child).1, Some(130), "{rows} rows");
        let mut said = String::new();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(said, "interrupted\n", "{rows} rows");
    }
}
