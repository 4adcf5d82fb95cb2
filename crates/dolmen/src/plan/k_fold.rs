//! Folds of equal size: k-fold cross-validation and its extreme, leave-one-out.

use std::ops::Range;

use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::stratified::Deal;
use super::{Plan, Split, check_folds, stream};
use crate::error::Result;
use crate::run::Run;

/// Each row is held out once, in one of `folds` folds whose sizes differ by at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KFold {
    /// Number of folds: from 2 to the number of rows.
    #[schemars(range(min = 2))]
    pub folds: usize,
    /// Whether rows are dealt to folds at random; otherwise the folds are consecutive stretches of rows.
    pub shuffle: bool,
}

impl Default for KFold {
    fn default() -> Self {
        Self { folds: 10, shuffle: true }
    }
}

/// Each row is held out by itself: as many splits as rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaveOneOut {}

impl Plan {
    /// Shuffled folds whose sizes differ by at most one.
    pub fn k_fold(rows: usize, folds: usize, run: &Run) -> Result<Self> {
        KFold { folds, shuffle: true }.plan(rows, run)
    }

    /// As many splits as rows, each predicting one.
    pub fn leave_one_out(rows: usize) -> Result<Self> {
        check_folds("folds", rows, rows, "rows")?;
        Ok(Self::of(rows, (0..rows).map(|row| Split::others(vec![row])).collect()))
    }

    /// Deals the rows to folds as one deals cards: any stretch of their order, such as the rows of one class, is spread over
    /// the folds to within one row.
    pub(super) fn dealt(
        rows: usize,
        classes: Option<&[u32]>,
        folds: usize,
        rng: &mut impl Rng,
    ) -> Self {
        let mut fold_of_row = vec![0; rows];
        let deal = Deal::new(rows, classes, rng);
        deal.each(|turn, row| fold_of_row[row] = (turn % folds) as u32);
        Self::partition(&fold_of_row, folds)
    }
}

impl KFold {
    pub(super) fn plan(self, rows: usize, run: &Run) -> Result<Plan> {
        check_folds("folds", self.folds, rows, "rows")?;
        if self.shuffle {
            return Ok(Plan::dealt(rows, None, self.folds, &mut stream(run).rng()));
        }
        let splits = consecutive(rows, self.folds).map(|fold| Split::others(fold.collect()));
        Ok(Plan::of(rows, splits.collect()))
    }
}

/// Consecutive stretches of `count` things, the longer ones first; lengths differ by at most one.
pub(super) fn consecutive(count: usize, stretches: usize) -> impl Iterator<Item = Range<usize>> {
    let (length, longer) = (count / stretches, count % stretches);
    let start = move |v: usize| v * length + v.min(longer);
    (0..stretches).map(move |v| start(v)..start(v + 1))
}
