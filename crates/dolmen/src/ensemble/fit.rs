//! The way of a stack: the out-of-sample matrix, its trials, the combination, and the members that have a say in it.

use super::assess::{Assessed, Assessor, Compared, plan_checks};
use super::bounds::Bounds;
use super::equal::EqualWeights;
use super::latency::seconds_per_row;
use super::timed::{Collected, Timed};
use super::verdict::Kept;
use super::{Check, Ending, Ensemble, FoldAverage, IntervalKind, Stack, StackFigures};
use crate::combine::{Combination, Combiner, LinearPool, log_evidence};
use crate::error::{Error, Result};
use crate::learner::{Attempt, Failure, Fitted, Learner, Sample, check_numbers, fit_members};
use crate::oos::{self, Collector, MemberFits, OnFailure, OutOfSample, Trials};
use crate::plan::Plan;
use crate::run::{Run, Work};
use crate::solver::problem::unit;
use crate::target::are_counts;
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
type Models<T> = Vec<(String, Box<dyn Fitted<T>>)>;

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
            return self.ensemble(sample, trials, decision, kept.all_weights, models, run);
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
        self.ensemble(sample, trials, decision, kept.all_weights, models, run)
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
        all_weights: Option<Vec<f64>>,
        models: Models<T>,
        run: &Run,
    ) -> Result<Ensemble<T>> {
        let Decision { combination, assessed, figures, replaced } = decision;
        let table_rows = trials.matrix.table_rows().to_vec();
        let ensemble = Ensemble::new(models, combination, trials.matrix, all_weights)
            .with_figures(figures)
            .replaced(replaced)
            .within(self.bounds(sample)?);
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

    /// What numbers it keeps to, if it does.
    fn bounds(&self, sample: &Sample<'_, T>) -> Result<Option<Bounds>> {
        let Some(margin) = self.margin else { return Ok(None) };
        let Some(numbers) = T::numbers(sample.target()) else {
            let expected = "left out: only numbers have a range to keep to";
            return Err(Error::param("margin", expected, T::NAME));
        };
        let counted = numbers.iter().enumerate().filter(|(i, _)| sample.weight(*i) > 0.0);
        let bounds = match self.range {
            Some((low, high)) => Bounds::of([low, high].into_iter(), margin),
            None => Bounds::of(counted.map(|(_, y)| *y), margin),
        }?;
        // What is seen block by block is known by its sample and its range.
        let are_counts = are_counts(numbers) && self.range.is_none_or(|(low, _)| low >= 0.0);
        Ok(if are_counts { bounds.map(Bounds::of_counts) } else { bounds })
    }

    /// The members as they are, fitted on all rows: no folds, no combiner, no check. One member is that model itself;
    /// several weigh alike. Also the members that could not be fitted, if failures are borne.
    pub fn fit_without_folds(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<(Ensemble<T>, Failures)> {
        let learners = self.borrowed();
        let (mut members, mut failures) = (Vec::new(), Vec::new());
        let names = learners.iter().flat_map(|learner| learner.members()).collect::<Vec<_>>();
        let stream = run.stream("refit");
        let attempts = if let [learner] = learners[..] {
            // A learner that is all there is tells of its own steps.
            let own = &oos::streams(&learners, &stream)[0];
            own.install(|| fit_members(learner, &names, sample, own))
        } else {
            oos::plan_fits(&learners, 1, run);
            self.refit_each(sample, &names, &stream)
        };
        for (name, fitted) in attempts {
            // No row was held out that would have shown a model whose predictions are no numbers.
            let checked = fitted
                .and_then(|model| check_numbers(&name, model.as_ref(), sample).map(|()| model));
            match checked {
                Ok(model) => members.push((name, model)),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) if self.on_failure == OnFailure::Stop => return Err(error),
                Err(error) => {
                    failures
                        .push((name, Failure { member: 0, split: 0, message: message_of(&error) }));
                }
            }
        }
        if members.is_empty() && !failures.is_empty() {
            return Err(oos::none_left(&failures));
        }
        Ok((Ensemble::with_equal_weights(members)?, failures))
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

    fn borrowed(&self) -> Vec<&dyn Learner<T>> {
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

    /// Fits all members on all rows, and measures how long each takes to predict one.
    fn measure(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        trials: &mut Trials<T>,
        refitted: &mut Models<T>,
        run: &Run,
    ) -> Result<()> {
        let names = trials.matrix.members().to_vec();
        drop_failed(self.refit_missing(sample, &names, refitted, run)?, plan, trials)?;
        let seconds = |name: &String| {
            let model = refitted.iter().find(|(other, _)| other == name);
            let (_, model) =
                model.ok_or_else(|| Error::shape(format!("fits of '{name}'"), 1, 0))?;
            seconds_per_row(model.as_ref(), sample.x())
        };
        let costs = trials.matrix.members().iter().map(seconds).collect::<Result<_>>()?;
        trials.matrix.set_costs(costs);
        Ok(())
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

    /// Fits the members of these names that are not among the models yet on all rows. Also those that cannot be, if failures
    /// are borne.
    fn refit_missing(
        &self,
        sample: &Sample<'_, T>,
        names: &[String],
        models: &mut Models<T>,
        run: &Run,
    ) -> Result<Vec<(String, Error)>> {
        let is_missing = |name: &&String| models.iter().all(|(other, _)| other != *name);
        let missing: Vec<String> = names.iter().filter(is_missing).cloned().collect();
        let mut failed = Vec::new();
        for (name, fitted) in self.refit_each(sample, &missing, &run.stream("refit")) {
            match fitted {
                Ok(model) => models.push((name, model)),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) if self.on_failure == OnFailure::Stop => return Err(error),
                Err(error) => failed.push((name, error)),
            }
        }
        Ok(failed)
    }

    /// The fits on the folds of members that are known from an earlier matrix, which has no models.
    fn fit_missing_folds(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        names: &[String],
        fits: &mut Vec<MemberFits<T>>,
        run: &Run,
    ) -> Result<()> {
        let is_missing = |name: &&String| fits.iter().all(|(other, _)| other != *name);
        let missing: Vec<String> = names.iter().filter(is_missing).cloned().collect();
        let stream = run.stream("members");
        fits.extend(oos::fold_fits(&self.borrowed(), &missing, sample, plan, &stream)?);
        Ok(())
    }

    /// Tells that the fits on all rows of learners without weight are done, as they need none.
    fn pass_over_refits(&self, names: &[String], run: &Run) {
        let unused = |learner: &&dyn Learner<T>| {
            self.ending == Ending::Refit
                && !learner.members().iter().any(|name| names.contains(name))
        };
        for learner in self.borrowed().into_iter().filter(unused) {
            run.step(&oos::name(learner), |_| ());
        }
    }

    /// Fits every member that is in the matrix on all rows of a sample.
    fn refit(
        &self,
        sample: &Sample<'_, T>,
        matrix: &OutOfSample<T>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<T>>>> {
        let fitted = self.refit_each(sample, matrix.members(), run).into_iter();
        let models = fitted.map(|(name, model)| model.map(|model| (name, model)));
        in_order(matrix.members(), models.collect::<Result<_>>()?)
            .map(|models| models.into_iter().map(|(_, model)| model).collect())
    }

    /// The wanted members fitted on all rows of a sample, in the order of the learners.
    fn refit_each(&self, sample: &Sample<'_, T>, wanted: &[String], run: &Run) -> Vec<Attempt<T>> {
        let learners = self.borrowed();
        let streams = oos::streams(&learners, run);
        let fit = |k: usize| {
            let learner = learners[k];
            let members = learner.members();
            if !members.iter().any(|name| wanted.contains(name)) {
                // None of its members is wanted: whether it could be fitted does not matter.
                return Vec::new();
            }
            let fit = |run: &Run| fit_members(learner, wanted, sample, run);
            streams[k].step(&oos::name(learner), fit)
        };
        run.map(learners.len(), fit).into_iter().flatten().collect()
    }
}

/// Which members are kept, and the weights of all.
struct Reduced {
    members: Vec<usize>,
    all_weights: Option<Vec<f64>>,
}

/// The models of these members, in this order.
fn in_order<T: Task>(names: &[String], mut models: Models<T>) -> Result<Models<T>> {
    let take = |name: &String| {
        let at = models.iter().position(|(other, _)| other == name);
        at.map(|at| models.remove(at))
            .ok_or_else(|| Error::shape(format!("fits of '{name}'"), 1, 0))
    };
    names.iter().map(take).collect()
}

/// Goes on without members that cannot be fitted to all rows.
fn drop_failed<T: Task>(
    failed: Vec<(String, Error)>,
    plan: &Plan,
    trials: &mut Trials<T>,
) -> Result<()> {
    for (member, (name, error)) in failed.into_iter().enumerate() {
        let message = format!("on all rows: {}", message_of(&error));
        trials.drop_member(&name, &Failure { member, split: plan.splits().len(), message });
    }
    if trials.matrix.members().is_empty() {
        return Err(oos::none_left(trials.matrix.failures()));
    }
    Ok(())
}

/// What a member said when it failed.
fn message_of(error: &Error) -> String {
    match error {
        Error::Member { source, .. } => source.to_string(),
        other => other.to_string(),
    }
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

/// Members as averages of their fits on the folds.
fn averages<T: Task>(fits: Vec<MemberFits<T>>) -> Result<Models<T>> {
    let average = |(name, fits)| Ok((name, Box::new(FoldAverage::new(fits)?) as _));
    fits.into_iter().map(average).collect()
}
