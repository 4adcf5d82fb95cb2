//! The list of pages, and the works they cite.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use dolmen_papers::page::OVERVIEW;

use crate::links::targets;
use crate::page::{self, Page};
use crate::root;

/// The line of the list below which the pages of results stand.
const RESULTS: &str = "- [Results](results/README.md)";

/// The list names every page once, and no other.
pub(crate) fn check_list() {
    let Some(root) = root() else { return };
    let source = root.join("book/src");
    let list = fs::read_to_string(source.join("SUMMARY.md")).unwrap();
    let named: Vec<String> = targets(&list).into_iter().map(|(path, _)| path).collect();
    let set: BTreeSet<&String> = named.iter().collect();
    assert_eq!(set.len(), named.len(), "a page is listed twice");
    let mut paths: Vec<PathBuf> = Vec::new();
    page::collect(&source, &mut paths);
    for path in paths {
        let name = path.strip_prefix(&source).unwrap().display().to_string();
        assert!(name == "SUMMARY.md" || set.contains(&name), "{name} is not in SUMMARY.md");
    }
    named.iter().for_each(|name| assert!(source.join(name).exists(), "{name} is listed only"));
}

/// The pages below `results/` stand in the list by their titles, in the order of their names, after the overview of them.
pub(crate) fn list_results(update: bool) {
    let Some(root) = root() else { return };
    let path = root.join("book/src/SUMMARY.md");
    let list = fs::read_to_string(&path).unwrap();
    let mut pages = Vec::new();
    page::collect(&root.join("book/src/results"), &mut pages);
    pages.retain(|page| page.file_name().is_some_and(|name| name != "README.md"));
    // The overview of the others stands before them.
    pages.sort_by_key(|page| page.file_name().is_some_and(|name| name != OVERVIEW));
    let line = |page: &PathBuf| {
        let text = fs::read_to_string(page).unwrap();
        let name = page.strip_prefix(root.join("book/src")).unwrap().display().to_string();
        let title = text.lines().find_map(|line| line.strip_prefix("# "));
        format!("  - [{}]({name})", title.unwrap_or(&name))
    };
    let is_result = |line: &&str| line.starts_with("  - [") && line.contains("](results/");
    let mut lines: Vec<String> =
        list.lines().filter(|line| !is_result(line)).map(String::from).collect();
    let at =
        lines.iter().position(|line| line == RESULTS).expect("the list has a place for results");
    let rest = lines.split_off(at + 1);
    lines.extend(pages.iter().map(line));
    lines.extend(rest);
    let fresh = lines.join("\n") + "\n";
    if update && fresh != list {
        fs::write(&path, fresh).unwrap();
    } else {
        assert_eq!(fresh, list, "the results in SUMMARY.md are not those in results/");
    }
}

/// The keys of works in square brackets, `[SmythWolpert1999, section 3; Yao2018]`.
pub(crate) fn cited(page: &Page) -> Vec<String> {
    let text = page.lines.join("\n");
    let brackets = text.split('[').skip(1).filter_map(|part| part.split_once(']'));
    let words = brackets.flat_map(|(inside, _)| inside.split([',', ';', ' ', '\'']));
    let is_key = |word: &&str| {
        let name = word.trim_end_matches(|c: char| c.is_ascii_digit());
        word.len() == name.len() + 4
            && name.len() > 1
            && name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.chars().all(|c| c.is_ascii_alphabetic())
    };
    words.filter(is_key).map(String::from).collect()
}
