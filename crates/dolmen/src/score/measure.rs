//! Measures of one prediction row, all oriented so that higher is better.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::math::first_largest;
use crate::target::Labels;

/// A way to score one prediction row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The logarithm of the density or of the true class's probability.
    Log,
    /// Minus the squared distance of the class probabilities from the truth.
    Brier,
    /// 0 if the most probable class is the true one, else -1.
    Error,
    /// Minus the squared error.
    Squared,
    /// Minus the absolute error.
    Absolute,
}

impl Measure {
    const ALL: [Self; 5] = [Self::Log, Self::Brier, Self::Error, Self::Squared, Self::Absolute];

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Brier => "brier",
            Self::Error => "error",
            Self::Squared => "squared",
            Self::Absolute => "absolute",
        }
    }

    /// Scores class probabilities; `None` if the measure is not one for classes. Ties go to the lower class.
    pub(crate) fn of_classes(self, row: &[f64], target: &Labels, i: usize) -> Option<f64> {
        let class = target.class(i);
        match self {
            Self::Log => Some(row[class].ln()),
            Self::Brier => {
                let truth = |c: usize| if c == class { 1.0 } else { 0.0 };
                Some(-row.iter().enumerate().map(|(c, p)| (p - truth(c)).powi(2)).sum::<f64>())
            }
            Self::Error => Some(if first_largest(row) == class { 0.0 } else { -1.0 }),
            Self::Squared | Self::Absolute => None,
        }
    }

    /// Scores a predicted number; `None` if the measure is not one for numbers.
    pub(crate) fn of_number(self, predicted: f64, truth: f64) -> Option<f64> {
        match self {
            Self::Squared => Some(-(predicted - truth).powi(2)),
            Self::Absolute => Some(-(predicted - truth).abs()),
            Self::Log | Self::Brier | Self::Error => None,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Measure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|m| m.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|m| m.name()).collect();
            Error::param("measure", format!("one of {}", names.join(", ")), text)
        })
    }
}
