//! A mean with its standard error.

use serde::{Deserialize, Serialize};

use crate::math::weighted_mean;

/// A mean and its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean; infinite if a row's value is.
    pub mean: f64,
    /// Its standard error; `None` with a single row or infinite values.
    pub se: Option<f64>,
}

impl Estimate {
    /// The mean of paired differences `a - b` of row scores, over rows with a share.
    ///
    /// Where both scores are `-inf` the row tells nothing of the difference and counts as 0.
    pub fn of_difference(a: &[f64], b: &[f64], shares: &[f64]) -> Self {
        let difference = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { a - b };
        let differences: Vec<f64> = a.iter().zip(b).map(difference).collect();
        Self::of(&differences, shares)
    }

    /// The mean of values, over rows with a share; its variance is sum_i share_i^2 (v_i - mean)^2 n / (n - 1).
    pub fn of(values: &[f64], shares: &[f64]) -> Self {
        let mean = weighted_mean(values, shares);
        let rows = shares.iter().filter(|s| **s > 0.0).count() as f64;
        let square = |(v, s): (&f64, &f64)| if *s > 0.0 { (s * (v - mean)).powi(2) } else { 0.0 };
        let variance = values.iter().zip(shares).map(square).sum::<f64>() * rows / (rows - 1.0);
        let se = variance.sqrt();
        Self { mean, se: se.is_finite().then_some(se) }
    }
}
