//! The book, held to the program: every command on every page runs and says what the page shows, recipes are read, tables of
//! parameters are those of the library, every method has its page, every link leads somewhere.
//!
//! `DOLMEN_UPDATE=1 cargo test -p dolmen-cli --test book` writes what has changed into the pages instead: outputs, tables of
//! parameters, pictures, the list of results. Python blocks are run by `python/tests/test_book.py`, Rust blocks as
//! documentation tests of the package in `book/`.
//!
//! | file | holds |
//! | --- | --- |
//! | `page` | pages and their blocks |
//! | `session` | commands, and what they say |
//! | `parameters` | the tables of parameters |
//! | `summary` | the list of pages |
//! | `links` | where links lead |
//! | `results` | the pages of results |

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod links;
mod page;
mod parameters;
mod results;
mod session;
mod summary;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use dolmen::recipe::Recipe;

use page::{Page, pictures_folder};

/// The blocks that are shown and not run, as they install programs. One more needs a reason.
const NOT_RUN: usize = 2;

/// Whether pages are to be rewritten.
fn updating() -> bool {
    std::env::var_os("DOLMEN_UPDATE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Does something with every page, two or more at a time, longest first; the book is written anew if it is to be.
fn for_each_page(work: impl Fn(&mut Page) -> Vec<String> + Sync) {
    let mut pages = page::all();
    pages.sort_by_key(|page| std::cmp::Reverse(page.commands()));
    let pages: Vec<Mutex<Page>> = pages.into_iter().map(Mutex::new).collect();
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(page) = pages.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut page = page.lock().unwrap();
                    let found = work(&mut page);
                    let named = found.iter().map(|fault| format!("{}: {fault}", page.name()));
                    faults.lock().unwrap().extend(named);
                    page.write_if_changed(updating());
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    let count = faults.len();
    assert!(faults.is_empty(), "{}\n\n{count} faults", faults.join("\n\n"));
}

/// One test for all that rewrites pages: two would write the same file at a time.
#[test]
fn pages_say_what_the_program_does() {
    let tables = parameters::tables();
    let missing = parameters::without_page(&tables);
    assert!(missing.is_empty(), "without a page of their own: {missing:?}");
    let made = Mutex::new(BTreeMap::new());
    for_each_page(|page| {
        let mut faults = page.fill("parameters", |name| tables.get(name).cloned(), updating());
        faults.extend(page.fill("words", list_of_words, updating()));
        let (more, pictures) = session::run(page, updating());
        faults.extend(more);
        let name = page.name();
        made.lock().unwrap().extend(pictures.into_iter().map(|picture| (picture, name.clone())));
        faults
    });
    let made = made.into_inner().unwrap();
    let shown = fs::read_dir(pictures_folder()).unwrap();
    for entry in shown {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(made.contains_key(&name), "no page makes the picture {name}");
    }
    summary::list_results(updating());
}

#[test]
fn recipes_can_be_read() {
    let mut count = 0;
    for page in page::all() {
        for block in page.blocks().iter().filter(|block| block.language() == "toml") {
            let text = page.text(block);
            if let Err(error) = Recipe::from_toml(&text) {
                panic!("{}, line {}: {error}\n{text}", page.name(), block.first);
            }
            count += 1;
        }
    }
    assert!(count >= 2, "{count} recipes");
}

#[test]
fn blocks_are_of_known_kinds_and_nearly_all_are_run() {
    let known = ["console", "python", "rust", "toml", "text"];
    let mut not_run = Vec::new();
    for page in page::all() {
        for block in page.blocks() {
            let place = format!("{}, line {}", page.name(), block.first);
            let language = block.language();
            assert!(
                known.contains(&language) || language == "sh" && block.is_not_run(),
                "{place}: {language}"
            );
            if block.is_not_run() {
                not_run.push(place);
            } else if language == "text" {
                let text = page.text(&block);
                assert!(!text.lines().any(|line| line.starts_with("$ ")), "{place} is a session");
            }
        }
    }
    assert_eq!(not_run.len(), NOT_RUN, "not run: {not_run:#?}");
}

#[test]
fn every_page_is_listed_and_every_link_leads_somewhere() {
    summary::check_list();
    let pages = page::with_results();
    let faults: Vec<String> = pages.iter().flat_map(links::broken).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// A list of the library's documentation, for readers: names of items are words, as their links are the library's own.
fn list_of_words(path: &str) -> Option<String> {
    let text = fs::read_to_string(root()?.join(path)).ok()?;
    let mut parts = text.split("](crate::");
    let mut plain = parts.next()?.to_string();
    for part in parts {
        let at = plain.rfind('[')?;
        plain.remove(at);
        plain.push_str(part.split_once(')')?.1);
    }
    Some(plain)
}

/// Where the book's sources are; a package that was published is without them, and has nothing to test here.
fn root() -> Option<&'static Path> {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    if root.join("book/src/SUMMARY.md").exists() {
        return Some(root);
    }
    #[expect(clippy::print_stderr, reason = "tells why nothing is tested")]
    {
        eprintln!("skipped: the book is not here");
    }
    None
}

#[test]
fn works_cited_on_pages_are_listed() {
    let Some(root) = root() else { return };
    let list = fs::read_to_string(root.join("crates/dolmen/docs/references.md")).unwrap();
    let mut count = 0;
    for page in page::all() {
        for key in summary::cited(&page) {
            assert!(list.contains(&format!("**{key}**")), "{}: {key} is not listed", page.name());
            count += 1;
        }
    }
    assert!(count > 50, "{count} works are cited");
}

#[test]
fn rust_blocks_are_documentation_tests() {
    let Some(root) = root() else { return };
    let named = fs::read_to_string(root.join("book/doctests.rs")).unwrap();
    for page in page::all() {
        let has_rust = page.blocks().iter().any(|block| block.language() == "rust");
        // The README's are those of the library.
        let Some(path) = page.name().strip_prefix("book/").map(String::from) else { continue };
        assert_eq!(has_rust, named.contains(&path), "{path}");
    }
}
