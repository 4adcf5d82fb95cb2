//! Plans: which rows are learned from and which are predicted, split by split.
//!
//! | scheme | rows held out | rows learned from |
//! | --- | --- | --- |
//! | [`KFold`] | each row once, in folds of equal size | all others |
//! | [`Stratified`] | the same, every class spread evenly over the folds | all others |
//! | [`Grouped`], [`StratifiedGrouped`] | the same, a group's rows always in one fold | all others |
//! | [`Hashed`] | each row once, in a fold drawn by its number or group alone | all others |
//! | [`LeaveOneOut`] | one row at a time | all others |
//! | [`Repeated`] | any scheme that draws at random, several times | |
//! | [`TimeOrdered`] | blocks of time, one after another | what came before (or around), up to a gap |
//! | [`HoldOut`] | one draw | all others |
//! | [`Subsample`] | what a draw without replacement leaves | the draw |
//! | [`Given`] | each row once, in the fold it brings with it | all others |
//! | [`Bootstrap`] | what a draw with replacement leaves: the out-of-bag rows | the draw, rows repeated |
//!
//! A scheme is its parameter struct; [`PlanSpec`] is the choice among them, as it stands in a file. [`Plan`] has a
//! constructor for each, and takes folds or splits made elsewhere ([`Plan::from_folds`], [`Plan::from_splits`]).

mod fingerprint;
mod folds;
mod given;
mod grouped;
mod hashed;
mod hold_out;
mod k_fold;
mod keys;
pub(crate) mod request;
mod resample;
mod spec;
mod stratified;
#[cfg(test)]
mod tests;
mod time;

use std::borrow::Cow;

pub(crate) use fingerprint::Digest;
pub(crate) use folds::Folds;
pub use given::Given;
pub use grouped::{Grouped, StratifiedGrouped};
pub use hashed::Hashed;
pub(crate) use hashed::Lot;
pub use k_fold::{KFold, LeaveOneOut};
pub use keys::{OwnedKeys, RowKeys};
pub use request::PlanRequest;
pub use resample::{Bootstrap, HoldOut, Portion, Subsample};
pub use spec::{PlanSpec, Repeated};
pub use stratified::Stratified;
pub(crate) use time::moments;
pub use time::{TimeOrdered, Window};

use crate::error::{Error, Place, Result};
use crate::run::Run;

/// One split: the rows predicted, and the rows learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    test: Vec<usize>,
    train: Train,
}

/// The rows learned from. Most splits learn from all other rows; storing those would cost V times the table's rows.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Train {
    /// Every row that is not predicted.
    Others,
    /// These rows, and not just all others once; bootstrap samples hold a row several times.
    Rows(Vec<usize>),
}

impl Split {
    /// Predicts these rows, in ascending order, from all others.
    fn others(test: Vec<usize>) -> Self {
        Self { test, train: Train::Others }
    }

    /// Predicts the rows of `test` from those of `train`: both ascending, and no row in both.
    ///
    /// All other rows, once each, become [`Train::Others`], so that equal splits are equal however they were made.
    fn explicit(rows: usize, train: Vec<usize>, test: Vec<usize>) -> Self {
        let all_others = train.len() + test.len() == rows && train.is_sorted_by(|a, b| a < b);
        Self { test, train: if all_others { Train::Others } else { Train::Rows(train) } }
    }

    /// The rows predicted, ascending.
    pub fn test(&self) -> &[usize] {
        &self.test
    }

    /// The rows learned from, ascending; `rows` is the plan's number of rows.
    pub fn train(&self, rows: usize) -> Cow<'_, [usize]> {
        match &self.train {
            Train::Rows(train) => Cow::Borrowed(train),
            Train::Others => {
                let mut train = Vec::with_capacity(rows.saturating_sub(self.test.len()));
                train.extend(self.iter_train(rows));
                Cow::Owned(train)
            }
        }
    }

    /// The same one after the other, without a list of them.
    pub(crate) fn iter_train(&self, rows: usize) -> impl Iterator<Item = usize> {
        let (listed, others): (&[usize], _) = match &self.train {
            Train::Rows(train) => (train, 0..0),
            Train::Others => (&[], 0..rows),
        };
        // Up to each row that is held out, and from the last one to the end.
        let ends = self.test.iter().copied().chain([others.end]).filter(move |_| others.end > 0);
        let starts = std::iter::once(0).chain(self.test.iter().map(|held_out| held_out + 1));
        listed.iter().copied().chain(starts.zip(ends).flat_map(|(start, end)| start..end))
    }

    /// Whether the rows learned from are all those not predicted, once each: what work shared between folds relies on.
    pub fn learns_from_all_others(&self) -> bool {
        self.train == Train::Others
    }
}

/// How the rows of a table are split, again and again, into rows learned from and rows predicted.
///
/// Deterministic from its parameters and seed. The [fingerprint](Plan::fingerprint) proves that two out-of-sample
/// matrices were made on the same splits.
///
/// ```
/// use dolmen::run::Run;
/// use dolmen::plan::Plan;
///
/// let plan = Plan::k_fold(100, 10, &Run::with_threads(0, 1)?)?;
/// assert_eq!(plan.splits().len(), 10);
/// assert_eq!(plan.splits()[3].test().len(), 10);
/// assert!(plan.is_partition());
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    rows: usize,
    splits: Vec<Split>,
    /// The number of the first split, in the plan that this is a part of.
    first: usize,
}

impl Plan {
    fn of(rows: usize, splits: Vec<Split>) -> Self {
        Self { rows, splits, first: 0 }
    }

    /// Some of the splits, which keep their numbers: what is drawn for them is the same in the part as in the whole.
    #[must_use]
    pub(crate) fn part(&self, splits: std::ops::Range<usize>) -> Option<Self> {
        let first = self.first + splits.start;
        Some(Self { rows: self.rows, splits: self.splits.get(splits)?.to_vec(), first })
    }

    /// The number of a split in the plan that this is a part of.
    pub(crate) fn number(&self, split: usize) -> u64 {
        (self.first + split) as u64
    }

    /// Number of rows that are split.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The splits, in order.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// How often each row is predicted: 0 for rows never held out.
    pub fn coverage(&self) -> Vec<u32> {
        let mut coverage = vec![0; self.rows];
        for split in &self.splits {
            split.test.iter().for_each(|&i| coverage[i] += 1);
        }
        coverage
    }

    /// The rows that no split predicts, ascending: the first stretch of a time-ordered plan, rows in every bootstrap.
    pub fn never_held_out(&self) -> Vec<usize> {
        let coverage = self.coverage();
        (0..self.rows).filter(|&i| coverage[i] == 0).collect()
    }

    /// Whether the plan is a partition of the rows into folds: each row is predicted exactly once, and each split learns
    /// from all rows it does not predict.
    pub fn is_partition(&self) -> bool {
        self.splits.iter().all(Split::learns_from_all_others)
            && self.coverage().iter().all(|&times| times == 1)
    }

    /// The split that predicts each row, if the plan [is a partition](Plan::is_partition).
    pub fn fold_of_row(&self) -> Option<Vec<u32>> {
        self.is_partition().then(|| {
            let mut fold_of_row = vec![0; self.rows];
            for (fold, split) in (0..).zip(&self.splits) {
                split.test.iter().for_each(|&i| fold_of_row[i] = fold);
            }
            fold_of_row
        })
    }

    /// The pairs of splits, (0, 1), (0, 2), (1, 2), (0, 3), ..: those of the first splits first.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        (0..self.splits.len()).flat_map(|v| (0..v).map(move |w| (w, v))).collect()
    }

    /// The plan with a split for each of its [pairs](Plan::pairs) of splits: it predicts the rows of both from all rows in
    /// neither.
    #[must_use]
    pub fn of_pairs(&self) -> Self {
        let both = |(first, second): (usize, usize)| {
            let mut test = [self.splits[first].test(), self.splits[second].test()].concat();
            test.sort_unstable();
            test.dedup();
            Split::others(test)
        };
        Self::of(self.rows, self.pairs().into_iter().map(both).collect())
    }

    /// Whether no split learns from rows that it or a later split predicts, and none is predicted twice: then what is
    /// learned from the predictions of earlier splits can be tried on a later one without a further fit.
    pub fn is_forward(&self) -> bool {
        // Where each row is predicted; a row not predicted is older than all.
        let mut predicted = vec![None; self.rows];
        for (number, split) in self.splits.iter().enumerate() {
            for &i in &split.test {
                if predicted[i].replace(number).is_some() {
                    return false;
                }
            }
        }
        let is_earlier = |(number, split): (usize, &Split)| {
            split.train(self.rows).iter().all(|&i| predicted[i].is_none_or(|at| at < number))
        };
        self.splits.iter().enumerate().all(is_earlier)
    }

    /// Whether no row is predicted twice: then the rows predicted by each split are folds over the rows covered.
    pub fn predicts_once(&self) -> bool {
        self.coverage().iter().all(|&times| times <= 1)
    }

    /// Groups dealt in turn to `folds` folds, in the order in which they first appear; a fold may be empty.
    pub fn groups_in_turn(groups: &[u32], folds: usize) -> Self {
        let mut numbers = std::collections::HashMap::new();
        let fold = |group: &u32| {
            let next = numbers.len();
            (*numbers.entry(*group).or_insert(next) % folds) as u32
        };
        let fold_of_row: Vec<u32> = groups.iter().map(fold).collect();
        Self::partition(&fold_of_row, folds)
    }

    /// Rows dealt in turn to `folds` folds, without shuffling: row i is predicted in split i mod `folds`.
    ///
    /// Checks nothing: folds beyond the number of rows are empty.
    pub fn in_turn(rows: usize, folds: usize) -> Self {
        let fold = |v| Split::others((v..rows).step_by(folds).collect());
        Self::of(rows, (0..folds).map(fold).collect())
    }

    /// The partition with these folds, numbered below `folds`.
    fn partition(fold_of_row: &[u32], folds: usize) -> Self {
        let mut sizes = vec![0; folds];
        for &fold in fold_of_row {
            sizes[fold as usize] += 1;
        }
        let mut tests: Vec<_> = sizes.into_iter().map(Vec::with_capacity).collect();
        for (row, &fold) in fold_of_row.iter().enumerate() {
            tests[fold as usize].push(row);
        }
        Self::of(fold_of_row.len(), tests.into_iter().map(Split::others).collect())
    }
}

/// The part of a run that plans draw from: a stream of its own ("plan" in ASCII), so that a learner started from the
/// same run does not see the same numbers. A number instead of a name, which would change every fold and all that is on record.
fn stream(run: &Run) -> Run {
    run.child(0x706c_616e)
}

/// More repeats than this are a slip of the keyboard, and would end in a full memory rather than an error.
const MOST_REPEATS: usize = 1_000_000;

/// Refuses a number of repetitions that makes no plan.
fn check_repeats(repeats: usize) -> Result<()> {
    if (1..=MOST_REPEATS).contains(&repeats) {
        return Ok(());
    }
    Err(Error::param("repeats", format!("between 1 and {MOST_REPEATS}"), repeats))
}

/// Refuses data that cannot be split at all: both sides need something, and lists of rows have four bytes for each.
fn check_enough(count: usize, units: &str) -> Result<()> {
    if u32::try_from(count).is_err() {
        return Err(Error::shape(format!("{units}, at most"), u32::MAX as usize, count));
    }
    if count >= 2 {
        return Ok(());
    }
    let problem = format!("a split needs at least 2 {units}, and there are {count}");
    Err(Error::data(Place::default(), problem).with_hint("use more data"))
}

/// Refuses folds that would leave a side empty; `units` says what is dealt to folds, and `count` how many there are.
fn check_folds(name: &str, folds: usize, count: usize, units: &str) -> Result<()> {
    check_enough(count, units)?;
    if !(2..=count).contains(&folds) {
        let expected = format!("at least 2 and at most the {count} {units}");
        return Err(Error::param(name, expected, folds));
    }
    Ok(())
}
