//! The tables of parameters, made from what the library says of them.
//!
//! They stand between `<!-- parameters: NAME -->` and `<!-- end -->`, for combiners `<!-- parameters: combiner NAME -->`, for plans
//! `<!-- parameters: plan NAME -->`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

use dolmen::spec;
use serde_json::Value;

use crate::page;

const BEGIN: &str = "<!-- parameters: ";

/// The table of every learner, combiner and plan, by the name that its page calls it by.
pub(crate) fn tables() -> BTreeMap<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_dolmen"))
        .args(["learners", "--format", "json"])
        .output()
        .unwrap();
    let entries: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let mut by_name: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for entry in entries {
        let name = entry["name"].as_str().unwrap();
        let name = match entry["task"].as_str().unwrap() {
            of @ ("combiner" | "plan") => format!("{of} {name}"),
            _ => name.to_string(),
        };
        by_name.entry(name).or_default().push(entry);
    }
    by_name.into_iter().map(|(name, entries)| (name, table(&entries))).collect()
}

/// What can be named but has no page: `methods/NAME.md`, or `combiners/NAME.md`, with its table; plans have one together.
pub(crate) fn without_page(tables: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = BTreeSet::new();
    for page in page::all() {
        for line in &page.lines {
            let begin = line.strip_prefix(BEGIN);
            let Some(name) = begin.and_then(|rest| rest.strip_suffix(" -->")) else { continue };
            let (folder, file) = match name.split_once(' ') {
                Some(("plan", _)) => ("concepts", "plans".into()),
                Some((_, combiner)) => ("combiners", combiner.replace('+', "-plus")),
                None => ("methods", name.to_string()),
            };
            if page.name() == format!("book/src/{folder}/{file}.md") {
                found.insert(name.to_string());
            }
        }
    }
    tables.keys().filter(|name| !found.contains(*name)).cloned().collect()
}

/// One learner, in all tasks it serves: what they have in common once.
fn table(entries: &[Value]) -> String {
    let tasks: Vec<&str> = entries.iter().map(|entry| entry["task"].as_str().unwrap()).collect();
    let mut text = String::new();
    if tasks != ["combiner"] && tasks != ["plan"] {
        writeln!(text, "Task: {}.", tasks.join(", ")).unwrap();
    }
    let examples: BTreeSet<String> =
        entries.iter().map(|entry| format!("`{}`", entry["example"].as_str().unwrap())).collect();
    let examples: Vec<String> = examples.into_iter().collect();
    writeln!(text, "For example {}.\n", examples.join(", ")).unwrap();
    let mut documented: Vec<(String, Vec<&str>)> = Vec::new();
    for (entry, task) in entries.iter().zip(&tasks) {
        let own = rows(entry["documented"].as_array().unwrap());
        match documented.iter_mut().find(|(other, _)| *other == own) {
            Some((_, tasks)) => tasks.push(task),
            None => documented.push((own, vec![task])),
        }
    }
    if let [(only, _)] = &documented[..] {
        return text + only;
    }
    for (own, tasks) in documented {
        writeln!(text, "For {}:\n\n{own}", tasks.join(", ")).unwrap();
    }
    text.truncate(text.trim_end().len() + 1);
    text
}

fn rows(parameters: &[Value]) -> String {
    if parameters.is_empty() {
        return "It has no parameters.\n".into();
    }
    let mut text =
        String::from("| parameter | default | value | meaning |\n| --- | --- | --- | --- |\n");
    for parameter in parameters {
        let default = match &parameter["default"] {
            Value::Null if parameter["required"] == true => "required".into(),
            Value::Null => "none".into(),
            default => format!("`{}`", spec::value(default)),
        };
        let word = |name: &str| cell(parameter[name].as_str().unwrap());
        let (name, allowed, about) = (word("name"), word("allowed"), word("about"));
        writeln!(text, "| `{name}` | {default} | {allowed} | {about} |").unwrap();
    }
    let choices = parameters.iter().flat_map(|parameter| {
        let values = parameter["values"].as_array().unwrap().iter();
        let own = parameter["name"].as_str().unwrap();
        values.filter(|choice| choice["about"] != "").map(move |choice| {
            let (name, about) =
                (choice["name"].as_str().unwrap(), choice["about"].as_str().unwrap());
            format!("| `{own}={name}` | {} |\n", cell(about))
        })
    });
    let choices: String = choices.collect();
    if !choices.is_empty() {
        write!(text, "\n| value | meaning |\n| --- | --- |\n{choices}").unwrap();
    }
    text
}

/// Text that may stand in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
