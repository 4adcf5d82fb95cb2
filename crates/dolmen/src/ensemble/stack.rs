//! Stacking: fit unlike learners, keep what each said about rows it had not seen, learn how to combine them.

use serde::{Deserialize, Serialize};

use super::assess::{Assessed, Assessor, best_member, plan_checks};
use super::equal::EqualWeights;
use super::verdict::Kept;
use super::{CalibrationKind, Ensemble, FoldAverage, IntervalKind};
use crate::combine::{Combination, Combiner, LinearPool, Weighable, Weights, log_evidence};
use crate::error::{Error, Result};
use crate::learner::Failure;
use crate::learner::{Fitted, Learner, Sample};
use crate::oos::{self, MemberFits, OnFailure, OutOfSample, Trials};
use crate::plan::{Plan, PlanSpec, RowKeys};
use crate::run::Run;
use crate::solver::problem::unit;
use crate::target::Target;
use crate::task::Task;

/// A stack of learners and how they are combined. A stack is a learner itself, so stacks nest.
#[derive(Debug)]
pub struct Stack<T: Task> {
    name: String,
    learners: Vec<Box<dyn Learner<T>>>,
    combiners: Vec<Box<dyn Combiner<T>>>,
    plan: Option<PlanSpec>,
    folds: usize,
    on_failure: OnFailure,
    check: Check,
    ending: Ending,
    calibration: Option<CalibrationKind>,
    intervals: IntervalKind,
    replace: bool,
    reused: Option<OutOfSample<T>>,
    keep_all: bool,
}

/// How the candidates are tried, and how well the stack is known to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Only where there is something to choose or to calibrate, and then as [`Check::Matrix`].
    #[default]
    AsNeeded,
    /// On folds over the rows of the out-of-sample matrix: no further fits, a little flattering.
    Matrix,
    /// On pairs of folds held out from members and combiner alike: V(V-1)/2 further fits per member.
    Nested,
}

/// What members predict new rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every member fitted once more, on all rows [SmythWolpert1999 section 2.3 step 4].
    #[default]
    Refit,
    /// The average of every member's fits on the folds (Himmetoglu2019).
    Average,
}

/// Members that could not be fitted, with what they said.
pub type Failures = Vec<(String, Failure)>;

/// Folds of a stack if nothing else is asked for [SmythWolpert1999 section 2.3].
const FOLDS: usize = 10;

impl<T: Weighable> Default for Stack<T> {
    /// A stack without members, with exact weights.
    fn default() -> Self {
        Self::new(Weights::default())
    }
}

impl<T: Task> Stack<T> {
    /// A stack without members.
    pub fn new(combiner: impl Combiner<T> + 'static) -> Self {
        Self::choosing(vec![Box::new(combiner)])
    }

    /// A stack without members that chooses among combiners by trying them.
    pub fn choosing(combiners: Vec<Box<dyn Combiner<T>>>) -> Self {
        Self {
            name: "stack".into(),
            learners: Vec::new(),
            combiners,
            plan: None,
            folds: FOLDS,
            on_failure: OnFailure::Stop,
            check: Check::AsNeeded,
            ending: Ending::Refit,
            calibration: None,
            intervals: IntervalKind::Constant,
            replace: false,
            reused: None,
            keep_all: false,
        }
    }

    /// With one more learner.
    #[must_use]
    pub fn member(mut self, learner: impl Learner<T> + 'static) -> Self {
        self.learners.push(Box::new(learner));
        self
    }

    /// With further learners.
    #[must_use]
    pub fn members(mut self, learners: impl IntoIterator<Item = Box<dyn Learner<T>>>) -> Self {
        self.learners.extend(learners);
        self
    }

    /// With its own name, for stacks inside stacks.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    /// With another number of folds than ten, stratified by class where there are classes.
    #[must_use]
    pub fn folds(mut self, folds: usize) -> Self {
        self.folds = folds;
        self
    }

    /// With a plan of another kind for the out-of-sample matrix.
    #[must_use]
    pub fn plan(mut self, plan: PlanSpec) -> Self {
        self.plan = Some(plan);
        self
    }

    /// What to do when a member cannot be fitted in some split.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// How candidates are tried and the stack is checked.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.check = check;
        self
    }

    /// What members predict new rows.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// With calibrated class probabilities.
    #[must_use]
    pub fn calibrated(mut self, kind: CalibrationKind) -> Self {
        self.calibration = Some(kind);
        self
    }

    /// With prediction intervals of another kind (numbers). Local ones are learned from the check, which is then made.
    #[must_use]
    pub fn intervals(mut self, kind: IntervalKind) -> Self {
        self.intervals = kind;
        self
    }

    /// Whether the best member takes the stack's place if the check does not find the stack better. Then equal weights are a
    /// candidate too, beside the combiners asked for.
    #[must_use]
    pub fn replaced_if_not_better(mut self, replace: bool) -> Self {
        self.replace = replace;
        self
    }

    /// With the matrix of an earlier fit of the same data by the same plan, which the fit refuses if it is of others: members
    /// whose names it holds keep their columns, and only the others are fitted fold by fold. Columns of members that are not
    /// in the stack are left out. With a [nested check](Check::Nested) the columns without two folds are kept, too.
    #[must_use]
    pub fn reusing(mut self, matrix: OutOfSample<T>) -> Self {
        self.reused = Some(matrix);
        self
    }

    /// Whether members without weight are fitted on all rows and kept, too; else only those that have weight.
    #[must_use]
    pub fn keep_all(mut self, keep_all: bool) -> Self {
        self.keep_all = keep_all;
        self
    }

    /// Its learners.
    pub fn learners(&self) -> &[Box<dyn Learner<T>>] {
        &self.learners
    }

    /// Fits the stack: the out-of-sample matrix, the combination, and the members for new rows.
    pub fn fit_ensemble(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Ensemble<T>> {
        let keys = RowKeys { classes: sample.target().strata(), ..RowKeys::default() };
        let folds = self.folds.min(sample.rows());
        let spec = self.plan.clone().unwrap_or_else(|| PlanSpec::suited(folds, &keys));
        let plan = spec.build(sample.rows(), &keys, &run.child(0))?;
        self.fit_on(sample, &plan, run)
    }

    /// Fits the stack on a plan made elsewhere (grouped rows, time-ordered rows, folds given by the user).
    pub fn fit_on(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Ensemble<T>> {
        if self.learners.is_empty() {
            return Err(Error::shape("members of the stack", 1, 0));
        }
        let combiners = self.candidates();
        let rungs: usize = combiners.iter().map(|combiner| combiner.rungs().len()).sum();
        self.plan_work(plan, rungs, run);
        let run = &run.planned();
        let (mut trials, kept) = self.trials(sample, plan, rungs, &run.child(1))?;
        // First, because a member that cannot be fitted to all rows must not be weighed.
        let refitted = match self.ending {
            Ending::Refit => self.final_models(sample, plan, &mut trials, run)?,
            Ending::Average => Vec::new(),
        };
        let evidence =
            |rows: &[usize], run: &Run| self.log_evidence(sample, rows, &trials.matrix, run);
        let assessor = Assessor {
            combiners: &combiners,
            asked_for: self.combiners.iter().map(|combiner| combiner.rungs().len()).sum(),
            replace: self.replace,
            sample: *sample,
            log_evidence: &evidence,
        };
        let mut assessed = assessor.assess(&trials, &run.child(4))?;
        let chosen = assessed.as_ref().map_or(0, |assessed| assessed.chosen);
        let matrix = &trials.matrix;
        let mut combination = assessor.fit(chosen, matrix, &run.child(2))?;
        let mut replaced = false;
        if let Some(assessed) = assessed.as_mut()
            && assessed.assessment.verdict.kept == Kept::BestMember
        {
            replaced = true;
            combination = replace(combination.as_ref(), assessed, matrix)?;
        }
        let figures = match &assessed {
            Some(assessed) => assessed.figures.clone(),
            None => assessor.unchecked_figures(combination.as_ref(), matrix)?,
        };
        let models = match self.ending {
            Ending::Refit => refitted,
            Ending::Average => averages(kept, matrix)?,
        };
        let rows = matrix.table_rows().to_vec();
        let ensemble =
            Ensemble::new(models, combination, trials.matrix, replaced)?.with_figures(figures);
        match assessed {
            Some(assessed) => {
                let x = sample.x().select(&rows);
                let (calibration, intervals) = (self.calibration, self.intervals);
                ensemble.assessed(assessed, calibration, intervals, x.rows(), &run.child(5))
            }
            None => Ok(ensemble),
        }
    }

    /// The members as they are, fitted on all rows: no folds, no combiner, no check. One member is that model itself;
    /// several weigh alike. Also the members that could not be fitted, if failures are borne.
    pub fn fit_without_folds(
        &self,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<(Ensemble<T>, Failures)> {
        let learners: Vec<&dyn Learner<T>> = self.learners.iter().map(AsRef::as_ref).collect();
        oos::plan_fits(&learners, 1, run);
        let (mut members, mut failures) = (Vec::new(), Vec::new());
        let names = self.learners.iter().flat_map(|learner| learner.members()).collect::<Vec<_>>();
        for (learner, models) in self.learners.iter().zip(self.refit_each(sample, &names, run)) {
            match models {
                Ok(models) => members.extend(learner.members().into_iter().zip(models)),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) if self.on_failure == OnFailure::Stop => return Err(error),
                Err(error) => failures.extend(
                    learner
                        .members()
                        .into_iter()
                        .map(|name| (name, Failure { member: 0, split: 0, message: said(&error) })),
                ),
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
        let pairs =
            if self.check == Check::Nested { folds * folds.saturating_sub(1) / 2 } else { 0 };
        let ending = usize::from(self.ending == Ending::Refit);
        let learners: Vec<&dyn Learner<T>> = self.learners.iter().map(AsRef::as_ref).collect();
        oos::plan_fits(&learners, folds + pairs + ending, run);
        if self.is_checked(candidates) {
            plan_checks(folds, run);
        }
    }

    /// Whether there is a check: it was asked for, or is needed to choose or to calibrate.
    fn is_checked(&self, candidates: usize) -> bool {
        let is_needed = self.calibration.is_some() || self.intervals == IntervalKind::Local;
        self.check != Check::AsNeeded || candidates > 1 || is_needed
    }

    /// The combiners, and equal weights if they may take the place of what is learned.
    fn candidates(&self) -> Vec<&dyn Combiner<T>> {
        let mut combiners: Vec<&dyn Combiner<T>> =
            self.combiners.iter().map(AsRef::as_ref).collect();
        let equal: &dyn Combiner<T> = &EqualWeights;
        let named = combiners.iter().any(|combiner| combiner.rungs() == equal.rungs());
        let members: usize = self.learners.iter().map(|learner| learner.members().len()).sum();
        if self.replace && members > 1 && !named {
            combiners.push(equal);
        }
        combiners
    }

    /// The out-of-sample matrix with the trials that are asked for or needed, and the fits that made it where they are to
    /// be averaged.
    fn trials(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        candidates: usize,
        run: &Run,
    ) -> Result<(Trials<T>, Vec<MemberFits<T>>)> {
        let learners: Vec<&dyn Learner<T>> = self.learners.iter().map(AsRef::as_ref).collect();
        let (matrix, kept) = match self.ending {
            Ending::Refit => {
                (oos::collect(&learners, sample, plan, self.on_failure, run)?, Vec::new())
            }
            Ending::Average => oos::collect_fits(&learners, sample, plan, self.on_failure, run)?,
        };
        let trials = match self.check {
            Check::Nested => Trials::nested(matrix, &learners, sample, plan, self.on_failure, run)?,
            Check::AsNeeded if !self.is_checked(candidates) => Trials::none(matrix),
            Check::AsNeeded | Check::Matrix => Trials::of_matrix(matrix, plan),
        };
        Ok((trials, kept))
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

    /// Every member of the matrix fitted on all rows; one that cannot be leaves the trials, if failures are borne.
    fn final_models(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        trials: &mut Trials<T>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<T>>>> {
        let fitted = self.refit_each(sample, trials.matrix.members(), run);
        let mut kept = Vec::new();
        for (learner, models) in self.learners.iter().zip(fitted) {
            match models {
                Ok(models) => kept.extend(models),
                Err(Error::Cancelled) => return Err(Error::Cancelled),
                Err(error) if self.on_failure == OnFailure::Stop => return Err(error),
                Err(error) => {
                    let message = format!("on all rows: {}", said(&error));
                    for (member, name) in learner.members().iter().enumerate() {
                        let split = plan.splits().len();
                        trials.drop_member(
                            name,
                            &Failure { member, split, message: message.clone() },
                        );
                    }
                }
            }
        }
        if kept.is_empty() {
            return Err(oos::none_left(trials.matrix.failures()));
        }
        Ok(kept)
    }

    /// Fits every member that is in the matrix on all rows of a sample.
    fn refit(
        &self,
        sample: &Sample<'_, T>,
        matrix: &OutOfSample<T>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<T>>>> {
        let fitted = self.refit_each(sample, matrix.members(), run).into_iter();
        let fitted: Vec<_> = fitted.collect::<Result<_>>()?;
        Ok(fitted.into_iter().flatten().collect())
    }

    /// The wanted members fitted on all rows of a sample, learner by learner.
    fn refit_each(
        &self,
        sample: &Sample<'_, T>,
        wanted: &[String],
        run: &Run,
    ) -> Vec<Result<Vec<Box<dyn Fitted<T>>>>> {
        use rayon::prelude::*;

        let refit = run.child(3);
        run.install(|| {
            let fit = |(l, learner): (usize, &dyn Learner<T>)| {
                run.check()?;
                if !learner.members().iter().any(|name| wanted.contains(name)) {
                    // All its members were dropped: whether it could be fitted no longer matters.
                    return Ok(Vec::new());
                }
                let name = || learner.members().first().cloned().unwrap_or_default();
                let fit = |run: &Run| learner.fit(sample, run);
                let models = refit.child(l as u64).step(&oos::name(learner), fit);
                let models = models.map_err(|source| match source {
                    Error::Cancelled => Error::Cancelled,
                    source => {
                        Error::Member { member: name(), split: None, source: Box::new(source) }
                    }
                })?;
                let named = learner.members().into_iter().zip(models);
                let wanted = named.filter(|(name, _)| wanted.contains(name));
                Ok(wanted.map(|(_, model)| model).collect())
            };
            self.learners.par_iter().map(AsRef::as_ref).enumerate().map(fit).collect()
        })
    }
}

/// What a member said when it failed.
fn said(error: &Error) -> String {
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
) -> Result<Box<dyn Combination<T>>> {
    let best = best_member(matrix)?;
    let pool = LinearPool::new(unit(matrix.members().len(), best)).in_place_of(combination.found());
    let notes = combination.diagnostics().notes;
    let alone = notes.iter().fold(pool, |pool, note| pool.noting(note));
    assessed.predicted = matrix.column(best).to_vec();
    assessed.combinations.iter_mut().for_each(|of_fold| *of_fold = Box::new(alone.clone()));
    Ok(Box::new(alone))
}

/// The members of the matrix as averages of their fits on the folds.
fn averages<T: Task>(
    kept: Vec<MemberFits<T>>,
    matrix: &OutOfSample<T>,
) -> Result<Vec<Box<dyn Fitted<T>>>> {
    let in_matrix = kept.into_iter().filter(|(name, _)| matrix.members().contains(name));
    in_matrix.map(|(_, fits)| Ok(Box::new(FoldAverage::new(fits)?) as _)).collect()
}

impl<T: Task> Learner<T> for Stack<T> {
    fn members(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        Ok(vec![Box::new(self.fit_ensemble(sample, run)?)])
    }
}
