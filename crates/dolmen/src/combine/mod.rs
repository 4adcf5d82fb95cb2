//! Combiners: from the out-of-sample matrix to a combination of the members.
//!
//! A [`Combiner`] reads the kept matrix and makes a [`Combination`], or several to choose from.
//!
//! | file | combination |
//! | --- | --- |
//! | `method`, `linear_pool` | one weight per member, by a [`Method`] |
//! | `learned` | any learner on the members' predictions: ridge and logistic stackers, layers |
//! | `log_pool` | the product of the members' probabilities, each to a power |
//! | `gate` | weights that depend on the inputs |
//! | `bma` | weights by the members' evidence |
//!
//! `library` finds them by name. How sure weights are is the business of [`inference`], and [`weigh`](weigh::weigh) does
//! it all for predictions from anywhere.

mod bma;
mod copies;
mod gate;
mod greedy;
pub mod inference;
mod learned;
pub mod least_squares;
pub mod library;
mod linear_pool;
mod log_pool;
mod method;
pub mod problem;
mod pseudo_bma;
pub mod simplex;
pub mod weigh;
mod weighable;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

pub use bma::{Bma, log_evidence};
pub use gate::{Gate, Gated};
pub use learned::{Learned, LearnedCombination, Scale};
pub use linear_pool::LinearPool;
pub use log_pool::{LogPool, LogPooling};
pub use method::{Method, Weights};
pub use weighable::Weighable;

use crate::error::{Error, Place, Result};
use crate::learner::{Diagnostics, Run};
use crate::oos::OutOfSample;
use crate::store::{Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// A recipe for combining: unfitted.
pub trait Combiner<T: Task>: Debug + Send + Sync {
    /// The combinations it makes, by name: usually one; a ladder (several penalties) makes one per rung, and the stack
    /// chooses among them.
    fn rungs(&self) -> Vec<String>;

    /// Whether it asks for the members' [evidence](Evidence::log_evidence), which costs fits of its own.
    fn needs_evidence(&self) -> bool {
        false
    }

    /// Learns the combinations, one per rung.
    fn fit(&self, evidence: &Evidence<'_, T>, run: &Run) -> Result<Vec<Box<dyn Combination<T>>>>;
}

/// What a combiner learns from.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a, T: Task> {
    /// What every member said about rows it had not seen.
    pub oos: &'a OutOfSample<T>,
    /// Those rows' inputs, where there are any: predictions from elsewhere come without.
    pub x: Option<Rows<'a>>,
    /// Each member's log evidence on the rows learned from, if it was asked for.
    pub log_evidence: Option<&'a [f64]>,
}

impl<'a, T: Task> From<&'a OutOfSample<T>> for Evidence<'a, T> {
    /// The matrix alone.
    fn from(oos: &'a OutOfSample<T>) -> Self {
        Self { oos, x: None, log_evidence: None }
    }
}

/// A fitted combination of members.
pub trait Combination<T: Task>: Debug + Send + Sync {
    /// Combines a block of rows: `members[m]` holds member m's predictions (rows x width), `out` the combined ones.
    fn combine_into(
        &self,
        members: &[&[f64]],
        width: usize,
        x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()>;

    /// Refuses members, columns and prediction rows it was not made for. Asked once of a combination read from a file, before
    /// it combines.
    fn validate(&self, members: usize, inputs: &Schema, width: usize) -> Result<()>;

    /// One weight per member, for combinations that have them. Members of weight zero are not looked at.
    fn weights(&self) -> Option<&[f64]>;

    /// How the fit went, and what it found.
    fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    /// The combination as it is stored in a file.
    fn record(&self) -> Result<Record>;
}

/// Reads a stored combination back.
pub(crate) fn restore<T: Task>(
    record: &Record,
    registry: &Registry<T>,
) -> Result<Box<dyn Combination<T>>> {
    match record.kind() {
        LinearPool::KIND => Ok(Box::new(record.read::<LinearPool>()?)),
        LogPooling::KIND => Ok(Box::new(record.read::<LogPooling>()?)),
        Gated::KIND => Ok(Box::new(record.read::<Gated>()?)),
        LearnedCombination::<T>::KIND => {
            Ok(Box::new(LearnedCombination::restore(record, registry)?))
        }
        kind => Err(Error::UnknownKind { kind: kind.into() }),
    }
}

/// Checks that there are as many members as a combination knows.
fn check_members(expected: usize, members: &[&[f64]]) -> Result<()> {
    check_member_count(expected, members.len())
}

fn check_member_count(expected: usize, members: usize) -> Result<()> {
    if members == expected {
        return Ok(());
    }
    Err(Error::shape("members to combine", expected, members))
}

/// Refuses stored weights that are not one finite number for each member.
fn check_weights(weights: &[f64], members: usize) -> Result<()> {
    check_member_count(weights.len(), members)?;
    match weights.iter().find(|weight| !weight.is_finite()) {
        None => Ok(()),
        Some(weight) => Err(Error::param("stored weight", "a finite number", weight)),
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
