//! The models for new rows: members fitted on all rows, or the averages of their fits on the folds.

use super::fit::{Failures, Models};
use super::latency::seconds_per_row;
use super::{Ending, Ensemble, FoldAverage, Stack};
use crate::error::{Error, Result};
use crate::learner::{Attempt, Failure, Fitted, Learner, Sample, check_numbers, fit_members};
use crate::oos::{self, MemberFits, OnFailure, OutOfSample, Trials};
use crate::plan::Plan;
use crate::run::Run;
use crate::task::Task;

impl<T: Task> Stack<T> {
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
        let ensemble = Ensemble::with_equal_weights(members)?.within(self.limits(sample)?);
        Ok((ensemble, failures))
    }

    /// Fits all members on all rows, and measures how long each takes to predict one.
    pub(super) fn measure(
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

    /// Fits the members of these names that are not among the models yet on all rows. Also those that cannot be, if failures
    /// are borne.
    pub(super) fn refit_missing(
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
    pub(super) fn fit_missing_folds(
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
    pub(super) fn pass_over_refits(&self, names: &[String], run: &Run) {
        let unused = |learner: &&dyn Learner<T>| {
            self.ending == Ending::Refit
                && !learner.members().iter().any(|name| names.contains(name))
        };
        for learner in self.borrowed().into_iter().filter(unused) {
            run.step(&oos::name(learner), |_| ());
        }
    }

    /// Fits every member that is in the matrix on all rows of a sample.
    pub(super) fn refit(
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

/// The models of these members, in this order.
pub(super) fn in_order<T: Task>(names: &[String], mut models: Models<T>) -> Result<Models<T>> {
    let take = |name: &String| {
        let at = models.iter().position(|(other, _)| other == name);
        at.map(|at| models.remove(at))
            .ok_or_else(|| Error::shape(format!("fits of '{name}'"), 1, 0))
    };
    names.iter().map(take).collect()
}

/// Goes on without members that cannot be fitted to all rows.
pub(super) fn drop_failed<T: Task>(
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

/// Members as averages of their fits on the folds.
pub(super) fn averages<T: Task>(fits: Vec<MemberFits<T>>) -> Result<Models<T>> {
    let average = |(name, fits)| Ok((name, Box::new(FoldAverage::new(fits)?) as _));
    fits.into_iter().map(average).collect()
}

/// What a member said when it failed.
fn message_of(error: &Error) -> String {
    match error {
        Error::Member { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
