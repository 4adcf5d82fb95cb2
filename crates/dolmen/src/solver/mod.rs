//! Solvers of weights: from numbers alone to the best weights, with a certificate.
//!
//! | file | problem |
//! | --- | --- |
//! | `simplex/` | the log score of a mixture, exact or by EM; `joint`: LMG, which is not concave |
//! | `least_squares` | the squared error of a weighted sum, on the simplex or non-negative |
//! | `cone` | what both are: the smallest error on a plane |
//! | `streamed_squares` | the same for rows that are shown block by block (of log scores: `simplex/streamed`) |
//! | `subset` | the best weights of few members: sets within limits of number or cost |
//! | `triangle` | non-negative least squares by QR decomposition, where squares have lost too much |
//! | `problem` | what they all offer: other row shares, fewer members, both halves of the sandwich |
//!
//! They know nothing of members and matrices, so that combiners, learners that mix inside (the one-dependence family) and
//! programs of one's own use the same.

mod cone;
pub mod least_squares;
pub mod problem;
pub mod simplex;
mod streamed_squares;
pub mod subset;
mod triangle;

use serde::{Deserialize, Serialize};
pub use streamed_squares::StreamedSquares;

use crate::error::{Error, Place, Result};

/// Shows blocks of a matrix one after the other, always in the same order: its columns, and the row weights.
pub type ShowBlocks<'a> = dyn Fn(&mut TakeBlock<'_>) -> Result<()> + Sync + 'a;

/// What is done with a block: its columns, and the row weights.
pub type TakeBlock<'a> = dyn FnMut(Vec<Vec<f64>>, &[f64]) -> Result<()> + 'a;

/// Weights found, and how good they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    /// One weight per member, with exact zeros.
    pub weights: Vec<f64>,
    /// Certificate: no weights of the same kind have a mean score larger by more than this; with a prior the mean is over the
    /// rows and the prior's imagined rows, sum_m (a_m - 1) of them. For LMG, which may have several
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
