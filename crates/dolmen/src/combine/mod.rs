//! Combiners.

pub mod simplex;
