//! The names and kinds of a model's input columns.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Categories, Column, Features, Table};
use crate::error::{Error, Place, Result};

/// The kind of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Numbers.
    Numeric,
    /// Categories with these levels.
    Categorical {
        /// The levels, in the order of their codes.
        levels: Arc<[String]>,
    },
}

/// A column's name and kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: Kind,
}

/// The input columns of a model, in order. Saved with the model, so that new rows are read the same way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    fields: Vec<Field>,
}

impl Schema {
    /// A schema of these fields.
    pub fn new(fields: Vec<Field>) -> Self {
        Self { fields }
    }

    /// All-numeric columns named `x1`, `x2`, ...: for data that come as a bare matrix.
    pub fn numeric(columns: usize) -> Self {
        let field = |j| Field { name: format!("x{j}"), kind: Kind::Numeric };
        Self::new((1..=columns).map(field).collect())
    }

    /// The schema of all columns of a table.
    pub fn of(table: &Table) -> Self {
        let field = |(name, column): (&str, &Column)| Field {
            name: name.to_string(),
            kind: match column {
                Column::Numeric(_) => Kind::Numeric,
                Column::Categorical(c) => Kind::Categorical { levels: Arc::clone(&c.levels) },
            },
        };
        Self::new(table.columns().map(field).collect())
    }

    /// The fields, in order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The table's columns of this schema as dense rows. Columns are found by name, in any order; others are ignored.
    ///
    /// Missing values become NaN. A category becomes the index of its level here; a level this schema does not know
    /// becomes the index just past the last one, which encoders and learners treat as "none of the known levels".
    pub fn encode(self: &Arc<Self>, table: &Table) -> Result<Features> {
        let width = self.len();
        let mut values = vec![0.0; table.rows() * width];
        for (j, field) in self.fields.iter().enumerate() {
            let cells = values.iter_mut().skip(j).step_by(width);
            match (&field.kind, table.column(&field.name)?) {
                (Kind::Numeric, Column::Numeric(column)) => {
                    cells.zip(column).for_each(|(cell, &value)| *cell = value);
                }
                (Kind::Categorical { levels }, Column::Categorical(column)) => {
                    let recoded = recode(&column.levels, levels);
                    cells.zip(&column.codes).for_each(|(cell, &code)| {
                        *cell = recoded.get(code as usize).copied().unwrap_or(f64::NAN);
                    });
                }
                (Kind::Categorical { levels }, Column::Numeric(column)) => {
                    for (cell, &value) in cells.zip(column) {
                        let spelled = value.to_string();
                        let known = || levels.iter().position(|l| *l == spelled);
                        *cell = if value.is_nan() {
                            f64::NAN
                        } else {
                            known().unwrap_or(levels.len()) as f64
                        };
                    }
                }
                (Kind::Numeric, Column::Categorical(column)) => {
                    return Err(text_in_number_column(&field.name, column));
                }
            }
        }
        Features::new(values, Arc::clone(self))
    }
}

/// For each level of a table, its code in the schema.
fn recode(from: &[String], to: &[String]) -> Vec<f64> {
    from.iter().map(|level| to.iter().position(|l| l == level).unwrap_or(to.len()) as f64).collect()
}

/// The error that names the first cell that is not a number.
pub(crate) fn text_in_number_column(name: &str, column: &Categories) -> Error {
    let is_text = |i: &usize| column.level(*i).is_some_and(|l| l.trim().parse::<f64>().is_err());
    match (0..column.codes.len()).find(is_text) {
        Some(i) => {
            let cell = column.level(i).unwrap_or_default();
            Error::data(Place::cell(i, name), format!("expected a number, found '{cell}'"))
        }
        None => Error::data(Place::column(name), "expected numbers, found categories"),
    }
}
