//! The out-of-sample matrix: what every member said about rows it had not seen.
//!
//! It is made once, kept with the ensemble, saved, and entered again by every combiner; predictions from any other tool
//! enter here too.

mod collect;

pub use collect::refit;

/// What one learner's members said about rows they had not seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// One column per member: rows x width, row after row; NaN where the row was never predicted.
    pub columns: Vec<Vec<f64>>,
    /// Fits that failed.
    pub failures: Vec<Failure>,
}

/// A fit that failed: data, not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The member, as an index into its learner's members.
    pub member: usize,
    /// The split in which it failed.
    pub split: usize,
    /// What it said.
    pub message: String,
}
