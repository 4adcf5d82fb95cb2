//! Support vector machines (Vapnik1995): classes by the widest margin, numbers within a tube, on complete numbers.
//!
//! `solver` finds the coefficients, `cache` keeps kernel rows, `fit` puts machines together: one for numbers, one for
//! each pair of classes. `platt` turns the decision values of pairs into class probabilities. Row weights multiply C, so
//! that decision values are those of the row repeated; the folds of the calibration are drawn row by row.

mod cache;
mod fit;
mod lanes;
mod model;
mod platt;
mod solver;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedSvm;

use super::scales::{Scales, require_moderate, require_numbers};
use super::{Fitted, Learner, Sample};
use crate::error::{Error, Result};
use crate::learner::likeness::Likeness;
use crate::plan::OwnedKeys;
use crate::run::Run;
use crate::spec::Spec;
use crate::task::{Classification, Regression, Task};
use fit::Training;

/// A support vector machine.
///
/// Probabilities of classes come from decision values of rows held out in five folds within the fit, by a sigmoid for each
/// pair of classes and coupling of the pairs. A class without rows gets the probability 1/(N + C) of Laplace's rule.
///
/// ```
/// use dolmen::learner::Learner;
/// use dolmen::learner::svm::Svm;
/// use dolmen::task::Regression;
///
/// let machine = Svm { c: 10.0, ..Svm::default() };
/// assert_eq!(Learner::<Regression>::members(&machine), ["svm(c=10)"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Svm {
    /// The kernel.
    pub kernel: Kernel,
    /// What a row beyond its margin costs: large values fit the rows closely.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub c: f64,
    /// The rate of the kernel `rbf`, exp(-gamma |x - y|^2).
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gamma: Gamma,
    /// Half the width of the tube in which a number costs nothing; in standard deviations of the target if standardised.
    #[schemars(range(min = 0.0))]
    pub epsilon: f64,
    /// Whether inputs (not indicators) and a numeric target are put on one scale, learned from the training rows: mean 0,
    /// deviation 1. `c`, and `epsilon` of numbers, are then in these units; with `false` all is as in the data.
    pub standardise: bool,
    /// By how much the conditions of the optimum may be violated.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub tolerance: f64,
    /// Memory for rows of the kernel matrix, in 10^6 bytes, all threads together.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub cache: f64,
}

impl Default for Svm {
    fn default() -> Self {
        Self {
            kernel: Kernel::Rbf,
            c: 1.0,
            gamma: Gamma::Rule(GammaRule::Scale),
            epsilon: 0.1,
            standardise: true,
            tolerance: 1e-3,
            cache: 200.0,
        }
    }
}

/// How alike two rows are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// x'y: a plane.
    Linear,
    /// exp(-gamma |x - y|^2).
    #[default]
    Rbf,
}

/// The rate of the kernel `rbf`: `scale` or a number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "gamma is 'scale' or a number")]
pub enum Gamma {
    /// A rule.
    Rule(GammaRule),
    /// A number.
    Number(f64),
}

/// Rates found from the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GammaRule {
    /// 1 / (d v), with d columns and v the variance of all values together, on the scale the machine sees.
    Scale,
}

impl Svm {
    fn name(&self) -> String {
        Spec::of("svm", self).to_string()
    }

    fn validate(&self) -> Result<()> {
        let positive = |name: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(());
            }
            Err(Error::param(name, "a number above 0", value))
        };
        positive("c", self.c)?;
        positive("tolerance", self.tolerance)?;
        positive("cache", self.cache)?;
        if let Gamma::Number(gamma) = self.gamma {
            positive("gamma", gamma)?;
        }
        if !(self.epsilon >= 0.0 && self.epsilon.is_finite()) {
            return Err(Error::param("epsilon", "at least 0", self.epsilon));
        }
        Ok(())
    }

    /// The rows of positive weight on their scale.
    fn training<T: Task>(&self, sample: &Sample<'_, T>) -> Result<Training> {
        self.validate()?;
        require_numbers(sample.x())?;
        require_moderate(sample.x())?;
        let rows: Vec<usize> = (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0).collect();
        if rows.is_empty() {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let scales = if self.standardise {
            Scales::fit(sample.x(), sample.weights())
        } else {
            Scales::none(sample.x().width())
        };
        let points = scales.apply(sample.x().view(&rows).rows());
        let weights: Vec<f64> = rows.iter().map(|&i| sample.weight(i)).collect();
        let likeness = match (self.kernel, self.gamma) {
            (Kernel::Linear, _) => Likeness::Linear,
            (Kernel::Rbf, Gamma::Number(gamma)) => Likeness::Rbf { gamma },
            (Kernel::Rbf, Gamma::Rule(GammaRule::Scale)) => {
                Likeness::Rbf { gamma: gamma_scale(&points, &weights) }
            }
        };
        let keys = OwnedKeys::select(&sample.keys(), &rows);
        Ok(Training { rows, keys, points, weights, scales, likeness })
    }
}

/// 1 / (d v); 1/d where all values are equal.
fn gamma_scale(points: &[f64], weights: &[f64]) -> f64 {
    let dimension = points.len() / weights.len();
    let total = dimension as f64 * weights.iter().sum::<f64>();
    let weighted = || points.chunks_exact(dimension).zip(weights);
    let mean = weighted().map(|(row, w)| w * row.iter().sum::<f64>()).sum::<f64>() / total;
    let square = |row: &[f64]| row.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    let variance = weighted().map(|(row, w)| w * square(row)).sum::<f64>() / total;
    let spread = if variance > 0.0 && variance.is_finite() { variance } else { 1.0 };
    1.0 / (dimension as f64 * spread)
}

impl Learner<Regression> for Svm {
    fn members(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let training = self.training(sample)?;
        let model = run.install(|| fit::numbers(self, &training, sample.target(), run))?;
        Ok(vec![Box::new(model)])
    }
}

impl Learner<Classification> for Svm {
    fn members(&self) -> Vec<String> {
        vec![self.name()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        let training = self.training(sample)?;
        let model = run.install(|| fit::classes(self, &training, sample.target(), run))?;
        Ok(vec![Box::new(model)])
    }
}
