//! Categories of new rows that a schema does not know.

use std::collections::{HashMap, HashSet};

use super::number::{self, Spelled};
use super::truths::place_of_truth;
use super::{Column, Field, Kind, Schema, Table};

/// What a column of new rows holds that was not there when its levels were learned.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Unseen {
    /// The column.
    pub column: String,
    /// Rows with a category that is not known.
    pub rows: usize,
    /// Those categories; of rows that are read block by block, the first hundred thousand.
    pub levels: Vec<String>,
}

/// Categories of a column that are kept of rows that are read block by block.
const MOST_LEVELS: usize = 100_000;

/// What blocks of rows hold that a schema does not know.
#[derive(Debug, Default)]
pub struct UnseenSoFar {
    columns: HashMap<String, (usize, HashSet<String>)>,
}

impl UnseenSoFar {
    /// Adds what a further block holds.
    pub fn add(&mut self, more: Vec<Unseen>) {
        for Unseen { column, rows, levels } in more {
            let (all_rows, all_levels) = self.columns.entry(column).or_default();
            *all_rows += rows;
            for level in levels {
                if all_levels.len() < MOST_LEVELS {
                    all_levels.insert(level);
                }
            }
        }
    }

    /// What all of them hold, in the order of the columns.
    pub fn finish(mut self, schema: &Schema) -> Vec<Unseen> {
        let of_field = |field: &Field| {
            let (rows, levels) = self.columns.remove(&field.name)?;
            let known: &[String] = match &field.kind {
                Kind::Numeric => &[],
                Kind::Categorical { levels } => levels,
            };
            let value = |level: &String| number::parse(level.as_bytes());
            let by_value = known.iter().chain(&levels).all(|level| value(level).is_some());
            let mut levels: Vec<String> = levels.into_iter().collect();
            levels.sort();
            if by_value {
                let value = |level: &String| value(level).unwrap_or(f64::NAN);
                levels.sort_by(|a, b| value(a).total_cmp(&value(b)));
            }
            Some(Unseen { column: field.name.clone(), rows, levels })
        };
        schema.fields().iter().filter_map(of_field).collect()
    }
}

impl Schema {
    /// The columns of a table with categories that this schema does not know; learners treat them as "none of the known".
    pub fn unseen(&self, table: &Table) -> Vec<Unseen> {
        let mut found = Vec::new();
        for field in self.fields() {
            let (Kind::Categorical { levels }, Ok(column)) =
                (&field.kind, table.column(&field.name))
            else {
                continue;
            };
            let unseen = match column {
                Column::Categorical(c) => {
                    let known: HashSet<&String> = levels.iter().collect();
                    let is_known = |level: &String| {
                        known.contains(level) || place_of_truth(level, levels).is_some()
                    };
                    let is_known: Vec<bool> = c.levels.iter().map(is_known).collect();
                    let counts = c.counts();
                    let met = |l: &usize| !is_known[*l] && counts[*l] > 0;
                    let met: Vec<usize> = (0..counts.len()).filter(met).collect();
                    Unseen {
                        column: field.name.clone(),
                        rows: met.iter().map(|&l| counts[l]).sum(),
                        levels: met.iter().map(|&l| c.levels[l].clone()).collect(),
                    }
                }
                Column::Numeric(values) => {
                    let known: Vec<f64> =
                        levels.iter().filter_map(|l| number::parse(l.as_bytes())).collect();
                    let is_unseen = |v: &&f64| !v.is_nan() && !known.contains(v);
                    let mut met: Vec<f64> = values.iter().filter(is_unseen).copied().collect();
                    let rows = met.len();
                    met.sort_by(f64::total_cmp);
                    met.dedup();
                    let levels = met.iter().map(|v| Spelled(*v).to_string()).collect();
                    Unseen { column: field.name.clone(), rows, levels }
                }
            };
            found.extend((unseen.rows > 0).then_some(unseen));
        }
        found
    }
}
