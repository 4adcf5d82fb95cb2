//! Data sets: those that are carried (`data/README.md` says where they come from), and those that the reader brings.

use std::collections::BTreeSet;
use std::path::Path;

use dolmen::error::{Error, Place, Result};
use dolmen::run::Run;
use dolmen::table::{self, Categories, Column, Features, ReadOptions, Table};
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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brought {
    /// The file in the reader's folder.
    pub file: &'static str,
    /// By what the set is known.
    pub marks: Marks,
    /// What it is.
    pub what: &'static str,
    /// Why it is not carried, and where it is to be had.
    pub why: &'static str,
    /// What stands in where it is missing; empty if nothing does.
    pub instead: &'static str,
}

/// By what a set is known: the name of a file is not enough, figures of another set must not stand beside the paper's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Marks {
    /// Its rows.
    pub rows: usize,
    /// How many of its columns hold numbers; `None` where those named below are used alone.
    pub numbers: Option<usize>,
    /// Columns of numbers with their least and their largest value; without a name, the first column of numbers.
    pub ends: &'static [(&'static str, f64, f64)],
    /// The column with the classes and how many there are, if the file has that column.
    pub classes: Option<(&'static str, usize)>,
}

impl Marks {
    /// What a table has that the set has not.
    fn difference(&self, table: &Table) -> Option<String> {
        let numeric: Vec<(&str, &Vec<f64>)> = table.columns().filter_map(as_numbers).collect();
        let counted = |own: usize, wanted: usize, what: &str| {
            (own != wanted).then(|| format!("has {own} {what}, not {wanted}"))
        };
        let ends = |&(name, least, largest): &(&str, f64, f64)| {
            let own = numeric.iter().find(|own| name.is_empty() || own.0 == name);
            let Some((name, values)) = own else {
                return Some(format!("has no column of numbers '{name}'"));
            };
            let (from, to) = ends(values);
            let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(1.0);
            let is_same = is_near(from, least) && is_near(to, largest);
            (!is_same).then(|| {
                format!("'{name}' goes from {from} to {to}, not from {least} to {largest}")
            })
        };
        let classes = |(name, wanted): (&str, usize)| {
            let own = table.column(name).ok().map(distinct)?;
            counted(own, wanted, &format!("values in '{name}'"))
        };
        counted(table.rows(), self.rows, "rows")
            .or_else(|| counted(numeric.len(), self.numbers?, "columns of numbers"))
            .or_else(|| self.ends.iter().find_map(ends))
            .or_else(|| classes(self.classes?))
    }
}

/// A column of numbers by its name.
fn as_numbers<'t>((name, column): (&'t str, &'t Column)) -> Option<(&'t str, &'t Vec<f64>)> {
    if let Column::Numeric(values) = column { Some((name, values)) } else { None }
}

/// The least and the largest of the values that are not missing.
fn ends(values: &[f64]) -> (f64, f64) {
    let first = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(first, |(least, largest), value| (least.min(*value), largest.max(*value)))
}

/// How many different values a column has.
fn distinct(column: &Column) -> usize {
    match column {
        Column::Categorical(own) => {
            own.codes.iter().filter(|c| **c != Categories::MISSING).collect::<BTreeSet<_>>().len()
        }
        Column::Numeric(values) => {
            values.iter().map(|value| value.to_bits()).collect::<BTreeSet<_>>().len()
        }
    }
}

impl Brought {
    /// The table, if the reader brought it; an error if the file of that name holds another set.
    pub fn table(&self, context: &Context<'_>) -> Result<Option<Table>> {
        let Some(path) = context.data.map(|folder| folder.join(self.file)) else { return Ok(None) };
        if path.is_dir() {
            let problem = format!("is a folder, and should be a file with {}", self.what);
            return Err(Error::file(&path, problem));
        }
        if !path.exists() {
            return Ok(None);
        }
        let table = table::read(&path, &ReadOptions::default(), context.run)?;
        match self.marks.difference(&table) {
            Some(difference) => {
                let problem = format!("should hold {}, but {difference}", self.what);
                Err(Error::file(&path, problem))
            }
            None => Ok(Some(table)),
        }
    }

    /// What is said where it was used.
    pub fn used(&self) -> String {
        let Self { file, what, why, .. } = self;
        format!("From the reader's folder: `{file}`, {what}. {why}")
    }

    /// What is said where it is missing.
    pub fn missing(&self) -> String {
        let Self { file, what, why, instead, .. } = self;
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
fn complete(table: &Table, columns: &[&str]) -> Result<(Vec<Numbered>, usize)> {
    for name in columns {
        table.column(name)?;
    }
    let wanted = |name: &str| columns.is_empty() || columns.contains(&name);
    let numeric = table.columns().filter_map(as_numbers);
    let chosen: Vec<&Vec<f64>> =
        numeric.filter(|(name, _)| wanted(name)).map(|(_, values)| values).collect();
    let row = |i: usize| (i, chosen.iter().map(|column| column[i]).collect::<Vec<f64>>());
    let is_complete = |(_, row): &Numbered| row.iter().all(|value| value.is_finite());
    Ok(((0..table.rows()).map(row).filter(is_complete).collect(), chosen.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: Marks = Marks {
        rows: 4,
        numbers: Some(2),
        ends: &[("v", -1.0, 7.5), ("", 1.0, 4.0)],
        classes: Some(("class", 2)),
    };

    fn difference(text: &str) -> Option<String> {
        let run = Run::new(0);
        let table = table::read_text(text, Path::new("set.csv"), &ReadOptions::default(), &run);
        MARKS.difference(&table.unwrap())
    }

    #[test]
    fn a_set_is_known_by_rows_columns_ends_and_classes() {
        let own = "u,v,class\n1,-1,a\n2,,b\n3,7.5,a\n4,0,b\n";
        assert_eq!(difference(own), None);
        assert_eq!(difference(&own.replace(",class", ",kind")), None, "classes may be missing");
        let told = |from: &str, to: &str| difference(&own.replace(from, to)).unwrap();
        assert_eq!(told("4,0,b\n", ""), "has 3 rows, not 4");
        assert_eq!(told("7.5", "75"), "'v' goes from -1 to 75, not from -1 to 7.5");
        assert_eq!(told("u,v", "u,w"), "has no column of numbers 'v'");
        assert_eq!(told("4,0,b", "4,0,c"), "has 3 values in 'class', not 2");
        assert_eq!(told("3,", "x,"), "has 1 columns of numbers, not 2");
    }
}
