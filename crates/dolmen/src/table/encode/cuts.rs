//! Quantiles of weighted numbers, and the cuts between bins of equal frequency.

use serde::{Deserialize, Serialize};

/// Two sums of the same weights in another order differ by less than this share of them.
const ROUNDING: f64 = 1e-11;

/// A finite number with the weight of its row.
pub(super) type Weighted = (f64, f64);

/// The `fraction` quantile of numbers in ascending order, by linear interpolation between the two order statistics around
/// position `fraction (n - 1)`, counted from 0, where n is the total weight: weights count copies.
pub(super) fn quantile(sorted: &[Weighted], fraction: f64) -> f64 {
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let place = Place::of(fraction, total);
    place.between(place.around().map(|position| order_statistic(sorted, position)))
}

/// Where a quantile lies among numbers in ascending order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place(f64);

impl Place {
    /// That of the `fraction` quantile of numbers of this total weight. Weights are scaled to sum to the number of rows, which
    /// their sum meets but for its rounding: a place that is a row must not lie beside it, for that moves the row to another bin.
    pub(super) fn of(fraction: f64, total: f64) -> Self {
        let whole = total.round();
        let total = if (total - whole).abs() <= ROUNDING * whole { whole } else { total };
        Self((fraction * (total - 1.0)).max(0.0))
    }

    /// The positions of the two order statistics around it.
    pub(super) fn around(self) -> [f64; 2] {
        [self.0.floor(), self.0.floor() + 1.0]
    }

    /// The quantile between these two.
    pub(super) fn between(self, [below, above]: [f64; 2]) -> f64 {
        below + (self.0 - self.0.floor()) * (above - below)
    }
}

/// Whole numbers in the order of the numbers they stand for.
pub(super) fn key(value: f64) -> u64 {
    value.to_bits() ^ (((value.to_bits() as i64 >> 63) as u64) | 1 << 63)
}

/// The number that a whole one stands for.
pub(super) fn of_key(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key ^ 1 << 63 } else { !key })
}

/// Whether so many copies are more than come before this position, by more than the rounding of their sum: where they are as many,
/// the order of the sum must not decide.
pub(super) fn reaches(copies: f64, position: f64) -> bool {
    copies > position * (1.0 + ROUNDING)
}

/// The number at `position` among the copies of all numbers; the last one if there are fewer.
fn order_statistic(sorted: &[Weighted], position: f64) -> f64 {
    let mut copies = 0.0;
    let is_there = |(_, weight): &&Weighted| {
        copies += weight;
        reaches(copies, position)
    };
    sorted.iter().find(is_there).or(sorted.last()).map_or(f64::NAN, |(value, _)| *value)
}

/// The quantiles that [`quantiles`] finds, of numbers that count once each and may come in any order. They are run through a few
/// times, and neither sorted nor kept: of many rows that is faster, and takes no memory that grows with them.
pub(super) fn quantiles_of_many(
    values: &(impl Iterator<Item = f64> + Clone),
    bins: usize,
) -> Vec<f64> {
    let last = values.clone().count() as f64 - 1.0;
    if last < 0.0 {
        return Vec::new();
    }
    let position = |k: usize| (k as f64 / bins as f64 * last).max(0.0);
    let around = |k: usize| [position(k).floor(), (position(k).floor() + 1.0).min(last)];
    let ranks: Vec<usize> = (1..bins).flat_map(around).map(|rank| rank as usize).collect();
    let found = at_ranks(values, &ranks);
    let cut = |(k, pair): (usize, &[f64])| {
        pair[0] + (position(k) - position(k).floor()) * (pair[1] - pair[0])
    };
    (1..).zip(found.chunks_exact(2)).map(cut).collect()
}

/// The numbers at these places of the ascending order, counted from 0: the bits of each are found sixteen at a time, by counting
/// the numbers that share those before.
fn at_ranks(values: &(impl Iterator<Item = f64> + Clone), ranks: &[usize]) -> Vec<f64> {
    const DIGITS: usize = 1 << 16;
    // What is known of each number's key, and its place among those of which as much is known.
    let mut wanted: Vec<(u64, usize)> = ranks.iter().map(|&rank| (0, rank)).collect();
    for digit in (0..4).rev() {
        let mut known: Vec<u64> = wanted.iter().map(|(known, _)| *known).collect();
        known.sort_unstable();
        known.dedup();
        let mut counts = vec![0_usize; known.len() * DIGITS];
        for key in values.clone().map(key) {
            let above = key.checked_shr(16 * digit + 16).unwrap_or(0);
            if let Some(at) = known.iter().position(|known| *known == above) {
                counts[at * DIGITS + (key >> (16 * digit)) as usize % DIGITS] += 1;
            }
        }
        for (start, place) in &mut wanted {
            let at = known.partition_point(|known| known < start);
            let mut next = 0;
            for count in &counts[at * DIGITS..(at + 1) * DIGITS] {
                if *place < *count {
                    break;
                }
                *place -= count;
                next += 1;
            }
            *start = *start << 16 | next;
        }
    }
    wanted.into_iter().map(|(key, _)| of_key(key)).collect()
}

/// The distinct values in ascending order, unless there are more than `most` of them.
pub(crate) fn few_distinct(values: impl Iterator<Item = f64>, most: usize) -> Option<Vec<f64>> {
    let mut distinct = Distinct::default();
    let mut last = f64::NAN;
    for value in values {
        if value == last {
            continue;
        }
        last = value;
        distinct.add(value, most);
        distinct.0.as_ref()?;
    }
    distinct.0
}

/// Different values in ascending order; `None` once they are too many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Distinct(pub(super) Option<Vec<f64>>);

impl Default for Distinct {
    fn default() -> Self {
        Self(Some(Vec::new()))
    }
}

impl Distinct {
    /// Adds a value to at most so many.
    pub(super) fn add(&mut self, value: f64, most: usize) {
        let Some(known) = &mut self.0 else { return };
        // Adding zero makes one of the two zeros.
        let value = value + 0.0;
        if let Err(place) = known.binary_search_by(|known| known.total_cmp(&value)) {
            if known.len() == most {
                self.0 = None;
            } else {
                known.insert(place, value);
            }
        }
    }

    /// Adds the values of other rows.
    pub(super) fn merge(&mut self, later: Self, most: usize) {
        match later.0 {
            Some(values) => values.into_iter().for_each(|value| self.add(value, most)),
            None => self.0 = None,
        }
    }
}

/// The cuts between `bins` intervals with equal numbers of rows: the quantiles 1/bins, 2/bins, ... by linear interpolation,
/// equal ones dropped. Missing values do not count.
///
/// ```
/// use dolmen::table::encode::{bin, equal_frequency_cuts};
/// let cuts = equal_frequency_cuts(&[1.0, 2.0, 3.0, 4.0, 10.0], None, 2);
/// assert_eq!(cuts, [3.0]);
/// assert_eq!((bin(&cuts, 3.0), bin(&cuts, 3.1)), (0, 1));
/// ```
pub fn equal_frequency_cuts(values: &[f64], weights: Option<&[f64]>, bins: usize) -> Vec<f64> {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let weighted = values.iter().enumerate().map(|(i, value)| (*value, weight(i)));
    let mut cells: Vec<Weighted> = weighted.filter(|(v, w)| !v.is_nan() && *w > 0.0).collect();
    sort(&mut cells);
    let mut cuts = quantiles(&cells, bins);
    cuts.dedup();
    cuts
}

/// The quantiles 1/bins, 2/bins, ... of numbers in ascending order; none of no numbers.
pub(super) fn quantiles(sorted: &[Weighted], bins: usize) -> Vec<f64> {
    if sorted.is_empty() {
        return Vec::new();
    }
    (1..bins).map(|k| quantile(sorted, k as f64 / bins as f64)).collect()
}

/// Which interval a number lies in; a number equal to a cut lies below it.
pub fn bin(cuts: &[f64], value: f64) -> usize {
    cuts.partition_point(|cut| *cut < value)
}

/// Brings numbers into ascending order.
pub(super) fn sort(cells: &mut [Weighted]) {
    cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn many_numbers_are_cut_like_few(
            values in prop::collection::vec(prop_oneof![-3.0..3.0, Just(-0.0), Just(0.0), -1e300..1e300, Just(1e-310)], 0..200),
            bins in 2_usize..9,
        ) {
            let sorted = equal_frequency_cuts(&values, None, bins);
            let mut found = quantiles_of_many(&values.iter().copied(), bins);
            found.dedup();
            prop_assert_eq!(sorted, found);
        }
    }
}
