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
    /// Values that are far off, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
}

/// Values so far from nearly all others that bins between the smallest and the largest would have these in a few of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    /// How many lie below the first bin.
    pub below: usize,
    /// How many lie above the last one.
    pub above: usize,
    /// The smallest and the largest of all values.
    pub ends: [f64; 2],
}

impl Beyond {
    /// How many there are.
    pub fn total(&self) -> usize {
        self.below + self.above
    }
}

impl Histogram {
    /// Of values; the bins reach from the smallest to the largest, without a few that are far off. Where values are rounded each bin has as
    /// many of the numbers that can be: bins that share these unevenly would be high and low by turns.
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let mut finite: Vec<f64> = values.clone().filter(|v| v.is_finite()).collect();
        let Ends { all, near } = Ends::of(&mut finite);
        let [low, high] = near;
        let (below, above) =
            (finite.iter().filter(|v| **v < low), finite.iter().filter(|v| **v > high));
        let beyond = Beyond { below: below.count(), above: above.count(), ends: all };
        let is_near = |v: &f64| !v.is_finite() || (low..=high).contains(v);
        let found = Self::between(near, values.filter(is_near));
        Self { beyond: (beyond.total() > 0).then_some(beyond), ..found }
    }

    /// Of values of which the finite ones lie between two ends and reach them.
    fn between([low, high]: [f64; 2], values: impl Iterator<Item = f64> + Clone) -> Self {
        let range = match high - low {
            width if width > 0.0 => [low, high],
            0.0 => [low - 0.5, low + 0.5],
            _ => [0.0, 1.0],
        };
        let finite = values.clone().filter(|v| v.is_finite());
        let Some(unit) = resolution(finite, low, high) else {
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
        Self { range, counts, without, beyond: None }
    }

    /// The middle value, as nearly as the bins tell it.
    pub fn median(&self) -> f64 {
        let [low, high] = self.range;
        // The bins of values that are all alike are laid around them.
        if self.total() > 0 && self.counts[self.counts.len() / 2] == self.total() {
            return f64::midpoint(low, high);
        }
        let (half, bins) = (self.total() as f64 / 2.0, self.counts.len() as f64);
        let mut below = self.beyond.map_or(0, |own| own.below) as f64;
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

    /// All values that are in bins or beyond them.
    pub fn total(&self) -> usize {
        self.counts.iter().sum::<usize>() + self.beyond.map_or(0, |own| own.total())
    }
}

/// The part of the values at either end that may be far off; of so many values one may be.
const FEW: f64 = 0.01;
const ENOUGH: usize = 20;
/// Those are near that lie no farther from all others than this part of their distance.
const BESIDE: f64 = 0.5;
/// How many times farther than the near ones the others must reach to be far off.
const FARTHER: f64 = 2.0;

/// The ends of values: infinite where there are none.
pub(super) struct Ends {
    /// The smallest and the largest.
    pub(super) all: [f64; 2],
    /// The same without a few that are far off.
    pub(super) near: [f64; 2],
}

impl Ends {
    /// Of finite values, which are put in another order.
    pub(super) fn of(values: &mut [f64]) -> Self {
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
                [low.min(v), high.max(v)]
            })
        };
        let all = ends(&mut values.iter().copied());
        let whole = Self { all, near: all };
        let last = values.len().saturating_sub(1);
        let few = ((FEW * values.len() as f64) as usize).max(usize::from(values.len() >= ENOUGH));
        if values.is_empty() || few == 0 {
            return whole;
        }
        let mut at = |k: usize| *values.select_nth_unstable_by(k, f64::total_cmp).1;
        let (from, to) = (at(few), at(last - few));
        let beside = BESIDE * (to - from);
        let (low, high) = ((from - beside).max(all[0]), (to + beside).min(all[1]));
        if beside <= 0.0 || all[1] - all[0] <= FARTHER * (high - low) {
            return whole;
        }
        let near = |v: &f64| (low..=high).contains(v);
        Self { all, near: ends(&mut values.iter().copied().filter(near)) }
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

    #[test]
    fn a_few_values_far_off_leave_the_others_their_bins() {
        // Prices: most are small, some are many times as large.
        let odds = |p: f64| p / (1.0 - p);
        let prices = (0..2000).map(|k| odds((f64::from(k) + 0.5) / 2000.0).powf(0.6));
        let found = Histogram::of(prices);
        let beyond = found.beyond.unwrap();
        assert_eq!((found.total(), beyond.below), (2000, 0));
        assert!((1..=20).contains(&beyond.above), "{beyond:?}");
        assert!(beyond.ends[1] > 2.0 * found.range[1] && found.range[0] == beyond.ends[0]);
        assert!(found.counts.iter().filter(|count| **count > 0).count() >= 20, "{found:?}");
        assert!((found.median() - 1.0).abs() < 0.5, "{}", found.median());
        // As far off, but no few; and far off by the step of the others only.
        let halves = (0..200).map(|k| if k % 2 == 0 { f64::from(k) } else { 1e9 });
        assert_eq!(Histogram::of(halves).beyond, None);
        let zeros = (0..200).map(|k| if k < 198 { 0.0 } else { 5.0 });
        assert_eq!(Histogram::of(zeros).beyond, None);
        assert_eq!(Histogram::of((0..500).map(|k| f64::from(k).powi(2))).beyond, None);
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
