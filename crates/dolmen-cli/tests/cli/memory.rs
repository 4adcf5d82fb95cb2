//! Small files and short commands that ask for more than there is: refused with the figure, before memory is taken.

use std::fmt::Write;

use crate::folder::{Folder, IRIS};

#[test]
fn more_rows_than_memory_holds() {
    let folder = Folder::new();
    folder.succeeds(&["fit", IRIS, "-q", "--model", "gaussian", "-o", "d.dolmen"]);
    for rows in ["99999999999999", "18446744073709551615"] {
        let needed = ["memory are needed", rows];
        folder.refuses_naming(&["sample", "d.dolmen", "--rows", rows], &needed);
        folder.refuses_naming(&["generate", "network", "--rows", rows], &needed);
    }
}

#[test]
fn threads_beyond_all_use_are_not_started() {
    let folder = Folder::new();
    let fit = ["fit", IRIS, "-q", "--model", "gaussian", "--threads"];
    let one = folder.succeeds(&[&fit[..], &["1"]].concat());
    for threads in ["2000", "18446744073709551615"] {
        assert_eq!(folder.succeeds(&[&fit[..], &[threads]].concat()), one);
    }
    folder.refuses_naming(&[&fit[..], &["0"]].concat(), &["threads", "at least 1"]);
}

/// Runs the program with 4 GB of address space.
#[cfg(target_os = "linux")]
fn starved(folder: &Folder, arguments: &str) -> String {
    let program = env!("CARGO_BIN_EXE_dolmen");
    let command = format!("ulimit -v 4000000; exec {program} {arguments}");
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", &command]).current_dir(folder.path("")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

#[cfg(target_os = "linux")]
#[test]
fn small_files_of_large_tables() {
    let mut blank = String::new();
    (0..20_000).for_each(|j| write!(blank, "{}c{j}", if j > 0 { "," } else { "" }).unwrap());
    blank.push_str(&"\n".repeat(1 << 20));
    let folder = Folder::with("blank.csv", blank);
    let said = starved(&folder, "inspect blank.csv");
    assert!(said.contains("no rows"), "{said}");
}

/// Every thread takes address space: where there is little, fewer are started.
#[cfg(target_os = "linux")]
#[test]
fn many_threads_in_little_memory() {
    let folder = Folder::new();
    let program = env!("CARGO_BIN_EXE_dolmen");
    for (limit, threads) in [(1_000_000, 16), (300_000, 8)] {
        let fit = format!("fit {IRIS} --target Species -q --model 'forest(trees=20)' --alone");
        let command = format!("ulimit -v {limit}; exec {program} {fit} --threads {threads}");
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &command]).current_dir(folder.path("")).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
