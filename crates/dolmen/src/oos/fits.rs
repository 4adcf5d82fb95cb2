//! The matrix with the fits that made it.

use rayon::prelude::*;

use super::OutOfSample;
use super::collect::{OnFailure, assemble, name, plan_fits};
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
    let results: Vec<Result<(Block, LearnerFits<T>)>> = run.install(|| {
        let fit = |(l, learner): (usize, &&dyn Learner<T>)| {
            let stream = run.child(l as u64).named(&name(*learner));
            by_split_keeping(&learner.members(), sample, plan, &stream, |split: &Split, run| {
                fit_split(*learner, sample, split, run)
            })
        };
        learners.par_iter().enumerate().map(fit).collect()
    });
    let mut members = Vec::new();
    let mut blocks = Vec::new();
    for (learner, result) in learners.iter().zip(results) {
        let (block, splits) = result?;
        blocks.push(Ok(block));
        let mut fits: Vec<MemberFits<T>> =
            learner.members().into_iter().map(|name| (name, Vec::new())).collect();
        for models in splits {
            fits.iter_mut().zip(models).for_each(|((_, fits), model)| fits.push(model));
        }
        members.extend(fits);
    }
    Ok((assemble(learners, blocks, sample, plan, on_failure)?, members))
}
