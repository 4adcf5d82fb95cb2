//! Dense rows: one `f64` per cell, row after row, with the schema that says what they mean.

use std::ops::Range;
use std::sync::Arc;

use super::Schema;
use crate::error::{Error, Result};

/// Dense rows that own their values.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    values: Vec<f64>,
    rows: usize,
    schema: Arc<Schema>,
}

impl Features {
    /// Rows from their values, row after row; as many values per row as the schema has columns.
    pub fn new(values: Vec<f64>, schema: Arc<Schema>) -> Result<Self> {
        Ok(Self { rows: rows_of(&values, &schema)?, values, schema })
    }

    /// Numeric rows from a bare matrix, row after row.
    pub fn numeric(values: Vec<f64>, columns: usize) -> Result<Self> {
        Self::new(values, Arc::new(Schema::numeric(columns)))
    }

    /// So many rows of which nothing is known: what combiners see of predictions that come without inputs.
    pub fn none(rows: usize) -> Self {
        Self { values: Vec::new(), rows, schema: Arc::new(Schema::new(Vec::new())) }
    }

    /// The borrowed form, which learners take.
    pub fn rows(&self) -> Rows<'_> {
        Rows { values: &self.values, count: self.rows, schema: &self.schema }
    }
}

/// How many rows the values make.
fn rows_of(values: &[f64], schema: &Schema) -> Result<usize> {
    let width = schema.len();
    if width == 0 {
        return Err(Error::shape("input columns", 1, 0));
    }
    if !values.len().is_multiple_of(width) {
        return Err(Error::shape("values in the last row", width, values.len() % width));
    }
    Ok(values.len() / width)
}

/// Borrowed dense rows: a missing value is NaN, a category the index of its level (the number of levels if unknown).
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    values: &'a [f64],
    count: usize,
    schema: &'a Arc<Schema>,
}

impl<'a> Rows<'a> {
    /// Rows over values that somebody else keeps, row after row, without a copy; as many values per row as the schema has
    /// columns.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dolmen::table::{Rows, Schema};
    ///
    /// let (values, schema) = ([1.0, 2.0, 3.0, 4.0], Arc::new(Schema::numeric(2)));
    /// let rows = Rows::new(&values, &schema)?;
    /// assert_eq!((rows.rows(), rows.row(1)), (2, &[3.0, 4.0][..]));
    /// assert_eq!(rows.values().as_ptr(), values.as_ptr());
    /// assert!(Rows::new(&values[1..], &schema).is_err());
    /// # Ok::<(), dolmen::Error>(())
    /// ```
    pub fn new(values: &'a [f64], schema: &'a Arc<Schema>) -> Result<Self> {
        Ok(Self { values, count: rows_of(values, schema)?, schema })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.count
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.schema.len()
    }

    /// What the columns mean.
    pub fn schema(&self) -> &'a Arc<Schema> {
        self.schema
    }

    /// All values, row after row.
    pub fn values(&self) -> &'a [f64] {
        self.values
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &'a [f64] {
        let width = self.width();
        &self.values[i * width..(i + 1) * width]
    }

    /// Row after row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [f64]> + Clone + use<'a> {
        self.values.chunks_exact(self.width())
    }

    /// Consecutive rows, without a copy.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let width = self.width();
        Self {
            values: &self.values[rows.start * width..rows.end * width],
            count: rows.len(),
            schema: self.schema,
        }
    }

    /// A copy of chosen rows, in that order; a row may be chosen more than once.
    pub fn select(&self, rows: &[usize]) -> Features {
        let mut values = Vec::with_capacity(rows.len() * self.width());
        for &i in rows {
            values.extend_from_slice(self.row(i));
        }
        Features { values, rows: rows.len(), schema: Arc::clone(self.schema) }
    }
}
