//! A mean with its standard error.

use serde::{Deserialize, Serialize};

use crate::math::weighted_mean;

/// Differences smaller than this share of what they are differences of are rounding.
const NOISE: f64 = 1e-12;

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
        let sizes = a.iter().zip(b).map(|(a, b)| a.abs().max(b.abs())).zip(shares);
        let size = sizes.filter(|(size, _)| size.is_finite()).map(|(size, share)| size * share);
        Self::of(&differences, shares).free_of_noise(size.sum())
    }

    /// The mean of values, over rows with a share; its variance is sum_i share_i^2 (v_i - mean)^2 n / (n - 1).
    pub fn of(values: &[f64], shares: &[f64]) -> Self {
        let mean = weighted_mean(values, shares);
        let rows = shares.iter().filter(|s| **s > 0.0).count() as f64;
        let away = |(v, s): (&f64, &f64)| if *s > 0.0 { s * (v - mean) } else { 0.0 };
        let largest =
            values.iter().zip(shares).map(away).fold(0.0, |most: f64, d| most.max(d.abs()));
        // Squares of what is far from 1 would overflow or vanish; a power of two as the unit changes no other bit.
        let unit = if largest > 0.0 { largest.log2().round().exp2() } else { 1.0 };
        let squares = values.iter().zip(shares).map(|row| (away(row) / unit).powi(2));
        let variance = squares.sum::<f64>() * rows / (rows - 1.0);
        let se = variance.sqrt() * unit;
        Self { mean, se: se.is_finite().then_some(se) }
    }

    /// What rounding leaves of 0 is 0, whatever the unit: of differences of values of this mean size.
    pub(super) fn free_of_noise(self, size: f64) -> Self {
        let clean = |value: f64| if value.abs() <= NOISE * size { 0.0 } else { value };
        Self { mean: clean(self.mean), se: self.se.map(clean) }
    }
}

#[cfg(test)]
mod tests {
    use super::Estimate;

    #[test]
    fn errors_follow_the_unit_as_far_as_numbers_go() {
        let of = |unit: f64| Estimate::of(&[1.0, 2.0, 4.0].map(|v| v * unit), &[1.0 / 3.0; 3]);
        for exponent in [-1000, -600, 0, 600, 1000] {
            let unit = 2f64.powi(exponent);
            let (found, plain) = (of(unit), of(1.0));
            assert_eq!(found.se, plain.se.map(|se| se * unit), "2^{exponent}");
        }
        let infinite = Estimate::of(&[1.0, f64::NEG_INFINITY], &[0.5; 2]);
        assert_eq!(infinite, Estimate { mean: f64::NEG_INFINITY, se: None });
    }

    #[test]
    fn what_rounding_leaves_of_zero_is_zero_in_any_unit() {
        for unit in [1e-24, 1.0, 1e12] {
            let a = [1.0, 2.0, 4.0].map(|v| v * unit);
            let noisy = a.map(|v| v * (1.0 + 3e-16));
            let none = Estimate::of_difference(&a, &noisy, &[1.0 / 3.0; 3]);
            assert_eq!(none, Estimate { mean: 0.0, se: Some(0.0) });
            let half = a.map(|v| v / 2.0);
            let found = Estimate::of_difference(&a, &half, &[1.0 / 3.0; 3]);
            assert!((found.mean / unit - 7.0 / 6.0).abs() < 1e-12, "{found:?}");
            assert!(found.se.is_some_and(|se| se > 0.4 * unit), "{found:?}");
        }
    }
}
