//! Evaluation: measures of predictions.

mod measure;

pub use measure::Measure;
