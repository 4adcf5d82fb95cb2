//! How far a stack of numbers goes beyond what it has learned from.
//!
//! A linear member follows its inputs without end: one row far beyond the others is predicted far beyond any number there was. What
//! a stack says stays within a margin of the numbers that it has learned from.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The least and the largest number that a stack says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// The range of these numbers, and a margin on both sides in widths of the range; `None` of no numbers.
    pub(super) fn of(numbers: impl Iterator<Item = f64>, margin: f64) -> Result<Option<Self>> {
        if !(margin >= 0.0 && margin.is_finite()) {
            return Err(Error::param("margin", "a number of at least 0", margin));
        }
        let none = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = numbers.fold(none, |(low, high), y| (low.min(y), high.max(y)));
        if low > high {
            return Ok(None);
        }
        let room = margin * (high - low);
        Ok(Some(Self { low: low - room, high: high + room }))
    }

    /// The same with nothing below 0, where no number learned from is.
    pub(super) fn of_counts(self) -> Self {
        Self { low: self.low.max(0.0).min(self.high), ..self }
    }

    /// Moves what lies beyond to the nearest end.
    pub(super) fn hold(self, predicted: &mut [f64]) {
        predicted.iter_mut().for_each(|y| *y = y.clamp(self.low, self.high));
    }

    /// Refuses bounds without room between them; read from a file, they might be.
    pub(super) fn validate(self) -> Result<()> {
        if self.low <= self.high {
            return Ok(());
        }
        Err(Error::param("model file", "of sound bounds", "damaged"))
    }

    /// Its ends.
    pub(super) fn ends(self) -> [f64; 2] {
        [self.low, self.high]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_is_counted_in_widths() {
        let of = |numbers: &[f64], margin| Bounds::of(numbers.iter().copied(), margin);
        let bounds = of(&[3.0, 1.0, 2.0], 0.5).unwrap().unwrap();
        let mut said = [2.0, 3.9, 16.6, -40.0, f64::INFINITY];
        bounds.hold(&mut said);
        assert_eq!(said, [2.0, 3.9, 4.0, 0.0, 4.0]);
        assert_eq!(of(&[], 0.5).unwrap(), None);
        assert!(of(&[1.0], -0.1).is_err());
        assert!(of(&[1.0], f64::NAN).is_err());
        // A margin too wide to be counted leaves everything as it is.
        let bounds = of(&[-1e300, 1e300], 1e300).unwrap().unwrap();
        assert_eq!(bounds.ends(), [f64::NEG_INFINITY, f64::INFINITY]);
    }
}
