//! A folder of its own for each test, in which the program runs.

use std::fs;
use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) const IRIS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../dolmen-papers/data/iris.csv");

pub(crate) struct Folder(TempDir);

/// What one call of the program gave.
pub(crate) struct Outcome {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// A folder with one file in it.
    pub(crate) fn with(name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write(name, bytes);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the program in this folder.
    pub(crate) fn dolmen(&self, arguments: &[&str]) -> Outcome {
        self.piped(arguments, "")
    }

    /// Runs the program in this folder with text on its standard input.
    pub(crate) fn piped(&self, arguments: &[&str], input: &str) -> Outcome {
        let output = Command::new(env!("CARGO_BIN_EXE_dolmen"))
            .args(arguments)
            .current_dir(self.0.path())
            .write_stdin(input)
            .output()
            .unwrap();
        Outcome {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The program's result, which must be one.
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let outcome = self.dolmen(arguments);
        assert_eq!(outcome.code, 0, "{arguments:?}: {}", outcome.stderr);
        outcome.stdout
    }

    /// The program's result as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let stdout = self.succeeds(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&stdout).unwrap()
    }

    /// Runs the program on something it must refuse, and returns the line that says why.
    ///
    /// Whatever the reason: exit code 2, nothing on stdout, an `error:` line before everything but notes, no panic, and no
    /// file in the folder that was not there before.
    pub(crate) fn refuses(&self, arguments: &[&str]) -> String {
        let before = self.names();
        let Outcome { code, stdout, stderr } = self.dolmen(arguments);
        assert_eq!(code, 2, "{arguments:?}: {stdout}{stderr}");
        assert_eq!(stdout, "", "{arguments:?}");
        assert!(!stderr.contains("panicked"), "{arguments:?}: {stderr}");
        assert_eq!(self.names(), before, "{arguments:?} left something behind");
        let mut lines = stderr.lines().skip_while(|line| line.starts_with("note: "));
        let line = lines.next().unwrap_or_default();
        assert!(line.starts_with("error: "), "{arguments:?}: {stderr}");
        line.to_string()
    }

    /// As [`Folder::refuses`], and the reason names all of `words`.
    pub(crate) fn refuses_naming(&self, arguments: &[&str], words: &[&str]) {
        let line = self.refuses(arguments);
        for word in words {
            assert!(line.contains(word), "{arguments:?}: '{word}' is not in: {line}");
        }
    }
}

/// The members' weights in a JSON report, in their order.
pub(crate) fn weights(report: &Value) -> Vec<f64> {
    let members = report["members"].as_array().unwrap();
    members.iter().map(|m| m["weight"].as_f64().unwrap()).collect()
}

pub(crate) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{found:?} against {expected:?}");
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= tolerance, "{found:?} against {expected:?}");
    }
}

/// The keys of a JSON object, sorted.
pub(crate) fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// A column of numbers of a CSV text.
pub(crate) fn column(csv: &str, name: &str) -> Vec<f64> {
    let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let at = header.iter().position(|cell| *cell == name).unwrap();
    csv.lines().skip(1).map(|line| line.split(',').nth(at).unwrap().parse().unwrap()).collect()
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
