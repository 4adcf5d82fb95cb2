//! The arithmetic everything stands on.

pub mod bulk;
pub(crate) mod cholesky;
mod gram;
pub(crate) mod lane;
mod log_space;
pub mod nonnegative;
pub(crate) mod quasi_newton;

pub use gram::Gram;
pub use log_space::{first_largest, log_sum_exp};
