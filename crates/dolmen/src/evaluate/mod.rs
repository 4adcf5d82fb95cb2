//! Evaluation: measures of predictions, paired tests, and the comparison of ways to combine.

pub mod compare;
pub mod figures;
mod measure;
mod paired;
mod student;

pub use measure::Measure;
pub use paired::{Wilcoxon, wilcoxon};
pub use student::{TTest, corrected_t, paired_t};
