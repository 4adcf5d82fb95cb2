//! How good predictions are: measures of one row, figures of a whole set, means with their standard errors, and what they say
//! row by row summed up as curves and counts.

pub mod auc;
pub mod curves;
mod estimate;
pub mod figures;
mod measure;
pub mod residuals;
mod running;
mod sketch;
pub mod sums;

pub use estimate::Estimate;
pub use measure::Measure;
pub use running::Running;
pub use sketch::{Beyond, Histogram};
