//! Ensembles: learners made of learners.

mod adaboost;
mod stack;
mod stacked;

pub use adaboost::{AdaBoost, FittedAdaBoost, Rounds};
pub use stack::Stack;
pub use stacked::Ensemble;
