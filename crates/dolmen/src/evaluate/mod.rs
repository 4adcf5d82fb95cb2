//! Evaluation: measures of predictions, paired tests, and the comparison of ways to combine.

pub mod compare;
pub mod figures;
mod measure;
mod paired;

pub use measure::Measure;
pub use paired::{Wilcoxon, wilcoxon};
