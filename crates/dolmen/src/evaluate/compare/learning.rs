//! Learning curves: the same comparison with fewer and with more rows to learn from, on the same test parts.

use serde::{Deserialize, Serialize};

use super::Comparison;
use crate::task::TaskKind;

/// Comparisons by the number of rows learned from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearningCurve {
    /// The task.
    pub task: TaskKind,
    /// Rows of the table.
    pub rows: usize,
    /// The comparisons, from few rows to many.
    pub sizes: Vec<LearningPoint>,
}

/// The comparison with so many rows to learn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LearningPoint {
    /// How many.
    pub size: usize,
    /// What came of it.
    #[serde(flatten)]
    pub comparison: Comparison,
}
