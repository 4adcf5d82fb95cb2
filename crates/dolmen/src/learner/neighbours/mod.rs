//! The k nearest neighbours (FixHodges1951, CoverHart1967): a row's prediction is the mean of the rows like it.
//!
//! ```text
//! p(c given x) = (s pi_c + k sum_i v_i [c_i = c]) / (s + k),   E(y given x) = sum_i v_i y_i
//! ```
//!
//! with i over the k rows nearest to x and shares v_i that sum to 1: equal ones, or in inverse proportion to the distance
//! (rows at distance 0, if there are any, then share everything). s imagined rows (`smoothing`) spread by the classes'
//! frequencies pi_c = (N_c + 1)/(N + C) keep the logarithm finite where all k rows agree; s = 0 gives plain frequencies.
//!
//! **Row weights** count as rows: neighbours are taken until their weights sum to k, the last of them only for what is
//! missing. Weights that are not all whole numbers are relative, and are first scaled to sum to the number of rows that
//! have any. Of rows equally far the first in the sample is the nearer one.
//!
//! `index` finds the rows: by `tree`, or by a `screen` of all rows; both are exact. One search serves a ladder of k.

pub(super) mod distance;
mod index;
mod model;
mod nearest;
mod screen;
mod tree;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedNeighbours;

use super::scales::{Scales, require_moderate, require_numbers};
use super::{Fitted, Learner, Sample};
use crate::error::{Error, Result, within};
use crate::learner::Stored;
use crate::learner::{self, Block};
use crate::plan::Plan;
use crate::run::Run;
use crate::spec::Spec;
use crate::target::{Labels, Target};
use crate::task::{Classification, Regression, Task};
use index::Index;
use model::{Answers, Known};

/// Neighbours that are asked, at most: more than a table that fits in memory has rows.
const MOST_NEIGHBOURS: usize = 1_000_000_000;

/// The k nearest neighbours, of complete numbers.
///
/// ```
/// use dolmen::learner::Learner;
/// use dolmen::learner::neighbours::{Neighbours, Shares};
/// use dolmen::task::Regression;
///
/// let ladder = Neighbours { k: [5, 20].into(), weights: Shares::Distance, ..Neighbours::default() };
/// assert_eq!(
///     Learner::<Regression>::members(&ladder),
///     ["neighbours(k=5, weights=distance)", "neighbours(k=20, weights=distance)"]
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Neighbours {
    /// Rows that are asked, all of them if there are fewer; a list makes one member per number.
    #[schemars(extend("minimum" = 1, "maximum" = MOST_NEIGHBOURS))]
    pub k: Counts,
    /// How the neighbours share the prediction.
    pub weights: Shares,
    /// Whether columns are put on one scale, learned from the training rows: mean 0, deviation 1, indicators as they are.
    pub standardise: bool,
    /// Rows imagined in addition to the k, spread by the classes' frequencies; of no effect on numbers.
    #[schemars(range(min = 0.0))]
    pub smoothing: f64,
}

impl Default for Neighbours {
    fn default() -> Self {
        Self { k: Counts::One(10), weights: Shares::Uniform, standardise: true, smoothing: 0.2 }
    }
}

/// One number of neighbours, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "k is a whole number or a list of whole numbers")]
pub enum Counts {
    /// One member.
    One(usize),
    /// One member for each.
    Ladder(Vec<usize>),
}

impl From<usize> for Counts {
    fn from(k: usize) -> Self {
        Self::One(k)
    }
}

impl<const N: usize> From<[usize; N]> for Counts {
    fn from(ladder: [usize; N]) -> Self {
        Self::Ladder(ladder.to_vec())
    }
}

impl Counts {
    fn as_slice(&self) -> &[usize] {
        match self {
            Self::One(k) => std::slice::from_ref(k),
            Self::Ladder(ladder) => ladder,
        }
    }
}

/// How neighbours share a prediction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shares {
    /// Equally.
    #[default]
    Uniform,
    /// In inverse proportion to their distance; rows at distance 0 share everything.
    Distance,
}

/// A task whose target neighbours can be asked for.
pub trait Neighbourly: Task {
    /// What rows of positive weight answer.
    #[doc(hidden)]
    fn answers(target: &Self::Target, rows: &[usize], weights: Option<&[f64]>) -> Answers;
}

impl Neighbourly for Regression {
    fn answers(target: &Vec<f64>, rows: &[usize], _weights: Option<&[f64]>) -> Answers {
        Answers::Numbers(target.select(rows))
    }
}

impl Neighbourly for Classification {
    fn answers(target: &Labels, rows: &[usize], weights: Option<&[f64]>) -> Answers {
        let codes = target.select(rows).codes().to_vec();
        let mut counts = vec![1.0; target.classes().len()];
        for (i, &code) in codes.iter().enumerate() {
            counts[code as usize] += weights.map_or(1.0, |w| w[i]);
        }
        let total: f64 = counts.iter().sum();
        Answers::Classes { codes, frequencies: counts.into_iter().map(|c| c / total).collect() }
    }
}

impl<T: Neighbourly> Learner<T> for Neighbours
where
    FittedNeighbours: Stored<T>,
{
    fn members(&self) -> Vec<String> {
        let name = |&k: &usize| Spec::rung("neighbours", self, "k", k).to_string();
        self.k.as_slice().iter().map(name).collect()
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        let known = Arc::new(run.install(|| self.known(sample))?);
        let model = |&k| {
            let known = Arc::clone(&known);
            Box::new(FittedNeighbours::new(known, k)) as Box<dyn Fitted<T>>
        };
        Ok(self.k.as_slice().iter().map(model).collect())
    }

    /// Each split is searched once for all k. (Scales are learned in the split, so splits measure unlike distances.)
    fn out_of_sample(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Block> {
        let members = Learner::<T>::members(self);
        learner::by_split(&members, sample, plan, run, &|split, _run| {
            let train = sample.select(split.train(sample.rows()));
            let held_out = sample.x().view(split.test());
            self.known(&train.borrow())?.predict(held_out.rows(), self.k.as_slice())
        })
    }
}

impl Neighbours {
    fn validate(&self) -> Result<()> {
        let counts = self.k.as_slice();
        if counts.is_empty() {
            return Err(Error::param("k", "a number or a list of numbers", "an empty list"));
        }
        counts.iter().try_for_each(|&k| within("k", k, 1..=MOST_NEIGHBOURS))?;
        if !(self.smoothing.is_finite() && self.smoothing >= 0.0) {
            return Err(Error::param("smoothing", "at least 0", self.smoothing));
        }
        Ok(())
    }

    /// Takes in the rows.
    fn known<T: Neighbourly>(&self, sample: &Sample<'_, T>) -> Result<Known> {
        self.validate()?;
        require_numbers(sample.x())?;
        require_moderate(sample.x())?;
        let rows: Vec<usize> = (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0).collect();
        if rows.is_empty() {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let weights = sample.weights().map(|weights| counting(weights, &rows));
        let scales = if self.standardise {
            Scales::fit(sample.x(), sample.weights())
        } else {
            Scales::none(sample.x().width())
        };
        let answers = T::answers(sample.target(), &rows, weights.as_deref());
        let points = scales.apply(sample.x().view(&rows).rows());
        let index = Index::new(points, sample.x().width(), weights);
        Ok(Known { scales, index, answers, shares: self.weights, smoothing: self.smoothing })
    }
}

/// The weights of chosen rows, so that they count rows.
fn counting(weights: &[f64], rows: &[usize]) -> Vec<f64> {
    let chosen: Vec<f64> = rows.iter().map(|&i| weights[i]).collect();
    if chosen.iter().all(|w| w.fract() == 0.0) {
        return chosen;
    }
    let scale = chosen.len() as f64 / chosen.iter().sum::<f64>();
    chosen.into_iter().map(|w| w * scale).collect()
}
