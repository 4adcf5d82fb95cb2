//! One split: everything is fitted on its training part, and each method is scored on its test part.

use super::{CompareOptions, Methods, Rival};
use crate::combine::problem::unit;
use crate::combine::{Combiner, Evidence, Weighable};
use crate::error::{Error, Result};
use crate::evaluate::figures::Figure;
use crate::learner::{Learner, Run, Sample, predict};
use crate::math::first_largest;
use crate::oos::{self, OnFailure};
use crate::plan::{PlanSpec, RowKeys};
use crate::task::{Target, Task};

/// What each method is compared by, and the weights of the stack.
pub(super) struct SplitResult {
    pub(super) scored: Vec<Scored>,
    pub(super) weights: Vec<f64>,
    /// Rows of the test part, as a multiple of those of the training part.
    pub(super) test_share: f64,
}

/// How one method did on the test part.
#[derive(Clone)]
pub(super) struct Scored {
    /// The sum of the rows' scores.
    pub(super) total: f64,
    pub(super) rows: usize,
    pub(super) figures: Vec<Figure>,
}

/// Who takes part.
pub(super) struct Contest<'a, T: Task> {
    pub(super) learners: &'a [Box<dyn Learner<T>>],
    pub(super) rivals: &'a [Rival<T>],
    pub(super) options: &'a CompareOptions,
}

impl<T: Weighable> Contest<'_, T> {
    pub(super) fn hold(
        &self,
        train: &Sample<'_, T>,
        test: &Sample<'_, T>,
        run: &Run,
    ) -> Result<SplitResult> {
        let quiet = run.silent();
        let test_share = test.rows() as f64 / train.rows() as f64;
        if self.options.methods == Methods::Members {
            let predictions = self.predictions(train, test, &quiet)?;
            let scored = predictions.iter().map(|predicted| score(predicted, test)).collect();
            return Ok(SplitResult { scored, weights: Vec::new(), test_share });
        }
        let keys = RowKeys { classes: train.target().strata(), ..RowKeys::default() };
        let spec = PlanSpec::suited(self.options.folds, &keys);
        let plan = spec.build(train.rows(), &keys, &quiet.child(0))?;
        let borrowed: Vec<&dyn Learner<T>> = self.learners.iter().map(AsRef::as_ref).collect();
        let matrix = oos::collect(&borrowed, train, &plan, OnFailure::Stop, &quiet.child(1))?;
        let combined = self.options.weights.fit(&Evidence::from(&matrix), &quiet.child(2))?;
        let weights = combined[0].weights().unwrap_or_default().to_vec();

        let predictions = self.predictions(train, test, &quiet)?;
        let members = predictions.len();
        let pooled = |weights: &[f64]| score(&pool::<T>(weights, &predictions, test), test);
        let alone: Vec<Scored> = (0..members).map(|m| pooled(&unit(members, m))).collect();
        let cv: Vec<f64> = (0..members).map(|m| matrix.scores(m).iter().sum()).collect();
        let totals: Vec<f64> = alone.iter().map(|scored| scored.total).collect();
        let mut scored = vec![
            pooled(&weights),
            alone[first_largest(&cv)].clone(),
            pooled(&vec![1.0 / members as f64; members]),
            alone[first_largest(&totals)].clone(),
        ];
        scored.extend(self.rivals(train, test, &quiet)?);
        if self.options.methods == Methods::All {
            scored.extend(alone);
        }
        Ok(SplitResult { scored, weights, test_share })
    }

    /// What each member, fitted on the training part, says about the test part.
    fn predictions(
        &self,
        train: &Sample<'_, T>,
        test: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<Vec<f64>>> {
        let mut predictions = Vec::new();
        for (l, learner) in self.learners.iter().enumerate() {
            for model in learner.fit(train, &run.child(3).child(l as u64))? {
                predictions.push(predict(model.as_ref(), test.x(), run)?);
            }
        }
        Ok(predictions)
    }

    fn rivals(
        &self,
        train: &Sample<'_, T>,
        test: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<Scored>> {
        let one = |(r, rival): (usize, &Rival<T>)| {
            let models = rival.learner.fit(train, &run.child(4).child(r as u64))?;
            let model = models.first().ok_or_else(|| Error::shape("members of a rival", 1, 0))?;
            Ok(score(&predict(model.as_ref(), test.x(), run)?, test))
        };
        self.rivals.iter().enumerate().map(one).collect()
    }
}

/// The weighted combination of the members' predictions.
fn pool<T: Task>(weights: &[f64], predictions: &[Vec<f64>], test: &Sample<'_, T>) -> Vec<f64> {
    let width = T::width(test.target());
    let mut pooled = vec![0.0; test.rows() * width];
    for (i, row) in pooled.chunks_exact_mut(width).enumerate() {
        T::mix(weights, |m| &predictions[m][i * width..(i + 1) * width], row);
    }
    pooled
}

pub(super) fn score<T: Task>(predicted: &[f64], test: &Sample<'_, T>) -> Scored {
    let rows = predicted.chunks_exact(T::width(test.target())).enumerate();
    Scored {
        total: rows.map(|(i, row)| T::score(row, test.target(), i)).sum(),
        rows: test.rows(),
        figures: T::figures(predicted, test.target()),
    }
}
