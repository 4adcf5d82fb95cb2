//! The arithmetic everything stands on.

pub mod bulk;
mod gram;
pub(crate) mod lane;
mod log_space;
pub mod nonnegative;

pub use gram::Gram;
pub use log_space::log_sum_exp;
