//! The arithmetic everything stands on.

mod log_space;

pub use log_space::log_sum_exp;
