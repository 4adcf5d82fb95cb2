//! How much work a fit may take, where neither members nor folds are named.

use serde::{Deserialize, Serialize};

/// How much work a fit may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// Some quick members, checked on the matrix: about a fifth of the usual work.
    Quick,
    /// The usual members and folds.
    #[default]
    Usual,
    /// More members, also several of one kind that differ in their parameters, more folds and combiners: up to ten times the usual work.
    Best,
}

impl Effort {
    /// Whether it is the usual one.
    pub fn is_usual(&self) -> bool {
        *self == Self::Usual
    }
}
