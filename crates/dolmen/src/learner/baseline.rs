//! The simplest learners with a target: what any model must beat. (The simplest density is a single Gaussian,
//! [`super::density::gaussian`].)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Sample, SimpleLearner, SimpleModel};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::spec::Spec;
use crate::store::Parameters;
use crate::target::Target;
use crate::task::{Classification, Regression};

/// Predicts the mean of the target, whatever the inputs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mean {}

/// A fitted [`Mean`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedMean(f64);

impl SimpleLearner<Regression> for Mean {
    type Model = FittedMean;

    fn name(&self) -> String {
        Spec::of("mean", self).to_string()
    }

    fn fit(&self, sample: &Sample<'_, Regression>, _run: &Run) -> Result<FittedMean> {
        let total = sample.total_weight();
        if total <= 0.0 {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let target = sample.target().iter().enumerate();
        Ok(FittedMean(target.map(|(i, y)| sample.weight(i) * y).sum::<f64>() / total))
    }
}

impl SimpleModel<Regression> for FittedMean {
    const KIND: &'static str = "mean";

    fn width(&self) -> usize {
        1
    }

    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out[0] = self.0;
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(Self::KIND).with("mean", self.0)
    }

    fn free_parameters(&self) -> Option<usize> {
        Some(1)
    }
}

/// Predicts the classes' frequencies, whatever the inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClassFrequencies {
    /// Rows imagined in each class, so that a class not seen gets a positive probability: 1 is Laplace's rule.
    #[schemars(range(min = 0.0))]
    pub pseudo_count: f64,
}

impl Default for ClassFrequencies {
    fn default() -> Self {
        Self { pseudo_count: 1.0 }
    }
}

/// Fitted [`ClassFrequencies`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedFrequencies(Vec<f64>);

impl SimpleLearner<Classification> for ClassFrequencies {
    type Model = FittedFrequencies;

    fn name(&self) -> String {
        Spec::of("class-frequencies", self).to_string()
    }

    fn fit(&self, sample: &Sample<'_, Classification>, _run: &Run) -> Result<FittedFrequencies> {
        if !(self.pseudo_count.is_finite() && self.pseudo_count >= 0.0) {
            return Err(Error::param("pseudo_count", "at least 0", self.pseudo_count));
        }
        let mut counts = vec![self.pseudo_count; sample.target().classes().len()];
        (0..sample.rows()).for_each(|i| counts[sample.target().class(i)] += sample.weight(i));
        let total: f64 = counts.iter().sum();
        if total <= 0.0 {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        Ok(FittedFrequencies(counts.into_iter().map(|c| c / total).collect()))
    }
}

impl SimpleModel<Classification> for FittedFrequencies {
    const KIND: &'static str = "class-frequencies";

    fn width(&self) -> usize {
        self.0.len()
    }

    fn predict_row(&self, _row: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.0);
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(Self::KIND).with("frequencies", &self.0)
    }

    fn free_parameters(&self) -> Option<usize> {
        Some(self.0.len() - 1)
    }
}
