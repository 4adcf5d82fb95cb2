//! The unit of a numeric target: where it lies and how far it reaches.
//!
//! Sums of squares of numbers around 1e10 lose what the numbers differ by, and those of numbers around 1e200 are infinite.
//! Learners that need sums see deviations from the median in units of about the largest of them.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};

/// A centre, and a power of two, so that scaling rounds nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit {
    centre: f64,
    scale: f64,
}

/// Numbers as they are.
impl Default for Unit {
    fn default() -> Self {
        Self { centre: 0.0, scale: 1.0 }
    }
}

impl Unit {
    /// The weighted median, so that one value far from all others costs these no digits, and the power of two below the largest deviation from it; rows of no
    /// weight do not count.
    pub(crate) fn of(y: &[f64], weight: impl Fn(usize) -> f64) -> Result<Self> {
        if let Some(row) = y.iter().position(|y| !y.is_finite()) {
            return Err(Error::data(Place::row(row), "the target is not a finite number"));
        }
        let mut order: Vec<usize> = (0..y.len()).filter(|&row| weight(row) > 0.0).collect();
        order.sort_unstable_by(|&a, &b| y[a].total_cmp(&y[b]));
        let total: f64 = order.iter().map(|&row| weight(row)).sum();
        let mut up_to = 0.0;
        let middle = order.iter().copied().find(|&row| {
            up_to += weight(row);
            // A hair before the half, so that how sums are rounded does not decide between the two in the middle.
            up_to >= 0.499_999_999 * total
        });
        middle.map_or(Ok(Self::default()), |row| Self::around(y[row], y, weight))
    }

    fn around(centre: f64, y: &[f64], weight: impl Fn(usize) -> f64) -> Result<Self> {
        let counted = || y.iter().enumerate().filter(|(row, _)| weight(*row) > 0.0);
        let reach = counted().map(|(_, y)| (y - centre).abs()).fold(0.0, f64::max);
        if !reach.is_finite() {
            let problem = "the target's values are too far apart to be told from one another";
            return Err(
                Error::data(Place::default(), problem).with_hint("divide the target by a constant")
            );
        }
        // Below the least normal number powers of two lose digits; nothing that small is told apart.
        let exponent = if reach > 0.0 { reach.log2().floor().max(-1022.0) } else { 0.0 };
        Ok(Self { centre, scale: exponent.exp2() })
    }

    /// A number in this unit.
    pub(crate) fn express(self, y: f64) -> f64 {
        (y - self.centre) / self.scale
    }

    /// The number that is `value` in this unit.
    pub(crate) fn restore(self, value: f64) -> f64 {
        self.centre + self.scale * value
    }

    /// A difference of numbers that is `value` in this unit.
    pub(crate) fn restore_difference(self, value: f64) -> f64 {
        self.scale * value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_of_the_order_of_one() {
        for (centre, scale) in [(0.0, 1.0), (1e10, 1.0), (0.0, 1e300), (-3e-290, 1e-300)] {
            let y: Vec<f64> = [-0.5, 0.25, 2.0].map(|y| centre + scale * y).into();
            let unit = Unit::of(&y, |_| 1.0).unwrap();
            for y in y {
                let value = unit.express(y);
                assert!(value.abs() < 2.0 && (value == 0.0 || value.abs() > 1e-3), "{value}");
                assert!((unit.restore(value) - y).abs() <= 1e-15 * y.abs(), "{y}");
            }
        }
        assert!(Unit::of(&[-1.7e308, 1.7e308, 1.7e308], |_| 1.0).is_err());
        let weights = [1.0, 0.0, 1.0, 5.0, 1.0];
        let unit = Unit::of(&[1e9, -7.0, 1.0, 2.0, 3.0], |row| weights[row]).unwrap();
        assert_eq!(unit.express(2.0), 0.0);
    }
}
