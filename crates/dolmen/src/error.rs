//! The one error type of the library: what went wrong, where, and where we know it, the cure.

use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::suggest::did_you_mean;

/// A result of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong. The `Display` form is one line; [`Error::hint`] may add the cure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range.
    #[error("{name} must be {expected}, but is {got}")]
    Param {
        /// The parameter's name as the user writes it.
        name: String,
        /// The allowed values, in words.
        expected: String,
        /// The value found.
        got: String,
        /// How to mend it, if there is an obvious way.
        hint: Option<String>,
    },

    /// Two things that must have the same size have not.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// What was measured.
        what: String,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        found: usize,
    },

    /// The data cannot be used as they are; says where.
    #[error("{place}: {problem}")]
    Data {
        /// File, row and column, as far as known.
        place: Place,
        /// What is wrong there.
        problem: String,
        /// How to mend it, if there is an obvious way.
        hint: Option<String>,
    },

    /// A learner could not be fitted.
    #[error("member '{member}' failed{}: {source}", split.map(|s| format!(" in split {}", s + 1)).unwrap_or_default())]
    Member {
        /// The member's name.
        member: String,
        /// The split of the plan, counted from 0; `None` for the fit on all rows.
        split: Option<usize>,
        /// What its fit said.
        source: Box<Error>,
    },

    /// A part of a model, such as that of one class, could not be fitted.
    #[error("{part}: {source}")]
    Part {
        /// The part.
        part: String,
        /// What its fit said.
        source: Box<Error>,
    },

    /// A model file holds a kind of model this program does not know.
    #[error("unknown kind of model '{kind}'")]
    UnknownKind {
        /// The kind found.
        kind: String,
    },

    /// A model file was written by a newer version.
    #[error("{what} has version {found}, this program reads up to {supported}")]
    Version {
        /// The file, or the kind of record in it.
        what: String,
        /// Its version.
        found: u32,
        /// The newest version understood.
        supported: u32,
    },

    /// A file is not what it should be (foreign, truncated, damaged).
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// How to mend it, if there is an obvious way.
        hint: Option<String>,
    },

    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// A piece of work needs more memory than there is.
    #[error("{what}: about {} of memory are needed, but {} can be had", in_words(*needed), in_words(*available))]
    Memory {
        /// What the memory is for.
        what: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes that can be had.
        available: u64,
        /// How to mend it, if there is an obvious way.
        hint: Option<String>,
    },

    /// Code that is not of this crate failed: a learner of one's own, a program at one of the doors.
    #[error("{what}: {source}")]
    Foreign {
        /// What failed.
        what: String,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// Refuses a number that is negative, infinite or none.
pub(crate) fn at_least_zero(name: &str, value: f64) -> Result<()> {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::param(name, "at least 0 and finite", value))
}

/// `Err` if a whole number is outside its range. The largest values are far beyond what is of use: they stop work that
/// would never end.
pub(crate) fn within(name: &str, value: usize, range: RangeInclusive<usize>) -> Result<()> {
    let expected = match value {
        value if value < *range.start() => format!("at least {}", range.start()),
        value if value > *range.end() => format!("at most {}", range.end()),
        _ => return Ok(()),
    };
    Err(Error::param(name, expected, value))
}

impl Error {
    /// A parameter outside its range.
    pub fn param(name: &str, expected: impl Into<String>, got: impl fmt::Display) -> Self {
        Self::Param {
            name: name.into(),
            expected: expected.into(),
            got: in_few_digits(got.to_string()),
            hint: None,
        }
    }

    /// Sizes that do not fit.
    pub fn shape(what: impl Into<String>, expected: usize, found: usize) -> Self {
        Self::Shape { what: what.into(), expected, found }
    }

    /// Data that cannot be used.
    pub fn data(place: Place, problem: impl Into<String>) -> Self {
        Self::Data { place, problem: problem.into(), hint: None }
    }

    /// A file that is not what it should be.
    pub fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.into(), problem: problem.into(), hint: None }
    }

    /// The system's refusal, with the file's name.
    pub fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.into(), source }
    }

    /// The failure of a part of a model. What failed within it is no member of anything the user knows, and is not named.
    #[must_use]
    pub fn in_part(self, part: impl Into<String>) -> Self {
        let source = match self {
            Self::Cancelled => return self,
            Self::Member { source, .. } => source,
            other => Box::new(other),
        };
        Self::Part { part: part.into(), source }
    }

    /// An error of another crate, or a text.
    pub fn foreign(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Foreign { what: what.into(), source: source.into() }
    }

    /// Adds the cure to an error about data or a parameter; other errors stay as they are.
    #[must_use]
    pub fn with_hint(mut self, cure: impl Into<String>) -> Self {
        if let Self::Data { hint, .. }
        | Self::Param { hint, .. }
        | Self::File { hint, .. }
        | Self::Memory { hint, .. } = &mut self
        {
            *hint = Some(cure.into());
        }
        self
    }

    /// Adds the candidate that a misspelt word is nearest to, if one is near.
    #[must_use]
    pub fn suggesting<'a>(self, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        match did_you_mean(word, candidates) {
            Some(hint) => self.with_hint(hint),
            None => self,
        }
    }

    /// Names the file in an error about data that does not name one yet.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        match &mut self {
            Self::Data { place, .. } => {
                place.file.get_or_insert_with(|| path.into());
            }
            Self::Member { source, .. } | Self::Part { source, .. } => {
                let inner = std::mem::replace(source.as_mut(), Self::Cancelled);
                **source = inner.in_file(path);
            }
            _ => {}
        }
        self
    }

    /// The error of a part of a table in front of which so many rows stand: rows are then counted from the table's first.
    #[must_use]
    pub fn after_rows(self, rows: usize) -> Self {
        self.in_rows(&|row| Some(row + rows))
    }

    /// The error of chosen rows of a table: `place` knows where each of them, counted from 0, stands in it. A row that it does not know is
    /// not told.
    #[must_use]
    pub fn in_rows(mut self, place: &dyn Fn(usize) -> Option<usize>) -> Self {
        match &mut self {
            Self::Data { place: Place { row, .. }, .. } => {
                *row = row.and_then(|row| place(row - 1)).map(|row| row + 1);
            }
            Self::Member { source, .. } | Self::Part { source, .. } => {
                let inner = std::mem::replace(source.as_mut(), Self::Cancelled);
                **source = inner.in_rows(place);
            }
            _ => {}
        }
        self
    }

    /// How to mend it, if there is an obvious way.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Data { hint, .. }
            | Self::Param { hint, .. }
            | Self::File { hint, .. }
            | Self::Memory { hint: hint @ Some(_), .. } => hint.clone(),
            Self::Member { source, .. } | Self::Part { source, .. } => source.hint(),
            Self::Version { .. } | Self::UnknownKind { .. } => {
                Some("the file comes from a newer or extended program: update this one".into())
            }
            Self::Memory { hint: None, .. } => Some(
                "ask for less (fewer rows, columns or copies), or give the program more memory"
                    .into(),
            ),
            _ => None,
        }
    }
}

/// Where in the data: any of file, row (counted from 1, header not counted) and column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: Option<PathBuf>,
    /// The data row, counted from 1.
    pub row: Option<usize>,
    /// The column's name.
    pub column: Option<String>,
}

impl Place {
    /// A column as a whole.
    pub fn column(column: &str) -> Self {
        Self { column: Some(column.into()), ..Self::default() }
    }

    /// One cell; `row` is counted from 0 here and from 1 when shown.
    pub fn cell(row: usize, column: &str) -> Self {
        Self { row: Some(row + 1), column: Some(column.into()), file: None }
    }

    /// One row; counted from 0 here and from 1 when shown.
    pub fn row(row: usize) -> Self {
        Self { row: Some(row + 1), ..Self::default() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        if let Some(file) = &self.file {
            write!(f, "{}", file.display())?;
            separator = ", ";
        }
        if let Some(row) = self.row {
            write!(f, "{separator}row {row}")?;
            separator = ", ";
        }
        if let Some(column) = &self.column {
            write!(f, "{separator}column '{column}'")?;
            separator = ", ";
        }
        if separator.is_empty() { write!(f, "data") } else { Ok(()) }
    }
}

/// A number of hundreds of digits with a power of ten instead; everything else as it is.
fn in_few_digits(text: String) -> String {
    match text.parse::<f64>() {
        Ok(value) if text.len() > 24 => format!("{value:e}"),
        _ => text,
    }
}

/// Bytes in words: `37.3 GB`.
pub(crate) fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["kB", "MB", "GB", "TB", "PB"];
    if bytes < 1000 {
        return format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
    }
    let mut value = bytes as f64 / 1e3;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1e3, unit + 1);
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn numbers_of_many_digits_are_told_in_few() {
        let message = |value: f64| Error::param("rate", "small", value).to_string();
        assert_eq!(message(1e300), "rate must be small, but is 1e300");
        assert_eq!(message(-0.25), "rate must be small, but is -0.25");
    }

    #[test]
    fn a_foreign_error_keeps_its_cause() {
        let cause = "x".parse::<f64>().unwrap_err();
        let error = Error::foreign("the learner 'mine'", cause.clone());
        assert_eq!(error.to_string(), format!("the learner 'mine': {cause}"));
        let source = error.source().and_then(|source| source.downcast_ref());
        assert_eq!(source, Some(&cause));
        let text = Error::foreign("python", "ValueError: no rows");
        assert_eq!(text.to_string(), "python: ValueError: no rows");
    }
}
