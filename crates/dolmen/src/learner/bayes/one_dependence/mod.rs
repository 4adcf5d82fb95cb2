//! One-dependence estimators and their mixtures (Cerquides & Lopez de Mantaras 2005): naive Bayes, ODE, AODE, exact Bayesian model
//! averaging over roots, and MAP linear mixtures of posteriors (LMD) and of joint probabilities (LMG).
//!
//! Attributes are categories; numbers are cut into bins of equal frequency, learned from the training rows. Everything
//! follows from one table of counts (`counts`), also what each estimator says of a row it has not seen.

mod counts;
mod learners;
mod model;
mod tables;
#[cfg(test)]
mod tests;

pub use learners::{Aode, BmaAode, LmdOde, LmgOde, MissingValues, NaiveBayes, Ode, OneDependence};
pub use model::FittedOneDependence;
