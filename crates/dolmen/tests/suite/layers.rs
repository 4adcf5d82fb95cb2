//! The layers of the crate, kept true: a module imports only from those below it.

use std::fs;
use std::path::{Path, PathBuf};

/// The modules from the bottom up, as ARCHITECTURE.md draws them.
const LAYERS: [&str; 22] = [
    "suggest",
    "error",
    "memory",
    "stats",
    "math",
    "run",
    "store",
    "spec",
    "table",
    "target",
    "score",
    "task",
    "plan",
    "solver",
    "generate",
    "learner",
    "oos",
    "combine",
    "ensemble",
    "catalogue",
    "evaluate",
    "recipe",
];

#[test]
fn every_module_has_its_layer() {
    let library = fs::read_to_string(source().join("lib.rs")).unwrap();
    let declared = library
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod ")?.strip_suffix(';'));
    let mut declared: Vec<&str> = declared.collect();
    let mut layers = LAYERS.to_vec();
    declared.sort_unstable();
    layers.sort_unstable();
    assert_eq!(declared, layers);
}

#[test]
fn imports_go_down_only() {
    let mut upward = Vec::new();
    let mut imports = 0;
    for (layer, module) in LAYERS.iter().enumerate() {
        let folder = source().join(module);
        let mut files = vec![source().join(format!("{module}.rs"))];
        files.retain(|file| file.exists());
        collect(&folder, &mut files);
        for file in files {
            for path in mentioned(&fs::read_to_string(&file).unwrap()) {
                imports += 1;
                let at = LAYERS.iter().position(|other| *other == path);
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
    let word = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    code.split("crate::").skip(1).map(word).collect()
}
