//! Pages and their blocks.

use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// A page of the book, or the README.
pub(crate) struct Page {
    path: PathBuf,
    pub(crate) lines: Vec<String>,
    before: String,
}

/// A fenced block of a page.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// What stands behind the opening fence, such as `python,no_run`.
    info: String,
    /// The first line within the fences, counted from 0.
    pub(crate) first: usize,
    /// The line of the closing fence.
    pub(crate) end: usize,
}

impl Block {
    pub(crate) fn language(&self) -> &str {
        self.info.split(',').next().unwrap_or_default()
    }

    /// Whether it is marked as one that cannot be run.
    pub(crate) fn is_not_run(&self) -> bool {
        self.info.split(',').any(|word| word == "no_run")
    }
}

/// What ends a part that an update writes.
const END: &str = "<!-- end -->";

/// The README, and every page of the book but the results, which another command writes.
pub(crate) fn all() -> Vec<Page> {
    let mut pages = with_results();
    pages.retain(|page| !page.name().starts_with("book/src/results/"));
    pages
}

/// The README, and every page of the book.
pub(crate) fn with_results() -> Vec<Page> {
    let Some(root) = root() else { return Vec::new() };
    let mut paths = vec![root.join("README.md")];
    collect(&root.join("book/src"), &mut paths);
    paths.into_iter().map(Page::read).collect()
}

/// Where pictures are kept.
pub(crate) fn pictures_folder() -> PathBuf {
    root().map_or_else(PathBuf::new, |root| root.join("book/src/pictures"))
}

/// Adds the Markdown files below a folder, in order.
pub(crate) fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

impl Page {
    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        Self::of(path, &text)
    }

    /// A page with this text.
    pub(crate) fn of(path: PathBuf, text: &str) -> Self {
        Self { path, lines: text.lines().map(String::from).collect(), before: text.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path below the project's folder.
    pub(crate) fn name(&self) -> String {
        let root = root().unwrap();
        self.path.strip_prefix(root).unwrap().display().to_string()
    }

    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap()
    }

    /// The fenced blocks, in order. Fences stand at the beginning of a line.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut open: Option<(String, usize)> = None;
        for (number, line) in self.lines.iter().enumerate() {
            let Some(info) = line.strip_prefix("```") else { continue };
            open = match open {
                None => Some((info.trim().to_string(), number + 1)),
                Some((info, first)) => {
                    blocks.push(Block { info, first, end: number });
                    None
                }
            };
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name());
        blocks
    }

    pub(crate) fn text(&self, block: &Block) -> String {
        self.lines[block.first..block.end].join("\n") + "\n"
    }

    /// Compares what stands between a line `<!-- WHAT: NAME -->` and the next `<!-- end -->` with what it should be, or writes it.
    pub(crate) fn fill(
        &mut self,
        what: &str,
        fresh: impl Fn(&str) -> Option<String>,
        update: bool,
    ) -> Vec<String> {
        let begin = format!("<!-- {what}: ");
        let mut faults = Vec::new();
        let mut from = 0;
        while let Some(at) = (from..self.lines.len()).find(|&i| self.lines[i].starts_with(&begin)) {
            let name =
                self.lines[at].trim_start_matches(&begin).trim_end_matches(" -->").to_string();
            let Some(end) = (at..self.lines.len()).find(|&i| self.lines[i] == END) else {
                return vec![format!("the {what} of {name} do not end")];
            };
            from = end + 1;
            let Some(text) = fresh(&name) else {
                faults.push(format!("there are no {what} of '{name}'"));
                continue;
            };
            let fresh: Vec<String> = std::iter::once(String::new())
                .chain(text.lines().map(String::from))
                .chain([String::new()])
                .collect();
            if self.lines[at + 1..end] != fresh[..] {
                if update {
                    from = at + 1 + fresh.len() + 1;
                    self.lines.splice(at + 1..end, fresh);
                } else {
                    faults.push(format!("the {what} of '{name}' are others now"));
                }
            }
        }
        faults
    }

    /// Lines that are commands.
    pub(crate) fn commands(&self) -> usize {
        self.lines.iter().filter(|line| line.starts_with("$ ")).count()
    }

    /// Writes the page if it has changed and may be written.
    pub(crate) fn write_if_changed(&self, allowed: bool) {
        let now = self.lines.join("\n") + "\n";
        if allowed && now != self.before {
            fs::write(&self.path, now).unwrap();
        }
    }
}
