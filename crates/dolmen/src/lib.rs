//! Dolmen combines models.

pub mod combine;
pub mod ensemble;
pub mod error;
pub mod evaluate;
pub mod learner;
pub mod math;
pub mod oos;
pub mod plan;
pub mod stats;
pub mod store;
pub mod table;
pub mod task;

pub use error::{Error, Result};
