//! Weights that minimise the squared error: on the simplex, or merely not negative.
//!
//! Simplex: because the weights sum to 1, t - sum_m alpha_m x_m = -sum_m alpha_m (x_m - t), and the squared error is
//! alpha'H alpha with H the Gram matrix of the members' errors. Adding a constant s to it moves no minimiser, and by
//! homogeneity that is the minimiser of u'(H + s 11')u / 2 - sum u over u >= 0, divided by its sum: one exact quadratic
//! program, no multiplier. Without s it would have no minimum where a combination is perfect, alpha'H alpha = 0.

use super::problem::WeightProblem;
use super::{Solution, problem};
use crate::error::{Error, Place, Result};
use crate::math::{Gram, bulk, nonnegative};

/// The gap to reach, relative to the squared error of the best member: no unit of the target changes what is exact.
const TOLERANCE: f64 = 1e-9;

/// Rounds of refinement at most.
const REFINEMENTS: usize = 5;

/// The members' predictions of numbers, ready for solving.
#[derive(Debug, Clone)]
pub struct LeastSquares {
    columns: Vec<Vec<f64>>,
    target: Vec<f64>,
    shares: Vec<f64>,
}

impl LeastSquares {
    /// From the members' predictions, one column each, and what they should have been.
    pub fn new(columns: Vec<Vec<f64>>, target: Vec<f64>) -> Result<Self> {
        let rows = target.len();
        if rows == 0 || columns.is_empty() {
            return Err(Error::shape("rows and members to combine", 1, 0));
        }
        for (m, column) in columns.iter().chain([&target]).enumerate() {
            if column.len() != rows {
                return Err(Error::shape("rows of a member's column", rows, column.len()));
            }
            if let Some(i) = column.iter().position(|v| !v.is_finite()) {
                let whose = if m < columns.len() {
                    format!("member {} predicts {}", m + 1, column[i])
                } else {
                    format!("the target is {}", column[i])
                };
                return Err(Error::data(Place::row(i), whose));
            }
        }
        Ok(Self { shares: vec![1.0 / rows as f64; rows], columns, target })
    }

    /// The same problem with row weights: finite, not negative, not all zero.
    pub fn weighted(mut self, weights: &[f64]) -> Result<Self> {
        self.shares = super::shares(weights, self.target.len())?;
        Ok(self)
    }

    /// Non-negative weights of any sum. The gap is the largest violation of the optimality conditions.
    pub fn non_negative(&self) -> Solution {
        let allowed: Vec<usize> = (0..self.columns.len()).collect();
        self.non_negative_of(&self.shares, &allowed)
    }

    /// Non-negative weights of the allowed members for other row shares.
    pub(crate) fn non_negative_of(&self, shares: &[f64], allowed: &[usize]) -> Solution {
        let target = allowed.len();
        let gram = Gram::over_rows(shares.len(), target + 1, |j, i| {
            let column = allowed.get(j).map_or(&self.target, |&m| &self.columns[m]);
            column[i] * shares[i].sqrt()
        });
        let c: Vec<f64> = (0..target).map(|j| gram.get(j, target)).collect();
        let found = nonnegative::minimise(&gram.leading(target), &c, &vec![0.0; target]);
        self.solution(allowed, &found.y, found.residual, found.residual <= TOLERANCE)
    }

    /// The Gram matrix of the members' errors.
    fn errors(&self, shares: &[f64], members: &[usize]) -> Gram {
        Gram::over_rows(shares.len(), members.len(), |j, i| {
            (self.columns[members[j]][i] - self.target[i]) * shares[i].sqrt()
        })
    }

    /// H alpha from the combination's own errors: the Gram matrix loses what is small beside a member's square.
    fn pull(&self, shares: &[f64], allowed: &[usize], alpha: &[f64]) -> Vec<f64> {
        let error = |m: usize, i: usize| self.columns[m][i] - self.target[i];
        let mut combined = vec![0.0; shares.len()];
        for (&m, &a) in allowed.iter().zip(alpha).filter(|(_, a)| **a != 0.0) {
            combined.iter_mut().enumerate().for_each(|(i, sum)| *sum += a * error(m, i));
        }
        combined.iter_mut().zip(shares).for_each(|(sum, share)| *sum *= share);
        let along = |&m: &usize| combined.iter().enumerate().map(|(i, c)| c * error(m, i)).sum();
        allowed.iter().map(along).collect()
    }

    /// The minimiser of the lifted program, refined: its gradient is found from the errors and the program solved again
    /// with it, as long as that helps.
    fn refined(
        &self,
        shares: &[f64],
        allowed: &[usize],
        h: &Gram,
        lift: f64,
        start: Vec<f64>,
    ) -> Vec<f64> {
        let mut lifted = h.clone();
        lifted.add(&vec![lift.sqrt(); allowed.len()], 1);
        let gradient = |u: &[f64]| -> Vec<f64> {
            let constant = lift * u.iter().sum::<f64>() - 1.0;
            self.pull(shares, allowed, u).iter().map(|p| p + constant).collect()
        };
        let violation = |u: &[f64], gradient: &[f64]| {
            let each = u.iter().zip(gradient).map(|(u, g)| if *u > 0.0 { g.abs() } else { -g });
            each.fold(0.0, f64::max)
        };
        let mut here = start;
        let mut slope = gradient(&here);
        for _ in 0..REFINEMENTS {
            let curved = lifted.times(&here);
            let target: Vec<f64> = curved.iter().zip(&slope).map(|(c, g)| c - g).collect();
            let next = nonnegative::minimise(&lifted, &target, &here).y;
            let next_slope = gradient(&next);
            if violation(&next, &next_slope) >= violation(&here, &slope) {
                break;
            }
            (here, slope) = (next, next_slope);
        }
        here
    }

    fn solution(&self, allowed: &[usize], y: &[f64], gap: f64, converged: bool) -> Solution {
        let mut weights = vec![0.0; self.columns.len()];
        allowed.iter().zip(y).for_each(|(&m, y)| weights[m] = *y);
        Solution {
            score: problem::mean_score(self, &weights),
            weights,
            gap,
            iterations: 1,
            uninformative_rows: 0,
            converged,
        }
    }
}

impl WeightProblem for LeastSquares {
    fn members(&self) -> usize {
        self.columns.len()
    }

    fn shares(&self) -> &[f64] {
        &self.shares
    }

    fn row_scores(&self, weights: &[f64]) -> Vec<f64> {
        let mut residual: Vec<f64> = self.target.iter().map(|t| -t).collect();
        for (column, &weight) in self.columns.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
            bulk::add_scaled(&mut residual, weight, column);
        }
        residual.iter_mut().for_each(|r| *r = -*r * *r);
        residual
    }

    /// Simplex least squares. The gap bounds how much the mean squared error lies above its minimum:
    /// 2 (alpha'H alpha - min_m (H alpha)_m), as in Frank and Wolfe's method.
    fn optimum(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution {
        let h = self.errors(shares, allowed);
        // The squared error of the best member: of the size of the optimum, and not below it.
        let lift = (0..allowed.len()).map(|j| h.get(j, j)).fold(f64::INFINITY, f64::min);
        let mut alpha = if lift > 0.0 {
            let mut lifted = h.clone();
            lifted.add(&vec![lift.sqrt(); allowed.len()], 1);
            minimise_lifted(&lifted, allowed.iter().map(|&m| start[m]).collect())
        } else {
            // A perfect member leaves nothing to be mixed.
            let perfect = (0..allowed.len()).position(|j| h.get(j, j) <= 0.0);
            problem::unit(allowed.len(), perfect.unwrap_or_default())
        };
        if lift > 0.0 {
            alpha = self.refined(shares, allowed, &h, lift, alpha);
        }
        let total: f64 = alpha.iter().sum();
        if total > 0.0 && total.is_finite() {
            alpha.iter_mut().for_each(|a| *a /= total);
        } else {
            alpha.fill(1.0 / allowed.len() as f64);
        }
        let pull = self.pull(shares, allowed, &alpha);
        let mean: f64 = alpha.iter().zip(&pull).map(|(a, p)| a * p).sum();
        // What the product of a member's errors with those of the combination, a sum of the members', cannot resolve is no
        // violation.
        let terms: f64 = alpha.iter().enumerate().map(|(j, a)| a * h.get(j, j).sqrt()).sum();
        let rounding = |j: usize| 16.0 * f64::EPSILON * h.get(j, j).sqrt() * terms;
        let least = (0..pull.len()).map(|j| pull[j] + rounding(j)).fold(f64::INFINITY, f64::min);
        let gap = (2.0 * (mean - least)).max(0.0);
        self.solution(allowed, &alpha, gap, gap <= TOLERANCE * lift)
    }

    fn sandwich(&self, weights: &[f64], support: &[usize]) -> (Gram, Gram) {
        let error = |m: usize, i: usize| self.columns[m][i] - self.target[i];
        let curvature = Gram::over_rows(self.target.len(), support.len(), |j, i| {
            error(support[j], i) * (2.0 * self.shares[i]).sqrt()
        });
        // A row's gradient is 2 r e_m, with r the error of the combination.
        let combined: Vec<f64> = (0..self.target.len())
            .map(|i| support.iter().map(|&m| weights[m] * error(m, i)).sum())
            .collect();
        let spread = Gram::over_rows(self.target.len(), support.len(), |j, i| {
            2.0 * combined[i] * error(support[j], i) * self.shares[i]
        });
        (curvature, spread)
    }

    fn with_equal_prior(self, a: f64) -> Result<Self> {
        if a == 1.0 {
            return Ok(self);
        }
        Err(Error::param("prior", "1 for numbers: a Dirichlet prior belongs to log scores", a))
    }

    fn as_least_squares(&self) -> Option<&LeastSquares> {
        Some(self)
    }
}

/// The minimiser of u'Hu / 2 - sum u over u >= 0, from a start that is brought to the best multiple of itself.
fn minimise_lifted(h: &Gram, mut start: Vec<f64>) -> Vec<f64> {
    let square: f64 = start.iter().zip(h.times(&start)).map(|(s, c)| s * c).sum();
    let scale = if square > 0.0 { start.iter().sum::<f64>() / square } else { 0.0 };
    start.iter_mut().for_each(|s| *s *= scale);
    nonnegative::minimise(h, &vec![1.0; start.len()], &start).y
}
