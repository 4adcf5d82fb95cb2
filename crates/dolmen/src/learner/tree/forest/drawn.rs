//! A cut of a numeric column drawn at random, and what it is worth.
//!
//! One cut needs no sums for each bin: a first look finds the smallest and the largest bin that hold rows, a second adds up the rows on one side.

use super::tally::Tally;

/// A numeric column as the rows of a node have it.
pub(super) struct DrawnCut<T: Tally> {
    /// The bins of the rows.
    codes: Vec<u8>,
    /// The code of missing values, beyond those of all bins.
    missing: u8,
    /// The smallest and the largest bin that hold rows; of no rows the first lies beyond the second.
    pub(super) lowest: u8,
    pub(super) highest: u8,
    /// Whether a row has no value.
    pub(super) has_missing: bool,
    /// What the rows up to the cut add up to, and what those without a value do.
    pub(super) left: Vec<T::Cell>,
    pub(super) without: Vec<T::Cell>,
}

impl<T: Tally> DrawnCut<T> {
    /// Room for sums of so many cells.
    pub(super) fn new(stride: usize) -> Self {
        Self {
            codes: Vec::new(),
            missing: 0,
            lowest: 0,
            highest: 0,
            has_missing: false,
            left: vec![T::Cell::default(); stride],
            without: vec![T::Cell::default(); stride],
        }
    }

    /// Reads a column of some rows; `false` if it is constant.
    pub(super) fn read(&mut self, column: &[u8], items: &[T::Item], missing: u8) -> bool {
        self.codes.clear();
        self.codes.extend(items.iter().map(|item| column[T::row(item)]));
        let (mut lowest, mut any) = (u8::MAX, 0);
        // One more than the largest code but for that of missing values: so that these can be counted as nothing without a branch.
        let mut beyond = 0;
        for &code in &self.codes {
            let is_missing = u8::from(code == missing);
            lowest = lowest.min(code);
            beyond = beyond.max(code.wrapping_add(1) & is_missing.wrapping_sub(1));
            any |= is_missing;
        }
        (self.missing, self.lowest, self.highest) = (missing, lowest, beyond.wrapping_sub(1));
        self.has_missing = any == 1;
        beyond > 0 && (self.has_missing || lowest < self.highest)
    }

    /// Adds up the rows of bins up to `bin`, and those without a value.
    pub(super) fn add_up(&mut self, tally: &T, items: &[T::Item], bin: u8) {
        self.left.fill(T::Cell::default());
        tally.add_where(&mut self.left, items, &self.codes, |code| code <= bin);
        if self.has_missing {
            let missing = self.missing;
            self.without.fill(T::Cell::default());
            tally.add_where(&mut self.without, items, &self.codes, |code| code == missing);
        }
    }

    /// The last bin that goes left: midway from the last one with rows to the next one with rows, or all where there is none.
    pub(super) fn midway(&self, bin: u8) -> u8 {
        let (mut last, mut next) = (0, u8::MAX);
        for &code in &self.codes {
            let left = u8::from(code <= bin).wrapping_neg();
            last = last.max(code & left);
            next = next.min(code | left);
        }
        // Missing values come after all bins.
        if next < self.missing { last + (next - 1 - last) / 2 } else { self.missing - 1 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tally::{Numbers, NumbersItem};
    use super::*;

    /// Rows in bins, one of which means that a value is missing, and what they add.
    fn rows() -> impl Strategy<Value = (u8, Vec<(u8, i8, u8)>)> {
        (1..=u8::MAX).prop_flat_map(|missing| {
            let row = (0..=missing, any::<i8>(), 1..5_u8);
            (Just(missing), prop::collection::vec(row, 1..40))
        })
    }

    proptest! {
        /// Against the rows one by one.
        #[test]
        fn one_cut_is_added_up_as_if_row_by_row((missing, rows) in rows(), draw in any::<u8>()) {
            let column: Vec<u8> = rows.iter().map(|(code, ..)| *code).collect();
            let item = |(row, (_, sum, weight)): (usize, &(u8, i8, u8))| NumbersItem {
                row: row as u32,
                weight: f64::from(*weight),
                sum: f64::from(*sum),
            };
            let items: Vec<_> = rows.iter().enumerate().map(item).collect();
            let tally = Numbers { centre: 0.0, smoothing: 0.0 };
            let mut cut = DrawnCut::<Numbers>::new(1);
            let varies = cut.read(&column, &items, missing);
            let mut held: Vec<u8> = column.iter().copied().filter(|code| *code != missing).collect();
            held.sort_unstable();
            held.dedup();
            let has_missing = column.contains(&missing);
            prop_assert_eq!(varies, !held.is_empty() && held.len() + usize::from(has_missing) > 1);
            prop_assume!(varies);
            let (lowest, highest) = (held[0], held[held.len() - 1]);
            prop_assert_eq!((cut.lowest, cut.highest, cut.has_missing), (lowest, highest, has_missing));
            let bin = lowest + draw % (highest - lowest).max(1);
            cut.add_up(&tally, &items, bin);
            let sum = |counts: &dyn Fn(u8) -> bool| {
                let counted = rows.iter().filter(|(code, ..)| counts(*code));
                counted.fold((0.0, 0.0), |all, (_, sum, weight)| {
                    (all.0 + f64::from(*weight), all.1 + f64::from(*sum))
                })
            };
            prop_assert_eq!(cut.left[0], sum(&|code| code <= bin && code != missing));
            if has_missing {
                prop_assert_eq!(cut.without[0], sum(&|code| code == missing));
            }
            let last = *held.iter().rfind(|code| **code <= bin).unwrap();
            let middle = cut.midway(bin);
            let next = held.iter().find(|code| **code > bin);
            let end = next.map_or(missing, |next| *next);
            prop_assert!(last <= middle && middle < end);
            prop_assert!(next.is_some() || middle == missing - 1);
        }
    }
}
