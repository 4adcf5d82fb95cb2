//! Filling the matrix: fit on the rows learned from, predict the rows held out, split by split.

use std::marker::PhantomData;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Block, Failure, OutOfSample, is_unusable};
use crate::error::{Error, Result};
use crate::learner::{Fitted, Learner, Run, Sample, Work};
use crate::plan::{Plan, Split};
use crate::task::{Target, Task};

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

/// The name under which a learner's fits are told.
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

/// A learner's out-of-sample block by plain refitting, in parallel over the splits.
///
/// A row predicted by several splits (repeated plans, bootstraps) gets the average prediction, which in log space is the
/// logarithm of the average density. A failing fit is recorded, and leaves the rows of its split without a prediction.
pub fn refit<T: Task, L: Learner<T> + ?Sized>(
    learner: &L,
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
) -> Result<Block> {
    let fit = |split: &Split, run: &Run| predict_split(learner, sample, split, run);
    by_split(&learner.members(), sample, plan, run, fit)
}

/// The same for learners that have their own way to one split's predictions: one column per member of its held-out rows.
pub(crate) fn by_split<T: Task>(
    members: &[String],
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
    predict: impl Fn(&Split, &Run) -> Result<Vec<Vec<f64>>> + Sync,
) -> Result<Block> {
    let predict = |split: &Split, run: &Run| Ok((predict(split, run)?, ()));
    Ok(by_split_keeping(members, sample, plan, run, predict)?.0)
}

/// The same, keeping what each split that did not fail brings beside its predictions.
pub(super) fn by_split_keeping<T: Task, K: Send>(
    members: &[String],
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
    predict: impl Fn(&Split, &Run) -> Result<(Vec<Vec<f64>>, K)> + Sync,
) -> Result<(Block, Vec<K>)> {
    if plan.rows() != sample.rows() {
        return Err(Error::shape("rows of the plan", sample.rows(), plan.rows()));
    }
    let predictions: Vec<Result<(Vec<Vec<f64>>, K)>> = run.install(|| {
        let splits = plan.splits().par_iter().enumerate();
        let fit = |(v, split): (usize, &Split)| {
            run.check()?;
            let name = members.first().map_or("", String::as_str);
            run.child(v as u64).step(name, |run| predict(split, run))
        };
        splits.map(fit).collect()
    });
    let mut mean = Averages::<T>::new(members.len(), sample);
    let (mut failures, mut kept) = (Vec::new(), Vec::new());
    for (v, (split, predicted)) in plan.splits().iter().zip(predictions).enumerate() {
        match predicted {
            Ok((columns, beside)) => {
                mean.add(split.test(), &columns);
                kept.push(beside);
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => failures.extend((0..members.len()).map(|member| Failure {
                member,
                split: v,
                message: error.to_string(),
            })),
        }
    }
    Ok((Block { columns: mean.columns, failures }, kept))
}

/// Fits one split and predicts its held-out rows: one column per member.
pub(crate) fn predict_split<T: Task, L: Learner<T> + ?Sized>(
    learner: &L,
    sample: &Sample<'_, T>,
    split: &Split,
    run: &Run,
) -> Result<Vec<Vec<f64>>> {
    Ok(fit_split(learner, sample, split, run)?.0)
}

/// What the members said about the held-out rows, and the members.
pub(super) type SplitFit<T> = (Vec<Vec<f64>>, Vec<Box<dyn Fitted<T>>>);

/// The same, with the models.
pub(super) fn fit_split<T: Task, L: Learner<T> + ?Sized>(
    learner: &L,
    sample: &Sample<'_, T>,
    split: &Split,
    run: &Run,
) -> Result<SplitFit<T>> {
    let train = sample.select(&split.train(sample.rows()));
    let held_out = sample.x().select(split.test());
    let models = learner.fit(&train.borrow(), run)?;
    let predict = |model: &dyn Fitted<T>| {
        let mut out = vec![0.0; held_out.rows().rows() * model.width()];
        model.predict_into(held_out.rows(), &mut out).map(|()| out)
    };
    let columns = models.iter().map(AsRef::as_ref).map(predict).collect::<Result<_>>()?;
    Ok((columns, models))
}

/// The running average of each row's predictions.
struct Averages<T: Task> {
    columns: Vec<Vec<f64>>,
    counts: Vec<u32>,
    width: usize,
    task: PhantomData<T>,
}

impl<T: Task> Averages<T> {
    fn new(members: usize, sample: &Sample<'_, T>) -> Self {
        let width = T::width(sample.target());
        let columns = vec![vec![f64::NAN; sample.rows() * width]; members];
        Self { columns, counts: vec![0; sample.rows()], width, task: PhantomData }
    }

    fn add(&mut self, rows: &[usize], predicted: &[Vec<f64>]) {
        for (t, &i) in rows.iter().enumerate() {
            let before = f64::from(self.counts[i]);
            self.counts[i] += 1;
            let weights = [before / (before + 1.0), 1.0 / (before + 1.0)];
            for (column, predicted) in self.columns.iter_mut().zip(predicted) {
                let old = &mut column[i * self.width..(i + 1) * self.width];
                let new = &predicted[t * self.width..(t + 1) * self.width];
                let kept = old.to_vec();
                T::mix(&weights, |m| if m == 0 { &kept } else { new }, old);
            }
        }
    }
}
