//! Weights that minimise the squared error: on the simplex, or merely not negative.
//!
//! Simplex: because the weights sum to 1, sum_m alpha_m x_m - t = sum_m alpha_m (x_m - t), and the squared error is that of
//! a combination of the members' errors on the plane sum_m alpha_m = 1 (`cone`).
//!
//! Non-negative: with a_m = t'x_m / t't and e_m = x_m - a_m t, the best multiple of sum_m u_m x_m leaves of |t|^2 the share
//! q / (|t|^2 + q), q = |sum_m u_m e_m|^2 / (a'u)^2, which grows with q: so it is the smallest combination of the e_m on
//! the plane a'u = 1, times 1 / (1 + q / |t|^2). What the members have in common with the target, such as a large offset,
//! is no longer there to drown out what they differ by.

use super::cone::{Cone, Minimum};
use super::problem::WeightProblem;
use super::{Solution, problem};
use crate::error::{Error, Place, Result};
use crate::math::{Gram, bulk};

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

    /// Non-negative weights of any sum. The gap bounds how much the mean squared error lies above its minimum, but for members
    /// that point away from the target: what those violate of the conditions is measured in units of the error.
    pub fn non_negative(&self) -> Solution {
        let allowed: Vec<usize> = (0..self.columns.len()).collect();
        self.non_negative_of(&self.shares, &allowed)
    }

    /// Non-negative weights of the allowed members for other row shares.
    pub(crate) fn non_negative_of(&self, shares: &[f64], allowed: &[usize]) -> Solution {
        let product = |f: &dyn Fn(usize) -> f64| -> f64 {
            shares.iter().zip(&self.target).enumerate().map(|(i, (s, t))| s * t * f(i)).sum()
        };
        let size = product(&|i| self.target[i]);
        let along: Vec<f64> = allowed
            .iter()
            .map(|&m| if size > 0.0 { product(&|i| self.error(m, i)) / size } else { 0.0 })
            .collect();
        let cone = Cone {
            shares,
            error: |j: usize, i: usize| self.error(allowed[j], i) - along[j] * self.target[i],
            a: along.iter().map(|along| if size > 0.0 { 1.0 + along } else { 0.0 }).collect(),
        };
        match cone.minimise(&vec![1.0; allowed.len()]) {
            Some(found) => {
                self.solution(allowed, &multiple(&found, size), found.gap, found.converged)
            }
            // No member points the target's way.
            None => self.solution(allowed, &vec![0.0; allowed.len()], 0.0, true),
        }
    }

    fn error(&self, m: usize, i: usize) -> f64 {
        self.columns[m][i] - self.target[i]
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

/// The best multiple of what is smallest on the plane, for a target of this mean square.
pub(super) fn multiple(found: &Minimum, size: f64) -> Vec<f64> {
    let scale = 1.0 / (1.0 + found.square / size);
    found.u.iter().map(|u| scale * u).collect()
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

    /// Simplex least squares. The gap bounds how much the mean squared error lies above its minimum.
    fn optimum(&self, shares: &[f64], start: &[f64], allowed: &[usize]) -> Solution {
        let cone = Cone {
            shares,
            error: |j: usize, i: usize| self.error(allowed[j], i),
            a: vec![1.0; allowed.len()],
        };
        let start: Vec<f64> = allowed.iter().map(|&m| start[m]).collect();
        match cone.minimise(&start) {
            Some(found) => self.solution(allowed, &found.u, found.gap, found.converged),
            None => self.solution(allowed, &start, f64::INFINITY, false),
        }
    }

    fn sandwich(&self, weights: &[f64], support: &[usize]) -> (Gram, Gram) {
        let error = |m: usize, i: usize| self.error(m, i);
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
