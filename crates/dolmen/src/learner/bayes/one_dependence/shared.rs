//! Out-of-sample predictions without counting the rows of every split again: the counts of all rows, less those held out.

use std::sync::Mutex;

use rayon::prelude::*;

use super::counts::{Counts, Layout, Room};
use super::learners::{Counted, OneDependence};
use super::triples::Triples;
use crate::error::Result;
use crate::learner::{Learner, OwnedSample, Run, Sample};
use crate::oos::{self, Block};
use crate::plan::{Plan, Split};
use crate::table::Kind;
use crate::task::{Labels, Task};

/// Cells of tables that are kept until splits are predicted: 32 MB. More would cost more time to come by than they save.
const KEPT_CELLS: usize = 1 << 22;

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
    {
        let from_others = plan.splits().iter().all(Split::learns_from_all_others);
        if !(plan.is_partition() && from_others && is_fixed_on(sample)) {
            return oos::refit(self, sample, plan, run);
        }
        let (discretiser, layout) = self.layout(sample)?;
        let coded = run.install(|| discretiser.slots_of(&layout, sample));
        let attributes = layout.attributes();
        let slots = |i: usize| &coded[i * attributes..(i + 1) * attributes];
        let own = |i: usize| (sample.target().class(i), sample.weight(i));
        let read = |i: usize, room: &mut Room| {
            room.slots.clear();
            room.slots.extend_from_slice(slots(i));
            own(i)
        };
        let count =
            |rows: &[usize]| Counts::of_rows(&layout, rows.len(), |i, room| read(rows[i], room));
        let all: Vec<usize> = (0..sample.rows()).collect();
        let counts = run.install(|| SharedCounts::new(plan, &layout, KEPT_CELLS, &count));
        let count_triples = |rows: &[usize]| {
            let triples = || Triples::of_rows(&layout, rows.len(), |i, room| read(rows[i], room));
            self.counts_triples().then(triples).transpose()
        };
        let triples = run.install(|| count_triples(&all))?;
        let fit = |split: &Split, run: &Run| {
            let held_out = split.test();
            let counts = counts.without(split, &count);
            let mut triples = triples.clone();
            if let (Some(triples), Some(some)) = (&mut triples, count_triples(held_out)?) {
                triples.add(&some, -1.0);
            }
            let counted = Counted::new(discretiser.clone(), counts, triples);
            // Rules that go by the counts alone need no copy of the rows.
            let needs_rows = self.leaves_rows_out();
            let train = needs_rows.then(|| sample.select(&split.train(sample.rows())));
            let learned = train.as_ref().map_or(*sample, OwnedSample::borrow);
            let models = self.finish(&counted, &learned, run)?.into_par_iter();
            let log_space = T::LOG_SPACE;
            Ok(models
                .map(|model| model.predict_slots(held_out.iter().map(|&i| slots(i)), log_space))
                .collect())
        };
        oos::by_split(&Learner::<T>::members(self), sample, plan, run, fit)
    }
}

/// The counts of all rows, and those of the rows that each split holds out, where these tables are small together: then their
/// sum is the table of all rows, and each row is counted once. Else those held out are counted again.
pub(super) struct SharedCounts<'a> {
    whole: Counts,
    splits: &'a [Split],
    /// Each is taken once.
    held_out: Vec<Mutex<Option<Counts>>>,
}

impl<'a> SharedCounts<'a> {
    /// Keeps at most so many cells; `count` counts rows.
    pub(super) fn new(
        plan: &'a Plan,
        layout: &Layout,
        most: usize,
        count: &(impl Fn(&[usize]) -> Counts + Sync),
    ) -> Self {
        let is_small = plan.splits().len() * Counts::cells(layout) <= most;
        let splits = if is_small { plan.splits() } else { &[] };
        let parts: Vec<Counts> = splits.par_iter().map(|split| count(split.test())).collect();
        let whole = match parts.split_first() {
            Some((first, others)) => others.iter().fold(first.clone(), Counts::with),
            None => count(&(0..plan.rows()).collect::<Vec<usize>>()),
        };
        let held_out = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
        Self { whole, splits, held_out }
    }

    /// The counts of the rows that a split learns from.
    pub(super) fn without(&self, split: &Split, count: &impl Fn(&[usize]) -> Counts) -> Counts {
        let number = self.splits.iter().position(|other| std::ptr::eq(other, split));
        let kept = number.and_then(|number| self.held_out[number].lock().ok()?.take());
        self.whole.without(kept.unwrap_or_else(|| count(split.test())))
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
