//! The arithmetic everything stands on.

pub mod bulk;
pub(crate) mod cholesky;
pub(crate) mod lane;
mod log_space;

pub use log_space::log_sum_exp;
