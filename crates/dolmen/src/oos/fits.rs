//! The matrix with the fits that made it.

use super::collect::{Filled, OnFailure, plan_fits, streams};
use super::{Collector, OutOfSample};
use crate::error::Result;
use crate::learner::{Block, by_split_keeping, fit_split};
use crate::learner::{Fitted, Learner, Sample};
use crate::plan::{Plan, Split};
use crate::run::Run;
use crate::task::Task;

/// A member's fits, split after split.
pub type MemberFits<T> = (String, Vec<Box<dyn Fitted<T>>>);

/// One learner's fits: split after split, one model per member.
type LearnerFits<T> = Vec<Vec<Box<dyn Fitted<T>>>>;

/// One learner's columns, and its members' fits; `None` if it is known from an earlier matrix.
type Known<T> = Option<(Filled, Vec<MemberFits<T>>)>;

/// The out-of-sample matrix, and of every member the fits that made it.
///
/// Costs what plain refitting costs: work that learners share between splits leaves no fits.
pub fn collect_fits<T: Task>(
    learners: &[&dyn Learner<T>],
    sample: &Sample<'_, T>,
    plan: &Plan,
    on_failure: OnFailure,
    run: &Run,
) -> Result<(OutOfSample<T>, Vec<MemberFits<T>>)> {
    plan_fits(learners, plan.splits().len(), run);
    let collector = Collector { learners, sample: *sample, plan, on_failure, reused: None };
    collector.matrix_with_fits(run)
}

impl<T: Task> Collector<'_, T> {
    /// The matrix, and of every member that was fitted for it its fits.
    pub(crate) fn matrix_with_fits(
        &self,
        run: &Run,
    ) -> Result<(OutOfSample<T>, Vec<MemberFits<T>>)> {
        self.check_plan(run)?;
        let (covered, width) = (self.covered(), T::width(self.sample.target()));
        let streams = streams(self.learners, run);
        let results: Vec<Known<T>> = run.try_map(self.learners.len(), |k| {
            let learner = self.learners[k];
            if self.knows(learner) {
                return Ok(None);
            }
            let (block, fits) = fits_of(learner, &self.sample, self.plan, &streams[k])?;
            Ok(Some((Filled::new::<T>(block, self.plan, &covered, width), fits)))
        })?;
        let (mut filled, mut members) = (Vec::new(), Vec::new());
        for result in results {
            let (own, fits) = result.unzip();
            filled.push(Ok(own));
            members.extend(fits.unwrap_or_default());
        }
        Ok((self.assembled(filled, covered, run)?, members))
    }
}

/// The fits on the splits of some members, which [`collect_fits`] would have kept: for members that are known from an
/// earlier matrix. Those of `wanted`; a fit that fails is an error.
pub(crate) fn fold_fits<T: Task>(
    learners: &[&dyn Learner<T>],
    wanted: &[String],
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
) -> Result<Vec<MemberFits<T>>> {
    let streams = streams(learners, run);
    let mut members = Vec::new();
    for (learner, stream) in learners.iter().zip(&streams) {
        if !learner.members().iter().any(|name| wanted.contains(name)) {
            continue;
        }
        plan_fits(&[*learner], plan.splits().len(), run);
        let (block, fits) = fits_of(*learner, sample, plan, stream)?;
        let names = learner.members();
        if let Some(failure) = block.failures.iter().find(|f| wanted.contains(&names[f.member])) {
            return Err(super::collect::stop(names[failure.member].clone(), failure));
        }
        members.extend(fits.into_iter().filter(|(n, _)| wanted.contains(n)));
    }
    Ok(members)
}

/// What a learner's members said about the rows held out, and their fits; of a ladder that fails as a whole rung by rung.
fn fits_of<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
) -> Result<(Block, Vec<MemberFits<T>>)> {
    let members = learner.members();
    let (block, fits) = by_split_keeping(&members, sample, plan, run, &|split: &Split, run| {
        fit_split(learner, sample, split, run)
    })?;
    if learner.rungs().is_empty() || !block.fails_as_a_whole(members.len()) {
        return Ok((block, by_member(learner, fits)));
    }
    let (mut blocks, mut fits) = (Vec::new(), Vec::new());
    for rung in learner.rungs() {
        let (block, own) = fits_of(rung.as_ref(), sample, plan, run)?;
        blocks.push(block);
        fits.extend(own);
    }
    Ok((Block::side_by_side(blocks), fits))
}

fn by_member<T: Task>(learner: &dyn Learner<T>, splits: LearnerFits<T>) -> Vec<MemberFits<T>> {
    let mut fits: Vec<MemberFits<T>> =
        learner.members().into_iter().map(|name| (name, Vec::new())).collect();
    for models in splits {
        fits.iter_mut().zip(models).for_each(|((_, fits), model)| fits.push(model));
    }
    // Members that are known from an earlier matrix have none yet.
    fits.retain(|(_, fits)| !fits.is_empty());
    fits
}
