//! What every problem of finding weights offers, so that rules, errors and reports are written once.

use super::Solution;
use super::least_squares::LeastSquares;
use super::simplex::LogScore;
use crate::error::Result;
use crate::math::{Gram, weighted_mean};
use crate::run::Run;

/// Members' out-of-sample predictions, seen as a problem whose solution is one weight per member.
///
/// Row weights are passed around as shares that sum to 1, so that a bootstrap or a fold is the same problem with other
/// shares.
pub trait WeightProblem: Send + Sync {
    /// Number of members.
    fn members(&self) -> usize;

    /// The rows' shares; 0 for rows that say nothing about the weights.
    fn shares(&self) -> &[f64];

    /// Each row's score under a weighted combination; higher is better.
    fn row_scores(&self, weights: &[f64]) -> Vec<f64>;

    /// The best weights on the simplex for these shares, among the allowed members, from a start.
    fn optimum(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution;

    /// For members of positive weight: the curvature of the mean loss, and the sum of outer products of the rows'
    /// gradients (each times its share). The two halves of the sandwich estimate.
    fn sandwich(&self, weights: &[f64], support: &[usize]) -> (Gram, Gram);

    /// The problem with a Dirichlet prior on the weights: every exponent `a`, at least 1.
    fn with_equal_prior(self, a: f64) -> Result<Self>
    where
        Self: Sized;

    /// The solution by several starts, to this KKT residual, if the problem may have several maxima.
    fn solve_by_starts(&self, _tolerance: f64, _run: &Run) -> Option<Result<Solution>> {
        None
    }

    /// The problem as one of log scores, for the methods that need them.
    fn as_log_score(&self) -> Option<&LogScore> {
        None
    }

    /// The problem as one of squared errors, for the methods that need them.
    fn as_least_squares(&self) -> Option<&LeastSquares> {
        None
    }
}

/// The mean score of a weighted combination under the problem's own shares.
pub fn mean_score(problem: &dyn WeightProblem, weights: &[f64]) -> f64 {
    weighted_mean(&problem.row_scores(weights), problem.shares())
}

/// The mean score of each member alone.
pub fn member_scores(problem: &dyn WeightProblem, shares: &[f64]) -> Vec<f64> {
    let members = problem.members();
    let alone = |m| weighted_mean(&problem.row_scores(&unit(members, m)), shares);
    (0..members).map(alone).collect()
}

/// All weight on one member.
pub(crate) fn unit(members: usize, m: usize) -> Vec<f64> {
    let mut weights = vec![0.0; members];
    weights[m] = 1.0;
    weights
}
