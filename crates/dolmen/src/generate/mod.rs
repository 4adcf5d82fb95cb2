//! Data sets drawn from known distributions, for studies of how methods compare.

mod graph;
mod network;

pub use network::{BayesianNetwork, CLASS, RandomNetwork};
