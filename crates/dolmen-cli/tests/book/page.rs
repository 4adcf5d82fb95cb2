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

/// The README, and every page of the book but the results, which another command writes.
pub(crate) fn all() -> Vec<Page> {
    let Some(root) = root() else { return Vec::new() };
    let mut paths = vec![root.join("README.md")];
    collect(&root.join("book/src"), &mut paths);
    paths.retain(|path| !path.starts_with(root.join("book/src/results")));
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
        let before = fs::read_to_string(&path).unwrap();
        let lines = before.lines().map(String::from).collect();
        Self { path, lines, before }
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
