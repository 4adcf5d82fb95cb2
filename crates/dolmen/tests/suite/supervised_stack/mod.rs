//! Stacks of classifiers and regressions: the OOS/HO procedure, every combiner, checks, calibration and intervals.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checks;
mod combiners;
mod made;
mod reference;
mod unseen;
