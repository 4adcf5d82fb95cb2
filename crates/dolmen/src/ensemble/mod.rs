//! Ensembles: learners made of learners.

mod adaboost;
mod experts;
mod stack;
mod stacked;

pub use adaboost::{AdaBoost, FittedAdaBoost, Rounds};
pub use experts::{Experts, FittedExperts, Routed};
pub use stack::Stack;
pub use stacked::Ensemble;
