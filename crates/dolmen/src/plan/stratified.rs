//! Folds in which every class has its share.

use std::collections::BTreeMap;

use rand::Rng;
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Plan, check_folds, stream};
use crate::error::Result;
use crate::run::Run;

/// Each row is held out once; a class's rows are spread over the folds to within one row, and fold sizes differ by at
/// most one. A class with fewer rows than folds is missing from some folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Stratified {
    /// Number of folds: from 2 to the number of rows.
    #[schemars(range(min = 2))]
    pub folds: usize,
}

impl Default for Stratified {
    fn default() -> Self {
        Self { folds: 10 }
    }
}

impl Plan {
    /// Shuffled folds over which every class is spread evenly; `classes` holds each row's class.
    pub fn stratified(classes: &[u32], folds: usize, run: &Run) -> Result<Self> {
        check_folds("folds", folds, classes.len(), "rows")?;
        // Dealing goes on from class to class where the last one stopped: that keeps both classes and folds balanced.
        Ok(Self::dealt(classes.len(), Some(classes), folds, &mut stream(run).rng()))
    }
}

/// All rows in random order, or class after class and in random order within each. There are at most as many rows as `u32`
/// counts ([`check_folds`]).
pub(super) struct Deal<'a> {
    order: Vec<u32>,
    classes: Option<&'a [u32]>,
}

impl<'a> Deal<'a> {
    pub(super) fn new(rows: usize, classes: Option<&'a [u32]>, rng: &mut impl Rng) -> Self {
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.shuffle(rng);
        Self { order, classes }
    }

    /// Calls with the turn of each row, and the row; the calls themselves are in another order.
    pub(super) fn each(self, mut take: impl FnMut(usize, usize)) {
        let order = self.order.into_iter().map(|row| row as usize);
        let Some(classes) = self.classes else {
            return order.enumerate().for_each(|(turn, row)| take(turn, row));
        };
        // The next turn of each class: that takes less room than rows sorted by class.
        let mut turns = BTreeMap::new();
        classes.iter().for_each(|class| *turns.entry(*class).or_insert(0) += 1);
        let mut first = 0;
        for turn in turns.values_mut() {
            first += std::mem::replace(turn, first);
        }
        for row in order {
            let turn = turns.entry(classes[row]).or_default();
            take(*turn, row);
            *turn += 1;
        }
    }
}
