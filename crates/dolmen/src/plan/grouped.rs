//! Folds that keep groups together: the rows of one patient, one speaker, one batch are never on both sides of a split.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Plan, check_folds, stream};
use crate::error::{Error, Result};
use crate::run::Run;

/// Each row is held out once, with all rows of its group. The largest groups are dealt first, each to the fold that is
/// smallest so far; groups of one size in random order. As many folds as groups leaves one group out at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grouped {
    /// Number of folds: from 2 to the number of groups.
    #[schemars(range(min = 2))]
    pub folds: usize,
}

impl Default for Grouped {
    fn default() -> Self {
        Self { folds: 10 }
    }
}

/// Each row is held out once, with all rows of its group; each group, the largest first, goes to the fold that lacks its
/// classes most. Classes are spread as evenly as the groups allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StratifiedGrouped {
    /// Number of folds: from 2 to the number of groups.
    #[schemars(range(min = 2))]
    pub folds: usize,
}

impl Default for StratifiedGrouped {
    fn default() -> Self {
        Self { folds: 10 }
    }
}

impl Plan {
    /// Folds that keep groups together; `groups` holds each row's group.
    pub fn grouped(groups: &[u32], folds: usize, run: &Run) -> Result<Self> {
        let groups = Numbered::new(groups);
        check_folds("folds", folds, groups.sizes.len(), "groups")?;
        let empty = (0..folds as u32).map(|fold| Reverse((0, fold)));
        let mut heap: BinaryHeap<_> = empty.collect();
        let smallest = |group: usize| fill_smallest(&mut heap, groups.sizes[group]);
        Ok(groups.assigned(folds, run, smallest))
    }

    /// Folds that keep groups together and spread classes as evenly as these allow.
    pub fn stratified_grouped(
        classes: &[u32],
        groups: &[u32],
        folds: usize,
        run: &Run,
    ) -> Result<Self> {
        if groups.len() != classes.len() {
            let (expected, found) = (classes.len(), groups.len());
            return Err(Error::shape("groups of the rows", expected, found));
        }
        let (classes, groups) = (Numbered::new(classes), Numbered::new(groups));
        check_folds("folds", folds, groups.sizes.len(), "groups")?;
        let contents = groups.contents(&classes);
        let mut crowd = Crowd::new(folds, &classes.sizes);
        let least_crowded = |group: usize| crowd.fill_least_crowded(&contents[group]);
        Ok(groups.assigned(folds, run, least_crowded))
    }
}

/// Adds so many rows to the smallest fold, the first of several, and says which it is. There is at least one fold.
fn fill_smallest(heap: &mut BinaryHeap<Reverse<(usize, u32)>>, rows: usize) -> u32 {
    let mut top = heap.peek_mut().expect("there is a fold");
    let Reverse((size, fold)) = &mut *top;
    *size += rows;
    *fold
}

/// How many rows of each class are in each fold so far.
struct Crowd<'a> {
    class_sizes: &'a [usize],
    /// Fold after fold, the rows of each class.
    counts: Vec<usize>,
    fold_sizes: Vec<usize>,
}

impl<'a> Crowd<'a> {
    fn new(folds: usize, class_sizes: &'a [usize]) -> Self {
        let counts = vec![0; folds * class_sizes.len()];
        Self { class_sizes, counts, fold_sizes: vec![0; folds] }
    }

    /// Adds a group, given as (class, rows) pairs, to the fold where it adds least to
    ///
    /// `sum over folds f and classes c of n_fc^2 / n_c`,
    ///
    /// with `n_fc` the rows of class c in fold f and `n_c` those in all folds: that sum is least when every class is
    /// spread evenly. Of several such folds it takes the smallest.
    fn fill_least_crowded(&mut self, group: &[(usize, usize)]) -> u32 {
        let folds = 0..self.fold_sizes.len();
        let crowded = folds.map(|fold| (self.meeting(group, fold), self.fold_sizes[fold], fold));
        let least = crowded.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (_, _, fold) = least.expect("there is a fold");
        for &(class, rows) in group {
            self.counts[fold * self.class_sizes.len() + class] += rows;
            self.fold_sizes[fold] += rows;
        }
        fold as u32
    }

    /// What the group would add to the sum, less what it adds in any fold, halved: `sum over c of g_c n_fc / n_c`.
    fn meeting(&self, group: &[(usize, usize)], fold: usize) -> f64 {
        let counts = &self.counts[fold * self.class_sizes.len()..];
        let term = |&(class, rows): &(usize, usize)| {
            rows as f64 * counts[class] as f64 / self.class_sizes[class] as f64
        };
        group.iter().map(term).sum()
    }
}

/// Codes renumbered 0, 1, 2, .. in the order in which they first appear, so that only who belongs together matters.
struct Numbered {
    of_row: Vec<u32>,
    sizes: Vec<usize>,
}

impl Numbered {
    fn new(codes: &[u32]) -> Self {
        let mut numbers = HashMap::new();
        let mut sizes = Vec::new();
        let number = |code: &u32| {
            let number = *numbers.entry(*code).or_insert(sizes.len() as u32);
            match sizes.get_mut(number as usize) {
                Some(size) => *size += 1,
                None => sizes.push(1),
            }
            number
        };
        let of_row = codes.iter().map(number).collect();
        Self { of_row, sizes }
    }

    /// The classes in each group, with their numbers of rows.
    fn contents(&self, classes: &Self) -> Vec<Vec<(usize, usize)>> {
        let mut pairs: Vec<_> = self.of_row.iter().zip(&classes.of_row).collect();
        pairs.sort_unstable();
        let mut contents = vec![Vec::new(); self.sizes.len()];
        for same in pairs.chunk_by(|a, b| a == b) {
            let (&group, &class) = same[0];
            contents[group as usize].push((class as usize, same.len()));
        }
        contents
    }

    /// The partition in which each group, the largest first and ties in random order, goes to the fold `choose` says.
    fn assigned(&self, folds: usize, run: &Run, mut choose: impl FnMut(usize) -> u32) -> Plan {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.shuffle(&mut stream(run).rng());
        order.sort_by_key(|&group| Reverse(self.sizes[group]));
        let mut fold_of_group = vec![0; order.len()];
        for group in order {
            fold_of_group[group] = choose(group);
        }
        let fold_of_row: Vec<u32> =
            self.of_row.iter().map(|&group| fold_of_group[group as usize]).collect();
        Plan::partition(&fold_of_row, folds)
    }
}
