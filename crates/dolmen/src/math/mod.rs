//! The arithmetic everything stands on.

pub mod bulk;
pub(crate) mod cholesky;
mod gram;
pub(crate) mod lane;
mod log_space;
pub mod nonnegative;
pub(crate) mod quasi_newton;
mod student;

pub use gram::Gram;
pub(crate) use log_space::{divide_rows, exp_and_sum_rows, largest_in_rows, weighted_mean};
pub use log_space::{first_largest, log_sum_exp};
pub use student::{student_two_sided, student_within};
