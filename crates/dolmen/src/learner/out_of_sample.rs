//! What one learner's members say about rows they have not seen, split by split.

use std::marker::PhantomData;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Fitted, Learner, Sample};
use crate::error::{Error, Result};
use crate::plan::{Plan, Split};
use crate::run::Run;
use crate::task::Task;

/// What one learner's members said about rows they had not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// One column per member: rows x width, row after row; NaN where the row was never predicted.
    pub columns: Vec<Vec<f64>>,
    /// Fits that failed.
    pub failures: Vec<Failure>,
}

/// A fit that failed: data, not an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The member: in a [`Block`] an index into its learner's members, in [`OutOfSample`] into all of them.
    pub member: usize,
    /// The split in which it failed.
    pub split: usize,
    /// What it said.
    pub message: String,
}

/// Whether a value cannot be part of a prediction.
pub(crate) fn is_unusable<T: Task>(value: f64) -> bool {
    value.is_nan() || value == f64::INFINITY || (!T::LOG_SPACE && value.is_infinite())
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
pub(crate) fn by_split_keeping<T: Task, K: Send>(
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
pub(crate) type SplitFit<T> = (Vec<Vec<f64>>, Vec<Box<dyn Fitted<T>>>);

/// The same, with the models.
pub(crate) fn fit_split<T: Task, L: Learner<T> + ?Sized>(
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
