//! The rows as the fit sees them: in its units, those with missing values sorted by what they lack.

use serde::{Deserialize, Serialize};

use super::describe::{Ranges, Squares, check_kinds};
use super::missing::Patterns;
use crate::error::Result;
use crate::learner::Sample;
use crate::learner::pass::Piece;
use crate::table::Rows;
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
    pub(crate) fn select(&self, columns: &[usize]) -> Self {
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

    /// What a column's values are shifted by.
    pub(crate) fn shift(&self, column: usize) -> f64 {
        self.shift[column]
    }

    /// What a column's values are divided by.
    pub(crate) fn scale(&self, column: usize) -> f64 {
        self.scale[column]
    }

    pub(super) fn inward(&self, column: usize, x: f64) -> f64 {
        (x - self.shift[column]) / self.scale[column]
    }

    pub(crate) fn outward(&self, column: usize, z: f64) -> f64 {
        self.scale[column].mul_add(z, self.shift[column])
    }

    pub(crate) fn is_consistent(&self, dimension: usize) -> bool {
        self.shift.len() == dimension
            && self.scale.len() == dimension
            && self.shift.iter().all(|s| s.is_finite())
            && self.scale.iter().all(|s| *s > 0.0 && s.is_finite())
    }
}

/// What is known of all rows before a fit begins: its units, and where the rows lie in them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Frame {
    pub(super) units: Units,
    /// The sum of the row weights.
    pub(super) total: f64,
    /// Rows of positive weight.
    pub(super) rows: u64,
    /// The columns' means, in the units of the fit: what k-means puts in the place of missing values.
    #[serde(with = "crate::store::floats")]
    pub(super) centre: Vec<f64>,
    /// The mean squared distance of the rows from those means, or 1 if there is none.
    pub(super) spread: f64,
    /// Whether nothing is missing.
    pub(super) is_complete: bool,
}

impl Frame {
    /// What is known of the rows of a sample.
    pub(crate) fn of(sample: &Sample<'_, Density>, standardise: bool) -> Result<Self> {
        check_kinds(sample.x())?;
        let fields = sample.x().schema().fields().iter();
        let names: Vec<String> = fields.map(|field| field.name.clone()).collect();
        let ranges = Ranges::of(&Piece::new(*sample, 0));
        let means = ranges.means(&names)?;
        let squares = Squares::of(sample, &means);
        ranges.frame(means, &squares, standardise, &names)
    }

    /// The units of a fit.
    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// Rows of positive weight.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Number of columns.
    pub(super) fn dimension(&self) -> usize {
        self.centre.len()
    }
}

/// Some of the rows, in the units of a fit.
#[derive(Debug)]
pub(crate) struct Data<'a> {
    pub(super) x: Rows<'a>,
    pub(super) weights: Option<&'a [f64]>,
    pub(super) frame: &'a Frame,
    /// Which rows lack what; `None` if nothing is missing.
    pub(super) patterns: Option<Patterns>,
}

impl<'a> Data<'a> {
    /// Rows that the frame was made of, or some of them.
    pub(crate) fn new(sample: &Sample<'a, Density>, frame: &'a Frame) -> Self {
        let patterns = if frame.is_complete { None } else { Patterns::of(sample.x()) };
        Self { x: sample.x(), weights: sample.weights(), frame, patterns }
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row])
    }

    /// Writes a row in the units of the fit, missing values as the column's mean.
    pub(super) fn filled_row(&self, row: usize, out: &mut [f64]) {
        for (j, (out, &x)) in out.iter_mut().zip(self.x.row(row)).enumerate() {
            let filled =
                if x.is_nan() { self.frame.centre[j] } else { self.frame.units.inward(j, x) };
            *out = filled;
        }
    }
}
