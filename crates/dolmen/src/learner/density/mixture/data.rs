//! The rows as the fit sees them: checked, in its units, rows with missing values sorted by what they lack.

use serde::{Deserialize, Serialize};

use super::missing::Patterns;
use crate::error::{Error, Place, Result};
use crate::learner::Sample;
use crate::stats::{self, Accumulator};
use crate::table::{Kind, Rows};
use crate::task::Density;

/// Rows summed by one piece of work.
pub(super) const PART: usize = 2048;

/// The units of a fit: `x = shift + scale z`, column by column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Units {
    #[serde(with = "crate::store::floats")]
    pub(super) shift: Vec<f64>,
    #[serde(with = "crate::store::floats")]
    pub(super) scale: Vec<f64>,
}

impl Units {
    /// The units of the data themselves.
    pub(super) fn raw(dimension: usize) -> Self {
        Self { shift: vec![0.0; dimension], scale: vec![1.0; dimension] }
    }

    /// The units of chosen columns.
    pub(super) fn select(&self, columns: &[usize]) -> Self {
        Self {
            shift: columns.iter().map(|&j| self.shift[j]).collect(),
            scale: columns.iter().map(|&j| self.scale[j]).collect(),
        }
    }

    /// `ln |dz/dx|` of the values a row has: what is added to its log density in z to have that in x.
    pub(super) fn ln_jacobian(&self, row: &[f64]) -> f64 {
        let observed = self.scale.iter().zip(row).filter(|(_, x)| !x.is_nan());
        -observed.map(|(s, _)| s.ln()).sum::<f64>()
    }

    pub(super) fn inward(&self, column: usize, x: f64) -> f64 {
        (x - self.shift[column]) / self.scale[column]
    }

    pub(super) fn outward(&self, column: usize, z: f64) -> f64 {
        self.scale[column].mul_add(z, self.shift[column])
    }

    pub(super) fn is_consistent(&self, dimension: usize) -> bool {
        self.shift.len() == dimension
            && self.scale.len() == dimension
            && self.shift.iter().all(|s| s.is_finite())
            && self.scale.iter().all(|s| *s > 0.0 && s.is_finite())
    }
}

/// A checked sample in the units of a fit.
#[derive(Debug)]
pub(crate) struct Data<'a> {
    pub(super) x: Rows<'a>,
    pub(super) weights: Option<&'a [f64]>,
    pub(super) units: Units,
    /// The sum of the row weights.
    pub(super) total: f64,
    /// The columns' means, in the units of the fit: what k-means puts in the place of missing values.
    pub(super) centre: Vec<f64>,
    /// The mean squared distance of the rows from those means, or 1 if there is none.
    pub(super) spread: f64,
    /// Which rows lack what; `None` if nothing is missing.
    pub(super) patterns: Option<Patterns>,
}

impl<'a> Data<'a> {
    /// Checks the sample. Standardised units are the mean and the deviation (N-1) of the rows' values; a constant column is
    /// only shifted.
    pub(crate) fn new(sample: &Sample<'a, Density>, standardise: bool) -> Result<Self> {
        let x = sample.x();
        check_kinds(x)?;
        if x.rows() == 0 {
            return Err(Error::data(Place::default(), "there are no rows to fit"));
        }
        let columns = describe(sample)?;
        let mut units = Units::raw(x.width());
        let mut centre: Vec<f64> = columns.iter().map(|c| c.mean).collect();
        if standardise {
            units.shift = std::mem::take(&mut centre);
            centre = vec![0.0; x.width()];
            for (j, column) in columns.iter().enumerate() {
                // Weights that sum to little would make N-1 small or negative: never less than half of N.
                let divisor = (column.weight - 1.0).max(0.5 * column.weight);
                let deviation = (column.squares / divisor).sqrt();
                if column.lowest < column.highest && deviation > 0.0 {
                    units.scale[j] = deviation;
                }
            }
        }
        let variance =
            |(column, scale): (&Column, &f64)| column.squares / column.weight / scale / scale;
        let spread: f64 = columns.iter().zip(&units.scale).map(variance).sum();
        Ok(Self {
            x,
            weights: sample.weights(),
            units,
            spread: if spread > 0.0 { spread.min(f64::MAX) } else { 1.0 },
            total: sample.total_weight(),
            centre,
            patterns: Patterns::of(x),
        })
    }

    /// Whether nothing is missing.
    pub(crate) fn is_complete(&self) -> bool {
        self.patterns.is_none()
    }

    /// The units alone.
    pub(crate) fn into_units(self) -> Units {
        self.units
    }

    /// Rows of positive weight.
    pub(super) fn rows_that_count(&self) -> usize {
        self.weights.map_or(self.x.rows(), |w| w.iter().filter(|w| **w > 0.0).count())
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    /// Writes a row in the units of the fit, missing values as the column's mean.
    pub(super) fn filled_row(&self, row: usize, out: &mut [f64]) {
        for (j, (out, &x)) in out.iter_mut().zip(self.x.row(row)).enumerate() {
            *out = if x.is_nan() { self.centre[j] } else { self.units.inward(j, x) };
        }
    }
}

/// Normal components need numbers.
fn check_kinds(x: Rows<'_>) -> Result<()> {
    match x.schema().fields().iter().find(|f| f.kind != Kind::Numeric) {
        None => Ok(()),
        Some(field) => Err(Error::data(
            Place::column(&field.name),
            "a normal density needs numbers, found categories",
        )
        .with_hint("drop the column, or encode it as numbers")),
    }
}

/// What one column holds.
#[derive(Debug, Clone, Copy)]
struct Column {
    weight: f64,
    sum: f64,
    lowest: f64,
    highest: f64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
}

#[derive(Debug)]
struct Columns(Vec<Column>);

impl Accumulator for Columns {
    fn merge(&mut self, later: Self) {
        for (column, later) in self.0.iter_mut().zip(later.0) {
            column.weight += later.weight;
            column.sum += later.sum;
            column.squares += later.squares;
            column.lowest = column.lowest.min(later.lowest);
            column.highest = column.highest.max(later.highest);
        }
    }
}

/// Means and squared deviations of every column, missing values left out; infinite and absent columns are errors.
fn describe(sample: &Sample<'_, Density>) -> Result<Vec<Column>> {
    let empty = Column {
        weight: 0.0,
        sum: 0.0,
        lowest: f64::INFINITY,
        highest: f64::NEG_INFINITY,
        mean: 0.0,
        squares: 0.0,
    };
    let x = sample.x();
    let pass = |columns: &[Column], add: fn(&mut Column, f64, f64)| {
        let zero = || {
            let fresh = |c: &Column| Column { mean: c.mean, ..empty };
            Columns(columns.iter().map(fresh).collect())
        };
        let part = |sums: &mut Columns, rows: std::ops::Range<usize>| {
            for i in rows {
                let weight = sample.weight(i);
                for (column, &x) in sums.0.iter_mut().zip(x.row(i)) {
                    if !x.is_nan() && weight > 0.0 {
                        add(column, weight, x);
                    }
                }
            }
        };
        stats::accumulate(x.rows(), PART, zero, part).0
    };
    let mut columns = pass(&vec![empty; x.width()], |column, weight, x| {
        column.weight += weight;
        column.sum += weight * x;
        column.lowest = column.lowest.min(x);
        column.highest = column.highest.max(x);
    });
    for (j, column) in columns.iter_mut().enumerate() {
        check_range(x, j, column)?;
        // The mean of equal values is that value, not what rounding makes of it.
        let constant = column.lowest >= column.highest;
        column.mean = if constant { column.lowest } else { column.sum / column.weight };
    }
    let squares = pass(&columns, |column, weight, x| {
        column.squares += weight * (x - column.mean) * (x - column.mean);
    });
    for (j, (column, second)) in columns.iter_mut().zip(&squares).enumerate() {
        column.squares = second.squares;
        if !column.squares.is_finite() {
            let place = Place::column(&x.schema().fields()[j].name);
            return Err(Error::data(place, "the values are too large to be squared")
                .with_hint("measure the column in larger units"));
        }
        if column.lowest < column.highest && column.squares < f64::MIN_POSITIVE {
            let place = Place::column(&x.schema().fields()[j].name);
            return Err(Error::data(place, "the values differ too little to be squared")
                .with_hint("measure the column in smaller units"));
        }
    }
    Ok(columns)
}

/// Refuses columns with infinite values and columns without any.
fn check_range(x: Rows<'_>, j: usize, column: &Column) -> Result<()> {
    let name = &x.schema().fields()[j].name;
    if column.lowest > column.highest {
        return Err(
            Error::data(Place::column(name), "every value is missing").with_hint("drop the column")
        );
    }
    if column.lowest.is_finite() && column.highest.is_finite() {
        return Ok(());
    }
    let row = x.iter().position(|row| row[j].is_infinite()).unwrap_or(0);
    Err(Error::data(Place::cell(row, name), "the value is infinite"))
}
