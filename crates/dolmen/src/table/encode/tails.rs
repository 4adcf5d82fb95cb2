//! Numbers far from the others: held at a distance, or drawn in.
//!
//! A linear learner follows an input without end, so that one value far beyond those it has seen gives a prediction far beyond all
//! that it has learned; learners that measure distances leave the scale of a column to its farthest values.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What becomes of numbers far from the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Outliers {
    /// They stay.
    #[default]
    Keep,
    /// What lies beyond the range of the training rows by more than its width is moved there.
    Hold,
    /// Every number is measured from the median in interquartile ranges, z, and becomes z / sqrt(1 + (z/3)^2): nearly itself in the
    /// middle, never beyond 3. Columns without far-out numbers, whose range is no more than two such ranges, are held instead.
    Squash,
}

/// What was learned of a column's tails.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Tail {
    /// Numbers stay between these.
    Hold { low: f64, high: f64 },
    /// Numbers are measured from the median in interquartile ranges, and drawn in.
    Squash { median: f64, spread: f64 },
}

/// Where squashed numbers end [Holzmueller2024].
const END: f64 = 3.0;

impl Tail {
    /// That of a column with these ends and quartiles; `None` where nothing is asked for, or there are no numbers.
    pub(super) fn learn(
        outliers: Outliers,
        (lowest, highest): (f64, f64),
        quartiles: impl FnOnce() -> [f64; 3],
    ) -> Option<Self> {
        let width = highest - lowest;
        if outliers == Outliers::Keep || !(width >= 0.0 && width.is_finite()) {
            return None;
        }
        if outliers == Outliers::Squash {
            let [lower, median, upper] = quartiles();
            let spread = upper - lower;
            if spread > 0.0 && width > 2.0 * spread {
                return Some(Self::Squash { median, spread });
            }
        }
        Some(Self::Hold { low: lowest - width, high: highest + width })
    }

    /// A number as it is told to the learner; what is missing stays so.
    pub(super) fn tame(self, value: f64) -> f64 {
        match self {
            Self::Hold { low, high } => value.clamp(low, high),
            Self::Squash { median, spread } => {
                let z = (value - median) / spread;
                // Written so that numbers whose squares are infinite reach the end, too.
                if z.abs() <= END {
                    z / (1.0 + (z / END).powi(2)).sqrt()
                } else {
                    END * z.signum() / (1.0 + (END / z).powi(2)).sqrt()
                }
            }
        }
    }

    /// Whether it was learned from numbers; read from a file, it might not be.
    pub(super) fn is_sound(self) -> bool {
        match self {
            Self::Hold { low, high } => low <= high,
            Self::Squash { median, spread } => median.is_finite() && spread > 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_within_a_width_of_the_range_are_not_held() {
        let tail = Tail::learn(Outliers::Hold, (1.0, 3.0), || unreachable!()).unwrap();
        for (value, told) in [(2.0, 2.0), (-1.0, -1.0), (-1.5, -1.0), (5.0, 5.0), (80.0, 5.0)] {
            assert_eq!(tail.tame(value), told, "{value}");
        }
        assert_eq!(tail.tame(f64::INFINITY), 5.0);
        assert!(tail.tame(f64::NAN).is_nan());
    }

    #[test]
    fn squashed_numbers_keep_their_order_and_never_pass_the_end() {
        let tail = Tail::learn(Outliers::Squash, (-9.0, 50.0), || [-1.0, 1.0, 3.0]).unwrap();
        let values =
            [-1e308, -1e9, -40.0, -11.0, -10.9, 0.9, 1.0, 1.1, 3.0, 13.0, 13.1, 1e9, 1e308];
        let told: Vec<f64> = values.iter().map(|value| tail.tame(*value)).collect();
        assert!(told.is_sorted(), "{told:?}");
        assert!(told.iter().all(|z| z.abs() <= END));
        // At the median nothing changes but the unit.
        assert_eq!(tail.tame(1.0), 0.0);
        assert!((tail.tame(1.004) - 0.001).abs() < 1e-9);
        assert!((tail.tame(13.0) - 3.0 / 2.0_f64.sqrt()).abs() < 1e-15);
    }

    #[test]
    fn columns_without_far_out_numbers_are_held() {
        let of = |ends, quartiles| Tail::learn(Outliers::Squash, ends, || quartiles);
        let held = |low, high| Some(Tail::Hold { low, high });
        assert_eq!(of((0.0, 1.0), [0.0, 0.0, 1.0]), held(-1.0, 2.0), "two values");
        assert_eq!(of((0.0, 1.0), [0.0, 0.0, 0.0]), held(-1.0, 2.0), "one of them rare");
        assert_eq!(of((4.0, 4.0), [4.0, 4.0, 4.0]), held(4.0, 4.0), "a constant");
        assert_eq!(of((f64::INFINITY, f64::NEG_INFINITY), [0.0; 3]), None, "no numbers");
    }
}
