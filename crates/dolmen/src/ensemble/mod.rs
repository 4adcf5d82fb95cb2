//! Ensembles: learners made of learners.

mod stack;
mod stacked;

pub use stack::Stack;
pub use stacked::Ensemble;
