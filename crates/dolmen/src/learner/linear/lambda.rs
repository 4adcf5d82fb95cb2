//! The strength of a penalty, as a parameter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::spec::Spec;

/// How strongly coefficients are shrunk.
///
/// In specs a number, a list of numbers (a ladder: one member each), or `auto`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "lambda is a number, a list of numbers or 'auto'")]
pub enum Lambda {
    /// This strong.
    Fixed(f64),
    /// Several strengths: one member each.
    Ladder(Vec<f64>),
    /// Chosen from the training rows.
    Chosen(Auto),
}

/// The word for a penalty that is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Auto {
    /// By the errors on rows left out.
    #[default]
    Auto,
}

impl Default for Lambda {
    fn default() -> Self {
        Self::Chosen(Auto::Auto)
    }
}

impl From<f64> for Lambda {
    fn from(lambda: f64) -> Self {
        Self::Fixed(lambda)
    }
}

impl<const N: usize> From<[f64; N]> for Lambda {
    fn from(lambdas: [f64; N]) -> Self {
        Self::Ladder(lambdas.into())
    }
}

impl Lambda {
    /// The values given; none if it is to be chosen.
    pub(super) fn given(&self) -> Option<&[f64]> {
        match self {
            Self::Fixed(lambda) => Some(std::slice::from_ref(lambda)),
            Self::Ladder(lambdas) => Some(lambdas),
            Self::Chosen(Auto::Auto) => None,
        }
    }

    /// Refuses negative penalties and empty lists.
    pub(super) fn validate(&self) -> Result<()> {
        match self.given() {
            None => Ok(()),
            Some([]) => Err(Error::param("lambda", "a list of at least one number", "empty")),
            Some(lambdas) => match lambdas.iter().find(|l| !(**l >= 0.0 && l.is_finite())) {
                Some(bad) => Err(Error::param("lambda", "at least 0 and finite", bad)),
                None => Ok(()),
            },
        }
    }

    /// The members' names, of a learner with these parameters.
    pub(super) fn members<P: Serialize + Default>(&self, kind: &str, learner: &P) -> Vec<String> {
        match self.given() {
            None => vec![Spec::of(kind, learner).to_string()],
            Some(lambdas) => {
                let rung = |&lambda: &f64| Spec::rung(kind, learner, "lambda", lambda).to_string();
                lambdas.iter().map(rung).collect()
            }
        }
    }
}

/// `count` values from `first` to `last`, each a fixed multiple of the one before.
pub(super) fn geometric(first: f64, last: f64, count: usize) -> Vec<f64> {
    let step = (last / first).ln() / (count - 1) as f64;
    (0..count).map(|k| first * (step * k as f64).exp()).collect()
}
