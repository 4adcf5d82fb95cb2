//! Where links lead: to files that are there, to headings that are there, and from the book to nothing outside of it, as HTML is
//! made of its folder alone.

use std::fs;
use std::path::{Path, PathBuf};

use crate::page::Page;
use crate::root;

/// Where the links of a text go: a path and a heading, each empty if there is none. Places elsewhere are left out.
pub(crate) fn targets(text: &str) -> Vec<(String, String)> {
    let ends = text.split("](").skip(1).filter_map(|part| part.split_once(')'));
    let own = ends.map(|(target, _)| target).filter(|target| !target.contains("://"));
    own.map(|target| match target.split_once('#') {
        Some((path, heading)) => (path.into(), heading.into()),
        None => (target.into(), String::new()),
    })
    .collect()
}

/// The links of a page that lead nowhere, in words.
pub(crate) fn broken(page: &Page) -> Vec<String> {
    let links = targets(&without_code(page)).into_iter();
    let fault = |(path, heading): (String, String)| {
        let why = fault(page, &path, &heading)?;
        Some(format!("{}: {path}#{heading} {why}", page.name()))
    };
    links.filter_map(fault).collect()
}

fn fault(page: &Page, path: &str, heading: &str) -> Option<String> {
    let target =
        if path.is_empty() { page.path().to_path_buf() } else { plain(&page.folder().join(path)) };
    let source = plain(&root()?.join("book/src"));
    if !target.exists() {
        return Some("is not there".into());
    }
    if page.name().starts_with("book/") && !target.starts_with(&source) {
        return Some("lies outside of the book".into());
    }
    if page.name().starts_with("book/") && target.is_dir() {
        return Some("is a folder".into());
    }
    if heading.is_empty() {
        return None;
    }
    let text = fs::read_to_string(&target).ok()?;
    let headings = text.lines().filter(|line| line.starts_with('#')).map(slug);
    let is_there = headings.into_iter().any(|own| own == heading);
    (!is_there).then(|| "has no such heading".into())
}

/// A path without `..`, whether it is there or not.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => _ = plain.pop(),
            part => plain.push(part),
        }
    }
    plain
}

/// A heading as links name it: in small letters, a hyphen for each space, letters, digits, `-` and `_` only.
fn slug(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The text of a page; what stands in blocks and between backquotes is no link.
fn without_code(page: &Page) -> String {
    let blocks = page.blocks();
    let is_text = |i: &usize| !blocks.iter().any(|block| (block.first..block.end).contains(i));
    let lines = (0..page.lines.len()).filter(is_text).map(|i| page.lines[i].as_str());
    lines.map(|line| line.split('`').step_by(2).collect::<Vec<_>>().join("`") + "\n").collect()
}

#[test]
fn links_to_nowhere_are_found() {
    let Some(root) = root() else { return };
    let folder = root.join("book/src/concepts");
    let page = |text: &str| Page::of(folder.join("nowhere.md"), text);
    for text in [
        "[a](gone.md)",
        "[a](../gone/README.md)",
        "[a](../../../bench/RESULTS.md)",
        "[`Table`](crate::table::Table)",
        "[a](matrix.md#no-such-heading)",
    ] {
        assert_eq!(broken(&page(text)).len(), 1, "{text}");
    }
    let right = "[a](matrix.md) [b](../why.md#in-short) [c](https://crates.io) `[d](gone.md)`";
    assert!(broken(&page(right)).is_empty(), "{:?}", broken(&page(right)));
}
