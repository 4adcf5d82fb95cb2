//! Categories of new rows that a schema does not know.

use std::collections::HashSet;

use super::number::{self, Spelled};
use super::truths::place_of_truth;
use super::{Column, Kind, Schema, Table};

/// What a column of new rows holds that was not there when its levels were learned.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Unseen {
    /// The column.
    pub column: String,
    /// Rows with a category that is not known.
    pub rows: usize,
    /// Those categories.
    pub levels: Vec<String>,
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
