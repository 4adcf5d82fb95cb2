//! Gradient boosting: a sum of small trees, each a step down the slope of a loss (Friedman2001), grown on histograms best leaf
//! first, with second derivatives and shrinkage (ChenGuestrin2016; Ke2017).
//!
//! | file | holds |
//! | --- | --- |
//! | `loss` | the losses, and the trait for one's own |
//! | `fit`, `round` | the rounds, sampling, early stopping |
//! | `model`, `scorer` | the fitted model, and how it scores 64 rows at a time |

mod fit;
pub mod loss;
mod model;
mod scorer;
mod slopes;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use loss::{Link, Loss};
pub use model::FittedBoost;

use super::bins::MOST_BINS;
use crate::error::{Error, Place, Result, within};
use crate::learner::{Fitted, Learner, Sample};
use crate::plan::RowKeys;
use crate::run::Run;
use crate::spec::Spec;
use crate::target::Target;
use crate::task::{Classification, Regression};
use scorer::MOST_LEAVES;
use slopes::Targets;

/// Rounds at most when the rounds are chosen by early stopping.
const MOST_ROUNDS: usize = 1000;
/// Rounds without a better held-out loss before stopping, unless told otherwise.
const PATIENCE: usize = 20;
/// Rounds when there are too few rows to hold some out.
const FEW_ROUNDS: usize = 100;

/// Gradient boosted trees.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Boost {
    /// The loss: by default `squared` for numbers, `logistic` for two classes and `multinomial` for more.
    pub loss: Option<LossName>,
    /// Rounds, 1 to 100 000. Without a number, as many as help on held-out rows.
    #[schemars(range(min = 1, max = 100_000))]
    pub rounds: Option<usize>,
    /// Leaves of a tree at most.
    #[schemars(range(min = 2, max = MOST_LEAVES))]
    pub leaves: usize,
    /// Splits on any way down at most.
    #[schemars(range(min = 1))]
    pub depth: Option<usize>,
    /// How much of each tree's step is taken, at most 2: beyond, each step overshoots by more than it mends.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 2.0))]
    pub rate: f64,
    /// The least weight of rows in a leaf.
    #[schemars(range(min = 0.0))]
    pub min_leaf: f64,
    /// A split must gain more than this.
    #[schemars(range(min = 0.0))]
    pub min_gain: f64,
    /// The penalty on squared leaf values.
    #[schemars(range(min = 0.0))]
    pub l2: f64,
    /// The share of rows each tree is grown on.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub rows: f64,
    /// The share of columns each tree looks at.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub columns: f64,
    /// Bins of a column at most.
    #[schemars(range(min = 2, max = MOST_BINS))]
    pub bins: usize,
    /// Stop after so many rounds without a better loss on held-out rows. Given with `rounds` too, or by itself. Where fewer than 50 rows
    /// would be held out, or rows that belong together cannot be, all rounds are made.
    pub patience: Option<usize>,
    /// The share of rows held out for that.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 0.9))]
    pub held_out: f64,
    /// Numeric columns that scores may only rise with, by name.
    pub increasing: Vec<String>,
    /// Numeric columns that scores may only fall with.
    pub decreasing: Vec<String>,
    /// Which quantile the loss `quantile` fits.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = 1.0))]
    pub quantile: f64,
    /// Where the loss `huber` goes over from squares to absolute values; by default the error that nine tenths of the rows
    /// do not exceed at the start.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub delta: Option<f64>,
}

/// The losses by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LossName {
    /// Squared errors.
    Squared,
    /// Absolute errors.
    Absolute,
    /// Squared errors up to a limit, absolute beyond.
    Huber,
    /// A quantile.
    Quantile,
    /// Counts.
    Poisson,
    /// Two classes.
    Logistic,
    /// Two classes, AdaBoost's loss.
    Exponential,
    /// Several classes.
    Multinomial,
}

impl Default for Boost {
    fn default() -> Self {
        Self {
            loss: None,
            rounds: None,
            leaves: 31,
            depth: None,
            rate: 0.1,
            min_leaf: 20.0,
            min_gain: 0.0,
            l2: 1.0,
            rows: 1.0,
            columns: 1.0,
            bins: 255,
            patience: None,
            held_out: 0.1,
            increasing: Vec::new(),
            decreasing: Vec::new(),
            quantile: 0.5,
            delta: None,
        }
    }
}

impl Boost {
    fn validate(&self) -> Result<()> {
        let positive = |name: &str, value: f64| {
            let is_fine = value.is_finite() && value > 0.0;
            if is_fine { Ok(()) } else { Err(Error::param(name, "above 0", value)) }
        };
        let not_negative = |name: &str, value: f64| {
            let is_fine = value.is_finite() && value >= 0.0;
            if is_fine { Ok(()) } else { Err(Error::param(name, "at least 0", value)) }
        };
        let share = |name: &str, value: f64, most: f64| {
            let is_fine = value > 0.0 && value <= most;
            let expected = format!("above 0 and at most {most}");
            if is_fine { Ok(()) } else { Err(Error::param(name, expected, value)) }
        };
        self.rounds.map_or(Ok(()), |rounds| within("rounds", rounds, 1..=100_000))?;
        if !(2..=MOST_LEAVES).contains(&self.leaves) {
            return Err(Error::param(
                "leaves",
                format!("between 2 and {MOST_LEAVES}"),
                self.leaves,
            ));
        }
        if self.depth == Some(0) {
            return Err(Error::param("depth", "at least 1", 0));
        }
        share("rate", self.rate, 2.0)?;
        not_negative("min_leaf", self.min_leaf)?;
        not_negative("min_gain", self.min_gain)?;
        not_negative("l2", self.l2)?;
        share("rows", self.rows, 1.0)?;
        share("columns", self.columns, 1.0)?;
        share("held_out", self.held_out, 0.9)?;
        share("quantile", self.quantile, 1.0)?;
        self.delta.map_or(Ok(()), |delta| positive("delta", delta))
    }

    /// Fits scores by any loss, one's own for instance, to targets with weights of 1 by default.
    pub fn fit_loss(
        &self,
        loss: &dyn Loss,
        x: crate::table::Rows<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        run: &Run,
    ) -> Result<FittedBoost> {
        self.fit_keyed(loss, x, targets, weights, &RowKeys::default(), run)
    }

    /// The same for rows with keys, which the rows held out honour.
    fn fit_keyed(
        &self,
        loss: &dyn Loss,
        x: crate::table::Rows<'_>,
        targets: &[f64],
        weights: Option<&[f64]>,
        keys: &RowKeys<'_>,
        run: &Run,
    ) -> Result<FittedBoost> {
        self.validate()?;
        loss.check(targets)?;
        if targets.len() != x.rows() {
            return Err(Error::shape("rows of the target", x.rows(), targets.len()));
        }
        if let Some(row) = targets.iter().position(|y| !y.is_finite()) {
            return Err(Error::data(Place::row(row), "the target is not a finite number"));
        }
        let learned = |y: &[f64]| {
            let targets = Targets::Numbers(y);
            run.install(|| fit::fit(self, loss, x, targets, weights, keys, run))
        };
        match far_from_zero(targets).filter(|_| loss.link() == loss::Link::Identity) {
            None => learned(targets),
            Some(centre) => {
                let deviations: Vec<f64> = targets.iter().map(|y| y - centre).collect();
                Ok(learned(&deviations)?.shifted(centre))
            }
        }
    }

    fn regression_loss(&self, y: &[f64], weights: Option<&[f64]>) -> Result<Arc<dyn Loss>> {
        Ok(match self.loss.unwrap_or(LossName::Squared) {
            LossName::Squared => Arc::new(loss::Squared),
            LossName::Absolute => Arc::new(loss::Quantile { share: 0.5 }),
            LossName::Quantile => Arc::new(loss::Quantile { share: self.quantile }),
            LossName::Poisson => Arc::new(loss::Poisson),
            LossName::Huber => Arc::new(loss::Huber {
                delta: self.delta.unwrap_or_else(|| loss::usual_delta(y, weights)),
            }),
            other => {
                let expected = "one for numbers: squared, absolute, huber, quantile, poisson";
                return Err(Error::param("loss", expected, format!("{other:?}").to_lowercase()));
            }
        })
    }

    fn class_loss(&self, classes: usize) -> Result<Arc<dyn Loss>> {
        let usual = if classes == 2 { LossName::Logistic } else { LossName::Multinomial };
        Ok(match (self.loss.unwrap_or(usual), classes) {
            (LossName::Logistic, 2) => Arc::new(loss::Logistic),
            (LossName::Exponential, 2) => Arc::new(loss::Exponential),
            (LossName::Multinomial, 2..) => Arc::new(loss::Multinomial { classes }),
            (other, _) => {
                let expected = "multinomial, or logistic or exponential for two classes";
                return Err(Error::param("loss", expected, format!("{other:?}").to_lowercase()));
            }
        })
    }
}

/// A number in the middle of targets that lie so far from 0, beside how far they are apart, that sums of small steps towards them lose
/// digits that tell them apart.
fn far_from_zero(targets: &[f64]) -> Option<f64> {
    /// Distances from 0, in units of the spread.
    const FAR: f64 = 1e4;
    let least = targets.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = targets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let centre = 0.5 * least + 0.5 * largest;
    (centre.is_finite() && centre.abs() > FAR * (largest - least)).then_some(centre)
}

impl Learner<Regression> for Boost {
    fn members(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let loss = self.regression_loss(sample.target(), sample.weights())?;
        let (x, y, weights) = (sample.x(), sample.target(), sample.weights());
        Ok(vec![Box::new(self.fit_keyed(loss.as_ref(), x, y, weights, &sample.keys(), run)?)])
    }
}

impl Learner<Classification> for Boost {
    fn members(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        let loss = self.class_loss(sample.target().classes().len())?;
        self.validate()?;
        let (x, weights) = (sample.x(), sample.weights());
        let targets = Targets::Classes(sample.target().codes());
        let keys = sample.keys();
        let model =
            run.install(|| fit::fit(self, loss.as_ref(), x, targets, weights, &keys, run))?;
        Ok(vec![Box::new(model)])
    }
}

impl Boost {
    fn name(&self) -> String {
        Spec::of("boost", self).to_string()
    }
}
