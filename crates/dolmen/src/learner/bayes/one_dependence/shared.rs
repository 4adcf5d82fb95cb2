//! Out-of-sample predictions without counting the rows of every split again: the counts of all rows, less those held out.

use rayon::prelude::*;

use super::learners::{Counted, OneDependence};
use super::model::FittedOneDependence;
use crate::error::Result;
use crate::learner::{Fitted, Learner, OwnedSample, Run, Sample};
use crate::oos::{self, Block};
use crate::plan::{Plan, Split};
use crate::table::Kind;
use crate::task::{Labels, Task};

impl OneDependence {
    /// The out-of-sample block of a plan. Where folds share what their values are, each row is counted once.
    pub(super) fn shared_counts<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        run: &Run,
    ) -> Result<Block>
    where
        Self: Learner<T>,
        FittedOneDependence: Fitted<T>,
    {
        let from_others = plan.splits().iter().all(Split::learns_from_all_others);
        if !(plan.is_partition() && from_others && is_fixed_on(sample)) {
            return oos::refit(self, sample, plan, run);
        }
        let (discretiser, layout) = self.layout(sample)?;
        let counts = run.install(|| discretiser.count(&layout, sample));
        let triples = self.counts_triples().then(|| discretiser.count_triples(&layout, sample));
        let triples = triples.transpose()?;
        let fit = |split: &Split, run: &Run| {
            let test = sample.select(split.test());
            let held_out = test.borrow();
            let reader = discretiser.reader(&layout, &held_out);
            let counts = counts.clone().without(held_out.rows(), reader);
            let triples = match &triples {
                Some(all) => {
                    let mut triples = all.clone();
                    triples.add(&discretiser.count_triples(&layout, &held_out)?, -1.0);
                    Some(triples)
                }
                None => None,
            };
            let counted = Counted::new(discretiser.clone(), counts, triples);
            // Rules that go by the counts alone need no copy of the rows.
            let needs_rows = self.leaves_rows_out();
            let train = needs_rows.then(|| sample.select(&split.train(sample.rows())));
            let learned = train.as_ref().map_or(held_out, OwnedSample::borrow);
            let predict = |model: FittedOneDependence| {
                let mut out = vec![0.0; held_out.rows() * layout.classes()];
                Fitted::<T>::predict_into(&model, held_out.x(), &mut out).map(|()| out)
            };
            self.finish(&counted, &learned, run)?.into_par_iter().map(predict).collect()
        };
        oos::by_split(&Learner::<T>::members(self), sample, plan, run, fit)
    }
}

/// Whether all folds see the same values: nothing to cut, nothing missing, and counts that are whole numbers, so that
/// differences are exact.
fn is_fixed_on<T: Task>(sample: &Sample<'_, T>) -> bool {
    let fields = sample.x().schema().fields();
    fields.iter().all(|field| field.kind != Kind::Numeric)
        && !sample.x().values().iter().any(|value| value.is_nan())
        && sample.weights().is_none_or(|weights| weights.iter().all(|w| w.fract() == 0.0))
}
