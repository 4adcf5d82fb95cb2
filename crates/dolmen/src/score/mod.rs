//! How good predictions are: measures of one row, figures of a whole set, and means with their standard errors.

pub mod auc;
mod estimate;
pub mod figures;
mod measure;

pub use estimate::Estimate;
pub use measure::Measure;
