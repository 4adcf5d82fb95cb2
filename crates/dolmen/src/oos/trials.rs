//! Trials of combiners: rows held out from the members and from the combiner alike.
//!
//! A combiner has choices of its own (a penalty, a method), and a stack claims to be better than its members; both need
//! rows that neither the members nor the combiner have seen [Himmetoglu2019]. For each fold v, the members fitted without
//! the folds {v, w} say what the combiner learns from about every other fold w (X_OOS), and the members fitted without
//! fold v what it is tried on (X_HO). A pair {v, w} serves both its folds, so V(V-1)/2 + V fits per member make it all.

use rayon::prelude::*;

use super::collect::{name, none_left, plan_fits, stop, tolerated};
use super::{OnFailure, OutOfSample};
use crate::error::{Error, Result};
use crate::learner::{Failure, is_unusable};
use crate::learner::{Learner, Sample};
use crate::plan::{Plan, Split};
use crate::run::Run;
use crate::target::Target;
use crate::task::Task;

/// Folds to which the rows of a matrix are dealt where its plan has none.
const DEALT: usize = 5;

/// What a combiner learns from, and rows to try it on.
#[derive(Debug, Clone)]
pub struct Trial<T: Task> {
    /// X_OOS: what the members said about the rows of all other folds.
    pub learned_from: OutOfSample<T>,
    /// X_HO: what they said about the rows of this fold.
    pub held_out: OutOfSample<T>,
}

/// The trials, one per fold, and the matrix of all rows.
#[derive(Debug, Clone)]
pub struct Trials<T: Task> {
    /// What every member said about rows it had not seen: the rows held out, fold by fold, in their order in the table.
    pub matrix: OutOfSample<T>,
    /// One trial per fold.
    pub folds: Vec<Trial<T>>,
    /// Whether members, too, had not seen the fold tried on when they said what the combiner learns from.
    pub nested: bool,
    /// Whether the folds are the splits by which the matrix was made.
    pub by_plan: bool,
}

/// What one learner's members said about the rows of two folds, fitted without both: one column per member.
struct Pair {
    columns: Vec<Vec<f64>>,
    failures: Vec<Failure>,
}

impl<T: Task> Trials<T> {
    /// The trials of a plan that is a partition into at least three folds, filled in parallel on the run's pool; `matrix`
    /// is what the same learners said on the plan itself.
    pub fn nested(
        matrix: OutOfSample<T>,
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
        let pairs: Vec<(usize, usize)> =
            (0..folds).flat_map(|v| (0..v).map(move |w| (w, v))).collect();
        plan_fits(learners, pairs.len(), run);
        let without = run.child(u64::MAX);
        let fit = |(l, p): (usize, usize)| {
            let stream = without.child(l as u64).child(p as u64).named(&name(learners[l]));
            let (first, second) = pairs[p];
            let plan = plan.without_both(first, second);
            pair(learners[l], sample, &plan, on_failure, &stream)
        };
        let cells: Vec<(usize, usize)> =
            (0..learners.len()).flat_map(|l| (0..pairs.len()).map(move |p| (l, p))).collect();
        let filled: Vec<Pair> = run
            .install(|| cells.into_par_iter().map(fit).collect::<Vec<_>>())
            .into_iter()
            .collect::<Result<_>>()?;
        let table = PairTable { pairs: &pairs, plan, fold_of_row: &fold_of_row };
        table.trials(learners, filled, matrix, on_failure)
    }

    /// A matrix without trials.
    pub fn none(matrix: OutOfSample<T>) -> Self {
        Self { folds: Vec::new(), matrix, nested: false, by_plan: false }
    }

    /// Goes on without a member that failed elsewhere.
    pub(crate) fn drop_member(&mut self, name: &str, failure: &Failure) {
        self.matrix.drop_member(name, failure);
        for Trial { learned_from, held_out } in &mut self.folds {
            learned_from.drop_member(name, failure);
            held_out.drop_member(name, failure);
        }
    }

    /// Trials of a matrix alone: the members that said what the combiner learns from did see the rows it is tried on, which
    /// flatters a little; but they cost no further fits.
    ///
    /// The folds are those of the plan, which keep groups together; of a plan that is no partition the rows are dealt in
    /// turn.
    pub fn of_matrix(matrix: OutOfSample<T>, plan: &Plan) -> Self {
        let by_plan = plan.is_partition();
        let dealt = Plan::in_turn(matrix.rows(), DEALT.min(matrix.rows()));
        let folds = if by_plan { plan } else { &dealt };
        let trial = |split: &Split| Trial {
            learned_from: matrix.select(&split.train(matrix.rows())),
            held_out: matrix.select(split.test()),
        };
        let trials = folds.splits().iter().map(trial).collect();
        Self { folds: trials, matrix, nested: false, by_plan }
    }
}

/// Fits without two folds and predicts both.
fn pair<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    plan: &Plan,
    on_failure: OnFailure,
    run: &Run,
) -> Result<Pair> {
    let width = T::width(sample.target());
    let block = learner.out_of_sample(sample, plan, run);
    let mut block = tolerated(block, learner.members().len(), on_failure)?;
    let held_out = plan.splits()[0].test();
    for (member, column) in block.columns.iter().enumerate() {
        let has_failed = block.failures.iter().any(|failure| failure.member == member);
        let mut rows = held_out.iter().filter(|_| !has_failed);
        let row = |i: usize| &column[i * width..(i + 1) * width];
        if let Some(i) = rows.find(|&&i| row(i).iter().any(|v| is_unusable::<T>(*v))) {
            let message = format!("its prediction of row {} is no number", i + 1);
            block.failures.push(Failure { member, split: 0, message });
        }
    }
    let only = |column: Vec<f64>| {
        let rows = held_out.iter().filter(|_| !column.is_empty());
        rows.flat_map(|&i| &column[i * width..(i + 1) * width]).copied().collect()
    };
    Ok(Pair { columns: block.columns.into_iter().map(only).collect(), failures: block.failures })
}

/// Which pair of folds stands where.
struct PairTable<'a> {
    pairs: &'a [(usize, usize)],
    plan: &'a Plan,
    fold_of_row: &'a [u32],
}

impl PairTable<'_> {
    fn trials<T: Task>(
        &self,
        learners: &[&dyn Learner<T>],
        filled: Vec<Pair>,
        mut matrix: OutOfSample<T>,
        on_failure: OnFailure,
    ) -> Result<Trials<T>> {
        // Member after member, in the order of the matrix: its column for every pair.
        let mut members: Vec<Vec<Vec<f64>>> = Vec::new();
        let mut filled = filled.into_iter();
        for learner in learners {
            let pairs: Vec<Pair> = filled.by_ref().take(self.pairs.len()).collect();
            let failures: Vec<Failure> = pairs.iter().flat_map(|p| p.failures.clone()).collect();
            let mut columns: Vec<Vec<Vec<f64>>> = vec![Vec::new(); learner.members().len()];
            for pair in pairs {
                columns.iter_mut().zip(pair.columns).for_each(|(all, column)| all.push(column));
            }
            for (m, (name, column)) in learner.members().into_iter().zip(columns).enumerate() {
                let failure = failures.iter().find(|failure| failure.member == m);
                match (failure, on_failure) {
                    _ if !matrix.members().contains(&name) => {}
                    (None, _) => members.push(column),
                    (Some(failure), OnFailure::Stop) => return Err(stop(name, failure)),
                    (Some(failure), OnFailure::Drop) => matrix.drop_member(&name, failure),
                }
            }
        }
        if matrix.members().is_empty() {
            return Err(none_left(matrix.failures()));
        }
        let trial = |fold: usize| Trial {
            learned_from: self.learned_from(fold, &matrix, &members),
            held_out: matrix.select(self.plan.splits()[fold].test()),
        };
        let folds = (0..self.plan.splits().len()).map(trial).collect();
        Ok(Trials { folds, matrix, nested: true, by_plan: true })
    }

    /// Every row of another fold w as the members fitted without {fold, w} saw it.
    fn learned_from<T: Task>(
        &self,
        fold: usize,
        matrix: &OutOfSample<T>,
        members: &[Vec<Vec<f64>>],
    ) -> OutOfSample<T> {
        let (width, folds) = (matrix.width(), self.plan.splits().len());
        let tests: Vec<Option<(usize, Vec<usize>)>> =
            (0..folds).map(|other| self.both(fold, other)).collect();
        let rows: Vec<usize> =
            (0..matrix.rows()).filter(|&i| self.fold_of_row[i] as usize != fold).collect();
        let mut part = matrix.select(&rows);
        for (column, pairs) in part.columns.iter_mut().zip(members) {
            for (out, &i) in column.chunks_exact_mut(width).zip(&rows) {
                if let Some((pair, test)) = &tests[self.fold_of_row[i] as usize] {
                    let at = test.partition_point(|&row| row < i) * width;
                    out.copy_from_slice(&pairs[*pair][at..at + width]);
                }
            }
        }
        part
    }

    /// The number of a pair and its rows, ascending.
    fn both(&self, fold: usize, other: usize) -> Option<(usize, Vec<usize>)> {
        let pair = (fold.min(other), fold.max(other));
        let number = self.pairs.iter().position(|p| *p == pair)?;
        Some((number, self.plan.without_both(fold, other).splits()[0].test().to_vec()))
    }
}

impl<T: Task> OutOfSample<T> {
    /// The matrix of chosen rows, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let width = self.width;
        let cells = |column: &Vec<f64>| {
            rows.iter().flat_map(|&i| &column[i * width..(i + 1) * width]).copied().collect()
        };
        Self {
            members: self.members.clone(),
            columns: self.columns.iter().map(cells).collect(),
            target: self.target.select(rows),
            weights: self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect()),
            rows: rows.iter().map(|&i| self.rows[i]).collect(),
            fingerprint: self.fingerprint.clone(),
            failures: self.failures.clone(),
            width,
        }
    }

    /// Goes on without a member that failed.
    fn drop_member(&mut self, name: &str, failure: &Failure) {
        if let Some(m) = self.members.iter().position(|member| member == name) {
            self.columns.remove(m);
            self.failures.push((self.members.remove(m), failure.clone()));
        }
    }
}
