//! Is the stack worth it? Every candidate combination is tried on rows that it, and in a nested check also the members it
//! was learned from, had not seen; beside them the best member and equal weights.
//!
//! No row takes part in a choice that is applied to it: on each fold the stack is the combiner that did best on the other
//! folds (in order of time: on the earlier ones), and the best member the one that was best on what the combiner learned
//! from. Equal weights need no choice; where
//! the check may replace the stack they stand beside it, so that the doubt about few rows does not enter them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::doubt::Doubt;
use super::equal::EqualWeights;
use super::trial_rows::TrialRows;
use super::verdict::{Gains, Kept, Verdict};
use crate::combine::{Combination, Combiner, Evidence};
use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::math::{first_largest, weighted_mean};
use crate::oos::{CheckKind, OutOfSample, Trial, Trials};
use crate::run::{Run, Work};
use crate::score::Estimate;
use crate::score::figures::Estimates;
use crate::target::Target;
use crate::task::Task;

/// Differences of logarithms up to this are rounding.
const ROUNDING: f64 = 1e-13;

/// What the trials showed. Scores are means per row, higher is better.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// Whether pairs of folds were held out from the members, too: the kind is [`CheckKind::Nested`].
    pub nested: bool,
    /// How the rows tried on were held out.
    pub kind: CheckKind,
    /// Folds tried.
    pub folds: usize,
    /// Rows that members predicted without having seen them: what the combination is learned from.
    pub covered_rows: usize,
    /// Rows that the candidates were tried on. In order of time the first block is learned from only.
    pub checked_rows: usize,
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
    /// Its place among the candidates, which may share a name.
    pub chosen_index: usize,
    /// What is kept, and how sure that is.
    pub verdict: Verdict,
}

/// The usual figures of the stack beside its best member and equal weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The rows of the matrix that it was tried on, ascending.
    pub(super) rows: Vec<usize>,
    /// What it said about each of them, unseen.
    pub(super) predicted: Vec<f64>,
    /// What that which is kept said about each of them, with the choice made by other rows: what the figures are of.
    pub(super) judged: Vec<f64>,
    /// The fold in which each of them was held out, and who may judge it.
    pub(super) tried_on: TrialRows,
    /// The candidate as it was learned for each fold, if the folds are those the members were fitted on.
    pub(super) combinations: Vec<Box<dyn Combination<T>>>,
    /// The best member.
    pub(super) best: usize,
}

/// Each member's log evidence on chosen rows of the table.
pub(super) type LogEvidence<'a> = dyn Fn(&[usize], &Run) -> Result<Vec<f64>> + Sync + 'a;

/// What the trials need beside the matrix.
pub(super) struct Assessor<'a, T: Task> {
    pub(super) combiners: &'a [&'a dyn Combiner<T>],
    /// Of all candidates, how many the stack chooses among; others stand beside it.
    pub(super) asked_for: usize,
    /// Which candidate is equal weights, if one is.
    pub(super) equal: Option<usize>,
    /// Whether the stack gives way to equal weights or to the best member if they do better.
    pub(super) replace: bool,
    /// Which share of the class frequencies is mixed into what everybody says, if one is.
    pub(super) doubt: Option<f64>,
    pub(super) sample: Sample<'a, T>,
    pub(super) log_evidence: &'a LogEvidence<'a>,
}

/// What more rows than those of the matrix say of the candidate of a number; `None` if they cannot be asked.
pub(super) type Wider<'a> = dyn Fn(usize) -> Result<Option<Compared>> + 'a;

/// How a stack, its best member and equal weights do on some rows, each row by what others have told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compared {
    /// Those rows.
    pub(crate) rows: usize,
    /// Those among them that count.
    pub(crate) counted: usize,
    pub(crate) stack: Estimate,
    pub(crate) best_member: Estimate,
    pub(crate) uniform: Estimate,
    /// The stack's score less that of the best member, and less that of equal weights; that of equal weights less that of the
    /// best member.
    pub(crate) gains: [Estimate; 3],
    /// The member that is best on all rows.
    pub(crate) best: usize,
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
        let inputs = self.sample.x().view(oos.table_rows());
        let asked = self.combiners[which.clone()].iter().any(|c| c.needs_evidence());
        let log_evidence = if asked {
            Some((self.log_evidence)(oos.table_rows(), &run.stream("evidence"))?)
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

    /// Tries all candidates; `None` without folds to try them on. What decides is said by more rows than those of the matrix, where they can
    /// be asked.
    pub(super) fn assess(
        &self,
        trials: &Trials<T>,
        wider: &Wider<'_>,
        run: &Run,
    ) -> Result<Option<Assessed<T>>> {
        if trials.is_empty() {
            return Ok(None);
        }
        plan_checks(trials.len(), run);
        let tried = |v: usize| {
            run.check()?;
            run.child(v as u64).step(CHECK, |run| self.try_on(&trials.trial(v), run))
        };
        let folds: Vec<Tried<T>> = run.try_map(trials.len(), tried)?;
        self.judge(trials, folds, wider).map(Some)
    }

    fn try_on(&self, trial: &Trial<T>, run: &Run) -> Result<Tried<T>> {
        let Trial { learned_from, held_out } = trial;
        let combinations = self.fit_combiners(0..self.combiners.len(), learned_from, run)?;
        let combine = |combination: &dyn Combination<T>| self.combine(combination, held_out);
        let mut predicted =
            combinations.iter().map(|c| combine(c.as_ref())).collect::<Result<Vec<_>>>()?;
        let mut best = held_out.column(best_member(learned_from)?).to_vec();
        let mut uniform = combine(&EqualWeights::pool(held_out.members().len()))?;
        let all = predicted.iter_mut().chain([&mut best, &mut uniform]);
        all.for_each(|predicted| self.doubt(predicted, learned_from));
        Ok(Tried { combinations, predicted, best, uniform })
    }

    /// Mixes a share of the classes' frequencies among the rows of a matrix into predictions, if that is asked for.
    pub(super) fn doubt(&self, predicted: &mut [f64], matrix: &OutOfSample<T>) {
        let weight = |i: usize| matrix.weights().map_or(1.0, |weights| weights[i]);
        let of = |share| Doubt::of::<T>(share, matrix.target(), weight);
        if let Some(doubt) = self.doubt.and_then(of) {
            doubt.apply(predicted);
        }
    }

    /// What a combination makes of a matrix.
    fn combine(
        &self,
        combination: &dyn Combination<T>,
        matrix: &OutOfSample<T>,
    ) -> Result<Vec<f64>> {
        let x = self.sample.x().view(matrix.table_rows());
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
        let figures = |mut predicted: Vec<f64>| {
            self.doubt(&mut predicted, matrix);
            T::estimates(&predicted, matrix.target(), &shares)
        };
        let uniform = self.combine(&EqualWeights::pool(matrix.members().len()), matrix)?;
        Ok(StackFigures {
            held_out: false,
            stack: figures(self.combine(combination, matrix)?),
            best_member: figures(matrix.column(best_member(matrix)?).to_vec()),
            uniform: figures(uniform),
        })
    }

    fn judge(
        &self,
        trials: &Trials<T>,
        folds: Vec<Tried<T>>,
        wider: &Wider<'_>,
    ) -> Result<Assessed<T>> {
        let held = HeldOut::new(trials)?;
        let names = self.names();
        let gather = |part: &dyn Fn(usize, &Tried<T>) -> &[f64]| {
            let parts = folds.iter().enumerate().map(|(v, fold)| part(v, fold));
            held.scatter(trials, &parts.collect::<Vec<_>>())
        };
        let predicted: Vec<Vec<f64>> =
            (0..names.len()).map(|c| gather(&|_, fold| &fold.predicted[c])).collect();
        let candidates: Vec<Vec<f64>> = predicted.iter().map(|p| held.scores(p)).collect();
        let elsewhere = held.chosen_elsewhere(&candidates[..self.asked_for], trials.len());
        let stack = held.part(gather(&|v, fold| &fold.predicted[elsewhere[v]]));
        let best = held.part(gather(&|_, fold| &fold.best));
        let uniform = held.part(gather(&|_, fold| &fold.uniform));
        let asked_for = candidates[..self.asked_for].iter();
        let means: Vec<f64> = asked_for.map(|s| weighted_mean(s, &held.shares)).collect();
        let found = match wider(first_largest(&means))? {
            Some(found) => found,
            None => held.compared(trials, [&stack, &best, &uniform])?,
        };
        let best_member = found.best;
        let (chosen, assessment) =
            self.verdict(trials, &found, (&names, &candidates), &means, &held.shares);
        let figures = StackFigures {
            held_out: true,
            stack: stack.figures,
            best_member: best.figures,
            uniform: uniform.figures,
        };
        let judged = match assessment.verdict.kept {
            Kept::Stack => stack.predicted,
            Kept::Uniform => uniform.predicted,
            Kept::BestMember => best.predicted,
        };
        let predicted = predicted.into_iter().nth(chosen).unwrap_or_default();
        let own = folds.into_iter().map(|mut fold| fold.combinations.swap_remove(chosen));
        let combinations = own.filter(|_| trials.by_plan()).collect();
        let HeldOut { rows, tried_on, .. } = held;
        Ok(Assessed {
            assessment,
            figures,
            chosen,
            rows,
            predicted,
            judged,
            tried_on,
            combinations,
            best: best_member,
        })
    }

    /// What is kept, and all that was found; `means` are those of the candidates asked for.
    fn verdict(
        &self,
        trials: &Trials<T>,
        found: &Compared,
        (names, candidates): (&[String], &[Vec<f64>]),
        means: &[f64],
        shares: &[f64],
    ) -> (usize, Assessment) {
        // Logarithms of probabilities near 1 differ by rounding, however near 0 they are themselves.
        let clean = |gain: Estimate| match gain.mean.abs() {
            size if T::LOG_SCORES && size <= ROUNDING => Estimate { mean: 0.0, se: Some(0.0) },
            _ => gain,
        };
        let [stack, stack_over_uniform, uniform] = found.gains.map(clean);
        let only_member = trials.matrix.members().len() == 1;
        let gains = Gains { rows: found.counted, only_member, stack, uniform, stack_over_uniform };
        let mut chosen = first_largest(means);
        let verdict = match self.equal {
            _ if !self.replace || trials.matrix.members().len() < 2 => gains.stack_as_asked(),
            Some(equal) => gains.verdict(equal == chosen),
            None => gains.stack_or_best(),
        };
        if let (Kept::Uniform, Some(equal)) = (verdict.kept, self.equal) {
            chosen = equal;
        }
        let candidate = |(name, scores): (&String, &Vec<f64>)| Candidate {
            name: name.clone(),
            score: Estimate::of(scores, shares),
        };
        let assessment = Assessment {
            nested: trials.kind() == CheckKind::Nested,
            kind: trials.kind(),
            folds: trials.len(),
            covered_rows: found.rows.max(trials.matrix.rows()),
            checked_rows: found.rows,
            stack: found.stack,
            best_member: found.best_member,
            uniform: found.uniform,
            gain_over_best: gains.stack,
            gain_over_uniform: gains.stack_over_uniform,
            uniform_over_best: gains.uniform,
            candidates: names.iter().zip(candidates).map(candidate).collect(),
            asked_for: self.asked_for,
            chosen: names[chosen].clone(),
            chosen_index: chosen,
            verdict,
        };
        (chosen, assessment)
    }
}

/// The rows tried on, in the order of the matrix: all of them, but for the first block in order of time.
struct HeldOut<T: Task> {
    /// Where they stand in the matrix, ascending.
    rows: Vec<usize>,
    tried_on: TrialRows,
    target: T::Target,
    shares: Vec<f64>,
    width: usize,
}

impl<T: Task> HeldOut<T> {
    fn new(trials: &Trials<T>) -> Result<Self> {
        let matrix = &trials.matrix;
        let mut fold_of_row = vec![None; matrix.rows()];
        for v in 0..trials.len() {
            trials.held_out(v).iter().for_each(|&i| fold_of_row[i] = Some(v));
        }
        let rows: Vec<usize> = (0..matrix.rows()).filter(|&i| fold_of_row[i].is_some()).collect();
        let shares = match matrix.weights() {
            Some(weights) => {
                let weights: Vec<f64> = rows.iter().map(|&i| weights[i]).collect();
                crate::solver::shares(&weights, rows.len())?
            }
            None => vec![1.0 / rows.len() as f64; rows.len()],
        };
        let groups = matrix.groups().map(|groups| rows.iter().map(|&i| groups[i]).collect());
        let tried_on = TrialRows {
            fold_of_row: fold_of_row.into_iter().flatten().collect(),
            groups,
            is_forward: trials.kind() == CheckKind::Forward,
        };
        Ok(Self {
            target: matrix.target().select(&rows),
            tried_on,
            rows,
            shares,
            width: matrix.width(),
        })
    }

    /// The stack, the best member and equal weights beside one another.
    fn compared(&self, trials: &Trials<T>, of: [&Part; 3]) -> Result<Compared> {
        let ([stack, best, uniform], shares) = (of, &self.shares);
        Ok(Compared {
            rows: self.rows.len(),
            counted: shares.iter().filter(|share| **share > 0.0).count(),
            stack: Estimate::of(&stack.scores, shares),
            best_member: Estimate::of(&best.scores, shares),
            uniform: Estimate::of(&uniform.scores, shares),
            gains: [(stack, best), (stack, uniform), (uniform, best)]
                .map(|(one, other)| one.gain_over(other, shares)),
            best: best_member(&trials.matrix)?,
        })
    }

    /// The folds' predictions in the order of the rows.
    fn scatter(&self, trials: &Trials<T>, folds: &[&[f64]]) -> Vec<f64> {
        let width = self.width;
        let mut all = vec![f64::NAN; self.rows.len() * width];
        for (v, predicted) in folds.iter().enumerate() {
            for (place, row) in trials.held_out(v).iter().zip(predicted.chunks_exact(width)) {
                let at = self.rows.partition_point(|i| i < place) * width;
                all[at..at + width].copy_from_slice(row);
            }
        }
        all
    }

    fn scores(&self, predicted: &[f64]) -> Vec<f64> {
        let rows = predicted.chunks_exact(self.width).enumerate();
        rows.map(|(i, row)| T::score(row, &self.target, i)).collect()
    }

    fn part(&self, predicted: Vec<f64>) -> Part {
        let figures = T::estimates(&predicted, &self.target, &self.shares);
        Part { scores: self.scores(&predicted), figures, predicted }
    }

    /// For each fold, the candidate that did best on the other folds, or on the earlier ones in order of time. The first fold
    /// has none before it: there it is the first candidate.
    fn chosen_elsewhere(&self, candidates: &[Vec<f64>], folds: usize) -> Vec<usize> {
        let choose = |fold: usize| {
            let mut others = vec![0.0; self.shares.len()];
            self.tried_on.judging(fold).into_iter().for_each(|i| others[i] = self.shares[i]);
            if others.iter().all(|share| *share == 0.0) {
                return 0;
            }
            let means: Vec<f64> = candidates.iter().map(|s| weighted_mean(s, &others)).collect();
            first_largest(&means)
        };
        (0..folds).map(choose).collect()
    }
}

/// What one of those compared said about the rows tried on, with its rows' scores and its figures.
struct Part {
    scores: Vec<f64>,
    figures: Estimates,
    predicted: Vec<f64>,
}

impl Part {
    fn gain_over(&self, other: &Self, shares: &[f64]) -> Estimate {
        Estimate::of_difference(&self.scores, &other.scores, shares)
    }
}

/// The name under which the folds of the check are reported.
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
