//! Is the stack worth it? Every candidate combination is tried on rows that it, and in a nested check also the members it
//! was learned from, had not seen; beside them the best member and equal weights.
//!
//! No row takes part in a choice that is applied to it: on each fold the stack is the combiner that did best on the other
//! folds, and the best member the one that was best on what the combiner learned from. Equal weights need no choice; where
//! the check may replace the stack they stand beside it, so that the doubt about few rows does not enter them.

use std::ops::Range;

use rayon::prelude::*;
use serde::Serialize;

use super::equal::EqualWeights;
use super::verdict::{Gains, Kept, Verdict};
use crate::combine::{Combination, Combiner, Evidence, Method};
use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::math::{first_largest, weighted_mean};
use crate::oos::{OutOfSample, Trial, Trials};
use crate::run::{Run, Work};
use crate::score::Estimate;
use crate::score::figures::Estimates;
use crate::task::Task;

/// What the trials showed. Scores are means per row, higher is better.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Assessment {
    /// Whether the members, too, had not seen the rows tried on when they said what the combiner learned from.
    pub nested: bool,
    /// Folds tried.
    pub folds: usize,
    /// The stack, with the choice of its combiner: on each fold the combiner asked for that did best on the others.
    pub stack: Estimate,
    /// The member that was best on the rows learned from.
    pub best_member: Estimate,
    /// Equal weights.
    pub uniform: Estimate,
    /// The stack's score less that of the best member.
    pub gain_over_best: Estimate,
    /// The stack's score less that of equal weights.
    pub gain_over_uniform: Estimate,
    /// The score of equal weights less that of the best member.
    pub uniform_over_best: Estimate,
    /// Every candidate on all folds.
    pub candidates: Vec<Candidate>,
    /// How many of them, from the first, were asked for: the stack chooses among these.
    pub asked_for: usize,
    /// The one that the stack uses: the best of the combiners asked for, or equal weights if these do better than the stack.
    pub chosen: String,
    /// What is kept, and how sure that is.
    pub verdict: Verdict,
}

/// The usual figures of the stack beside its best member and equal weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StackFigures {
    /// Whether the rows were held out from the combiner, as in a check; else the stack has seen them.
    pub held_out: bool,
    /// The stack's.
    pub stack: Estimates,
    /// The best member's.
    pub best_member: Estimates,
    /// Those of equal weights.
    pub uniform: Estimates,
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
    pub(super) figures: StackFigures,
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
    pub(super) combiners: &'a [&'a dyn Combiner<T>],
    /// Of all candidates, how many the stack chooses among; others stand beside it.
    pub(super) asked_for: usize,
    /// Whether the stack gives way to equal weights or to the best member if they do better.
    pub(super) replace: bool,
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
        plan_checks(trials.folds.len(), run);
        let tried = |(v, trial): (usize, &Trial<T>)| {
            run.check()?;
            run.child(v as u64).step(CHECK, |run| self.try_on(trial, run))
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
        let combine = |combination: &dyn Combination<T>| self.combine(combination, held_out);
        let predicted =
            combinations.iter().map(|c| combine(c.as_ref())).collect::<Result<Vec<_>>>()?;
        let best = held_out.column(best_member(learned_from)?).to_vec();
        let uniform = combine(&EqualWeights::pool(held_out.members().len()))?;
        Ok(Tried { combinations, predicted, best, uniform })
    }

    /// What a combination makes of a matrix.
    fn combine(
        &self,
        combination: &dyn Combination<T>,
        matrix: &OutOfSample<T>,
    ) -> Result<Vec<f64>> {
        let x = self.sample.x().select(matrix.table_rows());
        let columns: Vec<&[f64]> = (0..matrix.members().len()).map(|m| matrix.column(m)).collect();
        let mut out = vec![0.0; matrix.rows() * matrix.width()];
        combination.combine_into(&columns, matrix.width(), x.rows(), &mut out)?;
        Ok(out)
    }

    /// The figures of a stack that was not checked, on the rows it learned from.
    pub(super) fn unchecked_figures(
        &self,
        combination: &dyn Combination<T>,
        matrix: &OutOfSample<T>,
    ) -> Result<StackFigures> {
        let shares = matrix.shares()?;
        let figures = |predicted: &[f64]| T::estimates(predicted, matrix.target(), &shares);
        let uniform = self.combine(&EqualWeights::pool(matrix.members().len()), matrix)?;
        Ok(StackFigures {
            held_out: false,
            stack: figures(&self.combine(combination, matrix)?),
            best_member: figures(matrix.column(best_member(matrix)?)),
            uniform: figures(&uniform),
        })
    }

    fn judge(&self, trials: &Trials<T>, folds: Vec<Tried<T>>) -> Result<Assessed<T>> {
        let matrix = &trials.matrix;
        let (names, fold_of_row) = (self.names(), fold_of_row(trials));
        let shares = matrix.shares()?;
        let gather = |part: &dyn Fn(usize, &Tried<T>) -> &[f64]| {
            let parts = folds.iter().enumerate().map(|(v, fold)| part(v, fold));
            scatter(trials, &parts.collect::<Vec<_>>())
        };
        let predicted: Vec<Vec<f64>> =
            (0..names.len()).map(|c| gather(&|_, fold| &fold.predicted[c])).collect();
        let candidates: Vec<Vec<f64>> = predicted.iter().map(|p| scores(matrix, p)).collect();
        let asked_for = &candidates[..self.asked_for];
        let elsewhere = chosen_elsewhere(asked_for, &shares, &fold_of_row, folds.len());
        let stack = Part::new(matrix, &shares, &gather(&|v, fold| &fold.predicted[elsewhere[v]]));
        let best = Part::new(matrix, &shares, &gather(&|_, fold| &fold.best));
        let uniform = Part::new(matrix, &shares, &gather(&|_, fold| &fold.uniform));
        let gains = Gains {
            rows: shares.iter().filter(|share| **share > 0.0).count(),
            only_member: matrix.members().len() == 1,
            stack: stack.gain_over(&best, &shares),
            uniform: uniform.gain_over(&best, &shares),
            stack_over_uniform: stack.gain_over(&uniform, &shares),
        };
        let means: Vec<f64> = asked_for.iter().map(|s| weighted_mean(s, &shares)).collect();
        let mut chosen = first_largest(&means);
        let equal = names.iter().position(|name| name == Method::Uniform.name());
        let verdict = if self.replace && matrix.members().len() > 1 {
            gains.verdict(equal == Some(chosen))
        } else {
            gains.stack_as_asked()
        };
        if let (Kept::Uniform, Some(equal)) = (verdict.kept, equal) {
            chosen = equal;
        }
        let candidate = |(name, scores): (&String, &Vec<f64>)| Candidate {
            name: name.clone(),
            score: Estimate::of(scores, &shares),
        };
        let assessment = Assessment {
            nested: trials.nested,
            folds: folds.len(),
            stack: Estimate::of(&stack.scores, &shares),
            best_member: Estimate::of(&best.scores, &shares),
            uniform: Estimate::of(&uniform.scores, &shares),
            gain_over_best: gains.stack,
            gain_over_uniform: gains.stack_over_uniform,
            uniform_over_best: gains.uniform,
            candidates: names.iter().zip(&candidates).map(candidate).collect(),
            asked_for: self.asked_for,
            chosen: names[chosen].clone(),
            verdict,
        };
        let figures = StackFigures {
            held_out: true,
            stack: stack.figures,
            best_member: best.figures,
            uniform: uniform.figures,
        };
        let predicted = predicted.into_iter().nth(chosen).unwrap_or_default();
        let own = folds.into_iter().map(|mut fold| fold.combinations.swap_remove(chosen));
        let combinations = own.filter(|_| trials.by_plan).collect();
        Ok(Assessed { assessment, figures, chosen, predicted, fold_of_row, combinations })
    }
}

/// What one of those compared said about all rows: its rows' scores and its figures.
struct Part {
    scores: Vec<f64>,
    figures: Estimates,
}

impl Part {
    fn new<T: Task>(matrix: &OutOfSample<T>, shares: &[f64], predicted: &[f64]) -> Self {
        let figures = T::estimates(predicted, matrix.target(), shares);
        Self { scores: scores(matrix, predicted), figures }
    }

    fn gain_over(&self, other: &Self, shares: &[f64]) -> Estimate {
        Estimate::of_difference(&self.scores, &other.scores, shares)
    }
}

/// The scores of predictions of all rows.
fn scores<T: Task>(matrix: &OutOfSample<T>, predicted: &[f64]) -> Vec<f64> {
    let rows = predicted.chunks_exact(matrix.width()).enumerate();
    rows.map(|(i, row)| T::score(row, matrix.target(), i)).collect()
}

/// For each fold, the candidate that did best on the other folds.
fn chosen_elsewhere(
    candidates: &[Vec<f64>],
    shares: &[f64],
    fold_of_row: &[usize],
    folds: usize,
) -> Vec<usize> {
    let choose = |v: usize| {
        let mask = |(i, share): (usize, &f64)| if fold_of_row[i] == v { 0.0 } else { *share };
        let others: Vec<f64> = shares.iter().enumerate().map(mask).collect();
        let means: Vec<f64> = candidates.iter().map(|s| weighted_mean(s, &others)).collect();
        first_largest(&means)
    };
    (0..folds).map(choose).collect()
}

/// The name under which the folds of the check are told.
const CHECK: &str = "check";

/// Plans the check of so many folds.
pub(super) fn plan_checks(folds: usize, run: &Run) {
    run.progress().plan_work(&Work { what: CHECK, steps: folds as u64, guess: 0.1 });
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
