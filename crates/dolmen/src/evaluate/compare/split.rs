//! One split: everything is fitted on its training part, and each method is scored on its test part.

use super::{CompareOptions, Contender, Methods, Rival};
use crate::ensemble::Kept;
use crate::error::{Error, Place, Result};
use crate::learner::{Sample, predict};
use crate::math::first_largest;
use crate::run::Run;
use crate::score::figures::Figure;
use crate::task::Task;

/// What each method is compared by, and what the stack was.
pub(super) struct SplitResult {
    pub(super) scored: Vec<Scored>,
    /// The members' weights, if it has a weight for each.
    pub(super) weights: Option<Vec<f64>>,
    /// The combiner that was used, if there was a choice.
    pub(super) combiner: Option<String>,
    /// What the check kept, if there was one.
    pub(super) kept: Option<Kept>,
    /// Rows of the test part, as a multiple of those of the training part.
    pub(super) test_share: f64,
    /// Folds of the out-of-sample matrix; `None` without a stack.
    pub(super) folds: Option<usize>,
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
    pub(super) stack: &'a dyn Contender<T>,
    pub(super) rivals: &'a [Rival<T>],
    pub(super) options: &'a CompareOptions,
}

impl<T: Task> Contest<'_, T> {
    pub(super) fn hold(
        &self,
        train: &Sample<'_, T>,
        test: &Sample<'_, T>,
        run: &Run,
    ) -> Result<SplitResult> {
        let quiet = run.silent();
        let test_share = test.rows() as f64 / train.rows() as f64;
        if self.options.methods == Methods::Members {
            let scored = self.members_alone(train, test, &quiet)?;
            let (weights, combiner, kept, folds) = (None, None, None, None);
            return Ok(SplitResult { scored, weights, combiner, kept, test_share, folds });
        }
        let (ensemble, folds) = self.stack.fit(train, self.options, &quiet)?;
        let stacked = score(&predict(&ensemble, test.x(), &quiet)?, test);
        let predictions = ensemble
            .models()
            .map(|model| predict(model, test.x(), &quiet))
            .collect::<Result<Vec<_>>>()?;
        let members = predictions.len();
        let alone: Vec<Scored> = predictions.iter().map(|p| score(p, test)).collect();
        let matrix = ensemble.matrix().ok_or_else(|| {
            let problem = "a stack without folds cannot be compared: its members weigh alike";
            Error::data(Place::default(), problem).with_hint("--members-only compares the members")
        })?;
        let cv: Vec<f64> = (0..members).map(|m| matrix.scores(m).iter().sum()).collect();
        let totals: Vec<f64> = alone.iter().map(|scored| scored.total).collect();
        let equal = vec![1.0 / members as f64; members];
        let mut scored = vec![
            stacked,
            alone[first_largest(&cv)].clone(),
            score(&pool::<T>(&equal, &predictions, test), test),
            alone[first_largest(&totals)].clone(),
        ];
        scored.extend(self.rivals(train, test, &quiet)?);
        if self.options.methods == Methods::All {
            let names: Vec<&str> = ensemble.names().collect();
            scored.extend(
                self.names()
                    .iter()
                    .map(|name| {
                        let at = names.iter().position(|fitted| fitted == name);
                        at.map_or_else(|| scored[0].unknown(), |m| alone[m].clone())
                    })
                    .collect::<Vec<_>>(),
            );
        }
        let weights = ensemble.combination().weights().map(<[f64]>::to_vec);
        let combiner = ensemble.assessment().map(|assessment| assessment.chosen.clone());
        let kept = ensemble.assessment().map(|assessment| assessment.verdict.kept);
        Ok(SplitResult { scored, weights, combiner, kept, test_share, folds: Some(folds) })
    }

    /// All members' names.
    fn names(&self) -> Vec<String> {
        self.stack.learners().iter().flat_map(|learner| learner.members()).collect()
    }

    /// How each member, fitted on the training part, does on the test part.
    fn members_alone(
        &self,
        train: &Sample<'_, T>,
        test: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<Scored>> {
        let mut scored = Vec::new();
        for (l, learner) in self.stack.learners().iter().enumerate() {
            for model in learner.fit(train, &run.stream("members").child(l as u64))? {
                scored.push(score(&predict(model.as_ref(), test.x(), run)?, test));
            }
        }
        Ok(scored)
    }

    fn rivals(
        &self,
        train: &Sample<'_, T>,
        test: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Vec<Scored>> {
        let one = |(r, rival): (usize, &Rival<T>)| {
            let models = rival.learner.fit(train, &run.stream("rivals").child(r as u64))?;
            let model = models.first().ok_or_else(|| Error::shape("members of a rival", 1, 0))?;
            Ok(score(&predict(model.as_ref(), test.x(), run)?, test))
        };
        self.rivals.iter().enumerate().map(one).collect()
    }
}

impl Scored {
    /// What is known of a member that could not be fitted: nothing.
    fn unknown(&self) -> Self {
        let figures = self.figures.iter().map(|(name, _)| (*name, f64::NAN)).collect();
        Self { total: f64::NAN, rows: self.rows, figures }
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
