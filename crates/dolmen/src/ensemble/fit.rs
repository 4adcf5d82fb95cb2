//! The way of a stack: the out-of-sample matrix, its trials, the combination, and the members that have a say in it.

use super::assess::{Assessed, Assessor, Compared, plan_checks};
use super::equal::EqualWeights;
use super::limits::Limits;
use super::refit::{averages, drop_failed, in_order};
use super::timed::{Collected, Timed};
use super::verdict::Kept;
use super::{Check, Ending, Ensemble, IntervalKind, Stack, StackFigures};
use crate::combine::{Combination, Combiner, LinearPool, log_evidence};
use crate::error::{Error, Result};
use crate::learner::{Failure, Fitted, Learner, Sample};
use crate::oos::{self, Collector, OnFailure, OutOfSample, Trials};
use crate::plan::Plan;
use crate::run::{Run, Work};
use crate::solver::problem::unit;
use crate::task::Task;

/// Members that could not be fitted, with what they said.
pub type Failures = Vec<(String, Failure)>;

/// The combination that is kept, and what its check has shown.
struct Decision<T: Task> {
    combination: Box<dyn Combination<T>>,
    assessed: Option<Assessed<T>>,
    figures: StackFigures,
    replaced: bool,
}

/// Models for new rows, by the names of their members.
pub(super) type Models<T> = Vec<(String, Box<dyn Fitted<T>>)>;

/// What knows of more rows than those of the matrix, which are a sample of them.
pub(crate) trait MoreRows<T: Task> {
    /// The same kind of combination of the same members from all of them; `None` if it cannot be had.
    fn refined(&self, combination: &dyn Combination<T>) -> Result<Option<Box<dyn Combination<T>>>>;

    /// How a combination of this kind does on all of them beside its best member and equal weights, each row by what others have told;
    /// `None` if only the matrix tells.
    fn compared(&self, combination: &dyn Combination<T>) -> Result<Option<Compared>>;
}

impl<T: Task> Stack<T> {
    /// Fits the stack: the out-of-sample matrix, the combination, and the members for new rows. Without a plan of its own the
    /// rows are split as their keys ask ([`Sample::folds`]).
    pub fn fit_ensemble(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Ensemble<T>> {
        let stream = run.stream("plan");
        let Some(spec) = &self.plan else {
            return self.fit_on(sample, &sample.folds(self.folds, &stream)?, run);
        };
        let plan = spec.build(sample.rows(), &sample.keys(), &stream)?;
        // Splits inside members keep the distance that the plan keeps.
        self.fit_on(&sample.spaced(spec.gap()), &plan, run)
    }

    /// Fits the stack on a plan made elsewhere (folds given by the user, any other scheme).
    pub fn fit_on(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Ensemble<T>> {
        self.fit_keeping(self.keep_all, sample, plan, run)
    }

    /// The same, keeping all members or only those with weight, whatever the stack says.
    pub(crate) fn fit_keeping(
        &self,
        keep_all: bool,
        sample: &Sample<'_, T>,
        plan: &Plan,
        run: &Run,
    ) -> Result<Ensemble<T>> {
        if self.learners.is_empty() {
            return Err(Error::shape("members of the stack", 1, 0));
        }
        let limits = self.limits(sample)?;
        let members = self.learners.iter().map(|learner| learner.members().len()).sum();
        let (combiners, equal) = self.candidates(members);
        let rungs: usize = combiners.iter().map(|combiner| combiner.rungs().len()).sum();
        self.plan_work(plan, rungs, run);
        let run = &run.planned();
        let (mut trials, mut fits) = self.trials(sample, plan, rungs, run)?;
        let mut refitted: Models<T> = Vec::new();
        if self.measures {
            self.measure(sample, plan, &mut trials, &mut refitted, run)?;
        }
        loop {
            let mut decision = self.decide(sample, &trials, &combiners, equal, None, run)?;
            let kept = self.reduce(keep_all, &mut decision, &trials.matrix);
            let names: Vec<String> =
                kept.members.iter().map(|&m| trials.matrix.members()[m].clone()).collect();
            match self.ending {
                Ending::Refit => {
                    let failed = self.refit_missing(sample, &names, &mut refitted, run)?;
                    if !failed.is_empty() {
                        // The weights are found again without those that cannot be fitted to all rows.
                        drop_failed(failed, plan, &mut trials)?;
                        continue;
                    }
                }
                Ending::Average => {
                    self.fit_missing_folds(sample, plan, &names, &mut fits, run)?;
                    refitted = averages(std::mem::take(&mut fits))?;
                }
            }
            self.pass_over_refits(&names, run);
            let models = in_order(&names, refitted)?;
            return self.ensemble(
                sample,
                trials,
                decision,
                limits,
                (kept.all_weights, models),
                run,
            );
        }
    }

    /// The ensemble of members that were fitted elsewhere: `matrix` is what they said about the rows of the sample when they
    /// had not seen them, `models` are those for new rows. The combination, and the decision what is kept, come from more rows than
    /// these where they can be asked.
    pub(crate) fn combine_fitted(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        matrix: OutOfSample<T>,
        models: Vec<(String, Box<dyn Fitted<T>>)>,
        more: &dyn MoreRows<T>,
        run: &Run,
    ) -> Result<Ensemble<T>> {
        let limits = self.limits(sample)?;
        let (combiners, equal) = self.candidates(matrix.members().len());
        let rungs: usize = combiners.iter().map(|combiner| combiner.rungs().len()).sum();
        let trials = if self.is_checked(rungs) {
            Trials::of_matrix(matrix, plan)
        } else {
            Trials::none(matrix)
        };
        let mut decision = self.decide(sample, &trials, &combiners, equal, Some(more), run)?;
        let kept = self.reduce(self.keep_all, &mut decision, &trials.matrix);
        let names: Vec<String> =
            kept.members.iter().map(|&m| trials.matrix.members()[m].clone()).collect();
        let models = in_order(&names, models)?;
        self.ensemble(sample, trials, decision, limits, (kept.all_weights, models), run)
    }

    /// The combination of all members that the trials speak for.
    fn decide(
        &self,
        sample: &Sample<'_, T>,
        trials: &Trials<T>,
        combiners: &[&dyn Combiner<T>],
        equal: Option<usize>,
        more: Option<&dyn MoreRows<T>>,
        run: &Run,
    ) -> Result<Decision<T>> {
        let matrix = &trials.matrix;
        let evidence = |rows: &[usize], run: &Run| self.log_evidence(sample, rows, matrix, run);
        let assessor = Assessor {
            combiners,
            asked_for: self.combiners.iter().map(|combiner| combiner.rungs().len()).sum(),
            equal,
            replace: self.replace,
            doubt: self.doubt,
            sample: *sample,
            log_evidence: &evidence,
        };
        let fitted = |candidate| assessor.fit(candidate, matrix, &run.stream("combination"));
        let wider = |candidate| match more {
            Some(more) => more.compared(fitted(candidate)?.as_ref()),
            None => Ok(None),
        };
        let mut assessed = assessor.assess(trials, &wider, &run.stream("check"))?;
        let chosen = assessed.as_ref().map_or(0, |assessed| assessed.chosen);
        let mut combination = fitted(chosen)?;
        let kept = assessed.as_ref().map(|assessed| assessed.assessment.verdict.kept);
        let replaced = kept == Some(Kept::BestMember);
        // Of what is replaced the weights are told.
        if let Some(more) = more
            && (!replaced || combination.found().is_some())
            && let Some(refined) = more.refined(combination.as_ref())?
        {
            combination = refined;
        }
        if let (Some(assessed), true) = (assessed.as_mut(), replaced) {
            combination = replace(combination.as_ref(), assessed, matrix);
            assessor.doubt(&mut assessed.predicted, matrix);
        }
        let figures = match &assessed {
            Some(assessed) => assessed.figures.clone(),
            None => assessor.unchecked_figures(combination.as_ref(), matrix)?,
        };
        Ok(Decision { combination, assessed, figures, replaced })
    }

    /// Leaves out the members that have no weight in the combination, nor in those of the folds where these are used:
    /// with fold averages of numbers, whose intervals ask each fold for what it said.
    fn reduce(
        &self,
        keep_all: bool,
        decision: &mut Decision<T>,
        matrix: &OutOfSample<T>,
    ) -> Reduced {
        let all_weights = decision.combination.weights().map(<[f64]>::to_vec);
        let asks_folds = self.ending == Ending::Average && !T::LOG_SCORES;
        if let Some(assessed) = decision.assessed.as_mut().filter(|_| !asks_folds) {
            assessed.combinations.clear();
        }
        let all: Vec<usize> = (0..matrix.members().len()).collect();
        let of_folds = || decision.assessed.iter().flat_map(|assessed| &assessed.combinations);
        let used = || std::iter::once(&decision.combination).chain(of_folds());
        let has_weight =
            |m: usize| used().any(|c| c.weights().is_none_or(|weights| weights[m] != 0.0));
        let members: Vec<usize> = all.iter().copied().filter(|&m| has_weight(m)).collect();
        // Of two members with one name it could not be told which is left out.
        let names = matrix.members();
        let is_shared = (1..names.len()).any(|m| names[..m].contains(&names[m]));
        if keep_all || is_shared || members.is_empty() || members.len() == all.len() {
            return Reduced { members: all, all_weights };
        }
        let reduced: Option<Vec<_>> = used().map(|c| c.of_members(&members)).collect();
        let Some(mut reduced) = reduced else {
            return Reduced { members: all, all_weights };
        };
        decision.combination = reduced.remove(0);
        if let Some(assessed) = &mut decision.assessed {
            assessed.combinations = reduced;
        }
        Reduced { members, all_weights }
    }

    /// The ensemble of what was decided and fitted.
    fn ensemble(
        &self,
        sample: &Sample<'_, T>,
        trials: Trials<T>,
        decision: Decision<T>,
        limits: Limits,
        (all_weights, models): (Option<Vec<f64>>, Models<T>),
        run: &Run,
    ) -> Result<Ensemble<T>> {
        let Decision { combination, assessed, figures, replaced } = decision;
        let table_rows = trials.matrix.table_rows().to_vec();
        let ensemble = Ensemble::new(models, combination, trials.matrix, all_weights)
            .with_figures(figures)
            .replaced(replaced)
            .within(limits);
        match assessed {
            Some(assessed) => {
                let rows: Vec<usize> = assessed.rows.iter().map(|&i| table_rows[i]).collect();
                let x = sample.x().view(&rows);
                let (calibration, intervals) = (self.calibration, self.intervals);
                let stream = run.stream("intervals");
                ensemble.assessed(assessed, calibration, intervals, x.rows(), &stream)
            }
            None => Ok(ensemble),
        }
    }

    /// Plans the whole work: every fit, those of pairs of folds and of the ending included, and the folds of the check.
    fn plan_work(&self, plan: &Plan, candidates: usize, run: &Run) {
        let folds = plan.splits().len();
        let is_nested = self.check == Check::Nested && plan.is_partition();
        let ending = usize::from(self.ending == Ending::Refit);
        for learner in self.borrowed() {
            let reused = self.reused.as_ref();
            let is_known = |name: &String| reused.is_some_and(|r| r.members().contains(name));
            let is_new = !learner.members().iter().all(is_known);
            let lacks_pairs = is_new || reused.is_some_and(|reused| reused.lacks_pairs(learner));
            let pairs = if is_nested && lacks_pairs { folds * (folds - 1) / 2 } else { 0 };
            let fits = if is_new { folds } else { 0 };
            let steps = (fits + pairs + ending) as u64;
            run.progress().plan_work(&Work { what: &oos::name(learner), steps, guess: 1.0 });
        }
        if self.is_checked(candidates) {
            // In order of time the first block is not tried.
            plan_checks(folds.saturating_sub(usize::from(plan.is_forward())), run);
        }
    }

    pub(super) fn borrowed(&self) -> Vec<&dyn Learner<T>> {
        self.learners.iter().map(AsRef::as_ref).collect()
    }

    /// Whether there is a check: it was asked for, or is needed to choose or to calibrate.
    fn is_checked(&self, candidates: usize) -> bool {
        let is_needed = self.calibration.is_some() || self.intervals == IntervalKind::Local;
        self.check != Check::AsNeeded || candidates > 1 || is_needed
    }

    /// The combiners of so many members, and equal weights if they may take the place of what is learned; also which candidate is equal
    /// weights.
    fn candidates(&self, members: usize) -> (Vec<&dyn Combiner<T>>, Option<usize>) {
        let mut combiners: Vec<&dyn Combiner<T>> =
            self.combiners.iter().map(AsRef::as_ref).collect();
        let equal: &dyn Combiner<T> = &EqualWeights;
        let named = combiners.iter().position(|combiner| combiner.rungs() == equal.rungs());
        if self.replace && members > 1 && named.is_none() && !self.limited {
            combiners.push(equal);
        }
        let at = named.or((combiners.len() > self.combiners.len()).then_some(self.combiners.len()));
        let before =
            |at: usize| combiners[..at].iter().map(|combiner| combiner.rungs().len()).sum();
        let equal = at.map(before);
        (combiners, equal)
    }

    /// The out-of-sample matrix with the trials that are asked for or needed, and the fits that made it where they are to
    /// be averaged.
    fn trials(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        candidates: usize,
        run: &Run,
    ) -> Result<Collected<T>> {
        let learners = self.borrowed();
        match &self.until {
            None => self.trials_of(&learners, sample, plan, candidates, run),
            Some((until, order)) => {
                let collect = |learner: &dyn Learner<T>, run: &Run| {
                    self.trials_of(&[learner], sample, plan, candidates, run)
                };
                let is_nested = self.check == Check::Nested && plan.is_partition();
                let folds = plan.splits().len();
                let fits = folds + if is_nested { folds * (folds - 1) / 2 } else { 0 };
                let bears = self.on_failure == OnFailure::Drop;
                let timed = Timed { learners: &learners, order, until: *until, fits, bears };
                timed.collect(&collect, run)
            }
        }
    }

    /// The same of some learners.
    fn trials_of(
        &self,
        learners: &[&dyn Learner<T>],
        sample: &Sample<'_, T>,
        plan: &Plan,
        candidates: usize,
        run: &Run,
    ) -> Result<Collected<T>> {
        let (on_failure, reused) = (self.on_failure, self.reused.as_ref());
        let collector = Collector { learners, sample: *sample, plan, on_failure, reused };
        let members = run.stream("members");
        let (matrix, fits) = match self.ending {
            Ending::Refit => (collector.matrix(&members)?, Vec::new()),
            Ending::Average => collector.matrix_with_fits(&members)?,
        };
        let trials = match self.check {
            Check::Nested if plan.is_partition() => {
                let stream = run.stream("pairs");
                Trials::nested(matrix, learners, sample, plan, on_failure, &stream)?
            }
            Check::AsNeeded if !self.is_checked(candidates) => Trials::none(matrix),
            Check::AsNeeded | Check::Matrix | Check::Nested => Trials::of_matrix(matrix, plan),
        };
        Ok((trials, fits))
    }

    /// Each member's log evidence on chosen rows, to which it is fitted for this.
    fn log_evidence(
        &self,
        sample: &Sample<'_, T>,
        rows: &[usize],
        matrix: &OutOfSample<T>,
        run: &Run,
    ) -> Result<Vec<f64>> {
        let part = sample.select(rows);
        let part = part.borrow();
        let models = self.refit(&part, matrix, run)?;
        models.iter().map(|model| log_evidence(model.as_ref(), &part, run)).collect()
    }
}

/// Which members are kept, and the weights of all.
struct Reduced {
    members: Vec<usize>,
    all_weights: Option<Vec<f64>>,
}

/// The best member in the place of a combination, also in what was found about it; the combination's notes stay.
fn replace<T: Task>(
    combination: &dyn Combination<T>,
    assessed: &mut Assessed<T>,
    matrix: &OutOfSample<T>,
) -> Box<dyn Combination<T>> {
    let best = assessed.best;
    let pool = LinearPool::new(unit(matrix.members().len(), best)).in_place_of(combination.found());
    let notes = combination.diagnostics().notes;
    let alone = notes.iter().fold(pool, |pool, note| pool.noting(note));
    assessed.predicted = assessed.rows.iter().flat_map(|&i| matrix.row(best, i)).copied().collect();
    assessed.combinations.iter_mut().for_each(|of_fold| *of_fold = Box::new(alone.clone()));
    Box::new(alone)
}
