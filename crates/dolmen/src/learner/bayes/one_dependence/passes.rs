//! The family in passes: those in which bins are learned, one that ranks columns if there are too many, and one that counts.
//!
//! The weights of LMD and LMG ask again and again for what every root says of every row. All rows are counted, and a further pass
//! draws the rows that the weights are found on: all of them up to 100 000, beyond that so many. From there a few passes more bring them to where
//! all rows want them ([`Polish`]); rows of groups, which are left out with the drawn rows of their fold, are weighed on the drawn ones alone.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout};
use super::learners::{Counted, OneDependence};
use super::model::{Discretiser, FittedOneDependence};
use super::polish::{Polish, PolishSums};
use super::triples::Triples;
use crate::error::{Error, Result};
use crate::learner::pass::{LABELS, Pass, Piece, RowSample, Step};
use crate::learner::{Fitted, Sample};
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

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Bins(Learning),
    /// Every column by itself, to choose some.
    Screen(Discretiser, Layout),
    Count(Discretiser, Layout),
    /// The rows by which roots get their weights.
    Weigh(Discretiser, Counts),
    /// All rows, by which the weights get better.
    Polish(Discretiser, Counts, Polish),
}

/// What is summed over the rows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OneDependenceSums(Sums);

#[derive(Debug, Serialize, Deserialize)]
enum Sums {
    Bins(LearningSums, usize),
    /// Nothing before the first rows.
    Counts(Option<(Counts, Option<Triples>)>),
    /// Each row with its class and group, and how many there were to draw from.
    Rows(RowSample, usize),
    Polish(PolishSums),
}

impl OneDependencePass {
    pub(super) fn new(learner: &OneDependence, x: Rows<'_>, run: &Run) -> Result<Self> {
        learner.check_columns(x.schema())?;
        let stage = Stage::Bins(Learning::new(learner.encoder_spec(), x)?);
        Ok(Self { learner: learner.clone(), stage, key: run.key() })
    }

    /// What follows from the weights that drawn rows give the roots, which are among those counted. Rows of groups are left out
    /// with all drawn rows of their fold, and counted anew without them.
    fn weighed<T: Task<Target = Labels>>(
        &self,
        discretiser: &Discretiser,
        counts: &Counts,
        (drawn, rows): (RowSample, usize),
    ) -> Result<Weighed> {
        let counted = Counted::new(discretiser.clone(), counts.clone(), None);
        let classes = 0..counts.layout().classes();
        let classes: Vec<String> = classes.map(|class| class.to_string()).collect();
        let mut drawn = drawn.finish_labelled(&classes)?;
        let schema = Arc::clone(discretiser.encoder.input());
        let x = Features::new(std::mem::take(&mut drawn.values), schema)?;
        let (sample, run) = (drawn.sample::<T>(x.rows())?, Run::of_key(self.key));
        let mut notes = counted.notes();
        let Some((mixing, prior)) =
            self.learner.mixing_of_rows(&counted, &sample, &mut notes, &run)?
        else {
            return Ok(Weighed::Done(self.learner.of_counts(&counted)?));
        };
        let is_part = rows > sample.rows() && sample.groups().is_none();
        Ok(match Polish::new(&mixing, prior).filter(|_| is_part) {
            Some(polish) => {
                Weighed::Again(Box::new(Stage::Polish(discretiser.clone(), counts.clone(), polish)))
            }
            None => Weighed::Done(vec![FittedOneDependence::new(counted, mixing, notes)]),
        })
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
    ) -> Result<(Counts, Option<Triples>)> {
        let counts = discretiser.count(layout, sample);
        let wants_triples = self.learner.counts_triples() && layout.is_paired();
        let triples = wants_triples.then(|| discretiser.count_triples(layout, sample));
        Ok((counts, triples.transpose()?))
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
            Stage::Screen(..) | Stage::Count(..) => Sums::Counts(None),
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
                drawn.add_labelled(piece);
                *rows += (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0).count();
            }
            (Stage::Polish(discretiser, counts, polish), Sums::Polish(sums)) => {
                let counted = Counted::new(discretiser.clone(), counts.clone(), None);
                sums.merge(polish.sums(&counted, sample));
            }
            (Stage::Screen(discretiser, layout) | Stage::Count(discretiser, layout), _) => {
                let counted = self.count(discretiser, layout, sample)?;
                Pass::<T>::merge(self, sums, OneDependenceSums(Sums::Counts(Some(counted))));
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
            (Sums::Counts(sums @ None), Sums::Counts(later)) => *sums = later,
            (Sums::Rows(drawn, rows), Sums::Rows(later, more)) => {
                drawn.merge(later);
                *rows += more;
            }
            (Sums::Polish(sums), Sums::Polish(later)) => sums.merge(later),
            (Sums::Counts(Some((counts, triples))), Sums::Counts(Some((later, more)))) => {
                counts.add(1.0, &later);
                if let (Some(triples), Some(more)) = (triples, more) {
                    triples.add(&more, 1.0);
                }
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
            (Stage::Screen(discretiser, _), Sums::Counts(counted)) => {
                let (counts, _) = counted.ok_or_else(no_rows)?;
                let mut discretiser = discretiser.clone();
                discretiser.chosen = self.learner.chosen(&discretiser, &counts)?;
                let layout = self.learner.layout_of(&discretiser, counts.layout().classes())?;
                Stage::Count(discretiser, layout)
            }
            (Stage::Count(discretiser, _), Sums::Counts(counted)) => {
                let (counts, triples) = counted.ok_or_else(no_rows)?;
                if !self.learner.leaves_rows_out() {
                    let counted = Counted::new(discretiser.clone(), counts, triples);
                    return Ok(Step::Done(self.learner.of_counts(&counted)?));
                }
                Stage::Weigh(discretiser.clone(), counts)
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
                    let counted = Counted::new(discretiser.clone(), counts.clone(), None);
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

fn no_rows() -> Error {
    Error::shape("rows to learn from", 1, 0)
}
