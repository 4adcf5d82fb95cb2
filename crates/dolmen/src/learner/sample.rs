//! The rows a learner sees: inputs, target and weights.

use crate::error::{Error, Place, Result};
use crate::table::{Features, Rows};
use crate::task::{Target, Task};

/// Borrowed rows to learn from.
#[derive(Debug)]
pub struct Sample<'a, T: Task> {
    x: Rows<'a>,
    target: &'a T::Target,
    weights: Option<&'a [f64]>,
}

#[expect(clippy::expl_impl_clone_on_copy, reason = "a derive would ask for a target that is Copy")]
impl<T: Task> Clone for Sample<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Task> Copy for Sample<'_, T> {}

impl<'a, T: Task> Sample<'a, T> {
    /// A sample of equally weighted rows.
    pub fn new(x: Rows<'a>, target: &'a T::Target) -> Result<Self> {
        match target.rows() {
            Some(rows) if rows != x.rows() => {
                Err(Error::shape("rows of the target", x.rows(), rows))
            }
            _ => Ok(Self { x, target, weights: None }),
        }
    }

    /// The same sample with row weights: finite, not negative, not all zero. A row of weight 2 counts as two rows.
    pub fn weighted(self, weights: &'a [f64]) -> Result<Self> {
        if weights.len() != self.x.rows() {
            return Err(Error::shape("row weights", self.x.rows(), weights.len()));
        }
        if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let problem = format!("the row weight is {}, not a number of at least 0", weights[i]);
            return Err(Error::data(Place::row(i), problem));
        }
        if !weights.is_empty() && weights.iter().all(|w| *w == 0.0) {
            return Err(Error::data(Place::default(), "all row weights are 0"));
        }
        Ok(Self { weights: Some(weights), ..self })
    }

    /// The same rows with other inputs, such as encoded ones.
    pub fn with_inputs<'b>(&self, x: Rows<'b>) -> Result<Sample<'b, T>>
    where
        'a: 'b,
    {
        if x.rows() != self.rows() {
            return Err(Error::shape("rows of the inputs", self.rows(), x.rows()));
        }
        Ok(Sample { x, target: self.target, weights: self.weights })
    }

    /// The inputs.
    pub fn x(&self) -> Rows<'a> {
        self.x
    }

    /// The target.
    pub fn target(&self) -> &'a T::Target {
        self.target
    }

    /// The row weights, if they are not all 1.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// The weight of row `i`.
    pub fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[i])
    }

    /// The sum of the row weights.
    pub fn total_weight(&self) -> f64 {
        self.weights.map_or(self.rows() as f64, |w| w.iter().sum())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.x.rows()
    }

    /// A copy of chosen rows, in that order; a row may be chosen more than once.
    pub fn select(&self, rows: &[usize]) -> OwnedSample<T> {
        OwnedSample {
            x: self.x.select(rows),
            target: self.target.select(rows),
            weights: self.weights.map(|w| rows.iter().map(|&i| w[i]).collect()),
        }
    }
}

/// Rows to learn from that own their values.
#[derive(Debug, Clone)]
pub struct OwnedSample<T: Task> {
    x: Features,
    target: T::Target,
    weights: Option<Vec<f64>>,
}

impl<T: Task> OwnedSample<T> {
    /// The borrowed form, which learners take.
    pub fn borrow(&self) -> Sample<'_, T> {
        Sample { x: self.x.rows(), target: &self.target, weights: self.weights.as_deref() }
    }
}
