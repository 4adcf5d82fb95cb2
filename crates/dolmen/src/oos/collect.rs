//! Filling the matrix: fit on the rows learned from, predict the rows held out, split by split.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::OutOfSample;
use crate::error::{Error, Result};
use crate::learner::{Block, Failure, is_unusable};
use crate::learner::{Learner, Sample};
use crate::plan::{Plan, Split};
use crate::run::{Run, Work};
use crate::target::Target;
use crate::task::Task;

/// What to do with a member whose fit failed in some split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFailure {
    /// Stop with the error.
    #[default]
    Stop,
    /// Go on without the member; the failure is kept with the matrix and shown in reports.
    Drop,
}

/// The out-of-sample matrix of a list of learners, filled in parallel over learners and splits on the run's pool.
pub fn collect<T: Task>(
    learners: &[&dyn Learner<T>],
    sample: &Sample<'_, T>,
    plan: &Plan,
    on_failure: OnFailure,
    run: &Run,
) -> Result<OutOfSample<T>> {
    plan_fits(learners, plan.splits().len(), run);
    let blocks: Vec<Result<Block>> = run.install(|| {
        let fit = |(l, learner): (usize, &&dyn Learner<T>)| {
            learner.out_of_sample(sample, plan, &run.child(l as u64).named(&name(*learner)))
        };
        learners.par_iter().enumerate().map(fit).collect()
    });
    assemble(learners, blocks, sample, plan, on_failure)
}

/// Plans so many fits of each learner.
pub(crate) fn plan_fits<T: Task>(learners: &[&dyn Learner<T>], fits: usize, run: &Run) {
    for learner in learners {
        run.progress().plan_work(&Work { what: &name(*learner), steps: fits as u64, guess: 1.0 });
    }
}

/// The name under which a learner's fits are reported.
pub(crate) fn name<T: Task>(learner: &dyn Learner<T>) -> String {
    learner.members().into_iter().next().unwrap_or_default()
}

/// The matrix from the learners' blocks.
pub(super) fn assemble<T: Task>(
    learners: &[&dyn Learner<T>],
    blocks: Vec<Result<Block>>,
    sample: &Sample<'_, T>,
    plan: &Plan,
    on_failure: OnFailure,
) -> Result<OutOfSample<T>> {
    let covered: Vec<usize> =
        plan.coverage().iter().enumerate().filter(|(_, c)| **c > 0).map(|(i, _)| i).collect();
    let mut members = Vec::new();
    let mut failures: Vec<(String, Failure)> = Vec::new();
    for (learner, block) in learners.iter().zip(blocks) {
        let names = learner.members();
        let block = tolerated(block, names.len(), on_failure)?;
        for (m, (name, column)) in names.into_iter().zip(block.columns).enumerate() {
            let mut own: Vec<Failure> =
                block.failures.iter().filter(|f| f.member == m).cloned().collect();
            let width = T::width(sample.target());
            if own.is_empty() {
                let column = select(&column, &covered, width);
                let Some(at) = column.iter().position(|v| is_unusable::<T>(*v)) else {
                    members.push((name, column));
                    continue;
                };
                own.push(unusable(m, covered[at / width], column[at], plan));
            }
            if on_failure == OnFailure::Stop {
                return Err(stop(name, &own[0]));
            }
            failures.extend(own.into_iter().map(|failure| (name.clone(), failure)));
        }
    }
    if members.is_empty() && !failures.is_empty() {
        return Err(none_left(&failures));
    }
    let weights = sample.weights().map(|w| covered.iter().map(|&i| w[i]).collect());
    let mut oos = OutOfSample::from_columns(members, sample.target().select(&covered), weights)?;
    oos.rows = covered;
    oos.fingerprint = Some(plan.fingerprint());
    oos.failures = failures;
    Ok(oos)
}

/// The failure of a member that was fitted, but whose prediction of a row is no number.
fn unusable(member: usize, row: usize, value: f64, plan: &Plan) -> Failure {
    let holds_row = |split: &Split| split.test().contains(&row);
    let split = plan.splits().iter().position(holds_row).unwrap_or_default();
    Failure { member, split, message: format!("its prediction of row {} is {value}", row + 1) }
}

/// A learner's block; a learner that gives none at all has members that failed, if failures are borne.
pub(super) fn tolerated(
    block: Result<Block>,
    members: usize,
    on_failure: OnFailure,
) -> Result<Block> {
    match (block, on_failure) {
        (Err(error), OnFailure::Drop) if !matches!(error, Error::Cancelled) => {
            let message = error.to_string();
            let failure = |member| Failure { member, split: 0, message: message.clone() };
            let failures = (0..members).map(failure).collect();
            Ok(Block { columns: vec![Vec::new(); members], failures })
        }
        (block, _) => block,
    }
}

/// The error of a list of members none of which could be used: each with the first thing it said.
pub(crate) fn none_left(failures: &[(String, Failure)]) -> Error {
    let mut said: Vec<(&str, &str)> = Vec::new();
    for (name, failure) in failures {
        if !said.iter().any(|(other, _)| other == name) {
            said.push((name, &failure.message));
        }
    }
    let said: Vec<String> =
        said.iter().map(|(name, message)| format!("'{name}': {message}")).collect();
    let problem = format!("no member can be fitted to these rows ({})", said.join("; "));
    Error::data(crate::error::Place::default(), problem)
}

/// The error that a failed fit becomes.
pub(super) fn stop(member: String, failure: &Failure) -> Error {
    let source = Error::data(crate::error::Place::default(), failure.message.clone())
        .with_hint("mend the data or the member's parameters, or go on without it (--drop-failed)");
    Error::Member { member, split: Some(failure.split), source: Box::new(source) }
}

/// The rows of a column that were held out.
fn select(column: &[f64], rows: &[usize], width: usize) -> Vec<f64> {
    rows.iter().flat_map(|&i| &column[i * width..(i + 1) * width]).copied().collect()
}
