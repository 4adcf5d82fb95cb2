//! A fit of mixtures in passes: two that find the units, one for the first M-step, then EM. All starts of all members go
//! through the same passes, so that one reading of the rows serves them all.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::data::{Data, Frame, Units};
use super::describe::{Ranges, Squares, check_kinds};
use super::em::{Ascent, Climb, Stop};
use super::parameters::GaussianMixture;
use super::pass::Sums;
use super::prior::{Covariance, Prior};
use super::start::{Begin, Start};
use crate::error::{Error, Place, Result};
use crate::learner::Sample;
use crate::learner::pass::{Piece, RowSample};
use crate::run::{Run, rng_of};
use crate::stats::Accumulator;
use crate::table::{Features, Rows, Schema};
use crate::task::Density;

/// Rows that starts are looked for among, at least, and for each component.
const START_ROWS: usize = 1 << 14;
const START_ROWS_PER_COMPONENT: usize = 256;

/// What a member is to become.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wanted {
    /// The member's name, for what goes wrong with it; `None` where there is only one.
    pub(super) name: Option<String>,
    pub(super) components: usize,
    pub(super) prior: WantedPrior,
    pub(super) from: From,
}

/// The prior, which may depend on the data.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum WantedPrior {
    /// That of a mixture, with this beta.
    Of(Box<GaussianMixture>, f64),
    /// The neutral one with this beta; none with 0.
    Neutral(Covariance, f64),
}

/// Where EM begins, and how long it goes on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum From {
    /// From starts, each with the key of its random numbers.
    Starts(Vec<(Start, u64)>, Stop),
    /// From one component of all rows; without missing values it stays there.
    Overall { with_missing: Stop },
}

/// A fit on its way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fitting {
    columns: Vec<String>,
    standardise: bool,
    wanted: Vec<Wanted>,
    stage: Stage,
}

#[derive(Debug, Serialize, Deserialize)]
enum Stage {
    Ranges,
    Squares {
        ranges: Ranges,
        #[serde(with = "crate::store::floats")]
        means: Vec<f64>,
        /// Whether blocks keep only rows of the sample that can be expected to be in it.
        is_sparing: bool,
    },
    /// The starts of all members, one member after the other.
    Ascents {
        frame: Frame,
        ascents: Vec<Ascent>,
    },
}

/// What is summed over the rows.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FittingSums {
    Ranges(Ranges),
    Squares(Squares, RowSample),
    /// One for each start.
    Ascents(Vec<Option<Sums>>),
}

/// What follows.
pub(super) enum FittingStep {
    Again(Fitting),
    /// The units, and where each member came to.
    Done(Units, Vec<Climb>),
}

impl Fitting {
    /// About how many passes are still to be made.
    pub(super) fn left(&self) -> usize {
        let usual = |wanted: &Wanted| match wanted.from {
            From::Starts(_, stop) => Ascent::usual(stop),
            From::Overall { .. } => 1,
        };
        let climbs = || self.wanted.iter().map(usual).max();
        match &self.stage {
            Stage::Ranges => 2 + climbs().unwrap_or(1),
            Stage::Squares { .. } => 1 + climbs().unwrap_or(1),
            Stage::Ascents { ascents, .. } => ascents.iter().map(Ascent::left).max().unwrap_or(1),
        }
    }

    /// A fit to rows of these columns.
    pub(super) fn new(x: Rows<'_>, standardise: bool, wanted: Vec<Wanted>) -> Result<Self> {
        check_kinds(x)?;
        let columns = x.schema().fields().iter().map(|field| field.name.clone()).collect();
        Ok(Self { columns, standardise, wanted, stage: Stage::Ranges })
    }

    /// Rows that starts are looked for among; all, if there are no more.
    fn start_rows(&self) -> usize {
        let rows = |wanted: &Wanted| match &wanted.from {
            From::Starts(starts, _) if starts.iter().any(|(kind, _)| kind.looks_at_rows()) => {
                START_ROWS.max(START_ROWS_PER_COMPONENT * wanted.components)
            }
            _ => 0,
        };
        self.wanted.iter().map(rows).max().unwrap_or(0)
    }

    /// The seed of the sample among which starts are looked for: the same for all that are fitted at once.
    fn sample_seed(&self) -> u64 {
        let keys = self.wanted.iter().filter_map(|wanted| match &wanted.from {
            From::Starts(starts, _) => starts.first().map(|(_, key)| *key),
            From::Overall { .. } => None,
        });
        keys.take(1).next().unwrap_or_default()
    }

    pub(super) fn zero(&self) -> FittingSums {
        match &self.stage {
            Stage::Ranges => FittingSums::Ranges(Ranges::none(self.columns.len())),
            Stage::Squares { ranges, means, is_sparing } => {
                let sample = RowSample::new(self.start_rows(), means.len(), self.sample_seed());
                let sample = if *is_sparing { sample.among(ranges.rows) } else { sample };
                FittingSums::Squares(Squares(vec![0.0; means.len()]), sample)
            }
            Stage::Ascents { ascents, .. } => {
                FittingSums::Ascents(ascents.iter().map(|_| None).collect())
            }
        }
    }

    pub(super) fn add(&self, sums: &mut FittingSums, piece: &Piece<'_, Density>) {
        match (&self.stage, sums) {
            (Stage::Ranges, FittingSums::Ranges(ranges)) => ranges.merge(Ranges::of(piece)),
            (Stage::Squares { means, .. }, FittingSums::Squares(squares, sample)) => {
                squares.merge(Squares::of(&piece.sample, means));
                sample.add(piece);
            }
            (Stage::Ascents { frame, ascents }, FittingSums::Ascents(sums)) => {
                let data = Data::new(&piece.sample, frame);
                sums.par_iter_mut().zip(ascents).for_each(|(sums, ascent)| {
                    add_later(sums, ascent.sums(&data));
                });
            }
            _ => {}
        }
    }

    pub(super) fn merge(sums: &mut FittingSums, later: FittingSums) {
        match (sums, later) {
            (FittingSums::Ranges(ranges), FittingSums::Ranges(later)) => ranges.merge(later),
            (FittingSums::Squares(squares, sample), FittingSums::Squares(later, more)) => {
                squares.merge(later);
                sample.merge(more);
            }
            (FittingSums::Ascents(sums), FittingSums::Ascents(later)) => {
                sums.iter_mut().zip(later).for_each(|(sums, later)| add_later(sums, later));
            }
            _ => {}
        }
    }

    pub(super) fn next(mut self, sums: FittingSums) -> Result<FittingStep> {
        self.stage = match (self.stage, sums) {
            (Stage::Ranges, FittingSums::Ranges(ranges)) => {
                let means = ranges.means(&self.columns)?;
                Stage::Squares { ranges, means, is_sparing: true }
            }
            (
                Stage::Squares { ranges, means, is_sparing: true },
                FittingSums::Squares(_, sample),
            ) if sample.is_short(ranges.rows) => {
                Stage::Squares { ranges, means, is_sparing: false }
            }
            (Stage::Squares { ranges, means, .. }, FittingSums::Squares(squares, sample)) => {
                let frame = ranges.frame(means, &squares, self.standardise, &self.columns)?;
                let ascents = ascents(&self.wanted, &frame, sample)?;
                Stage::Ascents { frame, ascents }
            }
            (Stage::Ascents { frame, ascents }, FittingSums::Ascents(sums)) => {
                let next = |(ascent, sums): (Ascent, Option<Sums>)| ascent.next(sums, &frame);
                let ascents: Vec<Ascent> = ascents.into_iter().zip(sums).map(next).collect();
                if ascents.iter().all(|ascent| ascent.end().is_some()) {
                    let climbs = best(&self.wanted, &ascents, &self.columns)?;
                    return Ok(FittingStep::Done(frame.units, climbs));
                }
                Stage::Ascents { frame, ascents }
            }
            (stage, _) => stage,
        };
        Ok(FittingStep::Again(self))
    }
}

fn add_later(sums: &mut Option<Sums>, later: Option<Sums>) {
    match (sums.as_mut(), later) {
        (Some(sums), Some(later)) => sums.merge(later),
        (None, later) => *sums = later,
        (Some(_), None) => {}
    }
}

/// The starts of all members.
fn ascents(wanted: &[Wanted], frame: &Frame, sample: RowSample) -> Result<Vec<Ascent>> {
    let schema = std::sync::Arc::new(Schema::numeric(frame.dimension()));
    let (rows, weights): (Features, Vec<f64>) = sample.finish(&schema)?;
    let sample = Sample::<Density>::new(rows.rows(), &())?;
    let sample = if weights.is_empty() { sample } else { sample.counted(&weights)? };
    let data = Data::new(&sample, frame);
    let each: Vec<Result<Vec<Ascent>>> = wanted
        .par_iter()
        .map(|wanted| wanted.ascents(&data).map_err(|e| wanted.failed(e)))
        .collect();
    Ok(each.into_iter().collect::<Result<Vec<_>>>()?.concat())
}

impl Wanted {
    fn ascents(&self, data: &Data<'_>) -> Result<Vec<Ascent>> {
        let (frame, components) = (data.frame, self.components);
        if frame.rows < components as u64 {
            let rows = frame.rows;
            let problem =
                format!("{components} components need {components} rows, there are {rows}");
            return Err(Error::data(Place::default(), problem).with_hint("use fewer components"));
        }
        let prior = self.prior.of(frame)?;
        match &self.from {
            From::Overall { with_missing } => {
                let none = Stop { tolerance: 0.0, iterations: 0 };
                let stop = if frame.is_complete { none } else { *with_missing };
                Ok(vec![Ascent::new(prior, stop, Begin::overall(frame))])
            }
            From::Starts(starts, stop) => {
                let ascent = |(kind, key): &(Start, u64)| {
                    let covariance = prior.covariance;
                    let begin = Begin::new(kind, data, covariance, components, &mut rng_of(*key))?;
                    Ok(Ascent::new(prior.clone(), *stop, begin))
                };
                starts.par_iter().map(ascent).collect()
            }
        }
    }

    /// How many starts it has.
    fn starts(&self) -> usize {
        match &self.from {
            From::Overall { .. } => 1,
            From::Starts(starts, _) => starts.len(),
        }
    }

    fn failed(&self, error: Error) -> Error {
        match &self.name {
            Some(name) => super::of_member(name.clone(), error),
            None => error,
        }
    }
}

impl WantedPrior {
    fn of(&self, frame: &Frame) -> Result<Prior> {
        match self {
            Self::Of(mixture, beta) => mixture.prior(frame, *beta),
            Self::Neutral(covariance, beta) if *beta > 0.0 => {
                Ok(Prior::neutral(*covariance, frame.dimension(), *beta))
            }
            Self::Neutral(covariance, _) => Ok(Prior::flat(*covariance, frame.dimension())),
        }
    }
}

/// Of each member's starts the one of highest log posterior, the first of equals. A start that failed is noted; it is an error
/// only if all did.
fn best(wanted: &[Wanted], ascents: &[Ascent], columns: &[String]) -> Result<Vec<Climb>> {
    let mut rest = ascents;
    let of_member = |wanted: &Wanted| {
        let (own, further) = rest.split_at(wanted.starts());
        rest = further;
        best_start(own, columns).map_err(|error| wanted.failed(error))
    };
    wanted.iter().map(of_member).collect()
}

fn best_start(ascents: &[Ascent], columns: &[String]) -> Result<Climb> {
    let mut best: Option<&Climb> = None;
    let mut failure = None;
    let mut notes = Vec::new();
    for (number, end) in ascents.iter().filter_map(Ascent::end).enumerate() {
        match end {
            Ok(climb) if best.is_none_or(|best| climb.objective > best.objective) => {
                best = Some(climb);
            }
            Ok(_) => {}
            Err(fall) => {
                let error = fall.error(columns);
                notes.push(format!("start {} failed: {error}", number + 1));
                failure.get_or_insert(error);
            }
        }
    }
    match (best, failure) {
        (Some(best), _) => {
            let mut best = best.clone();
            best.diagnostics.notes = notes;
            Ok(best)
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::param("restarts", "at least 1", 0)),
    }
}

/// The starts of a member, each with the key of its random numbers.
pub(super) fn keyed(starts: Vec<Start>, run: &Run) -> Vec<(Start, u64)> {
    let key = |number: usize| run.child(number as u64).key();
    starts.into_iter().enumerate().map(|(number, start)| (start, key(number))).collect()
}
