//! Filling the matrix: fit on the rows learned from, predict the rows held out, split by split.

use serde::{Deserialize, Serialize};

use super::{Collector, OutOfSample};
use crate::error::{Error, Result};
use crate::learner::{Block, Failure, Learner, Sample, is_unusable, prediction_is};
use crate::plan::{Plan, Split};
use crate::run::{Run, Work};
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
    let collector = Collector { learners, sample: *sample, plan, on_failure, reused: None };
    plan_fits(learners, plan.splits().len(), run);
    collector.matrix(run)
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

/// Each learner's random stream, by its name: a learner draws the same numbers whoever stands before it in the list. Of
/// several with one name each has its own.
pub(crate) fn streams<T: Task>(learners: &[&dyn Learner<T>], run: &Run) -> Vec<Run> {
    let names: Vec<String> = learners.iter().map(|learner| name(*learner)).collect();
    let stream = |(l, own): (usize, &String)| {
        let before = names[..l].iter().filter(|name| *name == own).count();
        run.stream(own).child(before as u64).named(own)
    };
    names.iter().enumerate().map(stream).collect()
}

/// One learner's columns over the rows that the plan covers.
pub(super) struct Filled {
    pub(super) columns: Vec<Vec<f64>>,
    pub(super) failures: Vec<Failure>,
}

impl Filled {
    /// Averages a block where rows were predicted several times. A member that was fitted everywhere but predicts no number
    /// has failed, too.
    pub(super) fn new<T: Task>(block: Block, plan: &Plan, covered: &[usize], width: usize) -> Self {
        let mut failures = block.failures.clone();
        let averaged = block.averaged::<T>(plan, width).into_iter();
        let columns: Vec<Vec<f64>> =
            averaged.map(|column| super::cells(&column, covered, width)).collect();
        for (m, column) in columns.iter().enumerate() {
            if failures.iter().all(|failure| failure.member != m)
                && let Some(at) = column.iter().position(|v| is_unusable::<T>(*v))
            {
                failures.push(unusable(m, covered[at / width], column[at], plan));
            }
        }
        Self { columns, failures }
    }
}

/// The failure of a member that was fitted, but whose prediction of a row is no number.
fn unusable(member: usize, row: usize, value: f64, plan: &Plan) -> Failure {
    let holds_row = |split: &Split| split.test().contains(&row);
    let split = plan.splits().iter().position(holds_row).unwrap_or_default();
    Failure { member, split, message: prediction_is(value, row) }
}

/// A learner's block; a learner that gives none at all has members that failed, if failures are borne.
pub(super) fn tolerated(
    block: Result<Block>,
    members: usize,
    plan: &Plan,
    on_failure: OnFailure,
) -> Result<Block> {
    match (block, on_failure) {
        (Err(error), OnFailure::Drop) if !matches!(error, Error::Cancelled) => {
            Ok(Block::failed(members, plan, &error.to_string()))
        }
        (block, _) => block,
    }
}

/// The error of a list of members none of which could be used: each with the first thing it said.
pub(crate) fn none_left(failures: &[(String, Failure)]) -> Error {
    let mut named: Vec<(&str, &str)> = Vec::new();
    for (name, failure) in failures {
        if !named.iter().any(|(other, _)| other == name) {
            named.push((name, &failure.message));
        }
    }
    let named: Vec<String> =
        named.iter().map(|(name, message)| format!("'{name}': {message}")).collect();
    let problem = format!("no member can be fitted to these rows ({})", named.join("; "));
    Error::data(crate::error::Place::default(), problem)
}

/// The error that a failed fit becomes.
pub(super) fn stop(member: String, failure: &Failure) -> Error {
    let source = Error::data(crate::error::Place::default(), failure.message.clone())
        .with_hint("mend the data or the member's parameters, or go on without it (--drop-failed)");
    Error::Member { member, split: Some(failure.split), source: Box::new(source) }
}
