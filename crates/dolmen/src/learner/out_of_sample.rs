//! What one learner's members say about rows they have not seen, split by split.

use serde::{Deserialize, Serialize};

use super::{Fitted, Learner, Sample};
use crate::error::{Error, Result};
use crate::plan::{Plan, Split};
use crate::run::Run;
use crate::task::Task;

/// What one learner's members said about rows they had not seen, split by split.
///
/// Splits stay apart, because not every use of them averages: a nested check asks for all pairs of folds as one plan, in
/// which each row is predicted by several splits that must not be mixed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Split after split, one column per member: the rows that the split holds out x width, in the split's order. Empty
    /// where the fit failed.
    pub splits: Vec<Vec<Vec<f64>>>,
    /// Fits that failed.
    pub failures: Vec<Failure>,
}

impl Block {
    /// The block of a learner all of whose fits failed alike.
    pub fn failed(members: usize, plan: &Plan, message: &str) -> Self {
        let failure = |member| Failure { member, split: 0, message: message.to_string() };
        let splits = vec![vec![Vec::new(); members]; plan.splits().len()];
        Self { splits, failures: (0..members).map(failure).collect() }
    }

    /// Each member's column over all rows of the plan (rows x width, row after row). A row predicted by several splits
    /// (repeated plans, bootstraps) gets the average prediction, which in log space is the logarithm of the average density;
    /// NaN where it was never predicted.
    pub fn averaged<T: Task>(self, plan: &Plan, width: usize) -> Vec<Vec<f64>> {
        let members = self.splits.first().map_or(0, Vec::len);
        let mut columns = vec![vec![f64::NAN; plan.rows() * width]; members];
        let mut counts = vec![vec![0_u32; plan.rows()]; members];
        let mut before = vec![0.0; width];
        for (split, predicted) in plan.splits().iter().zip(self.splits) {
            for ((column, counts), predicted) in columns.iter_mut().zip(&mut counts).zip(predicted)
            {
                for (&i, new) in split.test().iter().zip(predicted.chunks_exact(width)) {
                    let out = &mut column[i * width..(i + 1) * width];
                    counts[i] += 1;
                    if counts[i] == 1 {
                        out.copy_from_slice(new);
                        continue;
                    }
                    let count = f64::from(counts[i]);
                    before.copy_from_slice(out);
                    let weights = [(count - 1.0) / count, 1.0 / count];
                    T::mix(&weights, |m| if m == 0 { &before } else { new }, out);
                }
            }
        }
        columns
    }
}

/// A fit that failed: data, not an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The member: in a [`Block`] an index into its learner's members, in [`OutOfSample`](crate::oos::OutOfSample) into all of them.
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

/// What is wrong with a prediction that is no number; rows are counted from 0.
pub(crate) fn prediction_is(value: f64, row: usize) -> String {
    format!("its prediction of row {} is {value}", row + 1)
}

/// A learner's out-of-sample block by plain refitting, in parallel over the splits. A failing fit is recorded, and leaves
/// the rows of its split without a prediction.
pub fn refit<T: Task, L: Learner<T> + ?Sized>(
    learner: &L,
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
) -> Result<Block> {
    let fit = |split: &Split, run: &Run| predict_split(learner, sample, split, run);
    by_split(&learner.members(), sample, plan, run, &fit)
}

/// What a learner has of one split.
type OfSplit<'a, V> = dyn Fn(&Split, &Run) -> Result<V> + Sync + 'a;

/// The same for learners that have their own way to one split's predictions: one column per member of its held-out rows.
pub(crate) fn by_split<T: Task>(
    members: &[String],
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
    predict: &OfSplit<'_, Vec<Vec<f64>>>,
) -> Result<Block> {
    let predict = |split: &Split, run: &Run| Ok((predict(split, run)?, ()));
    Ok(by_split_keeping(members, sample, plan, run, &predict)?.0)
}

/// The same, keeping what each split that did not fail brings beside its predictions.
pub(crate) fn by_split_keeping<T: Task, K: Send>(
    members: &[String],
    sample: &Sample<'_, T>,
    plan: &Plan,
    run: &Run,
    predict: &OfSplit<'_, (Vec<Vec<f64>>, K)>,
) -> Result<(Block, Vec<K>)> {
    if plan.rows() != sample.rows() {
        return Err(Error::shape("rows of the plan", sample.rows(), plan.rows()));
    }
    let predictions: Vec<Result<(Vec<Vec<f64>>, K)>> = run.map(plan.splits().len(), |v| {
        run.check()?;
        let name = members.first().map_or("", String::as_str);
        run.child(plan.number(v)).step(name, |run| predict(&plan.splits()[v], run))
    });
    let mut block = Block { splits: Vec::with_capacity(predictions.len()), failures: Vec::new() };
    let mut kept = Vec::new();
    for (v, predicted) in predictions.into_iter().enumerate() {
        match predicted {
            Ok((columns, beside)) => {
                block.splits.push(columns);
                kept.push(beside);
            }
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => block.fail(members.len(), v, &error),
        }
    }
    Ok((block, kept))
}

impl Block {
    /// Records that the next split failed for all members.
    pub(crate) fn fail(&mut self, members: usize, split: usize, error: &Error) {
        let failure = |member| Failure { member, split, message: error.to_string() };
        self.failures.extend((0..members).map(failure));
        self.splits.push(vec![Vec::new(); members]);
    }
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
    let train = sample.learned_from(split);
    let held_out = sample.x().view(split.test());
    let models = learner.fit(&train.borrow(), run).map_err(|error| {
        let learned: Vec<usize> = split.iter_train(sample.rows()).collect();
        of_rows(error, &learned)
    })?;
    let predict = |model: &dyn Fitted<T>| {
        let mut out = vec![0.0; held_out.rows().rows() * model.width()];
        model.predict_into(held_out.rows(), &mut out).map(|()| out)
    };
    let columns = models.iter().map(AsRef::as_ref).map(predict).collect::<Result<_>>();
    Ok((columns.map_err(|error| of_rows(error, split.test()))?, models))
}

/// An error about some rows, told of the sample that they are of.
fn of_rows(error: Error, rows: &[usize]) -> Error {
    error.in_rows(&|row| rows.get(row).copied())
}
