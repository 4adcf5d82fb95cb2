//! Is the stack worth it? Every candidate combination is tried on rows that it, and in a nested check also the members it
//! was learned from, had not seen; beside them the best member and equal weights.
//!
//! No row takes part in a choice that is applied to it: on each fold the stack is the candidate that did best on the other
//! folds, and the best member the one that was best on what the combiner learned from.

use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use crate::combine::inference::Estimate;
use crate::combine::problem::weighted_mean;
use crate::combine::{Combination, Combiner, Evidence, LinearPool};
use crate::error::{Error, Result};
use crate::learner::{Run, Sample};
use crate::math::first_largest;
use crate::oos::{OutOfSample, Trial, Trials};
use crate::task::Task;

/// What the trials showed. Scores are means per row, higher is better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// Whether the members, too, had not seen the rows tried on when they said what the combiner learned from.
    pub nested: bool,
    /// Folds tried.
    pub folds: usize,
    /// The stack: on each fold the candidate that did best on the others.
    pub stack: Estimate,
    /// The member that was best on the rows learned from.
    pub best_member: Estimate,
    /// Equal weights.
    pub uniform: Estimate,
    /// The stack's score less that of the best member.
    pub gain_over_best: Estimate,
    /// The stack's score less that of equal weights.
    pub gain_over_uniform: Estimate,
    /// Every candidate on all folds.
    pub candidates: Vec<Candidate>,
    /// The best of them, which the stack uses.
    pub chosen: String,
}

/// A combination that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    /// Its name.
    pub name: String,
    /// Its score.
    pub score: Estimate,
}

/// The assessment, and the chosen candidate at work.
#[derive(Debug)]
pub(super) struct Assessed<T: Task> {
    pub(super) assessment: Assessment,
    /// The number of the chosen candidate among all rungs of all combiners.
    pub(super) chosen: usize,
    /// What it said about every row of the matrix, unseen.
    pub(super) predicted: Vec<f64>,
    /// The fold in which each row of the matrix was held out.
    pub(super) fold_of_row: Vec<usize>,
    /// The candidate as it was learned for each fold, if the folds are those the members were fitted on.
    pub(super) combinations: Vec<Box<dyn Combination<T>>>,
}

/// Each member's log evidence on chosen rows of the table.
pub(super) type LogEvidence<'a> = dyn Fn(&[usize], &Run) -> Result<Vec<f64>> + Sync + 'a;

/// What the trials need beside the matrix.
pub(super) struct Assessor<'a, T: Task> {
    pub(super) combiners: &'a [Box<dyn Combiner<T>>],
    pub(super) sample: Sample<'a, T>,
    pub(super) log_evidence: &'a LogEvidence<'a>,
}

/// One fold: what every candidate, the best member and equal weights said about the rows held out.
struct Tried<T: Task> {
    combinations: Vec<Box<dyn Combination<T>>>,
    predicted: Vec<Vec<f64>>,
    best: Vec<f64>,
    uniform: Vec<f64>,
}

impl<T: Task> Assessor<'_, T> {
    /// Names of all candidates.
    pub(super) fn names(&self) -> Vec<String> {
        self.combiners.iter().flat_map(|combiner| combiner.rungs()).collect()
    }

    /// The candidate of this number learned from a matrix; other combiners than its own are not fitted.
    pub(super) fn fit(
        &self,
        candidate: usize,
        oos: &OutOfSample<T>,
        run: &Run,
    ) -> Result<Box<dyn Combination<T>>> {
        let mut rung = candidate;
        for (c, combiner) in self.combiners.iter().enumerate() {
            let rungs = combiner.rungs().len();
            if rung < rungs {
                return Ok(self.fit_combiners(c..c + 1, oos, run)?.swap_remove(rung));
            }
            rung -= rungs;
        }
        Err(Error::shape("combiners of the stack", 1, 0))
    }

    /// All candidates of some combiners learned from a matrix.
    fn fit_combiners(
        &self,
        which: Range<usize>,
        oos: &OutOfSample<T>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Combination<T>>>> {
        let inputs = self.sample.x().select(oos.table_rows());
        let asked = self.combiners[which.clone()].iter().any(|c| c.needs_evidence());
        let log_evidence = if asked {
            Some((self.log_evidence)(oos.table_rows(), &run.child(u64::MAX))?)
        } else {
            None
        };
        let x = Some(inputs.rows()).filter(|x| x.width() > 0);
        let evidence = Evidence { oos, x, log_evidence: log_evidence.as_deref() };
        let mut candidates = Vec::new();
        for c in which {
            candidates.extend(self.combiners[c].fit(&evidence, &run.child(c as u64))?);
        }
        Ok(candidates)
    }

    /// Tries all candidates; `None` without folds to try them on.
    pub(super) fn assess(&self, trials: &Trials<T>, run: &Run) -> Result<Option<Assessed<T>>> {
        if trials.folds.is_empty() {
            return Ok(None);
        }
        run.progress().plan(trials.folds.len() as u64);
        let tried = |(v, trial): (usize, &Trial<T>)| {
            run.check()?;
            let tried = self.try_on(trial, &run.child(v as u64).silent());
            run.progress().advance(1, "check");
            tried
        };
        let folds: Vec<Tried<T>> = run
            .install(|| trials.folds.par_iter().enumerate().map(tried).collect::<Vec<_>>())
            .into_iter()
            .collect::<Result<_>>()?;
        self.judge(trials, folds).map(Some)
    }

    fn try_on(&self, trial: &Trial<T>, run: &Run) -> Result<Tried<T>> {
        let Trial { learned_from, held_out } = trial;
        let combinations = self.fit_combiners(0..self.combiners.len(), learned_from, run)?;
        let x = self.sample.x().select(held_out.table_rows());
        let columns: Vec<&[f64]> =
            (0..held_out.members().len()).map(|m| held_out.column(m)).collect();
        let combine = |combination: &dyn Combination<T>| {
            let mut out = vec![0.0; held_out.rows() * held_out.width()];
            combination.combine_into(&columns, held_out.width(), x.rows(), &mut out)?;
            Ok(out)
        };
        let predicted =
            combinations.iter().map(|c| combine(c.as_ref())).collect::<Result<Vec<_>>>()?;
        let best = best_member(learned_from)?;
        let equal = LinearPool::new(vec![1.0 / columns.len() as f64; columns.len()]);
        let uniform = combine(&equal)?;
        Ok(Tried { combinations, predicted, best: columns[best].to_vec(), uniform })
    }

    fn judge(&self, trials: &Trials<T>, folds: Vec<Tried<T>>) -> Result<Assessed<T>> {
        let matrix = &trials.matrix;
        let (names, fold_of_row) = (self.names(), fold_of_row(trials));
        let shares = matrix.shares()?;
        let gather = |part: &dyn Fn(&Tried<T>) -> &[f64]| {
            scatter(trials, &folds.iter().map(part).collect::<Vec<_>>())
        };
        let scores = |predicted: &[f64]| -> Vec<f64> {
            let rows = predicted.chunks_exact(matrix.width()).enumerate();
            rows.map(|(i, row)| T::score(row, matrix.target(), i)).collect()
        };
        let candidates: Vec<Vec<f64>> =
            (0..names.len()).map(|c| scores(&gather(&|fold| &fold.predicted[c]))).collect();
        let best = scores(&gather(&|fold| &fold.best));
        let uniform = scores(&gather(&|fold| &fold.uniform));
        let means: Vec<f64> = candidates.iter().map(|s| weighted_mean(s, &shares)).collect();
        let chosen = first_largest(&means);
        // On each fold, the candidate that the other folds would have chosen.
        let elsewhere: Vec<usize> = (0..folds.len())
            .map(|v| {
                let mask =
                    |(i, share): (usize, &f64)| if fold_of_row[i] == v { 0.0 } else { *share };
                let others: Vec<f64> = shares.iter().enumerate().map(mask).collect();
                let means: Vec<f64> =
                    candidates.iter().map(|s| weighted_mean(s, &others)).collect();
                first_largest(&means)
            })
            .collect();
        let stack: Vec<f64> =
            fold_of_row.iter().enumerate().map(|(i, &v)| candidates[elsewhere[v]][i]).collect();
        let candidate = |(name, scores): (&String, &Vec<f64>)| Candidate {
            name: name.clone(),
            score: Estimate::of(scores, &shares),
        };
        let assessment = Assessment {
            nested: trials.nested,
            folds: folds.len(),
            stack: Estimate::of(&stack, &shares),
            best_member: Estimate::of(&best, &shares),
            uniform: Estimate::of(&uniform, &shares),
            gain_over_best: Estimate::of_difference(&stack, &best, &shares),
            gain_over_uniform: Estimate::of_difference(&stack, &uniform, &shares),
            candidates: names.iter().zip(&candidates).map(candidate).collect(),
            chosen: names[chosen].clone(),
        };
        let predicted = gather(&|fold| &fold.predicted[chosen]);
        let own = folds.into_iter().map(|mut fold| fold.combinations.swap_remove(chosen));
        let combinations = own.filter(|_| trials.by_plan).collect();
        Ok(Assessed { assessment, chosen, predicted, fold_of_row, combinations })
    }
}

/// The member with the best mean score.
pub(super) fn best_member<T: Task>(oos: &OutOfSample<T>) -> Result<usize> {
    let shares = oos.shares()?;
    let score = |m: usize| weighted_mean(&oos.scores(m), &shares);
    let scores: Vec<f64> = (0..oos.members().len()).map(score).collect();
    if scores.is_empty() {
        return Err(Error::shape("members to choose from", 1, 0));
    }
    Ok(first_largest(&scores))
}

/// Where the rows of a fold stand in the matrix.
fn places<'a, T: Task>(
    trials: &'a Trials<T>,
    trial: &'a Trial<T>,
) -> impl Iterator<Item = usize> + 'a {
    let all = trials.matrix.table_rows();
    trial.held_out.table_rows().iter().map(move |row| all.partition_point(|r| r < row))
}

fn fold_of_row<T: Task>(trials: &Trials<T>) -> Vec<usize> {
    let mut folds = vec![0; trials.matrix.rows()];
    for (v, trial) in trials.folds.iter().enumerate() {
        places(trials, trial).for_each(|i| folds[i] = v);
    }
    folds
}

/// The folds' predictions in the order of the matrix.
fn scatter<T: Task>(trials: &Trials<T>, folds: &[&[f64]]) -> Vec<f64> {
    let width = trials.matrix.width();
    let mut all = vec![f64::NAN; trials.matrix.rows() * width];
    for (trial, predicted) in trials.folds.iter().zip(folds) {
        for (i, row) in places(trials, trial).zip(predicted.chunks_exact(width)) {
            all[i * width..(i + 1) * width].copy_from_slice(row);
        }
    }
    all
}
