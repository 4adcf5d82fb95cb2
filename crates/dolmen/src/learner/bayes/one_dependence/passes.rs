//! The family in passes: those in which bins are learned, one that ranks columns if there are too many, and one that counts.
//!
//! The weights of LMD and LMG ask again and again for what every root says of every row. All rows are counted, and a further pass
//! draws the rows that the weights are found on: all of them up to 100 000, beyond that so many. From there a few passes more bring them to where
//! all rows want them ([`Polish`]). Rows of groups are left out with all of their fold: each fold is counted by itself, and what it is predicted by are the
//! counts of the others. Where these tables would be too large, such rows are weighed on the drawn ones alone.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout};
use super::learners::{Counted, OneDependence};
use super::model::{Discretiser, FittedOneDependence};
use super::polish::{Polish, PolishSums};
use super::triples::Triples;
use super::weights::{LeaveOut, group_lot};
use crate::error::{Error, Result};
use crate::learner::pass::{LABELS, Pass, Piece, RowSample, Step};
use crate::learner::{Fitted, Sample};
use crate::plan::{Folds, Lot};
use crate::run::Run;
use crate::stats::Accumulator;
use crate::table::encode::{Learning, LearningStep, LearningSums};
use crate::table::{Features, Rows};
use crate::target::{Labels, Target};
use crate::task::Task;

/// A learner of the family on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OneDependencePass {
    learner: OneDependence,
    stage: Stage,
    /// What rows are drawn by.
    key: u64,
}

/// What follows once roots have weights.
enum Weighed {
    Again(Box<Stage>),
    Done(Vec<FittedOneDependence>),
}

/// Rows on which the weights of roots are found, and from which on those of all rows are looked for beside.
const WEIGHED: usize = 100_000;
/// Cells of the tables of all folds of groups: 32 MB.
const FOLDED_CELLS: usize = 1 << 22;

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Bins(Learning),
    /// Every column by itself, to choose some.
    Screen(Discretiser, Layout),
    Count(Discretiser, Layout),
    /// The rows by which roots get their weights.
    Weigh(Discretiser, Folded),
    /// All rows, by which the weights get better.
    Polish(Discretiser, Folded, Polish),
}

/// The counts of all rows, and for each fold of groups those of the others, if there are such folds; nothing of a fold without rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Folded {
    all: Counts,
    without: Vec<Option<Counts>>,
}

impl Folded {
    /// From the counts of each fold, or of all rows.
    fn new(parts: Vec<Option<Part>>) -> Option<Self> {
        let parts: Vec<Option<Counts>> =
            parts.into_iter().map(|part| part.map(|(counts, _)| counts)).collect();
        let sum = |without: Option<usize>| {
            let mut sum: Option<Counts> = None;
            for (fold, part) in parts.iter().enumerate() {
                match (&mut sum, part) {
                    (Some(sum), Some(part)) if Some(fold) != without => sum.add(1.0, part),
                    (None, Some(part)) if Some(fold) != without => sum = Some(part.clone()),
                    _ => {}
                }
            }
            sum
        };
        let others = |fold: usize| parts[fold].is_some().then(|| sum(Some(fold))).flatten();
        let folds = if parts.len() > 1 { parts.len() } else { 0 };
        Some(Self { all: sum(None)?, without: (0..folds).map(others).collect() })
    }

    /// Whether rows can be left out as these rows are to be.
    fn suits(&self, are_grouped: bool) -> bool {
        !are_grouped || self.without.iter().any(Option::is_some)
    }
}

/// The counts of some rows.
type Part = (Counts, Option<Triples>);

/// What is summed over the rows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OneDependenceSums(Sums);

#[derive(Debug, Serialize, Deserialize)]
enum Sums {
    Bins(LearningSums, usize),
    /// Of all rows, or of each fold of groups; nothing before the first rows.
    Counts(Vec<Option<Part>>),
    /// Each row with its class and, if rows have groups, its fold; and how many there were to draw from.
    Rows(RowSample, usize),
    Polish(PolishSums),
}

impl OneDependencePass {
    pub(super) fn new(learner: &OneDependence, x: Rows<'_>, run: &Run) -> Result<Self> {
        learner.check_columns(x.schema())?;
        let stage = Stage::Bins(Learning::new(learner.encoder_spec(), x)?);
        Ok(Self { learner: learner.clone(), stage, key: run.key() })
    }

    /// What draws the folds of groups: as in memory.
    fn lot(&self) -> Lot {
        group_lot(&Run::of_key(self.key))
    }

    /// What follows from the weights that drawn rows give the roots, which are among those counted. Rows of groups are left out
    /// with all drawn rows of their fold, and counted anew without them.
    fn weighed<T: Task<Target = Labels>>(
        &self,
        discretiser: &Discretiser,
        counts: &Folded,
        (drawn, rows): (RowSample, usize),
    ) -> Result<Weighed> {
        let counted = Counted::new(discretiser.clone(), counts.all.clone(), None);
        let classes = 0..counts.all.layout().classes();
        let classes: Vec<String> = classes.map(|class| class.to_string()).collect();
        let mut drawn = drawn.finish_labelled(&classes)?;
        let schema = Arc::clone(discretiser.encoder.input());
        let x = Features::new(std::mem::take(&mut drawn.values), schema)?;
        let (sample, run) = (drawn.sample::<T>(x.rows())?, Run::of_key(self.key));
        let leave_out = || match sample.groups() {
            None => LeaveOut::Single,
            Some(folds) => Folds::of_drawn(folds.iter().map(|fold| *fold as usize).collect())
                .map_or(LeaveOut::Impossible, LeaveOut::Folds),
        };
        let mut notes = counted.notes();
        let found = self.learner.mixing_of_rows(&counted, &sample, leave_out, &mut notes, &run)?;
        let Some((mixing, prior)) = found else {
            return Ok(Weighed::Done(self.learner.of_counts(&counted)?));
        };
        let is_part = rows > sample.rows() && counts.suits(sample.groups().is_some());
        Ok(match Polish::new(&mixing, prior).filter(|_| is_part) {
            Some(polish) => {
                Weighed::Again(Box::new(Stage::Polish(discretiser.clone(), counts.clone(), polish)))
            }
            None => Weighed::Done(vec![FittedOneDependence::new(counted, mixing, notes)]),
        })
    }

    /// What all rows of a piece say of the weights.
    fn polished<T: Task<Target = Labels>>(
        &self,
        (discretiser, counts, polish): (&Discretiser, &Folded, &Polish),
        sample: &Sample<'_, T>,
    ) -> PolishSums {
        let counted = |counts: &Counts| Counted::new(discretiser.clone(), counts.clone(), None);
        if counts.without.is_empty() {
            return polish.sums(&counted(&counts.all), sample, true);
        }
        let mut sums = polish.zero();
        for (rows, others) in self.by_fold(sample).into_iter().zip(&counts.without) {
            if let Some(others) = others {
                let own = sample.select(rows);
                sums.merge(polish.sums(&counted(others), &own.borrow(), false));
            }
        }
        sums
    }

    /// The rows of each fold of groups.
    fn by_fold<T: Task>(&self, sample: &Sample<'_, T>) -> Vec<Vec<usize>> {
        let (lot, keys) = (self.lot(), sample.keys());
        let mut rows = vec![Vec::new(); lot.folds()];
        (0..sample.rows()).for_each(|i| rows[lot.fold(keys.lot(i))].push(i));
        rows
    }

    /// What follows once bins are known.
    fn binned(&self, discretiser: Discretiser, classes: usize) -> Result<Stage> {
        let values = discretiser.values();
        if self.learner.screens(values.len())? {
            return Ok(Stage::Screen(discretiser, Layout::of(values, classes, false)?));
        }
        let layout = self.learner.layout_of(&discretiser, classes)?;
        Ok(Stage::Count(discretiser, layout))
    }

    fn count<T: Task<Target = Labels>>(
        &self,
        discretiser: &Discretiser,
        layout: &Layout,
        sample: &Sample<'_, T>,
    ) -> Result<Part> {
        let counts = discretiser.count(layout, sample);
        let wants_triples = self.learner.counts_triples() && layout.is_paired();
        let triples = wants_triples.then(|| discretiser.count_triples(layout, sample));
        Ok((counts, triples.transpose()?))
    }

    /// The counts of all rows; of each fold of groups by itself where rows are left out by folds.
    fn counts_of<T: Task<Target = Labels>>(
        &self,
        discretiser: &Discretiser,
        layout: &Layout,
        sample: &Sample<'_, T>,
    ) -> Result<Vec<Option<Part>>> {
        let is_folded = self.learner.leaves_rows_out()
            && sample.groups().is_some()
            && Counts::cells(layout).saturating_mul(self.lot().folds()) <= FOLDED_CELLS;
        if !is_folded {
            return Ok(vec![Some(self.count(discretiser, layout, sample)?)]);
        }
        let part = |rows: Vec<usize>| {
            let own = sample.select(rows);
            let count = || self.count(discretiser, layout, &own.borrow());
            (own.borrow().rows() > 0).then(count).transpose()
        };
        self.by_fold(sample).into_iter().map(part).collect()
    }
}

impl<T: Task<Target = Labels>> Pass<T> for OneDependencePass
where
    FittedOneDependence: Fitted<T>,
{
    const KIND: &'static str = "one-dependence";
    type Sums = OneDependenceSums;
    type Model = FittedOneDependence;

    fn zero(&self) -> OneDependenceSums {
        OneDependenceSums(match &self.stage {
            Stage::Bins(learning) => Sums::Bins(learning.zero(), 0),
            Stage::Screen(..) | Stage::Count(..) => Sums::Counts(Vec::new()),
            Stage::Weigh(discretiser, _) => {
                let width = discretiser.encoder.input().len() + LABELS;
                Sums::Rows(RowSample::new(WEIGHED, width, self.key), 0)
            }
            Stage::Polish(.., polish) => Sums::Polish(polish.zero()),
        })
    }

    fn add(&self, sums: &mut OneDependenceSums, piece: &Piece<'_, T>) -> Result<()> {
        let sample = &piece.sample;
        match (&self.stage, &mut sums.0) {
            (Stage::Bins(learning), Sums::Bins(sums, classes)) => {
                learning.add(sums, sample.x(), sample.weights(), |i| piece.number(i));
                *classes = sample.target().classes().len();
            }
            (Stage::Weigh(..), Sums::Rows(drawn, rows)) => {
                let (lot, keys) = (self.lot(), sample.keys());
                drawn.add_labelled_by(piece, |i, _| lot.fold(keys.lot(i)) as u32);
                *rows += (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0).count();
            }
            (Stage::Polish(discretiser, counts, polish), Sums::Polish(sums)) => {
                sums.merge(self.polished((discretiser, counts, polish), sample));
            }
            (Stage::Screen(discretiser, layout), _) => {
                let counted = vec![Some(self.count(discretiser, layout, sample)?)];
                Pass::<T>::merge(self, sums, OneDependenceSums(Sums::Counts(counted)));
            }
            (Stage::Count(discretiser, layout), _) => {
                let counted = self.counts_of(discretiser, layout, sample)?;
                Pass::<T>::merge(self, sums, OneDependenceSums(Sums::Counts(counted)));
            }
            _ => {}
        }
        Ok(())
    }

    fn left(&self) -> usize {
        // Drawing rows, and about three steps from what they say.
        let weighs = 4 * usize::from(self.learner.leaves_rows_out());
        match self.stage {
            Stage::Bins(_) | Stage::Screen(..) => 2 + weighs,
            Stage::Count(..) => 1 + weighs,
            Stage::Weigh(..) => 4,
            Stage::Polish(..) => 2,
        }
    }

    fn merge(&self, sums: &mut OneDependenceSums, later: OneDependenceSums) {
        match (&mut sums.0, later.0) {
            (Sums::Bins(sums, classes), Sums::Bins(later, of_later)) => {
                sums.merge(later);
                *classes = (*classes).max(of_later);
            }
            (Sums::Rows(drawn, rows), Sums::Rows(later, more)) => {
                drawn.merge(later);
                *rows += more;
            }
            (Sums::Polish(sums), Sums::Polish(later)) => sums.merge(later),
            (Sums::Counts(sums), Sums::Counts(later)) if sums.is_empty() => *sums = later,
            (Sums::Counts(sums), Sums::Counts(later)) => {
                sums.iter_mut().zip(later).for_each(|(sums, later)| add_part(sums, later));
            }
            _ => {}
        }
    }

    fn next(self, sums: OneDependenceSums) -> Result<Step<Self, FittedOneDependence>> {
        let stage = match (&self.stage, sums.0) {
            (Stage::Bins(learning), Sums::Bins(sums, classes)) => {
                if sums.rows() == 0 {
                    return Err(no_rows());
                }
                match learning.clone().next(sums)? {
                    LearningStep::Again(learning) => Stage::Bins(learning),
                    LearningStep::Done(encoder) => {
                        self.binned(self.learner.discretiser(encoder), classes)?
                    }
                }
            }
            (Stage::Screen(discretiser, _), Sums::Counts(mut counted)) => {
                let (counts, _) = counted.pop().flatten().ok_or_else(no_rows)?;
                let mut discretiser = discretiser.clone();
                discretiser.chosen = self.learner.chosen(&discretiser, &counts)?;
                let layout = self.learner.layout_of(&discretiser, counts.layout().classes())?;
                Stage::Count(discretiser, layout)
            }
            (Stage::Count(discretiser, _), Sums::Counts(mut counted)) => {
                if !self.learner.leaves_rows_out() {
                    let (counts, triples) = counted.pop().flatten().ok_or_else(no_rows)?;
                    let counted = Counted::new(discretiser.clone(), counts, triples);
                    return Ok(Step::Done(self.learner.of_counts(&counted)?));
                }
                Stage::Weigh(discretiser.clone(), Folded::new(counted).ok_or_else(no_rows)?)
            }
            (Stage::Weigh(discretiser, counts), Sums::Rows(drawn, rows)) => {
                match self.weighed::<T>(discretiser, counts, (drawn, rows))? {
                    Weighed::Again(stage) => *stage,
                    Weighed::Done(models) => return Ok(Step::Done(models)),
                }
            }
            (Stage::Polish(discretiser, counts, polish), Sums::Polish(sums)) => {
                let mut polish = polish.clone();
                if polish.advance(sums) {
                    let counted = Counted::new(discretiser.clone(), counts.all.clone(), None);
                    let (mixing, note) = polish.finish();
                    let notes = counted.notes().into_iter().chain(note).collect();
                    return Ok(Step::Done(vec![FittedOneDependence::new(counted, mixing, notes)]));
                }
                Stage::Polish(discretiser.clone(), counts.clone(), polish)
            }
            _ => return Ok(Step::Again(self)),
        };
        Ok(Step::Again(Self { stage, ..self }))
    }
}

fn add_part(sums: &mut Option<Part>, later: Option<Part>) {
    match (sums, later) {
        (_, None) => {}
        (sums @ None, later) => *sums = later,
        (Some((counts, triples)), Some((later, more))) => {
            counts.add(1.0, &later);
            if let (Some(triples), Some(more)) = (triples, more) {
                triples.add(&more, 1.0);
            }
        }
    }
}

fn no_rows() -> Error {
    Error::shape("rows to learn from", 1, 0)
}
