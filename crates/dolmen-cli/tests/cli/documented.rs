//! Every key of JSON is told to the reader of the book, in the section of its verb or before all of them.

use std::fs;

use serde_json::Value;

use crate::folder::{Folder, IRIS};

/// What the book says of JSON: before the sections of the verbs, and in them.
struct Page {
    before: String,
    sections: Vec<(String, String)>,
}

impl Page {
    fn read() -> Self {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/formats.md");
        let page = fs::read_to_string(page).unwrap();
        let (_, json) = page.split_once("\n## JSON\n").unwrap();
        let json = json.split("\n## ").next().unwrap();
        let mut parts = json.split("\n### `dolmen ");
        let before = parts.next().unwrap().into();
        let section = |part: &str| {
            let (verb, text) = part.split_once("`\n").unwrap();
            (verb.to_string(), text.to_string())
        };
        Self { before, sections: parts.map(section).collect() }
    }

    /// Sees to it that all keys of a document are named.
    fn names_all(&self, verb: &str, document: &Value) {
        let (_, section) = self.sections.iter().find(|(other, _)| other == verb).unwrap();
        let mut found = Vec::new();
        gather(document, &mut found);
        for key in found {
            let forms = [format!("`{key}`"), format!(".{key}`"), format!("\"{key}\":")];
            let is_named = forms
                .iter()
                .any(|form| [section, &self.before].iter().any(|text| text.contains(form)));
            assert!(is_named, "formats.md does not name '{key}' of dolmen {verb}");
        }
    }
}

/// Keys whose values have names of the user's or of other parts for keys: recipes and reports have sections of their own.
const OTHERS: [&str; 5] = ["combiners", "default", "parameters", "recipe", "report"];

/// All keys of a document, whatever they are inside of.
fn gather<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| gather(value, found)),
        Value::Object(object) => {
            for (key, value) in object {
                found.push(key);
                if !OTHERS.contains(&key.as_str()) {
                    gather(value, found);
                }
            }
        }
        _ => {}
    }
}

const CLASSES: [&str; 7] =
    ["--target", "Species", "--model", "naive-bayes", "--model", "tree(depth=2)", "-q"];
const NUMBERS: [&str; 7] =
    ["--target", "Petal.Width", "--model", "ridge(lambda=1)", "--model", "tree(depth=2)", "-q"];
const DENSITY: [&str; 7] =
    ["--drop", "Species", "--model", "gaussian", "--model", "mixture(components=2)", "-q"];

#[test]
fn the_book_names_every_key_of_fits_scores_and_models() {
    let (folder, page) = (Folder::new(), Page::read());
    let ways: [(&[&str], &[&str]); 6] = [
        (&CLASSES, &["--calibrate", "temperature"]),
        (&CLASSES, &["--calibrate", "isotonic", "--combiner", "log-pool"]),
        (&NUMBERS, &[]),
        (&NUMBERS, &["--max-members", "1", "--keep-stack"]),
        (&NUMBERS, &["--combiner", "ridge", "--keep-stack"]),
        (&DENSITY, &[]),
    ];
    for (columns, options) in ways {
        let fit = [&["fit", IRIS], columns, options, &["-o", "m.dolmen"]].concat();
        page.names_all("fit", &folder.json(&fit));
        page.names_all("score", &folder.json(&["score", "m.dolmen", IRIS]));
        page.names_all("inspect", &folder.json(&["inspect", "m.dolmen"]));
    }
    let alone = ["fit", IRIS, "--target", "Species", "--model", "tree", "--alone", "-q"];
    page.names_all("fit", &folder.json(&alone));
    page.names_all("inspect", &folder.json(&["inspect", IRIS]));
}

#[test]
fn the_book_names_every_key_of_comparisons() {
    let (folder, page) = (Folder::new(), Page::read());
    let compare = |files: &[&str], columns: &[&str], options: &[&str]| {
        let compare = [&["compare"], files, columns, &["--repeats", "2"], options].concat();
        page.names_all("compare", &folder.json(&compare));
    };
    compare(&[IRIS], &CLASSES, &[]);
    compare(&[IRIS], &DENSITY, &[]);
    compare(&[IRIS], &NUMBERS, &["--outer-folds", "3"]);
    compare(&[IRIS], &NUMBERS, &["--sizes", "40,80"]);
    compare(&[IRIS, IRIS], &CLASSES, &["--members-only"]);
}

#[test]
fn the_book_names_every_key_of_advice_and_learners() {
    let (folder, page) = (Folder::new(), Page::read());
    page.names_all("advise", &folder.json(&["advise", IRIS, "--target", "Species", "-q"]));
    page.names_all("learners", &folder.json(&["learners"]));
    page.names_all("learners", &folder.json(&["learners", "boost"]));
}
