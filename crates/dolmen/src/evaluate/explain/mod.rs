//! What a model looks at: how much each input matters to its predictions, and how they move with it.

mod dependence;
mod importance;
mod inputs;

pub use dependence::{
    Dependence, DependenceOptions, MISSING, MissingNumber, OutputCurve, dependence,
};
pub use importance::{Importance, ImportanceOptions, InputImportance, importance};
pub use inputs::{Input, inputs};

use crate::error::Result;
use crate::table::Rows;

/// Predicts rows: rows x width, row after row. What stands behind it may be one model, or for each row the fits that had not
/// seen it.
pub type Predict<'a> = dyn Fn(Rows<'_>) -> Result<Vec<f64>> + Sync + 'a;
