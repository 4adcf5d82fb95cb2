//! Which files a name stands for: one, those in a folder, those that fit a pattern.

use std::fs::{self, File};
use std::io::Cursor;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::error::{Error, Place, Result};
use crate::table::ReadOptions;
use crate::table::csv::Stream;
use crate::table::read::{Held, delimiters_of, hold, is_parquet, shown_name, unpacked};

/// A file that is read more than once.
#[derive(Debug, Clone)]
pub(super) struct InputFile {
    pub(super) path: PathBuf,
    /// The bytes of what cannot be read twice.
    held: Option<Held>,
    /// How the file was when it was first seen.
    stamp: Option<Stamp>,
    /// Its rows, once they were counted.
    pub(super) rows: OnceLock<usize>,
}

/// What tells that a file has been written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(path: &Path) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|e| Error::io(path, e))?;
        Ok(Self { length: metadata.len(), modified: metadata.modified().ok() })
    }
}

impl InputFile {
    fn new(path: PathBuf) -> Result<Self> {
        let held = if is_parquet(&path) { None } else { hold(&path)? };
        let stamp = if held.is_none() { Some(Stamp::of(&path)?) } else { None };
        Ok(Self { path, held, stamp, rows: OnceLock::new() })
    }

    /// How errors call it.
    pub(super) fn name(&self) -> &Path {
        shown_name(&self.path)
    }

    /// Bytes on disk, or in memory.
    pub(super) fn length(&self) -> u64 {
        let held = self.held.as_ref().map(|text| text.as_ref().len() as u64);
        held.or(self.stamp.map(|stamp| stamp.length)).unwrap_or_default()
    }

    /// Whether it is compressed, by its name.
    pub(super) fn is_packed(&self) -> bool {
        self.path.extension().is_some_and(|end| end == "gz" || end == "zst")
    }

    /// Refuses a file that is no longer what it was.
    pub(super) fn check_same(&self) -> Result<()> {
        match self.stamp {
            Some(stamp) if stamp != Stamp::of(&self.path)? => Err(self.changed()),
            _ => Ok(()),
        }
    }

    /// The error of a file that is not what it was in an earlier pass.
    pub(super) fn changed(&self) -> Error {
        let place = Place { file: Some(self.name().into()), ..Place::default() };
        Error::data(place, "the file changed while it was read")
            .with_hint("read a copy that nobody writes to")
    }

    /// Its rows as CSV.
    pub(super) fn csv(&self, options: &ReadOptions) -> Result<Stream> {
        let delimiters = delimiters_of(&self.path, options)?;
        let source = if let Some(text) = &self.held {
            unpacked(Box::new(Cursor::new(text.clone())), &self.path)?
        } else {
            let file = File::open(&self.path).map_err(|e| Error::io(&self.path, e))?;
            unpacked(Box::new(file), &self.path)?
        };
        Stream::open(source, self.name(), delimiters)
    }
}

/// Names the file in an error, and the row in that file of one that counts the rows of all files.
pub(super) fn locate(files: &[InputFile], path: &Path, mut error: Error) -> Error {
    let mut found = shown_name(path);
    match &mut error {
        Error::Data { place: Place { file: None, row: Some(row), .. }, .. } => {
            for file in files {
                match file.rows.get() {
                    Some(rows) if *row > *rows => *row -= *rows,
                    _ => {
                        found = file.name();
                        break;
                    }
                }
            }
        }
        Error::Member { source, .. } | Error::Part { source, .. } => {
            let inner = std::mem::replace(source.as_mut(), Error::Cancelled);
            **source = locate(files, path, inner);
        }
        _ => {}
    }
    error.in_file(found)
}

/// The files of a name.
#[derive(Debug)]
pub(super) struct Listed {
    /// In the order of their names.
    pub(super) files: Vec<InputFile>,
    /// What the user should know of what else is there.
    pub(super) passed_over: Option<String>,
}

/// The files of a name.
pub(super) fn list(path: &Path) -> Result<Listed> {
    let is_pattern =
        path.as_os_str().as_encoded_bytes().iter().any(|b| matches!(b, b'*' | b'?' | b'['));
    let mut passed_over = None;
    let found = if path.is_dir() {
        let (found, others) = in_folder(path)?;
        passed_over = passed_over_note(path, &others);
        found
    } else if is_pattern && !path.exists() {
        let found = fitting(path)?;
        if found.is_empty() {
            return Err(Error::file(path, "no file has a name of this pattern"));
        }
        if let Some(other) = found.iter().find(|file| is_parquet(file) != is_parquet(&found[0])) {
            let problem =
                format!("the pattern fits Parquet and other files, such as {}", other.display());
            return Err(Error::file(path, problem));
        }
        found
    } else {
        vec![path.to_path_buf()]
    };
    let files = found.into_iter().map(InputFile::new).collect::<Result<_>>()?;
    Ok(Listed { files, passed_over })
}

/// What to say of other things beside the Parquet files of a folder: somebody may take their rows for a part of the table.
fn passed_over_note(folder: &Path, others: &[PathBuf]) -> Option<String> {
    let (folders, files): (Vec<&PathBuf>, Vec<&PathBuf>) =
        others.iter().partition(|path| path.is_dir());
    let (first, count) = (others.first()?, others.len());
    let counted = |count: usize, noun: &str| match count {
        0 => None,
        1 => Some(format!("1 {noun}")),
        count => Some(format!("{count} {noun}s")),
    };
    let what: Vec<String> = [counted(files.len(), "other file"), counted(folders.len(), "folder")]
        .into_iter()
        .flatten()
        .collect();
    let example = first.file_name().unwrap_or_default().to_string_lossy();
    let (are, such) = if count == 1 { ("is", "") } else { ("are", "such as ") };
    Some(format!(
        "{}: the table is its Parquet files; {} {are} passed over ({such}{example})",
        folder.display(),
        what.join(" and ")
    ))
}

/// The Parquet files in a folder, and what else is there but for what programs write beside tables (`_SUCCESS`, `_metadata`).
fn in_folder(folder: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let names = entries(folder)?;
    let has_folders = names.iter().any(|path| path.is_dir());
    let (found, mut others): (Vec<PathBuf>, Vec<PathBuf>) =
        names.into_iter().partition(|path| is_parquet(path));
    others.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        !name.starts_with('_')
    });
    refuse_folders(&found)?;
    if found.is_empty() {
        let place = Place { file: Some(folder.into()), ..Place::default() };
        let pattern = if has_folders { "*/*.parquet" } else { "*.csv" };
        return Err(Error::data(place, "there are no Parquet files in the folder").with_hint(
            format!("name other files by a pattern, such as '{}/{pattern}'", folder.display()),
        ));
    }
    Ok((found, others))
}

/// Refuses folders that are named like Parquet files, as some programs write tables: passed over, their rows would be missing. A link that
/// leads nowhere is found when its file is opened.
fn refuse_folders(found: &[PathBuf]) -> Result<()> {
    match found.iter().find(|path| path.is_dir()) {
        None => Ok(()),
        Some(inner) => Err(Error::file(inner, "it is a folder, not a file").with_hint(format!(
            "if its files are the table, name it, or several of its kind by a pattern such as '{}/*.parquet'",
            inner.display()
        ))),
    }
}

/// What is in a folder and not hidden, in the order of the names.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |e| Error::io(folder, e);
    let is_hidden = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        found.push(entry.map_err(fail)?.path());
    }
    found.retain(|path| !is_hidden(path));
    found.sort();
    Ok(found)
}

/// The files whose names fit a pattern, in which `*` stands for any characters, `?` for one, and `[a-f]` for one of these, in names of
/// folders too. Brackets of a name that is there are its own.
fn fitting(pattern: &Path) -> Result<Vec<PathBuf>> {
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let Component::Normal(part) = component else {
            found.iter_mut().for_each(|path| path.push(component));
            continue;
        };
        let wanted = part.to_string_lossy();
        let is_there = || found.iter().any(|path| path.join(part).exists());
        if !wanted.contains(['*', '?', '[']) || !wanted.contains(['*', '?']) && is_there() {
            found.iter_mut().for_each(|path| path.push(part));
            found.retain(|path| path.exists());
            continue;
        }
        let mut next = Vec::new();
        for folder in &found {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            if !folder.is_dir() {
                continue;
            }
            let fits = |path: &PathBuf| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                fits(name.as_bytes(), wanted.as_bytes())
            };
            next.extend(entries(folder)?.into_iter().filter(fits));
        }
        found = next;
    }
    found.retain(|path| is_parquet(path) || !path.is_dir());
    refuse_folders(&found)?;
    Ok(found)
}

/// Whether a name fits a pattern.
fn fits(name: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut wanted) = (0, 0);
    // Where the last star stood, and what it stands for so far.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(wanted) {
            Some(b'*') => {
                star = Some((wanted, at));
                wanted += 1;
            }
            Some(b'?') => (at, wanted) = (at + 1, wanted + 1),
            Some(b'[') if one_of(name[at], &pattern[wanted..]).is_some() => {
                wanted += one_of(name[at], &pattern[wanted..]).unwrap_or_default();
                at += 1;
            }
            Some(byte) if *byte == name[at] => (at, wanted) = (at + 1, wanted + 1),
            _ => match star {
                Some((place, from)) => {
                    star = Some((place, from + 1));
                    (at, wanted) = (from + 1, place + 1);
                }
                None => return false,
            },
        }
    }
    pattern[wanted..].iter().all(|byte| *byte == b'*')
}

/// How long the brackets are with which a pattern begins, if they have this byte among them.
fn one_of(byte: u8, pattern: &[u8]) -> Option<usize> {
    let inner = pattern.strip_prefix(b"[")?;
    let (is_other, inner) = match inner.strip_prefix(b"!") {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    // A closing bracket that comes first is one of them.
    let end = inner.iter().skip(1).position(|other| *other == b']')? + 1;
    let (mut rest, mut is_among) = (&inner[..end], false);
    while let [first, more @ ..] = rest {
        (rest, is_among) = match more {
            [b'-', last, more @ ..] => (more, is_among || (*first..=*last).contains(&byte)),
            _ => (more, is_among || byte == *first),
        };
    }
    let before = pattern.len() - inner.len();
    (is_among != is_other).then_some(before + end + 1)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns() {
        let cases = [
            ("part-01.parquet", "*.parquet", true),
            ("part-01.parquet", "part-??.parquet", true),
            ("part-1.parquet", "part-??.parquet", false),
            ("abcbc", "a*bc", true),
            ("abcb", "a*bc", false),
            ("", "*", true),
            ("x", "", false),
            ("0.parquet", "[01].parquet", true),
            ("2.parquet", "[01].parquet", false),
            ("p7", "p[0-35-9]", true),
            ("p4", "p[0-35-9]", false),
            ("p4", "p[!0-3]*", true),
            ("p]", "p[]]", true),
            ("p[", "p[", true),
            ("p1", "p[1", false),
            ("ab1", "*[0-9]", true),
        ];
        for (name, pattern, expected) in cases {
            assert_eq!(fits(name.as_bytes(), pattern.as_bytes()), expected, "{name} {pattern}");
        }
    }
}
