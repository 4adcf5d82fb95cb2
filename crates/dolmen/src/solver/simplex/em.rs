//! The papers' EM for stacking weights.

use serde::{Deserialize, Serialize};

use super::exact::{Found, Pricing, largest};
use super::pass::Evaluate;
use crate::error::{Error, Result};

/// When EM stops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmOptions {
    /// Stop when the weights change by less than this in sum [SmythWolpert1999, Appendix A].
    pub tolerance: f64,
    /// Stop after this many iterations in any case.
    pub max_iterations: usize,
}

impl Default for EmOptions {
    fn default() -> Self {
        Self { tolerance: 1e-3, max_iterations: 10_000 }
    }
}

impl EmOptions {
    pub(super) fn validate(&self) -> Result<()> {
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(Error::param("tolerance", "at least 0", self.tolerance));
        }
        Ok(())
    }
}

/// EM from equal weights: member densities stay fixed, only the weights move.
///
/// r[i,m] = alpha_m L[i,m] / sum_k alpha_k L[i,k];  alpha_m <- (sum_i r[i,m] + a_m - 1) / (N + sum_k (a_k - 1))
/// [SmythWolpert1999 section 2.3 step 3; CerquidesMantaras2005 section 3.1]. The new weights are returned.
pub(super) fn solve(view: &impl Evaluate, options: &EmOptions) -> Found {
    let members = view.prior().len();
    let all: Vec<usize> = (0..members).collect();
    let total_prior: f64 = view.prior().iter().sum();
    let mut alpha = vec![1.0 / members as f64; members];
    let (mut iterations, mut converged) = (0, false);
    while iterations < options.max_iterations && !converged {
        let gradient = view.moments(&alpha, &all, None).gradient;
        let mut change = 0.0;
        for ((alpha, g), p) in alpha.iter_mut().zip(&gradient).zip(view.prior()) {
            let new = (*alpha * g + p) / (1.0 + total_prior);
            change += (new - *alpha).abs();
            *alpha = new;
        }
        iterations += 1;
        converged = change < options.tolerance;
    }
    let Pricing { objective, prices } = super::exact::price(view, &alpha, &all);
    Found {
        gap: largest(&prices) / (1.0 + total_prior),
        weights: alpha,
        objective,
        iterations,
        converged,
    }
}
