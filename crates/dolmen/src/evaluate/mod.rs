//! Evaluation: paired tests, the comparison of ways to combine, and advice on them.

pub mod advise;
pub mod compare;
mod paired;
mod student;

pub use paired::{Wilcoxon, differences, wilcoxon};
pub use student::{TTest, corrected_t, paired_t};
