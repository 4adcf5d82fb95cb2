//! Data sets: those that are carried (`data/README.md` says where they come from), and those that the reader brings.

use std::path::Path;

use dolmen::error::{Error, Result};
use dolmen::run::Run;
use dolmen::table::{self, Column, Features, ReadOptions, Table};

use crate::Context;

/// A data set that is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// 150 flowers, four measurements, three species (`Species`).
    Iris,
    /// 344 penguins with missing values, three species (`species`).
    Penguins,
    /// 932 houses sold in and around Sacramento, numbers and categories, what they cost (`price`).
    Sacramento,
    /// 272 eruptions of a geyser, made up: a density of two columns.
    Geyser,
}

impl Carried {
    /// The file as it is.
    pub fn text(self) -> &'static str {
        match self {
            Self::Iris => include_str!("../data/iris.csv"),
            Self::Penguins => include_str!("../data/penguins.csv"),
            Self::Sacramento => include_str!("../data/sacramento.csv"),
            Self::Geyser => include_str!("../data/geyser.csv"),
        }
    }

    /// The table.
    pub fn table(self, run: &Run) -> Result<Table> {
        table::read_text(self.text(), Path::new("the carried data"), &ReadOptions::default(), run)
    }
}

/// A data set that is not carried, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brought {
    /// The file in the reader's folder.
    pub file: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Why it is not carried, and where it is to be had.
    pub why: &'static str,
}

impl Brought {
    /// The table, if the reader brought it.
    pub fn table(&self, context: &Context<'_>) -> Result<Option<Table>> {
        let Some(path) = context.data.map(|folder| folder.join(self.file)) else { return Ok(None) };
        if !path.is_file() {
            return Ok(None);
        }
        table::read(&path, &ReadOptions::default(), context.run).map(Some)
    }

    /// What is said where it is missing.
    pub fn missing(&self) -> String {
        let Self { file, what, why } = self;
        format!("Missing: {what}. {why} With `{file}` in a folder, `--data FOLDER` runs this part.")
    }
}

/// The numeric columns of a table but those named, as rows without missing values.
pub fn numbers(table: &Table, but: &[&str]) -> Result<Features> {
    let mut columns = Vec::new();
    for (name, column) in table.columns().filter(|(name, _)| !but.contains(name)) {
        if let Column::Numeric(values) = column {
            if let Some(row) = values.iter().position(|value| !value.is_finite()) {
                let place = dolmen::error::Place::cell(row, name);
                return Err(Error::data(place, "a number is missing"));
            }
            columns.push(values);
        }
    }
    let width = columns.len();
    let values = (0..table.rows()).flat_map(|i| columns.iter().map(move |column| column[i]));
    Features::numeric(values.collect(), width)
}
