//! Evaluation: measures of predictions, paired tests, the comparison of ways to combine, and advice on them.

pub mod advise;
pub mod auc;
pub mod compare;
pub mod figures;
mod measure;
mod paired;
mod student;

pub use measure::Measure;
pub use paired::{Wilcoxon, differences, wilcoxon};
pub use student::{TTest, corrected_t, paired_t};
