//! Bayesian model averaging: weights proportional to the members' evidence p(data given model).
//!
//! It asks which *one* of the members made the data. With many rows all weight goes to one member, even if a mixture of
//! them would predict better: it selects rather than combines [Minka2000; Bishop2006, section 14.1].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Combination, Combiner, Evidence, LinearPool};
use crate::error::{Error, Result};
use crate::learner::{Fitted, Sample, predict};
use crate::math::log_sum_exp;
use crate::run::Run;
use crate::task::Task;

/// What every report of it says.
const CAUTION: &str =
    "BMA asks which one member made the data: with many rows it selects rather than combines";

/// Weights by evidence; all members are equally likely beforehand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bma {}

impl<T: Task> Combiner<T> for Bma {
    fn rungs(&self) -> Vec<String> {
        vec!["bma".into()]
    }

    fn needs_evidence(&self) -> bool {
        true
    }

    fn fit(&self, evidence: &Evidence<'_, T>, _run: &Run) -> Result<Vec<Box<dyn Combination<T>>>> {
        let Some(logs) = evidence.log_evidence else {
            let expected = "one that needs no evidence: predictions alone have none";
            return Err(Error::param("combiner", expected, "bma"));
        };
        if let Some(m) = logs.iter().position(|log| log.is_nan()) {
            let expected = "models whose parameters can be counted (gaussian, mixture, ridge, logistic, bayes, ..)";
            return Err(Error::param("members of bma", expected, &evidence.oos.members()[m]));
        }
        let total = log_sum_exp(logs);
        let weights = logs.iter().map(|log| (log - total).exp()).collect();
        Ok(vec![Box::new(LinearPool::new(weights).noting(CAUTION))])
    }
}

/// The log evidence of a model on the rows it was fitted to, by the Bayesian information criterion (Schwarz1978):
/// ln p(data) = ln p(data given the estimate) - parameters / 2 ln rows; NaN if the parameters cannot be counted.
///
/// Numbers are taken as normal about their predictions, with a variance that is one parameter more.
pub fn log_evidence<T: Task>(
    model: &dyn Fitted<T>,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Result<f64> {
    let Some(parameters) = model.free_parameters() else {
        return Ok(f64::NAN);
    };
    let predicted = predict(model, sample.x(), run)?;
    let width = model.width();
    let scores = predicted.chunks_exact(width).enumerate();
    let scores = scores.map(|(i, row)| sample.weight(i) * T::score(row, sample.target(), i));
    let (total, rows) = (scores.sum::<f64>(), sample.total_weight());
    let (likelihood, parameters) = if T::LOG_SCORES {
        (total, parameters)
    } else {
        let variance = (-total / rows).max(f64::MIN_POSITIVE);
        let normal = -0.5 * rows * ((std::f64::consts::TAU * variance).ln() + 1.0);
        (normal, parameters + 1)
    };
    Ok(likelihood - 0.5 * parameters as f64 * rows.ln())
}
