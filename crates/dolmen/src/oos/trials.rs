//! Trials of combiners: rows held out from the members and from the combiner alike.
//!
//! A combiner has choices of its own (a penalty, a method), and a stack claims to be better than its members; both need
//! rows that neither the members nor the combiner have seen [Himmetoglu2019]. For each fold v, the members fitted without
//! the folds {v, w} say what the combiner learns from about every other fold w (X_OOS), and the members fitted without
//! fold v what it is tried on (X_HO). A pair {v, w} serves both its folds, so V(V-1)/2 + V fits per member make it all.
//!
//! In order of time no further fits are needed: the members that predicted the earlier blocks have not seen a later one, so
//! the combiner learned from the earlier blocks is tried on the next. The first block is learned from only.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::collect::{none_left, stop, streams, tolerated};
use super::{OnFailure, OutOfSample};
use crate::error::{Error, Result};
use crate::learner::{Block, Failure, is_unusable};
use crate::learner::{Learner, Sample};
use crate::memory;
use crate::plan::{Plan, PlanSpec, RowKeys, Split, TimeOrdered};
use crate::run::Run;
use crate::task::Task;

/// Folds to which the rows of a matrix are dealt where its plan has none.
const DEALT: usize = 5;

/// How the rows that a combiner is tried on were held out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// From the combiner: members that said what it learned from may have seen them, which flatters a little.
    Matrix,
    /// From combiner and members alike, by fits without pairs of folds.
    Nested,
    /// In order of time: the combiner learned from earlier rows. Members that were fitted in order of time have not seen them
    /// either.
    Forward,
}

/// What a combiner learns from, and rows to try it on.
#[derive(Debug, Clone)]
pub struct Trial<T: Task> {
    /// X_OOS: what the members said about the rows of all other folds, or of all earlier ones.
    pub learned_from: OutOfSample<T>,
    /// X_HO: what they said about the rows of this fold.
    pub held_out: OutOfSample<T>,
}

/// The trials, one per fold, and the matrix of all rows.
#[derive(Debug, Clone)]
pub struct Trials<T: Task> {
    /// What every member said about rows it had not seen: the rows held out, fold by fold, in their order in the table.
    pub matrix: OutOfSample<T>,
    folds: Vec<Fold>,
    kind: CheckKind,
    by_plan: bool,
}

/// The rows of one trial, as they stand in the matrix.
#[derive(Debug, Clone)]
pub(crate) struct Fold {
    pub(crate) learned_from: Vec<usize>,
    pub(crate) held_out: Vec<usize>,
}

impl<T: Task> OutOfSample<T> {
    /// Folds of a matrix that no plan is known of ([`Trials::dealt`]), and how they hold rows out.
    pub(crate) fn dealt(&self, folds: usize) -> (Vec<Fold>, CheckKind) {
        let rows = self.rows();
        let (plan, kind) = match (self.times(), self.groups()) {
            (Some(times), groups) => {
                (in_blocks(times, self.gap, groups, folds), CheckKind::Forward)
            }
            (None, Some(groups)) => (Some(Plan::groups_in_turn(groups, folds)), CheckKind::Matrix),
            (None, None) => (Some(Plan::in_turn(rows, folds.min(rows))), CheckKind::Matrix),
        };
        let fold = |split: &Split| Fold {
            learned_from: split.train(rows).into_owned(),
            held_out: split.test().to_vec(),
        };
        let mut folds: Vec<Fold> =
            plan.iter().flat_map(|plan| plan.splits().iter().map(fold)).collect();
        // Of fewer groups than folds some are empty, and of one group nothing is left to learn from.
        folds.retain(|fold| !(fold.held_out.is_empty() || fold.learned_from.is_empty()));
        (folds, kind)
    }
}

impl<T: Task> Trials<T> {
    /// The trials of a plan that is a partition into at least three folds, filled in parallel on the run's pool; `matrix`
    /// is what the same learners said on the plan itself. Each learner is asked once for all pairs of folds, so that it can
    /// share work between them; a member whose predictions without pairs are in the matrix is not asked again.
    pub fn nested(
        mut matrix: OutOfSample<T>,
        learners: &[&dyn Learner<T>],
        sample: &Sample<'_, T>,
        plan: &Plan,
        on_failure: OnFailure,
        run: &Run,
    ) -> Result<Self> {
        let folds = plan.splits().len();
        let fold_of_row = plan.fold_of_row().filter(|_| folds > 2).ok_or_else(|| {
            let expected = "a partition of the rows into at least 3 folds for a nested check";
            Error::param("the plan", expected, format!("one of {folds} splits"))
        })?;
        let cells = [matrix.members.len(), folds, matrix.rows(), matrix.width, size_of::<f64>()];
        memory::claim(memory::size(&cells), "the predictions without pairs of folds")?;
        // Columns of a file that are not one for each fold are of no use.
        matrix.without.iter_mut().filter(|own| own.len() != folds).for_each(Vec::clear);
        let pairs = Pairs { plan: plan.of_pairs(), names: plan.pairs(), fold_of_row, folds };
        let asked: Vec<bool> = learners.iter().map(|l| matrix.lacks_pairs(*l)).collect();
        let streams = streams(learners, run);
        let filled: Vec<Option<Vec<Without>>> = run.try_map(learners.len(), |k| {
            let fill = || pairs.fill(learners[k], &matrix, sample, on_failure, &streams[k]);
            asked[k].then(fill).transpose()
        })?;
        for (learner, filled) in learners.iter().zip(filled) {
            for (name, without) in learner.members().into_iter().zip(filled.unwrap_or_default()) {
                matrix.take_pairs(name, without, on_failure)?;
            }
        }
        if matrix.members().is_empty() {
            return Err(none_left(matrix.failures()));
        }
        let folds = all_other_folds(&matrix, plan);
        Ok(Self { folds, matrix, kind: CheckKind::Nested, by_plan: true })
    }

    /// A matrix without trials.
    pub fn none(matrix: OutOfSample<T>) -> Self {
        Self { folds: Vec::new(), matrix, kind: CheckKind::Matrix, by_plan: false }
    }

    /// Trials of a matrix alone, which cost no further fits.
    ///
    /// Where each split of the plan learned only from what no later split predicts (time-ordered plans), the combiner learns
    /// from the earlier splits, without the groups of the next one and the moments before it that its members did not see, and is tried on that. Otherwise the
    /// folds are those of the plan: the combiner learns from the rows that the split's members learn from, so that it keeps groups together and the plan's gaps, and
    /// the members that said what it learns from did see the rows it is tried on. Of a plan that predicts rows several times they are [dealt](Trials::dealt).
    pub fn of_matrix(matrix: OutOfSample<T>, plan: &Plan) -> Self {
        if plan.splits().len() < 2 || !plan.predicts_once() {
            return Self::dealt(matrix, DEALT);
        }
        if !plan.is_forward() {
            let mut folds = all_other_folds(&matrix, plan);
            folds.retain(|fold| !fold.learned_from.is_empty());
            let by_plan = folds.len() == plan.splits().len();
            return Self { folds, matrix, kind: CheckKind::Matrix, by_plan };
        }
        let mut earlier: Vec<usize> = Vec::new();
        let mut folds = Vec::new();
        for split in plan.splits() {
            let held_out = places(&matrix, split.test());
            let settled = not_later(&matrix, &earlier, split, plan.rows());
            let learned_from = of_other_groups(&matrix, &settled, &held_out);
            if !learned_from.is_empty() {
                folds.push(Fold { learned_from, held_out: held_out.clone() });
            }
            earlier.extend(held_out);
            earlier.sort_unstable();
        }
        Self { folds, matrix, kind: CheckKind::Forward, by_plan: false }
    }

    /// Trials of a matrix that no plan is known of: blocks of time, one after another, if its rows have times; else the rows
    /// are dealt in turn to so many folds, whole groups if they have groups.
    pub fn dealt(matrix: OutOfSample<T>, folds: usize) -> Self {
        let (folds, kind) = matrix.dealt(folds);
        Self { folds, matrix, kind, by_plan: false }
    }

    /// Number of trials.
    pub fn len(&self) -> usize {
        self.folds.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// How the rows tried on were held out.
    pub fn kind(&self) -> CheckKind {
        self.kind
    }

    /// Whether the folds are the splits by which the matrix was made.
    pub fn by_plan(&self) -> bool {
        self.by_plan
    }

    /// The rows that a trial holds out, as they stand in the matrix.
    pub fn held_out(&self, trial: usize) -> &[usize] {
        &self.folds[trial].held_out
    }

    /// One trial. It is made when it is asked for, because all of them are as large as the matrix times their number.
    pub fn trial(&self, trial: usize) -> Trial<T> {
        let Fold { learned_from, held_out } = &self.folds[trial];
        let matrix = &self.matrix;
        let learned_from = if self.kind == CheckKind::Nested {
            matrix.select_of(learned_from, |m| &matrix.without[m][trial])
        } else {
            matrix.select(learned_from)
        };
        Trial { learned_from, held_out: matrix.select(held_out) }
    }

    /// Takes in the members of other trials of the same rows and splits.
    pub(crate) fn append(&mut self, other: Self) {
        self.matrix.append(other.matrix);
    }

    /// Goes on without a member that failed elsewhere.
    pub(crate) fn drop_member(&mut self, name: &str, failure: &Failure) {
        self.matrix.drop_member(name, failure);
    }
}

/// Where rows of the table stand in the matrix.
fn places<T: Task>(matrix: &OutOfSample<T>, rows: &[usize]) -> Vec<usize> {
    rows.iter().map(|row| matrix.rows.partition_point(|r| r < row)).collect()
}

/// Those rows that are of other groups than the ones held out.
fn of_other_groups<T: Task>(
    matrix: &OutOfSample<T>,
    rows: &[usize],
    held_out: &[usize],
) -> Vec<usize> {
    let Some(groups) = matrix.groups() else { return rows.to_vec() };
    let tried: HashSet<u32> = held_out.iter().map(|&i| groups[i]).collect();
    rows.iter().copied().filter(|&i| !tried.contains(&groups[i])).collect()
}

/// Those rows that are no later than the last of them that a split's members were fitted to: between that and what the split
/// holds out lies the plan's gap. Rows without times stand in order of time.
fn not_later<T: Task>(
    matrix: &OutOfSample<T>,
    rows: &[usize],
    split: &Split,
    table_rows: usize,
) -> Vec<usize> {
    let time = |i: usize| matrix.times().map_or(matrix.rows[i] as f64, |times| times[i]);
    let seen: HashSet<usize> = split.iter_train(table_rows).collect();
    let is_seen = |i: &usize| seen.contains(&matrix.rows[*i]);
    let last = rows.iter().copied().filter(is_seen).map(time).fold(f64::NEG_INFINITY, f64::max);
    rows.iter().copied().filter(|&i| time(i) <= last).collect()
}

/// For each split the rows that it holds out, and those that others do and it learns from.
fn all_other_folds<T: Task>(matrix: &OutOfSample<T>, plan: &Plan) -> Vec<Fold> {
    let fold = |split: &Split| {
        let mut is_seen = vec![false; plan.rows()];
        split.iter_train(plan.rows()).for_each(|row| is_seen[row] = true);
        let learned_from = (0..matrix.rows()).filter(|&i| is_seen[matrix.rows[i]]).collect();
        Fold { learned_from, held_out: places(matrix, split.test()) }
    };
    plan.splits().iter().map(fold).collect()
}

/// Blocks of time; `None` if there is nothing before the first.
fn in_blocks(times: &[f64], gap: usize, groups: Option<&[u32]>, folds: usize) -> Option<Plan> {
    let keys = RowKeys { times: Some(times), groups, gap, ..RowKeys::default() };
    let splits = PlanSpec::possible_folds(folds, times.len(), &keys);
    let scheme = TimeOrdered { splits, gap, ..TimeOrdered::default() };
    let plan = Plan::time_ordered(times, scheme).ok()?;
    match groups {
        Some(groups) => plan.without_shared_groups(groups).ok(),
        None => Some(plan),
    }
}

/// One member without pairs of folds: for each fold v a column over all rows.
struct Without {
    columns: Vec<Vec<f64>>,
    failure: Option<Failure>,
}

/// All pairs of folds as one plan.
struct Pairs {
    plan: Plan,
    /// The folds of each split.
    names: Vec<(usize, usize)>,
    fold_of_row: Vec<u32>,
    folds: usize,
}

impl Pairs {
    /// Fits without every pair of folds: one column per fold, for each member.
    fn fill<T: Task>(
        &self,
        learner: &dyn Learner<T>,
        matrix: &OutOfSample<T>,
        sample: &Sample<'_, T>,
        on_failure: OnFailure,
        run: &Run,
    ) -> Result<Vec<Without>> {
        let members = learner.members();
        let block = learner.out_of_sample(sample, &self.plan, run);
        let block = tolerated(block, members.len(), &self.plan, on_failure)?;
        Ok((0..members.len()).map(|m| self.member(m, &members[m], &block, matrix)).collect())
    }

    fn member<T: Task>(
        &self,
        m: usize,
        name: &str,
        block: &Block,
        matrix: &OutOfSample<T>,
    ) -> Without {
        let width = matrix.width;
        let failure = block.failures.iter().find(|failure| failure.member == m).cloned();
        let own = matrix.members.iter().position(|member| member == name);
        let (None, Some(own)) = (&failure, own) else {
            return Without { columns: Vec::new(), failure };
        };
        let mut columns = vec![matrix.columns[own].to_vec(); self.folds];
        for ((split, predicted), &(first, second)) in
            self.plan.splits().iter().zip(&block.splits).zip(&self.names)
        {
            for (&i, row) in split.test().iter().zip(predicted[m].chunks_exact(width)) {
                if row.iter().any(|v| is_unusable::<T>(*v)) {
                    let message = format!("its prediction of row {} is no number", i + 1);
                    let failure = Some(Failure { member: m, split: first, message });
                    return Without { columns: Vec::new(), failure };
                }
                // A row of one fold is what the other's combiner learns from.
                let v = if self.fold_of_row[i] as usize == first { second } else { first };
                columns[v][i * width..(i + 1) * width].copy_from_slice(row);
            }
        }
        Without { columns, failure: None }
    }
}

impl<T: Task> OutOfSample<T> {
    /// Whether some member of a learner is here, but not what it said without pairs of folds.
    pub(crate) fn lacks_pairs(&self, learner: &dyn Learner<T>) -> bool {
        let lacks = |name: &String| {
            let at = self.members.iter().position(|member| member == name);
            at.is_some_and(|at| !self.has_pairs(at))
        };
        learner.members().iter().any(lacks)
    }

    /// Takes in what a member said without pairs of folds; one that failed leaves, if failures are borne.
    fn take_pairs(&mut self, name: String, without: Without, on_failure: OnFailure) -> Result<()> {
        let Some(at) = self.members.iter().position(|member| *member == name) else {
            return Ok(());
        };
        match (without.failure, on_failure) {
            _ if self.has_pairs(at) => {}
            (None, _) => self.without[at] = without.columns,
            (Some(failure), OnFailure::Stop) => return Err(stop(name, &failure)),
            (Some(failure), OnFailure::Drop) => self.drop_member(&name, &failure),
        }
        Ok(())
    }
}
