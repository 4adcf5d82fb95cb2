//! The columns of a table whose blocks are with others: their kinds, and the levels of categories, from what each block has.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::recipe::Recipe;
use crate::table::{Categories, Column, DateColumn, Known, Look, Table};

/// What the columns of some blocks hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    columns: Vec<(String, Kind)>,
    /// Rows of those blocks.
    pub rows: usize,
    /// What columns look like whose levels are those of each block.
    #[serde(skip)]
    looks: Vec<(String, Look)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Kind {
    /// Nothing but missing values.
    Empty,
    Numbers,
    /// Categories, and how many cells have one.
    Levels(BTreeSet<String>, usize),
    /// Texts that no fit asks for: each block has its own.
    Texts,
    /// Dates, which become numbers.
    Dates(DateColumn),
}

impl Layout {
    /// That of one block.
    pub fn of(table: &Table) -> Self {
        let kind = |column: &Column| match column {
            column if column.missing() == column.len() => Kind::Empty,
            Column::Numeric(_) => Kind::Numbers,
            Column::Categorical(categories) => {
                let present = column.len() - column.missing();
                Kind::Levels(categories.levels.iter().cloned().collect(), present)
            }
        };
        let columns = table.columns().map(|(name, column)| (name.to_string(), kind(column)));
        Self { columns: columns.collect(), rows: table.rows(), looks: Vec::new() }
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
                (Kind::Levels(levels, present), Kind::Levels(more, others)) => {
                    levels.extend(more);
                    *present += others;
                }
                _ => {
                    let problem = "it holds numbers in some blocks and texts in others";
                    return Err(Error::data(Place::column(name), problem)
                        .with_hint("give it one type in all blocks"));
                }
            }
        }
        Ok(())
    }

    /// Forgets texts that a fit by this recipe does not ask for, when all blocks are known: dates become numbers, and those that tell
    /// rows apart stay with their blocks. What is left is small, and travels with all work.
    pub fn settle(&mut self, recipe: &Recipe) -> Result<()> {
        let sparing = recipe.sparing(0)?;
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        for (name, kind) in &mut self.columns {
            let Kind::Levels(levels, present) = kind else { continue };
            match Look::of_texts(name, &ordered(levels), *present) {
                Look::Dates(dates)
                    if sparing.turns_dates(name)
                        && !dates.parts.is_empty()
                        && dates.names().all(|part| !names.contains(&part)) =>
                {
                    *kind = Kind::Dates(dates);
                }
                look if look.reason().is_some() && sparing.spares(name) => {
                    self.looks.push((name.clone(), look));
                    *kind = Kind::Texts;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What is known of columns that a block shows not as they are, or not whole.
    pub fn known(&self) -> Known {
        let dates = |(_, kind): &(String, Kind)| match kind {
            Kind::Dates(dates) => Some(dates.clone()),
            _ => None,
        };
        let dates = self.columns.iter().filter_map(dates).collect();
        Known { dates, looks: self.looks.clone() }
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
                (Kind::Dates(dates), column) => {
                    let texts = match column {
                        Column::Numeric(_) => Column::Categorical(missing([].into(), rows)),
                        texts @ Column::Categorical(_) => texts,
                    };
                    columns.extend(dates.columns(&texts)?);
                    continue;
                }
                (Kind::Levels(levels, _), Column::Categorical(own)) => {
                    Column::Categorical(recoded(levels, &own))
                }
                (Kind::Levels(levels, _), Column::Numeric(_)) => {
                    Column::Categorical(missing(ordered(levels), rows))
                }
                (Kind::Texts, Column::Categorical(own)) => Column::Categorical(own),
                (Kind::Texts, Column::Numeric(_)) => Column::Categorical(missing([].into(), rows)),
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

/// Rows without a value.
fn missing(levels: Arc<[String]>, rows: usize) -> Categories {
    Categories { levels, codes: vec![Categories::MISSING; rows] }
}

/// The same categories among the levels of all blocks.
fn recoded(levels: &BTreeSet<String>, own: &Categories) -> Categories {
    let all = ordered(levels);
    let known: HashMap<&String, u32> = all.iter().zip(0..).collect();
    let place = |level: &String| known.get(level).copied().unwrap_or_default();
    let places: Vec<u32> = own.levels.iter().map(place).collect();
    let code = |code: &u32| places.get(*code as usize).copied().unwrap_or(Categories::MISSING);
    Categories { codes: own.codes.iter().map(code).collect(), levels: all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: std::ops::Range<usize>) -> Table {
        let column = |text: &dyn Fn(usize) -> String| {
            let texts: Vec<String> = rows.clone().map(text).collect();
            Column::Categorical(Categories::new(texts.iter().map(|text| Some(text.as_str()))))
        };
        let day = column(&|i| format!("2021-03-{:02} 10:{:02}", i % 28 + 1, i % 60));
        let id = column(&|i| format!("u{i}"));
        let colour = column(&|i| ["red", "blue", "green"][i * i % 3].to_string());
        let columns = [("day", day), ("id", id), ("colour", colour)];
        Table::new(columns.map(|(name, column)| (name.to_string(), column)).into()).unwrap()
    }

    /// What all blocks have in common does not grow with the rows, and says of them what the whole table says.
    #[test]
    fn texts_that_nobody_asks_for_stay_with_their_blocks() {
        let recipe = Recipe::from_toml("target = 'colour'").unwrap();
        let blocks = [table(0..40), table(40..90), table(90..200)];
        let mut all = Layout::of(&blocks[0]);
        blocks[1..].iter().for_each(|block| all.merge(Layout::of(block)).unwrap());
        let before = serde_json::to_vec(&all).unwrap().len();
        all.settle(&recipe).unwrap();
        let after = serde_json::to_vec(&all).unwrap().len();
        assert!(after < 400 && before > 2000, "{before} {after}");
        let known = all.known();
        let whole = table(0..200);
        let look = |name: &str| Look::of(name, whole.column(name).unwrap());
        assert_eq!(known.looks, [("id".to_string(), look("id"))]);
        assert_eq!(Look::Dates(known.dates[0].clone()), look("day"));
        // As it is sent.
        let sent: Layout = serde_json::from_slice(&serde_json::to_vec(&all).unwrap()).unwrap();
        let seen = blocks.map(|block| sent.apply(block).unwrap());
        let hours = known.dates[0].columns(whole.column("day").unwrap()).unwrap();
        let stacked = Table::stacked(seen.into()).unwrap();
        for (name, column) in &hours {
            assert_eq!(stacked.column(name).unwrap(), column);
        }
        assert_eq!(stacked.column("id").unwrap(), whole.column("id").unwrap());
        assert_eq!(stacked.column("colour").unwrap(), whole.column("colour").unwrap());
    }
}
