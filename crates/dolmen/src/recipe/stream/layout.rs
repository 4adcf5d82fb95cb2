//! The columns of a table whose blocks are with others: their kinds, and the levels of categories, from what each block has.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::table::{Categories, Column, Table};

/// What the columns of some blocks hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    columns: Vec<(String, Kind)>,
    /// Rows of those blocks.
    pub rows: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Kind {
    /// Nothing but missing values.
    Empty,
    Numbers,
    Levels(BTreeSet<String>),
}

impl Layout {
    /// That of one block.
    pub fn of(table: &Table) -> Self {
        let kind = |column: &Column| match column {
            column if column.missing() == column.len() => Kind::Empty,
            Column::Numeric(_) => Kind::Numbers,
            Column::Categorical(categories) => {
                Kind::Levels(categories.levels.iter().cloned().collect())
            }
        };
        let columns = table.columns().map(|(name, column)| (name.to_string(), kind(column)));
        Self { columns: columns.collect(), rows: table.rows() }
    }

    /// That of these blocks and another; refuses one of other columns.
    pub fn merge(&mut self, other: Self) -> Result<()> {
        if self.columns.len() != other.columns.len() {
            let (expected, found) = (self.columns.len(), other.columns.len());
            return Err(Error::shape("columns of a further block", expected, found));
        }
        self.rows += other.rows;
        for ((name, own), (other_name, kind)) in self.columns.iter_mut().zip(other.columns) {
            if *name != other_name {
                let problem = format!("a further block has '{other_name}' in its place");
                return Err(Error::data(Place::column(name), problem)
                    .with_hint("give all blocks the same columns in the same order"));
            }
            match (&mut *own, kind) {
                (_, Kind::Empty) | (Kind::Numbers, Kind::Numbers) => {}
                (Kind::Empty, kind) => *own = kind,
                (Kind::Levels(levels), Kind::Levels(more)) => levels.extend(more),
                _ => {
                    let problem = "it holds numbers in some blocks and texts in others";
                    return Err(Error::data(Place::column(name), problem)
                        .with_hint("give it one type in all blocks"));
                }
            }
        }
        Ok(())
    }

    /// Columns of a block.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// A block with the columns and levels of all.
    pub fn apply(&self, table: Table) -> Result<Table> {
        let rows = table.rows();
        let mut columns = Vec::with_capacity(self.columns.len());
        for ((name, column), (expected, kind)) in table.into_columns().zip(&self.columns) {
            if name != *expected {
                let problem = format!("a further block has '{name}' in its place");
                return Err(Error::data(Place::column(expected), problem));
            }
            let column = match (kind, column) {
                (Kind::Levels(levels), Column::Categorical(own)) => {
                    Column::Categorical(recoded(levels, &own))
                }
                (Kind::Levels(levels), Column::Numeric(_)) => {
                    let none = Categories { levels: ordered(levels), codes: Vec::new() };
                    Column::Categorical(Categories {
                        codes: vec![Categories::MISSING; rows],
                        ..none
                    })
                }
                (_, Column::Numeric(values)) => Column::Numeric(values),
                (_, Column::Categorical(_)) => Column::Numeric(vec![f64::NAN; rows]),
            };
            columns.push((name, column));
        }
        Table::new(columns)
    }
}

/// The levels in the order in which tables have them.
fn ordered(levels: &BTreeSet<String>) -> Arc<[String]> {
    Categories::new(levels.iter().map(|level| Some(level.as_str()))).levels
}

/// The same categories among the levels of all blocks.
fn recoded(levels: &BTreeSet<String>, own: &Categories) -> Categories {
    let all = ordered(levels);
    let place =
        |level: &String| all.iter().position(|other| other == level).unwrap_or_default() as u32;
    let places: Vec<u32> = own.levels.iter().map(place).collect();
    let code = |code: &u32| places.get(*code as usize).copied().unwrap_or(Categories::MISSING);
    Categories { codes: own.codes.iter().map(code).collect(), levels: all }
}
