//! Tables: typed columns read from CSV or Parquet, and the dense rows that learners see.
//!
//! A [`Table`] holds columns as they stand in the file (numbers, or categories with their levels; both with missing
//! values). [`Schema::encode`] turns it into [`Features`]: one `f64` per cell, row after row, a category as the index of
//! its level. Learners borrow those as [`Rows`]. What has to be *learned* from data (standardising, imputing, one-hot,
//! bins) is an [`Encoder`], fitted on training rows only.

mod blocks;
mod conventions;
mod csv;
mod date_text;
mod dates;
pub mod encode;
mod features;
mod json;
mod levels;
mod look;
mod missing;
mod moments;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "no_parquet.rs"]
mod parquet;
mod pieces;
mod read;
mod roles;
mod schema;
mod truths;
mod unpack;
mod unseen;
mod values;
mod write;
mod written;

pub use blocks::{BLOCK, Blocks, ColumnSummary, ROWS, Sparing};
pub use conventions::Conventions;
pub use csv::write_csv;
pub use date_text::DateOrder;
pub use dates::{DateColumn, DatePart};
pub use encode::{Encoder, EncoderSpec};
pub use features::{Features, Rows, View};
pub use json::write_json;
pub(crate) use levels::number_of_text;
pub use look::{Look, is_unnamed, possible_classes};
pub(crate) use parquet::parquet_size;
pub use parquet::{read_parquet, read_parquet_metadata, write_parquet};
pub use read::{ColumnKind, ReadOptions, column_names, read, read_text};
pub use roles::{Assigned, Known, Roles, check_finite, groups_of, times_of};
pub use schema::{Field, Kind, Schema};
pub use truths::place_of;
pub use unseen::{Unseen, UnseenSoFar};
pub use values::Values;
pub(crate) use write::write_described_blocks;
pub use write::{BlockWriter, Put, TableForm, check_name, write, write_blocks};
pub use written::{NumberForm, WrittenNumbers};

use std::collections::HashSet;
use std::mem;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::suggest::did_you_mean;

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Column {
    /// Numbers; NaN is a missing value.
    Numeric(#[serde(with = "crate::store::floats")] Vec<f64>),
    /// Categories.
    Categorical(Categories),
}

/// A column of categories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Categories {
    /// The levels, in order: by value if all are numbers, else by spelling.
    pub levels: Arc<[String]>,
    /// Each row's level; [`Categories::MISSING`] where there is none.
    pub codes: Vec<u32>,
}

impl Categories {
    /// The code of a missing value.
    pub const MISSING: u32 = u32::MAX;

    /// The level of row `i`, `None` if missing.
    pub fn level(&self, i: usize) -> Option<&str> {
        self.levels.get(self.codes[i] as usize).map(String::as_str)
    }
}

impl Column {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numeric(values) => values.len(),
            Self::Categorical(categories) => categories.codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first row without a value.
    pub fn first_missing(&self) -> Option<usize> {
        match self {
            Self::Numeric(values) => values.iter().position(|v| v.is_nan()),
            Self::Categorical(c) => c.codes.iter().position(|&c| c == Categories::MISSING),
        }
    }

    /// Whether row `i` has no value.
    pub fn is_missing(&self, i: usize) -> bool {
        match self {
            Self::Numeric(values) => values[i].is_nan(),
            Self::Categorical(c) => c.codes[i] == Categories::MISSING,
        }
    }

    /// The rows that have a value.
    pub fn present(&self) -> Vec<usize> {
        (0..self.len()).filter(|&i| !self.is_missing(i)).collect()
    }

    /// The smallest and the largest number; `None` without any.
    pub fn range(&self) -> Option<(f64, f64)> {
        let Self::Numeric(values) = self else { return None };
        let known = || values.iter().copied().filter(|v| !v.is_nan());
        let low = known().fold(f64::INFINITY, f64::min);
        let high = known().fold(f64::NEG_INFINITY, f64::max);
        (low <= high).then_some((low, high))
    }

    /// The column of chosen rows, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numeric(values) => Self::Numeric(rows.iter().map(|&i| values[i]).collect()),
            Self::Categorical(c) => Self::Categorical(Categories {
                levels: Arc::clone(&c.levels),
                codes: rows.iter().map(|&i| c.codes[i]).collect(),
            }),
        }
    }

    /// The numbers of a column that must hold numbers; `name` is for the error that shows the first cell that is none.
    pub fn into_numbers(self, name: &str) -> Result<Vec<f64>> {
        match self {
            Self::Numeric(values) => Ok(values),
            Self::Categorical(column) => {
                let levels = schema::spelled_numbers(name, &column)?;
                let value = |code: &u32| levels.get(*code as usize).copied().unwrap_or(f64::NAN);
                Ok(column.codes.iter().map(value).collect())
            }
        }
    }

    /// Whether all cells are numbers, or texts that are spelled as numbers would be written.
    pub fn is_plain(&self) -> bool {
        match self {
            Self::Numeric(_) => true,
            Self::Categorical(column) => column.levels.iter().all(|l| number::plain(l).is_some()),
        }
    }

    /// A column of texts as numbers, if each is spelled as it would be written; other columns stay as they are.
    #[must_use]
    pub fn numbers_if_plain(self) -> Self {
        let Self::Categorical(column) = &self else { return self };
        match column.levels.iter().map(|l| number::plain(l)).collect::<Option<Vec<f64>>>() {
            None => self,
            Some(values) => {
                let value = |code: &u32| values.get(*code as usize).copied().unwrap_or(f64::NAN);
                Self::Numeric(column.codes.iter().map(value).collect())
            }
        }
    }

    /// Number of missing values.
    pub fn missing(&self) -> usize {
        match self {
            Self::Numeric(values) => values.iter().filter(|v| v.is_nan()).count(),
            Self::Categorical(c) => c.codes.iter().filter(|&&c| c == Categories::MISSING).count(),
        }
    }
}

/// Named columns of equal length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Column>,
    rows: usize,
    /// The columns whose numbers were not written plainly.
    written: Vec<WrittenNumbers>,
    /// What the reader has to tell.
    notes: Vec<String>,
}

impl Table {
    /// A table of named columns; names must differ and lengths agree.
    pub fn new(columns: Vec<(String, Column)>) -> Result<Self> {
        let rows = columns.first().map_or(0, |(_, c)| c.len());
        let mut seen = HashSet::new();
        for (name, column) in &columns {
            if column.len() != rows {
                return Err(Error::shape(format!("rows of column '{name}'"), rows, column.len()));
            }
            if !seen.insert(name) {
                return Err(two_columns_named(name));
            }
        }
        let (names, columns) = columns.into_iter().unzip();
        Ok(Self { names, columns, rows, ..Self::default() })
    }

    /// A table as a reader gives it: columns, how their numbers are written, and what else there is to tell.
    fn as_read(
        columns: Vec<(String, Column, Option<NumberForm>)>,
        mut notes: Vec<String>,
    ) -> Result<Self> {
        let mut written = Vec::new();
        let mut named = Vec::new();
        for (name, column, form) in columns {
            if let Some(form) = form {
                notes.push(form.note(&name));
                written.push(WrittenNumbers { column: name.clone(), form });
            }
            named.push((name, column));
        }
        Ok(Self { written, notes, ..Self::new(named)? })
    }

    /// The columns whose numbers were not written plainly, and how they were.
    pub fn written(&self) -> &[WrittenNumbers] {
        &self.written
    }

    /// What the user should know of how the table was read.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Names and columns, in order.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = (&str, &Column)> {
        self.names.iter().map(String::as_str).zip(&self.columns)
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Result<&Column> {
        self.position(name).map(|i| &self.columns[i])
    }

    /// Takes the column of this name out of the table.
    pub fn take(&mut self, name: &str) -> Result<Column> {
        let i = self.position(name)?;
        self.names.remove(i);
        Ok(self.columns.remove(i))
    }

    /// The table of chosen rows, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let column = |column: &Column| match column {
            Column::Numeric(values) => Column::Numeric(rows.iter().map(|&i| values[i]).collect()),
            Column::Categorical(c) => Column::Categorical(Categories {
                levels: Arc::clone(&c.levels),
                codes: rows.iter().map(|&i| c.codes[i]).collect(),
            }),
        };
        let columns = self.columns.iter().map(column).collect();
        let (names, written) = (self.names.clone(), self.written.clone());
        Self { names, columns, rows: rows.len(), written, notes: self.notes.clone() }
    }

    /// Leaves levels that do not occur out of these columns.
    pub(crate) fn drop_unused_levels(&mut self, names: &[String]) {
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            if let Column::Categorical(texts) = column
                && names.contains(name)
            {
                *texts = texts.without_unused();
            }
        }
    }

    /// Blocks of one table, one after the other: their columns are the same, their levels need not be.
    pub(crate) fn stacked(blocks: Vec<Self>) -> Result<Self> {
        let mut blocks = blocks.into_iter();
        let Some(mut all) = blocks.next() else {
            return Err(Error::data(Place::default(), "there are no rows"));
        };
        let mut texts: Vec<Vec<Categories>> = all.columns.iter().map(|_| Vec::new()).collect();
        for block in blocks {
            all.rows += block.rows;
            for (j, (column, more)) in all.columns.iter_mut().zip(block.columns).enumerate() {
                match (column, more) {
                    (Column::Numeric(values), Column::Numeric(more)) => values.extend(more),
                    (Column::Categorical(_), Column::Categorical(more)) => texts[j].push(more),
                    _ => {
                        let problem = "a column holds numbers in one block and texts in another";
                        return Err(Error::data(Place::default(), problem));
                    }
                }
            }
        }
        for (column, more) in all.columns.iter_mut().zip(texts) {
            if let Column::Categorical(own) = column {
                let first = Categories {
                    levels: Arc::clone(&own.levels),
                    codes: mem::take(&mut own.codes),
                };
                *own = Categories::stacked(std::iter::once(first).chain(more).collect());
            }
        }
        Ok(all)
    }

    /// The same table with further columns, after its own.
    pub fn with_columns(
        mut self,
        more: impl IntoIterator<Item = (String, Column)>,
    ) -> Result<Self> {
        let (written, notes) = (mem::take(&mut self.written), mem::take(&mut self.notes));
        let all = Self::new(self.into_columns().chain(more).collect())?;
        Ok(Self { written, notes, ..all })
    }

    /// Takes the table apart, so that columns can be used without a copy.
    pub fn into_columns(self) -> impl ExactSizeIterator<Item = (String, Column)> {
        self.names.into_iter().zip(self.columns)
    }

    fn position(&self, name: &str) -> Result<usize> {
        let position = self.names.iter().position(|n| n == name);
        position.ok_or_else(|| no_such_column(name, &self.names))
    }
}

/// The error of a name that two columns have.
fn two_columns_named(name: &str) -> Error {
    Error::data(Place::column(name), "two columns have this name").with_hint("rename one of them")
}

/// Names of columns that a hint lists.
const SHOWN_NAMES: usize = 30;

/// The error of a column that is not there.
fn no_such_column(name: &str, names: &[String]) -> Error {
    let error = Error::data(Place::default(), format!("there is no column '{name}'"));
    if names.is_empty() {
        return error;
    }
    let hint = did_you_mean(name, names.iter().map(String::as_str));
    error.with_hint(hint.unwrap_or_else(|| match names.get(..SHOWN_NAMES) {
        Some(first) if first.len() < names.len() => {
            format!("the {} columns begin with: {}", names.len(), first.join(", "))
        }
        _ => format!("the columns are: {}", names.join(", ")),
    }))
}
