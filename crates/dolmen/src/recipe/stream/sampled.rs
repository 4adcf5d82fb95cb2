//! Which rows are in the sample: drawn by a hash of their numbers, of a rare class more than its share.
//!
//! A row is in the sample if its key, the hash of its number, is small enough, so that whoever reads a row knows. Of a class of which so
//! few would be there that members fitted to the sample could not know it, the rows of least key are taken, all up to a number; they
//! then count for less, each for as many rows of the table as a row of the other classes does. Figures of the sample are those of a
//! plain one, with smaller errors where the class is concerned.

use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::run::mix;
use crate::table::Column;

/// Rows that a class has in the sample at least, as long as the table has so many and all classes together take no more than a
/// part of the sample.
const LEAST: usize = 100;
const MOST_FOR_LEAST: usize = 4;

/// Which rows are in a sample: those whose number's hash is below this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Threshold {
    key: u64,
    below: u64,
}

impl Threshold {
    /// So that about so many of the rows are, or all.
    pub(super) fn of(rows: usize, most: usize, key: u64) -> Self {
        let share = most as f64 / rows.max(1) as f64;
        let below = if share >= 1.0 { u64::MAX } else { (share * 2f64.powi(64)) as u64 };
        Self { key, below }
    }

    pub(super) fn holds(self, number: u64) -> bool {
        self.below == u64::MAX || self.key_of(number) < self.below
    }

    fn key_of(self, number: u64) -> u64 {
        mix(self.key ^ mix(number))
    }

    fn share(self) -> f64 {
        self.below as f64 / 2f64.powi(64)
    }
}

/// Which rows are in the sample of a table, whose classes may differ in how many of their rows are.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Sampled {
    pub(super) all: Threshold,
    /// The same for each class, by its code in the column of the target: those of positive weight.
    of_class: Vec<u64>,
}

impl Sampled {
    /// Whether a row is: its number in the table, its class if it has one, and its weight.
    pub(super) fn holds(&self, number: u64, class: Option<u32>, weight: f64) -> bool {
        self.all.holds(number)
            || weight > 0.0
                && class
                    .and_then(|class| self.of_class.get(class as usize))
                    .is_some_and(|below| self.all.key_of(number) < *below)
    }
}

/// The code of a row's class, where the target is classes.
pub(super) fn class_of(target: Option<&Column>, row: usize) -> Option<u32> {
    match target {
        Some(Column::Categorical(classes)) => Some(classes.codes[row]),
        _ => None,
    }
}

/// How many rows of least key are kept of each of so many classes, in a sample of so many rows.
pub(super) fn least(classes: usize, most: usize) -> usize {
    LEAST.min(most / (MOST_FOR_LEAST * classes.max(1)))
}

/// The rows of least key of each class, from block to block.
#[derive(Debug)]
pub(super) struct Rarest {
    all: Threshold,
    least: usize,
    /// The least keys of each class so far, the largest of them first.
    keys: Vec<BinaryHeap<u64>>,
    /// Rows of positive weight of each class.
    rows: Vec<usize>,
}

impl Rarest {
    /// None yet, for a sample of about so many rows.
    pub(super) fn new(all: Threshold, target: Option<&Column>, most: usize) -> Self {
        let classes = match target {
            Some(Column::Categorical(classes)) => classes.levels.len(),
            _ => 0,
        };
        // Where all rows are in the sample, all classes are.
        let least = if all.below == u64::MAX { 0 } else { least(classes, most) };
        Self { all, least, keys: vec![BinaryHeap::new(); classes], rows: vec![0; classes] }
    }

    /// Offers the next row; says whether it may be in the sample, as far as the rows up to here can tell.
    pub(super) fn offer(&mut self, number: u64, class: Option<u32>, weight: f64) -> bool {
        let is_drawn = self.all.holds(number);
        let class = class.map(|class| class as usize).filter(|_| weight > 0.0 && self.least > 0);
        let Some((keys, rows)) = class.and_then(|c| self.keys.get_mut(c).zip(self.rows.get_mut(c)))
        else {
            return is_drawn;
        };
        *rows += 1;
        let key = self.all.key_of(number);
        let is_least = keys.len() < self.least || keys.peek().is_some_and(|last| key < *last);
        if is_least {
            keys.push(key);
            if keys.len() > self.least {
                keys.pop();
            }
        }
        is_drawn || is_least
    }

    /// Adds rows of a class that are in no sample.
    pub(super) fn count(&mut self, rows: &[usize]) {
        self.rows.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
    }

    /// Rows of positive weight of each class.
    pub(super) fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The sample that follows.
    pub(super) fn sampled(&self) -> Sampled {
        let below = |keys: &BinaryHeap<u64>| match keys.peek() {
            Some(last) => self.all.below.max(last.saturating_add(1)),
            None => self.all.below,
        };
        Sampled { all: self.all, of_class: self.keys.iter().map(below).collect() }
    }

    /// How much a row of each class counts for, if so many rows of it are in the sample: as many as one of the others.
    pub(super) fn factors(&self, in_sample: &[usize]) -> Vec<f64> {
        let factor = |(class, keys): (usize, &BinaryHeap<u64>)| {
            let is_rare = keys.peek().is_some_and(|last| *last >= self.all.below);
            let shares = self.rows[class] as f64 / in_sample[class].max(1) as f64;
            if is_rare { (self.all.share() * shares).min(1.0) } else { 1.0 }
        };
        self.keys.iter().enumerate().map(factor).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Categories;

    /// One row in a thousand is of the rare class, one in ten of no weight: whatever the blocks, the same rows are in the sample, at least so
    /// many of each class, and their factors give the classes their shares.
    #[test]
    fn every_class_is_in_the_sample_at_its_weight() {
        let rows = 50_000;
        let class = |i: usize| u32::from(i % 1000 == 7);
        let weight = |i: usize| f64::from(u8::from(i % 10 != 3));
        let levels = Column::Categorical(Categories::new(["a", "b"].map(Some)));
        let all = Threshold::of(rows, 2000, 11);
        let mut found: Vec<Vec<usize>> = Vec::new();
        for block in [rows, 7777] {
            let mut total = Rarest::new(all, Some(&levels), 2000);
            let mut kept = Vec::new();
            for first in (0..rows).step_by(block) {
                let mut own = Rarest::new(all, Some(&levels), 2000);
                let offered: Vec<usize> = (first..rows.min(first + block))
                    .filter(|&i| own.offer(i as u64, Some(class(i)), weight(i)))
                    .collect();
                // What a block leaves out is counted, and the others are offered once more.
                let mut left = own.rows().to_vec();
                for &i in offered.iter().filter(|&&i| weight(i) > 0.0) {
                    left[class(i) as usize] -= 1;
                }
                total.count(&left);
                kept.extend(
                    offered
                        .into_iter()
                        .filter(|&i| total.offer(i as u64, Some(class(i)), weight(i))),
                );
            }
            let sampled = total.sampled();
            kept.retain(|&i| sampled.holds(i as u64, Some(class(i)), weight(i)));
            let expected: Vec<usize> =
                (0..rows).filter(|&i| sampled.holds(i as u64, Some(class(i)), weight(i))).collect();
            assert_eq!(kept, expected);
            let mut in_sample = vec![0; 2];
            kept.iter()
                .filter(|&&i| weight(i) > 0.0)
                .for_each(|&i| in_sample[class(i) as usize] += 1);
            assert_eq!((total.rows()[1], in_sample[1]), (50, 50), "the class has no more");
            let factors = total.factors(&in_sample);
            assert!((factors[0] - 1.0).abs() < 1e-12 && factors[1] < 0.1, "{factors:?}");
            let share = factors[1] * 50.0 / in_sample[0] as f64;
            assert!((share - 50.0 / 45_000.0).abs() < 2e-4, "{share}");
            found.push(kept);
        }
        assert_eq!(found[0], found[1]);
    }
}
