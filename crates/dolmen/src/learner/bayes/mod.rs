//! Generative classifiers.

mod classifier;

pub use classifier::{BayesClassifier, FittedBayes};
