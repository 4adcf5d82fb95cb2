//! Every work that a comment cites stands in the list of references, once and in order.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The keys of the list, in its order.
fn listed() -> Vec<String> {
    let list = fs::read_to_string(package().join("docs/references.md")).unwrap();
    let key = |line: &str| Some(line.strip_prefix("- **")?.split_once("**:")?.0.to_string());
    list.lines().filter_map(key).collect()
}

/// The words of a text that look like a key: a capital letter, letters, and a year.
fn keys(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| {
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let year = &word[name.len()..];
        name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.contains(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphabetic())
            && year.len() == 4
            && ["18", "19", "20"].iter().any(|century| year.starts_with(century))
    })
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Adds the keys in the comments of all source files below a folder.
fn collect(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let comments = source.lines().filter_map(|line| Some(line.split_once("//")?.1));
            comments.for_each(|text| found.extend(keys(text).map(String::from)));
        }
    }
}

#[test]
fn every_cited_work_is_listed_and_every_listed_one_cited() {
    let mut cited = BTreeSet::new();
    for folder in ["src", "tests", "examples"] {
        collect(&package().join(folder), &mut cited);
    }
    let listed: BTreeSet<String> = listed().into_iter().collect();
    assert!(cited.len() > 50, "{cited:?}");
    assert_eq!(cited.difference(&listed).collect::<Vec<_>>(), Vec::<&String>::new(), "not listed");
    assert_eq!(listed.difference(&cited).collect::<Vec<_>>(), Vec::<&String>::new(), "not cited");
}

#[test]
fn the_list_is_in_order() {
    let listed = listed();
    assert!(listed.is_sorted_by(|a, b| a.to_lowercase() < b.to_lowercase()), "{listed:?}");
}

#[test]
fn keys_differ_from_other_words() {
    let text = "[SmythWolpert1999 section 2.3; Lei2018], in 2018, f64, A1999, UTF2008, Gauss19";
    assert_eq!(keys(text).collect::<Vec<_>>(), ["SmythWolpert1999", "Lei2018"]);
}
