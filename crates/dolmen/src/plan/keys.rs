//! What is known of the rows beside their number, and the splits that suit it.

use std::collections::HashSet;

use super::time::moments;
use super::{HoldOut, Plan, PlanSpec, Portion, Split, check_enough};
use crate::error::{Error, Place, Result};
use crate::run::Run;

/// What is known of the rows besides their number; a scheme takes what it needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct RowKeys<'a> {
    /// Each row's class, or any other stratum.
    pub classes: Option<&'a [u32]>,
    /// Each row's group. A scheme that would tear groups apart refuses them.
    pub groups: Option<&'a [u32]>,
    /// Each row's time; only the order counts.
    pub times: Option<&'a [f64]>,
    /// Moments left out before what is held out, in splits that follow from the times.
    pub gap: usize,
    /// The fold in which each row is held out, for a plan that is given.
    pub folds: Option<&'a [u32]>,
    /// What the fold of each row is drawn by, for a plan that is hashed; its group or place if there is nothing else.
    pub lots: Option<&'a [u64]>,
}

/// The same, with values of its own.
#[derive(Debug, Clone, Default)]
pub struct OwnedKeys {
    classes: Option<Vec<u32>>,
    groups: Option<Vec<u32>>,
    times: Option<Vec<f64>>,
    gap: usize,
    folds: Option<Vec<u32>>,
    lots: Option<Vec<u64>>,
}

impl OwnedKeys {
    /// The keys of chosen rows, in that order.
    pub fn select(keys: &RowKeys<'_>, rows: &[usize]) -> Self {
        fn chosen<V: Copy>(all: Option<&[V]>, rows: &[usize]) -> Option<Vec<V>> {
            all.map(|all| rows.iter().map(|&i| all[i]).collect())
        }
        Self {
            classes: chosen(keys.classes, rows),
            groups: chosen(keys.groups, rows),
            times: chosen(keys.times, rows),
            gap: keys.gap,
            folds: chosen(keys.folds, rows),
            lots: chosen(keys.lots, rows),
        }
    }

    /// The borrowed form, which plans take.
    pub fn borrow(&self) -> RowKeys<'_> {
        RowKeys {
            classes: self.classes.as_deref(),
            groups: self.groups.as_deref(),
            times: self.times.as_deref(),
            gap: self.gap,
            folds: self.folds.as_deref(),
            lots: self.lots.as_deref(),
        }
    }
}

impl RowKeys<'_> {
    /// Whether the rows have keys that a split must honour: groups or times.
    pub fn bind(&self) -> bool {
        self.groups.is_some() || self.times.is_some()
    }

    /// What the hashed fold of a row is drawn by.
    pub(crate) fn lot(&self, row: usize) -> u64 {
        match (self.lots, self.groups) {
            (Some(lots), _) => lots[row],
            (None, Some(groups)) => u64::from(groups[row]),
            (None, None) => row as u64,
        }
    }

    /// The plan of `wanted` folds that suits the rows, or of as many as there can be; an error if there can be none.
    pub fn folds(&self, rows: usize, wanted: usize, run: &Run) -> Result<Plan> {
        let folds = PlanSpec::possible_folds(wanted, rows, self).max(self.fewest());
        PlanSpec::suited(folds, self).build(rows, self, run)
    }

    /// The most folds that there can be: one less than the distinct times (than the times that a block and the gap before it
    /// take, if there is a gap), else as many as groups or rows.
    pub(super) fn most_folds(&self, rows: usize) -> usize {
        match (self.times, self.groups) {
            (Some(times), _) => {
                let blocks = |moments: usize| (moments / (self.gap + 1)).saturating_sub(1);
                moments(times).map_or(0, |(_, moments)| blocks(moments))
            }
            (None, Some(groups)) => groups.iter().collect::<HashSet<_>>().len(),
            (None, None) => rows,
        }
    }

    /// One block of time is enough to learn from what was before it; otherwise each fold is to be predicted from others.
    fn fewest(&self) -> usize {
        if self.times.is_some() { 1 } else { 2 }
    }

    /// One split that holds out about this share of the rows: the latest if they have times, else whole groups, else every
    /// class its share. An error if one side would be empty.
    pub fn hold_out(&self, rows: usize, share: f64, run: &Run) -> Result<Split> {
        self.check(rows)?;
        check_enough(rows, "rows")?;
        let test = Portion::Rows(((share * rows as f64).round() as usize).clamp(1, rows - 1));
        let plan = match (self.times, self.groups) {
            (Some(times), groups) => {
                let plan = Plan::hold_out_last(times, test)?.spaced(times, self.gap)?;
                groups.map_or(Ok(plan.clone()), |groups| plan.without_shared_groups(groups))?
            }
            (None, Some(groups)) => Plan::hold_out_groups(groups, test, 1, run)?,
            (None, None) => {
                let scheme = HoldOut { test, stratify: self.classes.is_some() };
                scheme.plan(rows, self.classes, run)?
            }
        };
        plan.splits.into_iter().next().ok_or_else(|| Error::shape("splits of the plan", 1, 0))
    }
}

impl<'a> RowKeys<'a> {
    pub(super) fn check(&self, rows: usize) -> Result<()> {
        let lengths = [
            ("classes of the rows", self.classes.map(<[u32]>::len)),
            ("groups of the rows", self.groups.map(<[u32]>::len)),
            ("times of the rows", self.times.map(<[f64]>::len)),
            ("folds of the rows", self.folds.map(<[u32]>::len)),
            ("lots of the rows", self.lots.map(<[u64]>::len)),
        ];
        for (what, length) in lengths {
            if let Some(length) = length.filter(|&length| length != rows) {
                return Err(Error::shape(what, rows, length));
            }
        }
        Ok(())
    }

    pub(super) fn classes(&self) -> Result<&'a [u32]> {
        self.classes.ok_or_else(|| {
            let error = Error::data(Place::default(), "a stratified plan needs the rows' classes");
            error.with_hint("choose a plan that is not stratified, or a target of classes")
        })
    }

    pub(super) fn groups(&self) -> Result<&'a [u32]> {
        self.groups.ok_or_else(|| {
            let error = Error::data(Place::default(), "a grouped plan needs the rows' groups");
            error.with_hint("name the column of groups, or choose a plan that is not grouped")
        })
    }

    /// The classes if they are asked for.
    pub(super) fn strata(&self, stratify: bool) -> Result<Option<&'a [u32]>> {
        stratify.then(|| self.classes()).transpose()
    }
}

impl Plan {
    /// The plan without the training rows whose group is predicted in the same split: groups that span times are never on
    /// both sides. Splits with nothing left to learn from go.
    pub(crate) fn without_shared_groups(self, groups: &[u32]) -> Result<Self> {
        let rows = self.rows;
        let keep = |split: Split| {
            let predicted: HashSet<u32> = split.test.iter().map(|&i| groups[i]).collect();
            let train = split.train(rows);
            let apart: Vec<usize> =
                train.iter().copied().filter(|&i| !predicted.contains(&groups[i])).collect();
            (!apart.is_empty()).then(|| Split::explicit(rows, apart, split.test))
        };
        let splits: Vec<Split> = self.splits.into_iter().filter_map(keep).collect();
        if splits.is_empty() {
            let problem = "every group has rows at all times, so none is left to learn from";
            let cure = "name only the column of times or that of groups";
            return Err(Error::data(Place::default(), problem).with_hint(cure));
        }
        Ok(Self::of(rows, splits))
    }
}
