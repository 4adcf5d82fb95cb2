//! Out-of-sample predictions without counting the rows of every split again: the counts of all rows, less those held out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;

use super::counts::{Counts, Layout, ReadRow, Slot};
use super::learners::{Counted, OneDependence};
use super::model::FittedOneDependence;
use super::triples::Triples;
use crate::error::Result;
use crate::learner::Block;
use crate::learner::{self, Learner, Sample, SelectedSample};
use crate::plan::{Plan, Split};
use crate::run::Run;
use crate::table::Kind;
use crate::target::Labels;
use crate::task::Task;

/// Cells of tables that are kept for splits: 32 MB.
const KEPT_CELLS: usize = 1 << 22;
/// Whole numbers up to this are exact, and so are their sums and differences.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

impl OneDependence {
    /// The out-of-sample block of a plan. Where folds share what their values are, their counts are made from those of all rows.
    pub(super) fn shared_counts<T: Task<Target = Labels>>(
        &self,
        sample: &Sample<'_, T>,
        plan: &Plan,
        run: &Run,
    ) -> Result<Block>
    where
        Self: Learner<T>,
    {
        let is_shared =
            plan.rows() == sample.rows() && plan.splits().iter().all(Split::learns_from_all_others);
        // Which columns are used depends on the rows learned from.
        if !(is_shared && is_fixed_on(sample)) || self.screens(sample.x().width())? {
            return learner::refit(self, sample, plan, run);
        }
        let (discretiser, layout) = self.layout(sample)?;
        let coded = run.install(|| discretiser.slots_of(&layout, sample));
        let attributes = layout.attributes();
        let slots = |i: usize| &coded[i * attributes..(i + 1) * attributes];
        let own = |i: usize| (sample.target().class(i), sample.weight(i));
        let read = |i: usize, room: &mut [Option<Slot>]| {
            room.copy_from_slice(slots(i));
            own(i)
        };
        let spare = run.install(|| SpareCounts::new(plan, &layout, read));
        let count_triples = |rows: &[usize]| {
            let triples = || Triples::of_rows(&layout, rows.len(), |i, room| read(rows[i], room));
            self.counts_triples().then(triples).transpose()
        };
        let all: Vec<usize> = (0..sample.rows()).collect();
        let triples = run.install(|| count_triples(&all))?;
        let fit = |split: &Split, run: &Run| {
            let held_out = split.test();
            let mut triples = triples.clone();
            if let (Some(triples), Some(some)) = (&mut triples, count_triples(held_out)?) {
                triples.add(&some, -1.0);
            }
            let counted = Counted::new(discretiser.clone(), spare.take(split), triples);
            // Rules that go by the counts alone need no copy of the rows.
            let needs_rows = self.leaves_rows_out();
            let train = needs_rows.then(|| sample.select(split.train(sample.rows())));
            let learned = train.as_ref().map_or(*sample, SelectedSample::borrow);
            let models = self.finish(&counted, &learned, run)?.into_par_iter();
            let predict = |model: FittedOneDependence| {
                model.predict_slots(held_out.iter().map(|&i| slots(i)), T::LOG_SPACE)
            };
            let predicted = models.map(predict).collect();
            if let Some(tables) = Arc::into_inner(counted.tables) {
                spare.give_back(split, tables.into_counts());
            }
            Ok(predicted)
        };
        learner::by_split(&Learner::<T>::members(self), sample, plan, run, &fit)
    }
}

/// Tables of the counts of all rows, which splits take in turn: what they hold out is subtracted from one, and added again when
/// it is given back. A large table takes long to come by.
pub(super) struct SpareCounts<'a, R> {
    plan: &'a Plan,
    layout: &'a Layout,
    read: R,
    /// The counts of what each split holds out; none where adding up tables takes longer than counting rows, or much memory.
    held_out: Vec<Counts>,
    tables: Mutex<Vec<Counts>>,
}

impl<'a, R: ReadRow> SpareCounts<'a, R> {
    /// Begins with one table. The splits learn from all rows that they do not hold out; `read` reads any row.
    pub(super) fn new(plan: &'a Plan, layout: &'a Layout, read: R) -> Self {
        let count = |rows: &[usize]| Self::count(layout, rows, &read);
        let additions = plan.rows() * layout.attributes() * layout.attributes() / 2;
        let is_small = plan.splits().len() * Counts::cells(layout) <= additions.min(KEPT_CELLS);
        let splits = if is_small { plan.splits() } else { &[] };
        let held_out: Vec<Counts> = splits.par_iter().map(|split| count(split.test())).collect();
        let whole = match held_out.split_first().filter(|_| plan.is_partition()) {
            Some((first, others)) => others.iter().fold(first.clone(), |mut sum, part| {
                sum.add(1.0, part);
                sum
            }),
            // Pairs of folds hold rows out several times, and their sum is not the whole.
            None => Counts::of_rows(layout, plan.rows(), &read),
        };
        Self { plan, layout, held_out, tables: Mutex::new(vec![whole]), read }
    }

    fn count(layout: &Layout, rows: &[usize], read: &R) -> Counts {
        Counts::of_rows(layout, rows.len(), |i, room| read(rows[i], room))
    }

    fn tables(&self) -> MutexGuard<'_, Vec<Counts>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counts of the rows that a split learns from. These are counted anew if no table is left.
    pub(super) fn take(&self, split: &Split) -> Counts {
        let spare = self.tables().pop();
        spare.map_or_else(
            || Self::count(self.layout, &split.train(self.plan.rows()), &self.read),
            |counts| self.with_held_out(counts, -1.0, split),
        )
    }

    /// Takes the counts of a split back.
    pub(super) fn give_back(&self, split: &Split, counts: Counts) {
        let whole = self.with_held_out(counts, 1.0, split);
        self.tables().push(whole);
    }

    fn with_held_out(&self, mut counts: Counts, sign: f64, split: &Split) -> Counts {
        let splits = self.plan.splits().iter().zip(&self.held_out);
        let mut own = splits.filter(|(other, _)| std::ptr::eq(*other, split));
        if let Some((_, held_out)) = own.next() {
            counts.add(sign, held_out);
        } else {
            let rows = split.test();
            counts.add_rows(sign, rows.len(), |i, room| (self.read)(rows[i], room));
        }
        counts
    }
}

/// Whether all folds see the same values: nothing to cut, nothing missing, and counts that are whole numbers, so that
/// differences are exact.
fn is_fixed_on<T: Task>(sample: &Sample<'_, T>) -> bool {
    let fields = sample.x().schema().fields();
    fields.iter().all(|field| field.kind != Kind::Numeric)
        && sample.x().find(f64::is_nan).is_none()
        && sample.weights().is_none_or(|weights| {
            weights.iter().all(|w| w.fract() == 0.0) && weights.iter().sum::<f64>() <= MOST_EXACT
        })
}
