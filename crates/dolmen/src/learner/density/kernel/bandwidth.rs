//! How wide kernels are: as parameters, and as numbers for given rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::points::Points;
use super::shape::Shape;
use crate::error::{Error, Place, Result};
use crate::learner::Sample;
use crate::plan::RowKeys;
use crate::table::Rows;
use crate::task::Density;

/// How the bandwidth of each column is found.
///
/// In specs a number, a list of numbers, `"scott"`, `"silverman"`, `"cv"`, `"loo"`, or `{absolute = [..]}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a bandwidth is a number, a list of numbers, 'scott', 'silverman', 'cv', 'loo' or {absolute = [..]}"
)]
pub enum Bandwidth {
    /// A fraction of each column's standard deviation (N-1) \[SmythWolpert1999, section 3\].
    Fraction(f64),
    /// Several fractions: one member each.
    Ladder(Vec<f64>),
    /// A rule or a search.
    Rule(Rule),
    /// One bandwidth per column, in the column's own units.
    Absolute {
        /// The bandwidths.
        absolute: Vec<f64>,
    },
}

/// Bandwidths found from the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// s_j n^(-1/(d+4)), converted from the Gaussian to the kernel's shape by its canonical bandwidth.
    Scott,
    /// s_j (n (d+2)/4)^(-1/(d+4)), converted likewise.
    Silverman,
    /// The vector of bandwidths with the greatest cross-validated likelihood.
    Cv,
    /// The vector of bandwidths with the greatest leave-one-out likelihood.
    Loo,
}

impl Default for Bandwidth {
    fn default() -> Self {
        Self::Rule(Rule::Silverman)
    }
}

impl From<f64> for Bandwidth {
    fn from(fraction: f64) -> Self {
        Self::Fraction(fraction)
    }
}

impl<const N: usize> From<[f64; N]> for Bandwidth {
    fn from(fractions: [f64; N]) -> Self {
        Self::Ladder(fractions.into())
    }
}

impl From<Rule> for Bandwidth {
    fn from(rule: Rule) -> Self {
        Self::Rule(rule)
    }
}

impl Bandwidth {
    /// Refuses bandwidths that are not positive numbers, and empty lists.
    pub(super) fn validate(&self) -> Result<()> {
        let values = match self {
            Self::Fraction(fraction) => std::slice::from_ref(fraction),
            Self::Ladder(values) | Self::Absolute { absolute: values } => values.as_slice(),
            Self::Rule(_) => return Ok(()),
        };
        if values.is_empty() {
            return Err(Error::param("bandwidth", "a list of at least one number", "empty"));
        }
        match values.iter().find(|h| !(**h > 0.0 && h.is_finite())) {
            Some(bad) => Err(Error::param("bandwidth", "above 0 and finite", bad)),
            None => Ok(()),
        }
    }
}

/// Bandwidths of one or several members: column j of member m has `factors[m] * scale[j]`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Widths {
    pub(super) scale: Vec<f64>,
    pub(super) factors: Vec<f64>,
}

impl Widths {
    /// One member with these bandwidths.
    pub(super) fn single(bandwidths: Vec<f64>) -> Self {
        Self { scale: bandwidths, factors: vec![1.0] }
    }

    /// The bandwidths of a member.
    pub(super) fn of(&self, member: usize) -> impl Iterator<Item = f64> {
        let factor = self.factors[member];
        self.scale.iter().map(move |scale| factor * scale)
    }
}

/// Chosen rows of a table and their weights.
#[derive(Clone, Copy)]
pub(super) struct Training<'a> {
    pub(super) x: Rows<'a>,
    pub(super) rows: &'a [usize],
    /// The weights of all rows of `x`, chosen or not.
    pub(super) weights: Option<&'a [f64]>,
    /// The keys of all rows of `x`.
    pub(super) keys: RowKeys<'a>,
}

impl<'a> Training<'a> {
    /// Chosen rows of a sample.
    pub(super) fn new(sample: &Sample<'a, Density>, rows: &'a [usize]) -> Self {
        Self { x: sample.x(), rows, weights: sample.weights(), keys: sample.keys() }
    }
}

impl Training<'_> {
    /// The weight of row i of the table.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// The sum of the chosen rows' weights.
    pub(super) fn total_weight(&self) -> f64 {
        self.rows.iter().map(|&i| self.weight(i)).sum()
    }

    /// The chosen rows in order, and that order: row i there is `rows[order[i]]`.
    pub(super) fn points(&self, scale: &[f64]) -> (Points, Vec<usize>) {
        let column = |k: usize| self.rows.iter().map(|&i| self.x.row(i)[k]).collect();
        let columns: Vec<Vec<f64>> = (0..self.x.width()).map(column).collect();
        Points::build(&columns, scale)
    }

    /// Each column's standard deviation, with the divisor N-1 (N the sum of the weights).
    ///
    /// A constant column is refused: its bandwidth would be 0 and its density a spike.
    pub(super) fn standard_deviations(&self) -> Result<Vec<f64>> {
        let total = self.total_weight();
        if total <= 1.0 {
            let problem = format!("a standard deviation needs more than one row, here is {total}");
            let hint = "give more rows, or bandwidths in the columns' units: {absolute = [..]}";
            return Err(Error::data(Place::default(), problem).with_hint(hint));
        }
        let width = self.x.width();
        let sum = |term: &dyn Fn(usize, f64) -> f64| {
            let mut sums = vec![0.0; width];
            for &i in self.rows {
                let weight = self.weight(i);
                for (j, (sum, &value)) in sums.iter_mut().zip(self.x.row(i)).enumerate() {
                    *sum += weight * term(j, value);
                }
            }
            sums
        };
        let first = self.x.row(self.rows[0]);
        // Relative to the first row, so that a large common offset costs no digits.
        let shift = sum(&|j, value| value - first[j]);
        let mean = |j: usize| shift[j] / total;
        let squares = sum(&|j, value| (value - first[j] - mean(j)).powi(2));
        let deviation = |(j, square): (usize, f64)| {
            let deviation = (square / (total - 1.0)).sqrt();
            if self.is_constant(j) {
                let problem = "the column is constant: a kernel density needs values that differ";
                return Err(self.column_error(j, problem).with_hint("drop the column"));
            }
            if !(deviation.is_finite() && deviation > f64::MIN_POSITIVE) {
                let problem = format!("the standard deviation {deviation} is out of range");
                return Err(self.column_error(j, &problem).with_hint("rescale the column"));
            }
            Ok(deviation)
        };
        squares.into_iter().enumerate().map(deviation).collect()
    }

    fn is_constant(&self, column: usize) -> bool {
        let mut values = self.rows.iter().filter(|&&i| self.weight(i) > 0.0);
        let value = |&i: &usize| self.x.row(i)[column];
        let first = values.next().map(value);
        values.all(|i| Some(value(i)) == first)
    }

    fn column_error(&self, column: usize, problem: &str) -> Error {
        Error::data(Place::column(&self.x.schema().fields()[column].name), problem)
    }
}

/// The factor of the standard deviations that a rule of thumb gives for n rows.
pub(super) fn rule_of_thumb(silverman: bool, shape: Shape, n: f64, dimension: usize) -> f64 {
    let d = dimension as f64;
    let rows = if silverman { n * (d + 2.0) / 4.0 } else { n };
    rows.powf(-1.0 / (d + 4.0)) * shape.canonical_ratio(dimension)
}
