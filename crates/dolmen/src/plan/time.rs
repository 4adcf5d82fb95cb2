//! Blocks of time, held out one after another.
//!
//! Everything is counted in *moments*, the distinct values of the time column: rows of one moment always stay together.
//! Where each row has a time of its own, moments are rows. Only the order of the times counts; a user who thinks in days
//! rounds the time column to days.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::k_fold::consecutive;
use super::{Plan, Split, check_enough, check_folds};
use crate::error::{Error, Place, Result};

/// Blocks of time are held out one after another, and learned from is what lies before them, up to a gap.
///
/// Without a time column the rows are taken to be in order of time. Earlier moments than the first block are never held
/// out, except with [`Window::Around`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimeOrdered {
    /// Number of blocks held out.
    #[schemars(range(min = 1))]
    pub splits: usize,
    /// Which moments are learned from.
    pub window: Window,
    /// Moments learned from in a rolling window; if not given, as many as lie before the first block and its gap.
    #[schemars(range(min = 1))]
    pub train: Option<usize>,
    /// Moments in a held-out block; if not given, all moments divided by one more than the number of blocks, rounded down.
    /// The blocks end with the last moment.
    #[schemars(range(min = 1))]
    pub test: Option<usize>,
    /// Purge: moments between a held-out block and those learned from, left out because what is predicted there is
    /// not yet settled (the sum of the next five days) or not yet known.
    pub gap: usize,
    /// Where moments around the block are learned from, those left out after it, beyond the gap, because they still echo it.
    pub embargo: usize,
}

impl Default for TimeOrdered {
    fn default() -> Self {
        let window = Window::Expanding;
        Self { splits: 5, window, train: None, test: None, gap: 0, embargo: 0 }
    }
}

/// Which moments are learned from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// All before the held-out block and its gap.
    #[default]
    Expanding,
    /// The last ones before the held-out block and its gap, always equally many.
    Rolling,
    /// Those before and after the held-out block, but for the gap on both sides and the embargo after it: purged k-fold
    /// (LopezDePrado2018, section 7.4). Every row is held out once.
    Around,
}

/// One split in moments.
struct Block {
    test: Range<usize>,
    before: Range<usize>,
    after: Range<usize>,
}

impl Plan {
    /// Blocks of time held out one after another; `times` holds each row's time, in any order.
    pub fn time_ordered(times: &[f64], scheme: TimeOrdered) -> Result<Self> {
        let (moment_of_row, moments) = moments(times)?;
        scheme.plan(&moment_of_row, moments)
    }

    /// Without so many moments before what each split holds out.
    pub(super) fn spaced(self, times: &[f64], gap: usize) -> Result<Self> {
        if gap == 0 {
            return Ok(self);
        }
        let (moment_of_row, _) = moments(times)?;
        let rows = self.rows;
        let apart = |split: Split| {
            let first = split.test.iter().map(|&row| moment_of_row[row]).min().unwrap_or_default();
            let is_settled = |row: &usize| moment_of_row[*row] + gap < first;
            let train: Vec<usize> = split.iter_train(rows).filter(is_settled).collect();
            if train.is_empty() {
                let expected = "so few moments that some before them are learned from";
                return Err(Error::param("gap", expected, gap));
            }
            Ok(Split::explicit(rows, train, split.test))
        };
        Ok(Self::of(rows, self.splits.into_iter().map(apart).collect::<Result<_>>()?))
    }
}

impl TimeOrdered {
    /// The plan for rows that are in order of time.
    pub(super) fn plan_in_order(self, rows: usize) -> Result<Plan> {
        self.plan(&(0..rows).collect::<Vec<_>>(), rows)
    }

    fn plan(self, moment_of_row: &[usize], moments: usize) -> Result<Plan> {
        check_enough(moments, "distinct times")?;
        let blocks = match self.window {
            Window::Around => self.around(moments)?,
            Window::Expanding | Window::Rolling => self.forward(moments)?,
        };
        let rows = moment_of_row.len();
        let split = |block: Block| {
            let is_test = |row: &usize| block.test.contains(&moment_of_row[*row]);
            let is_train = |row: &usize| {
                let moment = moment_of_row[*row];
                block.before.contains(&moment) || block.after.contains(&moment)
            };
            let train = (0..rows).filter(is_train).collect();
            Split::explicit(rows, train, (0..rows).filter(is_test).collect())
        };
        Ok(Plan::of(rows, blocks.into_iter().map(split).collect()))
    }

    /// Held-out blocks at the end of the data, each predicted from what was before it.
    fn forward(self, moments: usize) -> Result<Vec<Block>> {
        if self.embargo > 0 {
            let expected =
                "0 unless window is around: nothing after the held-out rows is learned from";
            return Err(Error::param("embargo", expected, self.embargo));
        }
        if self.splits == 0 || self.splits >= moments {
            let expected = format!("at least 1 and less than the {moments} distinct times");
            return Err(Error::param("splits", expected, self.splits));
        }
        let test = self.test.unwrap_or(moments / (self.splits + 1));
        if test == 0 {
            return Err(Error::param("test", "at least 1", test));
        }
        let first =
            self.splits.checked_mul(test).and_then(|held_out| moments.checked_sub(held_out));
        let before =
            first.and_then(|first| first.checked_sub(self.gap)).filter(|&before| before > 0);
        let (Some(first), Some(before)) = (first, before) else {
            let expected = format!("less than the {moments} distinct times together");
            let got = format!("{} x {test} + {}", self.splits, self.gap);
            return Err(Error::param("splits x test + gap", expected, got));
        };
        let train = self.train_length(before)?;
        let block = |v: usize| {
            let start = first + v * test;
            let end = start - self.gap;
            let before = train.map_or(0, |train| end - train)..end;
            Block { test: start..start + test, before, after: 0..0 }
        };
        Ok((0..self.splits).map(block).collect())
    }

    /// The length of a rolling window, if it is one; `before` moments lie before the first block and its gap.
    fn train_length(self, before: usize) -> Result<Option<usize>> {
        match (self.window, self.train) {
            (Window::Rolling, None) => Ok(Some(before)),
            (Window::Rolling, Some(train)) if (1..=before).contains(&train) => Ok(Some(train)),
            (Window::Rolling, Some(train)) => {
                let expected = format!(
                    "at least 1 and at most the {before} distinct times before the first block and its gap"
                );
                Err(Error::param("train", expected, train))
            }
            (_, None) => Ok(None),
            (_, Some(train)) => {
                Err(Error::param("train", "left out unless window is rolling", train))
            }
        }
    }

    /// The moments cut into held-out blocks, each predicted from both sides.
    fn around(self, moments: usize) -> Result<Vec<Block>> {
        for (name, given) in [("train", self.train), ("test", self.test)] {
            if let Some(given) = given {
                return Err(Error::param(name, "left out if window is around", given));
            }
        }
        check_folds("splits", self.splits, moments, "distinct times")?;
        let after = self.gap.saturating_add(self.embargo);
        let block = |test: Range<usize>| {
            let before = 0..test.start.saturating_sub(self.gap);
            let after = test.end.saturating_add(after).min(moments)..moments;
            Block { test, before, after }
        };
        let blocks: Vec<_> = consecutive(moments, self.splits).map(block).collect();
        if blocks.iter().any(|block| block.before.is_empty() && block.after.is_empty()) {
            let expected =
                format!("so few of the {moments} distinct times that some are learned from");
            return Err(Error::param("gap + embargo", expected, after));
        }
        Ok(blocks)
    }
}

/// Each row's moment, numbered in order of time, and the number of moments.
pub(crate) fn moments(times: &[f64]) -> Result<(Vec<usize>, usize)> {
    if let Some(row) = times.iter().position(|time| time.is_nan()) {
        let error = Error::data(Place::row(row), "the time is missing");
        return Err(error.with_hint("drop the rows without a time"));
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_unstable_by(|&a, &b| times[a].total_cmp(&times[b]));
    let mut moment_of_row = vec![0; times.len()];
    let mut moments = 0;
    #[expect(clippy::float_cmp, reason = "rows of one moment have the very same time")]
    for together in order.chunk_by(|&a, &b| times[a] == times[b]) {
        for &row in together {
            moment_of_row[row] = moments;
        }
        moments += 1;
    }
    Ok((moment_of_row, moments))
}
