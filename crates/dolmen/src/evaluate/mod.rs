//! Evaluation: paired tests, the comparison of ways to combine, advice on them, and what models look at.

pub mod advise;
pub mod compare;
pub mod explain;
mod paired;
mod student;

pub use paired::{Wilcoxon, differences, wilcoxon};
pub use student::{TTest, corrected_t, paired_t};
