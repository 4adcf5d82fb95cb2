//! EM from one start, pass by pass, uphill to the stopping rule.

use serde::{Deserialize, Serialize};

use super::data::{Data, Frame};
use super::expect::Densities;
use super::normals::{Collapse, Normals};
use super::pass::{Sums, Want, pass};
use super::prior::Prior;
use super::start::Begin;
use crate::error::{Error, Place};
use crate::learner::Diagnostics;

/// When to stop.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Stop {
    /// Stop once an iteration gains less than this per row; 0 runs all iterations.
    pub(crate) tolerance: f64,
    /// Iterations at most.
    pub(crate) iterations: usize,
}

/// Where EM came to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Climb {
    pub(crate) normals: Normals,
    pub(crate) diagnostics: Diagnostics,
    /// The log posterior.
    pub(super) objective: f64,
}

/// A component lost its spread.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Fall {
    pub(super) collapse: Collapse,
    pub(super) iteration: usize,
}

/// Iterations that EM takes as a rule.
const USUAL: usize = 40;

/// EM on its way from one start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Ascent {
    pub(super) prior: Prior,
    pub(super) stop: Stop,
    stage: Stage,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Stage {
    /// The first M-step is still to be made.
    Begin(Begin),
    /// These components are to be evaluated; before, the log posterior was so high.
    At {
        normals: Normals,
        iteration: usize,
        before: Option<f64>,
    },
    /// The top is reached, or as near as was asked for.
    Up(Climb),
    Fallen(Fall),
}

impl Ascent {
    pub(super) fn new(prior: Prior, stop: Stop, begin: Begin) -> Self {
        let stage = match begin {
            Begin::At(normals) => {
                let normals = Normals { freedom: prior.freedom, ..normals };
                Stage::At { normals, iteration: 0, before: None }
            }
            begin => Stage::Begin(begin),
        };
        Self { prior, stop, stage }
    }

    /// Iterations that a climb takes as a rule.
    pub(super) fn usual(stop: Stop) -> usize {
        (stop.iterations + 1).min(USUAL)
    }

    /// About how many are left: those of the rule, and half as many again as were made where it is slower.
    pub(super) fn left(&self) -> usize {
        match &self.stage {
            Stage::Begin(_) => 1 + Self::usual(self.stop),
            Stage::At { iteration, .. } => {
                let most = (self.stop.iterations + 1).saturating_sub(*iteration);
                USUAL.saturating_sub(*iteration).max(iteration / 2).min(most).max(1)
            }
            Stage::Up(_) | Stage::Fallen(_) => 0,
        }
    }

    /// What is to be summed over some rows; `None` where nothing is left to do.
    pub(super) fn sums(&self, data: &Data<'_>) -> Option<Sums> {
        match &self.stage {
            Stage::Begin(begin) => begin.sums(data, &self.prior),
            Stage::At { normals, iteration, .. } => {
                let last = *iteration >= self.stop.iterations;
                let want = if last { Want::Likelihood } else { Want::Moments };
                let evaluated = normals.factorise().and_then(|factors| {
                    pass(data, normals, &Densities::new(normals, &factors), want)
                });
                Some(evaluated.unwrap_or_else(|collapse| Sums::fallen(normals, collapse)))
            }
            Stage::Up(_) | Stage::Fallen(_) => None,
        }
    }

    /// Where the sums over all rows lead.
    pub(super) fn next(self, sums: Option<Sums>, frame: &Frame) -> Self {
        let Self { prior, stop, stage } = self;
        let stage = match (stage, sums) {
            (Stage::Begin(begin), sums) => {
                let normals = begin.components(frame, &prior, sums);
                Stage::At { normals, iteration: 0, before: None }
            }
            (Stage::At { normals, iteration, before }, Some(sums)) => {
                climb(&prior, stop, frame.total, (normals, iteration, before), &sums)
            }
            (stage, _) => stage,
        };
        Self { prior, stop, stage }
    }

    /// Where it came to; `None` if it is still on its way.
    pub(super) fn end(&self) -> Option<Result<&Climb, Fall>> {
        match &self.stage {
            Stage::Up(climb) => Some(Ok(climb)),
            Stage::Fallen(fall) => Some(Err(*fall)),
            Stage::Begin(_) | Stage::At { .. } => None,
        }
    }
}

/// One iteration: from the sums at some components to the next ones, or the end.
fn climb(
    prior: &Prior,
    stop: Stop,
    total: f64,
    (normals, iteration, before): (Normals, usize, Option<f64>),
    sums: &Sums,
) -> Stage {
    if let Some(collapse) = sums.collapse {
        return Stage::Fallen(Fall { collapse, iteration });
    }
    let factors = match normals.factorise() {
        Ok(factors) => factors,
        Err(collapse) => return Stage::Fallen(Fall { collapse, iteration }),
    };
    let objective = sums.log_likelihood + prior.ln_density(&normals, &factors);
    let gain = before.map(|before| objective - before);
    let converged =
        stop.tolerance > 0.0 && gain.is_some_and(|gain| gain.abs() <= stop.tolerance * total);
    if !converged && iteration < stop.iterations {
        let normals = prior.maximise(&normals, sums);
        return Stage::At { normals, iteration: iteration + 1, before: Some(objective) };
    }
    let diagnostics = Diagnostics {
        converged: (stop.tolerance > 0.0).then_some(converged),
        iterations: Some(iteration),
        objective: Some(objective),
        ..Diagnostics::default()
    };
    Stage::Up(Climb { normals, diagnostics, objective })
}

impl Fall {
    /// Says which component lost its spread, where and when.
    pub(super) fn error(self, columns: &[String]) -> Error {
        let Self { collapse, iteration } = self;
        let place =
            columns.get(collapse.column).map_or(Place::default(), |name| Place::column(name));
        let problem = format!(
            "the covariance of component {} is singular after {iteration} iterations: this column is constant there, \
             or depends on the columns before it, or there are too few rows",
            collapse.component + 1
        );
        Error::data(place, problem).with_hint("set beta above 0, or drop the column")
    }
}
