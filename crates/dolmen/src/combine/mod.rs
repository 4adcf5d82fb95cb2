//! Combiners: from the out-of-sample matrix to a combination of the members.
//!
//! A [`Combiner`] reads the kept matrix and makes a [`Combination`]. Most make a [`LinearPool`], one weight per member, by
//! a [`Method`]; how sure those weights are is the business of [`inference`], and [`weigh`](weigh::weigh) does it all.

mod greedy;
pub mod inference;
pub mod least_squares;
mod method;
pub mod problem;
mod pseudo_bma;
pub mod simplex;
pub mod weigh;
mod weighable;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

pub use method::{Method, Weights};
pub use weighable::Weighable;

use crate::error::{Error, Place, Result};
use crate::learner::Run;
use crate::oos::OutOfSample;
use crate::store::Record;
use crate::table::Rows;
use crate::task::Task;

/// A recipe for combining: unfitted.
pub trait Combiner<T: Task>: Debug + Send + Sync {
    /// The name in reports and files.
    fn name(&self) -> String;

    /// Learns the combination from what the members said about rows they had not seen; `x` are those rows' inputs,
    /// where there are any (predictions from elsewhere come without).
    fn fit(
        &self,
        oos: &OutOfSample<T>,
        x: Option<Rows<'_>>,
        run: &Run,
    ) -> Result<Box<dyn Combination<T>>>;
}

/// A fitted combination of members.
pub trait Combination<T: Task>: Debug + Send + Sync {
    /// Combines a block of rows: `members[m]` holds member m's predictions (rows x width), `out` the combined ones.
    fn combine_into(
        &self,
        members: &[Vec<f64>],
        width: usize,
        x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()>;

    /// One weight per member, for combinations that have them.
    fn weights(&self) -> Option<&[f64]>;

    /// The combination as it is stored in a file.
    fn record(&self) -> Result<Record>;
}

/// The linear pool: sum_m weights_m p_m, of densities, probabilities or numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearPool {
    weights: Vec<f64>,
}

impl LinearPool {
    /// The kind under which it is stored.
    pub const KIND: &'static str = "linear pool";

    /// A pool with these weights.
    pub fn new(weights: Vec<f64>) -> Self {
        Self { weights }
    }
}

impl<T: Task> Combination<T> for LinearPool {
    fn combine_into(
        &self,
        members: &[Vec<f64>],
        width: usize,
        _x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()> {
        if members.len() != self.weights.len() {
            return Err(Error::shape("members to combine", self.weights.len(), members.len()));
        }
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            T::mix(&self.weights, |m| &members[m][i * width..(i + 1) * width], out);
        }
        Ok(())
    }

    fn weights(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }

    fn record(&self) -> Result<Record> {
        Record::new(Self::KIND, 1, self)
    }
}

/// Reads a stored combination back.
pub(crate) fn restore<T: Task>(record: &Record) -> Result<Box<dyn Combination<T>>> {
    match record.kind() {
        LinearPool::KIND => Ok(Box::new(record.read::<LinearPool>()?)),
        kind => Err(Error::UnknownKind { kind: kind.into() }),
    }
}

/// Weights found, and how good they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// One weight per member, with exact zeros.
    pub weights: Vec<f64>,
    /// Certificate: no weights of the same kind have a mean score larger by more than this. For LMG, which may have several
    /// maxima, the KKT residual: the largest violation of the conditions of a maximum.
    pub gap: f64,
    /// Passes over the rows.
    pub iterations: usize,
    /// Mean score of the weighted combination over the informative rows.
    pub score: f64,
    /// Rows that say nothing about the weights: every member gives them zero.
    pub uninformative_rows: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Row weights as shares that sum to 1: finite, not negative, not all zero.
pub(crate) fn shares(weights: &[f64], rows: usize) -> Result<Vec<f64>> {
    if weights.len() != rows {
        return Err(Error::shape("row weights", rows, weights.len()));
    }
    if let Some(i) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        let problem = format!("the row weight is {}, not a number of at least 0", weights[i]);
        return Err(Error::data(Place::row(i), problem));
    }
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Err(Error::data(Place::default(), "all row weights are 0"));
    }
    Ok(weights.iter().map(|w| w / total).collect())
}
