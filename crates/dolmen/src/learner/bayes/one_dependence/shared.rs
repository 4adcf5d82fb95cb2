//! Out-of-sample predictions without counting the rows of every split again: the counts of all rows, less those held out.

use rayon::prelude::*;

use super::counts::{Counts, Layout};
use super::learners::{Counted, OneDependence};
use super::model::{Discretiser, FittedOneDependence};
use super::triples::Triples;
use crate::error::Result;
use crate::learner::{Fitted, Learner, Run, Sample};
use crate::oos::{self, Block};
use crate::plan::{Plan, Split};
use crate::table::Kind;
use crate::task::{Labels, Task};

/// The counts of some rows.
struct Part {
    counts: Counts,
    triples: Option<Triples>,
}

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
        let whole = self.part(&discretiser, &layout, sample, run)?;
        let fit = |split: &Split, run: &Run| {
            let test = sample.select(split.test());
            let held_out = self.part(&discretiser, &layout, &test.borrow(), run)?;
            let triples = whole.triples.clone().map(|mut triples| {
                held_out.triples.iter().for_each(|held_out| triples.add(held_out, -1.0));
                triples
            });
            let counts = whole.counts.clone().without(&held_out.counts);
            let counted = Counted::new(discretiser.clone(), counts, triples);
            let train = sample.select(&split.train(sample.rows()));
            let predict = |model: FittedOneDependence| {
                let mut out = vec![0.0; test.borrow().rows() * layout.classes()];
                Fitted::<T>::predict_into(&model, test.borrow().x(), &mut out).map(|()| out)
            };
            self.finish(counted, &train.borrow(), run)?.into_par_iter().map(predict).collect()
        };
        oos::by_split(&Learner::<T>::members(self), sample, plan, run, fit)
    }

    fn part<T: Task<Target = Labels>>(
        &self,
        discretiser: &Discretiser,
        layout: &Layout,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<Part> {
        run.install(|| {
            let counts = discretiser.count(layout, sample);
            let triples = self.counts_triples().then(|| discretiser.count_triples(layout, sample));
            Ok(Part { counts, triples: triples.transpose()? })
        })
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
