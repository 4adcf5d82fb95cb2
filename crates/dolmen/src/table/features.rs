//! Dense rows: one `f64` per cell, row after row, with the schema that says what they mean.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::{Schema, Values};
use crate::error::{Error, Result};

/// Dense rows that own their values, or share those that another program keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    values: Values,
    rows: usize,
    schema: Arc<Schema>,
}

impl Features {
    /// Rows from their values, row after row; as many values per row as the schema has columns. Those that somebody else
    /// keeps ([`Values::Shared`]) are not copied.
    pub fn new(values: impl Into<Values>, schema: Arc<Schema>) -> Result<Self> {
        let values = values.into();
        Ok(Self { rows: rows_of(&values, &schema)?, values, schema })
    }

    /// Numeric rows from a bare matrix, row after row.
    pub fn numeric(values: Vec<f64>, columns: usize) -> Result<Self> {
        Self::new(values, Arc::new(Schema::numeric(columns)))
    }

    /// So many rows of which nothing is known: what combiners see of predictions that come without inputs.
    pub fn none(rows: usize) -> Self {
        Self { values: Vec::new().into(), rows, schema: Arc::new(Schema::new(Vec::new())) }
    }

    /// The borrowed form, which learners take.
    pub fn rows(&self) -> Rows<'_> {
        Rows { values: &self.values, places: None, count: self.rows, schema: &self.schema }
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
///
/// They may be chosen ones among those whose values are kept ([`Rows::view`]): folds and samples are lists of numbers, not copies.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    values: &'a [f64],
    /// Where the rows stand among the values; one after the other if nothing is said.
    places: Option<&'a [usize]>,
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
        Ok(Self { values, places: None, count: rows_of(values, schema)?, schema })
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

    /// All values, row after row: a copy if these are chosen rows, so not for more than a block of them.
    pub fn values(&self) -> Cow<'a, [f64]> {
        match self.places {
            None => Cow::Borrowed(self.values),
            Some(_) => Cow::Owned(self.iter().flatten().copied().collect()),
        }
    }

    /// The row and the column of the first value that is so.
    pub fn find(&self, is_wanted: impl Fn(f64) -> bool) -> Option<(usize, usize)> {
        if self.places.is_none() {
            let at = self.values.iter().position(|value| is_wanted(*value))?;
            return Some((at / self.width(), at % self.width()));
        }
        let column = |row: &[f64]| row.iter().position(|value| is_wanted(*value));
        self.iter().enumerate().find_map(|(i, row)| Some((i, column(row)?)))
    }

    /// Row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &'a [f64] {
        let (width, at) = (self.width(), self.place(i));
        &self.values[at * width..(at + 1) * width]
    }

    /// Where row `i` stands among the values.
    #[inline]
    pub(crate) fn place(&self, i: usize) -> usize {
        self.places.map_or(i, |places| places[i])
    }

    /// Whether these are chosen rows among those whose values are kept.
    pub(crate) fn are_chosen(&self) -> bool {
        self.places.is_some()
    }

    /// Row after row.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'a [f64]> + Clone + use<'a> {
        let rows = *self;
        (0..self.count).map(move |i| rows.row(i))
    }

    /// The values of a column, row after row.
    pub fn column(&self, column: usize) -> impl ExactSizeIterator<Item = f64> + Clone + use<'a> {
        let (rows, width) = (*self, self.width());
        (0..self.count).map(move |i| rows.values[rows.place(i) * width + column])
    }

    /// Consecutive rows, without a copy.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        let (width, count) = (self.width(), rows.len());
        match self.places {
            None => {
                let values = &self.values[rows.start * width..rows.end * width];
                Self { values, count, ..*self }
            }
            Some(places) => Self { places: Some(&places[rows]), count, ..*self },
        }
    }

    /// Chosen rows, in that order, without a copy of their values; a row may be chosen more than once.
    ///
    /// ```
    /// use dolmen::table::Features;
    ///
    /// let table = Features::numeric(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2)?;
    /// let last_first = table.rows().view(vec![2, 1]);
    /// let last = last_first.rows().view(vec![0]);
    /// assert_eq!((last.rows().rows(), last.rows().row(0)), (1, &[5.0, 6.0][..]));
    /// assert_eq!(last.rows().row(0).as_ptr(), table.rows().row(2).as_ptr());
    /// # Ok::<(), dolmen::Error>(())
    /// ```
    pub fn view<'b>(&self, rows: impl Into<Cow<'b, [usize]>>) -> View<'b>
    where
        'a: 'b,
    {
        let rows: Cow<'b, [usize]> = rows.into();
        let places = match self.places {
            None => rows,
            Some(places) => rows.iter().map(|&i| places[i]).collect::<Vec<usize>>().into(),
        };
        View { all: Rows { places: None, ..*self }, places }
    }

    /// A copy of chosen rows, in that order; a row may be chosen more than once.
    pub fn select(&self, rows: &[usize]) -> Features {
        let mut values = Vec::with_capacity(rows.len() * self.width());
        for &i in rows {
            values.extend_from_slice(self.row(i));
        }
        Features { values: values.into(), rows: rows.len(), schema: Arc::clone(self.schema) }
    }
}

/// Chosen rows of others: their numbers, and no copy of their values.
#[derive(Debug, Clone)]
pub struct View<'a> {
    all: Rows<'a>,
    places: Cow<'a, [usize]>,
}

impl View<'_> {
    /// The rows, as learners take them.
    pub fn rows(&self) -> Rows<'_> {
        Rows { places: Some(&self.places), count: self.places.len(), ..self.all }
    }
}
