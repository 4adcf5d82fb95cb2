//! Data sets: those that are carried (`data/README.md` says where they come from), and those that the reader brings.

use std::path::Path;

use dolmen::error::{Error, Place, Result};
use dolmen::run::Run;
use dolmen::table::{self, Column, Features, ReadOptions, Table};
use dolmen::target::Labels;

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
    /// What stands in where it is missing; empty if nothing does.
    pub instead: &'static str,
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

    /// What is said where it was used.
    pub fn used(&self) -> String {
        let Self { file, what, why, .. } = self;
        format!("From the reader's folder: `{file}`, {what}. {why}")
    }

    /// What is said where it is missing.
    pub fn missing(&self) -> String {
        let Self { file, what, why, instead } = self;
        let instead = match *instead {
            "" => String::new(),
            words => format!(" Here {words}."),
        };
        format!(
            "Missing: {what}. {why}{instead} With `{file}` in a folder, `--data FOLDER` runs this part on it."
        )
    }
}

/// Numeric columns of a table, all of them if none is named, of the rows in which none of them is missing.
pub fn numbers(table: &Table, columns: &[&str]) -> Result<Features> {
    let (values, width) = complete(table, columns)?;
    Features::numeric(values.into_iter().flat_map(|(_, row)| row).collect(), width)
}

/// The same with the class of each row: rows without a class are left out.
pub fn classed(table: &Table, columns: &[&str], class: &str) -> Result<(Features, Labels)> {
    let Column::Categorical(classes) = table.column(class)? else {
        return Err(Error::data(Place::column(class), "is a number, not a class"));
    };
    let (values, width) = complete(table, columns)?;
    let is_known = |(row, _): &Numbered| classes.level(*row).is_some();
    let known: Vec<Numbered> = values.into_iter().filter(is_known).collect();
    let codes = known.iter().map(|(row, _)| classes.codes[*row]).collect();
    let labels = Labels::new(classes.levels.clone(), codes)?;
    let values = known.into_iter().flat_map(|(_, row)| row).collect();
    Ok((Features::numeric(values, width)?, labels))
}

/// A row by its place in the table.
type Numbered = (usize, Vec<f64>);

/// The rows without missing numbers by their places, and how many numbers they have.
fn complete<'t>(table: &'t Table, columns: &[&str]) -> Result<(Vec<Numbered>, usize)> {
    for name in columns {
        table.column(name)?;
    }
    let wanted = |name: &str| columns.is_empty() || columns.contains(&name);
    let numeric = |(name, column): (&str, &'t Column)| match column {
        Column::Numeric(values) if wanted(name) => Some(values),
        _ => None,
    };
    let chosen: Vec<&Vec<f64>> = table.columns().filter_map(numeric).collect();
    let row = |i: usize| (i, chosen.iter().map(|column| column[i]).collect::<Vec<f64>>());
    let is_complete = |(_, row): &Numbered| row.iter().all(|value| value.is_finite());
    Ok(((0..table.rows()).map(row).filter(is_complete).collect(), chosen.len()))
}
