//! Generative classifiers.

mod classifier;
pub mod one_dependence;

pub use classifier::{BayesClassifier, FittedBayes};
