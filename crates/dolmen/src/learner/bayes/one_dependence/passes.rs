//! The family in passes: those in which bins are learned, one that ranks columns if there are too many, and one that counts.
//!
//! The weights of LMD and LMG ask for what every root says of every row: these have no passes.

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Layout};
use super::learners::{Counted, OneDependence};
use super::model::{Discretiser, FittedOneDependence};
use super::triples::Triples;
use crate::error::{Error, Result};
use crate::learner::pass::{Pass, Piece, Step};
use crate::learner::{Fitted, Sample};
use crate::stats::Accumulator;
use crate::table::Rows;
use crate::table::encode::{Learning, LearningStep, LearningSums};
use crate::target::{Labels, Target};
use crate::task::Task;

/// A learner of the family on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OneDependencePass {
    learner: OneDependence,
    stage: Stage,
}

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Bins(Learning),
    /// Every column by itself, to choose some.
    Screen(Discretiser, Layout),
    Count(Discretiser, Layout),
}

/// What is summed over the rows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OneDependenceSums(Sums);

#[derive(Debug, Serialize, Deserialize)]
enum Sums {
    Bins(LearningSums, usize),
    /// Nothing before the first rows.
    Counts(Option<(Counts, Option<Triples>)>),
}

impl OneDependencePass {
    pub(super) fn new(learner: &OneDependence, x: Rows<'_>) -> Result<Self> {
        learner.check_columns(x.schema())?;
        let stage = Stage::Bins(Learning::new(learner.encoder_spec(), x)?);
        Ok(Self { learner: learner.clone(), stage })
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
        })
    }

    fn add(&self, sums: &mut OneDependenceSums, piece: &Piece<'_, T>) -> Result<()> {
        let sample = &piece.sample;
        match (&self.stage, &mut sums.0) {
            (Stage::Bins(learning), Sums::Bins(sums, classes)) => {
                learning.add(sums, sample.x(), sample.weights(), |i| piece.number(i));
                *classes = sample.target().classes().len();
            }
            (Stage::Screen(discretiser, layout) | Stage::Count(discretiser, layout), _) => {
                let counted = self.count(discretiser, layout, sample)?;
                Pass::<T>::merge(self, sums, OneDependenceSums(Sums::Counts(Some(counted))));
            }
            _ => {}
        }
        Ok(())
    }

    fn merge(&self, sums: &mut OneDependenceSums, later: OneDependenceSums) {
        match (&mut sums.0, later.0) {
            (Sums::Bins(sums, classes), Sums::Bins(later, of_later)) => {
                sums.merge(later);
                *classes = (*classes).max(of_later);
            }
            (Sums::Counts(sums @ None), Sums::Counts(later)) => *sums = later,
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
                let counted = Counted::new(discretiser.clone(), counts, triples);
                return Ok(Step::Done(self.learner.of_counts(&counted)?));
            }
            _ => return Ok(Step::Again(self)),
        };
        Ok(Step::Again(Self { stage, ..self }))
    }
}

fn no_rows() -> Error {
    Error::shape("rows to learn from", 1, 0)
}
