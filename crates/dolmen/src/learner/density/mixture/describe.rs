//! What is to be known of all rows before a fit begins, in two passes: the columns' ranges and means, then their squared deviations.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::data::{Frame, PART, Units};
use crate::error::{Error, Place, Result};
use crate::learner::Sample;
use crate::learner::pass::Piece;
use crate::stats::{self, Accumulator};
use crate::table::{Kind, Rows};
use crate::task::Density;

/// What the first pass finds in one column; missing values are left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Column {
    weight: f64,
    sum: f64,
    lowest: f64,
    highest: f64,
    /// The number of the first row with an infinite value.
    infinite: Option<u64>,
}

const EMPTY: Column = Column {
    weight: 0.0,
    sum: 0.0,
    lowest: f64::INFINITY,
    highest: f64::NEG_INFINITY,
    infinite: None,
};

/// The first pass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ranges {
    columns: Vec<Column>,
    /// The sum of the row weights.
    total: f64,
    /// Rows of positive weight.
    pub(super) rows: u64,
    misses_some: bool,
}

impl Ranges {
    /// Of no rows.
    pub(super) fn none(columns: usize) -> Self {
        Self { columns: vec![EMPTY; columns], total: 0.0, rows: 0, misses_some: false }
    }

    /// Those of a piece.
    pub(super) fn of(piece: &Piece<'_, Density>) -> Self {
        let x = piece.sample.x();
        let zero = || Self::none(x.width());
        stats::accumulate(x.rows(), PART, zero, |sums, rows| {
            for i in rows {
                let weight = piece.sample.weight(i);
                sums.total += weight;
                sums.rows += u64::from(weight > 0.0);
                for (column, &x) in sums.columns.iter_mut().zip(x.row(i)) {
                    sums.misses_some |= x.is_nan();
                    if !x.is_nan() && weight > 0.0 {
                        column.weight += weight;
                        column.sum += weight * x;
                        column.lowest = column.lowest.min(x);
                        column.highest = column.highest.max(x);
                        if x.is_infinite() && column.infinite.is_none() {
                            column.infinite = Some(piece.number(i));
                        }
                    }
                }
            }
        })
    }

    /// The columns' means; infinite and absent columns are errors.
    pub(super) fn means(&self, names: &[String]) -> Result<Vec<f64>> {
        if self.rows == 0 {
            return Err(Error::data(Place::default(), "there are no rows to fit"));
        }
        let mean = |(column, name): (&Column, &String)| {
            if column.lowest > column.highest {
                let error = Error::data(Place::column(name), "every value is missing");
                return Err(error.with_hint("drop the column"));
            }
            if let Some(row) = column.infinite {
                return Err(Error::data(Place::cell(row as usize, name), "the value is infinite"));
            }
            // The mean of equal values is that value, not what rounding makes of it.
            let constant = column.lowest >= column.highest;
            Ok(if constant { column.lowest } else { column.sum / column.weight })
        };
        self.columns.iter().zip(names).map(mean).collect()
    }

    /// What is known after the second pass, which found the sums of squared deviations from these means. Standardised units are
    /// the mean and the deviation (N-1) of the rows' values; a constant column is only shifted.
    pub(super) fn frame(
        &self,
        means: Vec<f64>,
        Squares(squares): &Squares,
        standardise: bool,
        names: &[String],
    ) -> Result<Frame> {
        self.check(squares, names)?;
        let d = self.columns.len();
        let mut units = Units::raw(d);
        let mut centre = means;
        if standardise {
            units.shift = std::mem::replace(&mut centre, vec![0.0; d]);
            for (j, column) in self.columns.iter().enumerate() {
                // Weights that sum to little would make N-1 small or negative: never less than half of N.
                let divisor = (column.weight - 1.0).max(0.5 * column.weight);
                let deviation = (squares[j] / divisor).sqrt();
                if column.lowest < column.highest && deviation > 0.0 {
                    units.scale[j] = deviation;
                }
            }
        }
        let variance = |j: usize| {
            let scale = units.scale[j];
            squares[j] / self.columns[j].weight / scale / scale
        };
        let spread: f64 = (0..d).map(variance).sum();
        Ok(Frame {
            spread: if spread > 0.0 { spread.min(f64::MAX) } else { 1.0 },
            units,
            centre,
            total: self.total,
            rows: self.rows,
            is_complete: !self.misses_some,
        })
    }

    /// Refuses columns whose squares are out of range.
    fn check(&self, squares: &[f64], names: &[String]) -> Result<()> {
        for ((column, squares), name) in self.columns.iter().zip(squares).zip(names) {
            if !squares.is_finite() {
                let error =
                    Error::data(Place::column(name), "the values are too large to be squared");
                return Err(error.with_hint("measure the column in larger units"));
            }
            if column.lowest < column.highest && *squares < f64::MIN_POSITIVE {
                let error =
                    Error::data(Place::column(name), "the values differ too little to be squared");
                return Err(error.with_hint("measure the column in smaller units"));
            }
        }
        Ok(())
    }
}

impl Accumulator for Ranges {
    fn merge(&mut self, later: Self) {
        self.total += later.total;
        self.rows += later.rows;
        self.misses_some |= later.misses_some;
        for (column, later) in self.columns.iter_mut().zip(later.columns) {
            column.weight += later.weight;
            column.sum += later.sum;
            column.lowest = column.lowest.min(later.lowest);
            column.highest = column.highest.max(later.highest);
            column.infinite = column.infinite.or(later.infinite);
        }
    }
}

/// The second pass: each column's sum of squared deviations from its mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Squares(#[serde(with = "crate::store::floats")] pub(super) Vec<f64>);

impl Squares {
    /// Those of some rows.
    pub(super) fn of(sample: &Sample<'_, Density>, means: &[f64]) -> Self {
        let zero = || Self(vec![0.0; means.len()]);
        stats::accumulate(sample.rows(), PART, zero, |sums, rows: Range<usize>| {
            for i in rows {
                let weight = sample.weight(i);
                let cells = sums.0.iter_mut().zip(sample.x().row(i)).zip(means);
                for ((sum, &x), mean) in cells.filter(|((_, x), _)| !x.is_nan() && weight > 0.0) {
                    *sum += weight * (x - mean) * (x - mean);
                }
            }
        })
    }
}

impl Accumulator for Squares {
    fn merge(&mut self, later: Self) {
        self.0.iter_mut().zip(later.0).for_each(|(sum, x)| *sum += x);
    }
}

/// Normal components need numbers.
pub(super) fn check_kinds(x: Rows<'_>) -> Result<()> {
    match x.schema().fields().iter().find(|f| f.kind != Kind::Numeric) {
        None => Ok(()),
        Some(field) => Err(Error::data(
            Place::column(&field.name),
            "a normal density needs numbers, found categories",
        )
        .with_hint("drop the column, or encode it as numbers")),
    }
}
