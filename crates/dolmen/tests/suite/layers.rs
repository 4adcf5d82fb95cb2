//! The layers of the crate, kept true: a module imports only from those below it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The modules from the bottom up, as ARCHITECTURE.md draws them: below the line under the doors names and what they are stand
/// in turn, or names alone with a point between them; of those on one line the last is the lowest.
fn layers() -> Vec<String> {
    let page = source().join("../../../ARCHITECTURE.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, picture) = page.split_once("─\n").unwrap();
    let lines: Vec<&str> = picture.lines().take_while(|line| *line != "```").collect();
    let names = |line: &&str| -> Vec<String> {
        let cells = line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).step_by(2);
        let names = cells.flat_map(|cell| cell.split(" · ")).map(String::from);
        names.collect::<Vec<_>>().into_iter().rev().collect()
    };
    lines.iter().rev().flat_map(names).collect()
}

#[test]
fn every_module_has_its_layer() {
    let library = fs::read_to_string(source().join("lib.rs")).unwrap();
    let declared = library
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let mut declared: Vec<&str> = declared.collect();
    let mut layers = layers();
    declared.sort_unstable();
    layers.sort_unstable();
    assert_eq!(declared, layers);
}

#[test]
fn imports_go_down_only() {
    let layers = layers();
    let mut upward = Vec::new();
    let mut imports = 0;
    for (layer, module) in layers.iter().enumerate() {
        let folder = source().join(module);
        let mut files = vec![source().join(format!("{module}.rs"))];
        files.retain(|file| file.exists());
        collect(&folder, &mut files);
        for file in files {
            for path in mentioned(&fs::read_to_string(&file).unwrap()) {
                imports += 1;
                let at = layers.iter().position(|other| *other == path);
                if at.is_some_and(|at| at > layer) {
                    upward.push(format!("{}: crate::{path}", file.display()));
                }
            }
        }
    }
    assert!(imports > 500, "only {imports} imports were found");
    assert!(upward.is_empty(), "imports that go up:\n{}", upward.join("\n"));
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// All source files below a folder; unit tests may look anywhere.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
            files.push(path);
        }
    }
}

/// The modules named by `crate::` in code, up to the unit tests at a file's end; documentation may link anywhere.
fn mentioned(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code = code.collect::<Vec<_>>().join("\n");
    code.split("crate::").skip(1).flat_map(named).collect()
}

/// The module that a path behind `crate::` begins with, or those of a group in braces.
fn named(path: &str) -> Vec<String> {
    let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
    let first = |path: &str| path.trim_start().chars().take_while(is_name).collect();
    let Some(group) = path.strip_prefix('{') else { return vec![first(path)] };
    let (mut paths, mut depth) = (vec![String::new()], 0);
    for c in group.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => paths.push(String::new()),
            _ => paths.last_mut().unwrap().push(c),
        }
    }
    paths.iter().map(|path| first(path)).filter(|name: &String| !name.is_empty()).collect()
}

#[test]
fn imports_in_groups_are_seen() {
    let code = "use crate::run::Run;\nuse crate::{plan::{Plan, Split}, task::Task,\n    oos,\n};\n";
    assert_eq!(mentioned(code), ["run", "plan", "task", "oos"]);
}
