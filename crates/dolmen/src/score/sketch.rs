//! Columns summed up: histograms of numbers, counts of categories.

use serde::{Deserialize, Serialize};

/// Bins of a histogram.
const BINS: usize = 30;

/// So many values in bins of equal width.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Where the first bin begins and the last one ends.
    pub range: [f64; 2],
    /// Values in each bin.
    pub counts: Vec<usize>,
    /// Values that are missing or infinite.
    pub without: usize,
}

impl Histogram {
    /// Of values; the bins reach from the smallest to the largest. Where values are rounded each bin has as many of the numbers that
    /// can be: bins that share these unevenly would be high and low by turns.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let finite = || values.clone().filter(|v| v.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let range = match high - low {
            width if width > 0.0 => [low, high],
            0.0 => [low - 0.5, low + 0.5],
            _ => [0.0, 1.0],
        };
        let Some(unit) = resolution(finite(), low, high) else {
            return Self::within(range, BINS, values);
        };
        let places = ((high - low) / unit).round() as usize + 1;
        let in_each = places.div_ceil(BINS);
        let (bins, from) = (places.div_ceil(in_each), low - unit / 2.0);
        Self::within([from, from + unit * (in_each * bins) as f64], bins, values)
    }

    /// The same in so many bins between two ends; values beyond them are in the outermost bins.
    pub fn within(range: [f64; 2], bins: usize, values: impl Iterator<Item = f64>) -> Self {
        let (mut counts, mut without) = (vec![0; bins], 0);
        for value in values {
            if value.is_finite() {
                let share = (value - range[0]) / (range[1] - range[0]);
                counts[((share * bins as f64).max(0.0) as usize).min(bins - 1)] += 1;
            } else {
                without += 1;
            }
        }
        Self { range, counts, without }
    }

    /// The middle value, as nearly as the bins tell it.
    pub fn median(&self) -> f64 {
        let [low, high] = self.range;
        // The bins of values that are all alike are laid around them.
        if self.total() > 0 && self.counts[self.counts.len() / 2] == self.total() {
            return f64::midpoint(low, high);
        }
        let (half, bins) = (self.total() as f64 / 2.0, self.counts.len() as f64);
        let mut below = 0.0;
        for (k, &count) in self.counts.iter().enumerate() {
            let count = count as f64;
            if count > 0.0 && below + count >= half {
                let within = (half - below) / count;
                return low + (high - low) * (k as f64 + within) / bins;
            }
            below += count;
        }
        f64::midpoint(low, high)
    }

    /// All values that are in bins.
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }
}

/// Steps between the smallest and the largest value from which on it is not seen that values are rounded.
const FINEST: f64 = 1000.0;

/// The largest unit that finite values between two ends are whole multiples of, from the smallest on; `None` of a constant, and of values
/// that are as good as not rounded.
fn resolution(values: impl Iterator<Item = f64>, low: f64, high: f64) -> Option<f64> {
    let least = (high - low) / FINEST;
    if !(least > 0.0 && least.is_finite()) {
        return None;
    }
    // Euclid's way with the nearest multiples, as rounded values are not exact.
    let nothing = 1e-3 * least;
    let mut unit = high - low;
    for value in values {
        let (mut larger, mut smaller) = (unit, value - low);
        while smaller > nothing {
            let rest = (larger - smaller * (larger / smaller).round()).abs();
            (larger, smaller) = (smaller, rest);
        }
        unit = larger;
        if unit < least {
            return None;
        }
    }
    // What has summed up on the way is taken back: the ends are a whole number of units apart.
    Some((high - low) / ((high - low) / unit).round())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_somewhere() {
        let values = [0.0, 0.5, 1.0, f64::NAN, 3.0, 3.0, f64::INFINITY];
        let found = Histogram::of(values.into_iter());
        assert_eq!((found.range, found.total(), found.without), ([-0.25, 3.25], 5, 2));
        assert_eq!(found.counts, [1, 1, 1, 0, 0, 0, 2]);
        let constant = Histogram::of([2.0; 4].into_iter());
        assert_eq!((constant.range, constant.total()), ([1.5, 2.5], 4));
        assert_eq!(Histogram::of(std::iter::empty()).total(), 0);
        let even = Histogram::of((0..1000).map(f64::from));
        assert!((even.median() - 499.5).abs() < 20.0, "{}", even.median());
    }
    /// Numbers that are equally frequent, rounded to one, to five and to a tenth: no bar is higher than another but the last, which
    /// may have fewer of them.
    #[test]
    fn bars_of_rounded_values_are_even() {
        for (unit, count) in [(1.0, 76), (5.0, 31), (0.1, 44), (0.01, 401)] {
            let values = (0..count).map(|k| f64::from(k + 130) * unit);
            let found = Histogram::of(values);
            let (last, others) = found.counts.split_last().unwrap();
            assert!(others.iter().all(|own| own == &others[0] && own >= last), "{unit}: {found:?}");
            assert_eq!(found.total(), count as usize);
        }
        let apart = (0..200).map(|k| (f64::from(k) * 0.618_033_988_7).fract());
        assert_eq!(Histogram::of(apart).counts.len(), BINS);
    }
}
