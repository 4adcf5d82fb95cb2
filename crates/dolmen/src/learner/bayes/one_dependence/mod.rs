//! One-dependence estimators and their mixtures (Cerquides & Lopez de Mantaras 2005): naive Bayes, ODE, AODE, exact Bayesian model
//! averaging over roots, and MAP linear mixtures of posteriors (LMD) and of joint probabilities (LMG); and averaged
//! two-dependence estimators (A2DE, Webb et al. 2012).
//!
//! Attributes are categories; numbers are cut into bins of equal frequency, learned from the training rows. Everything
//! follows from one table of counts (`counts`), also what each estimator says of a row it has not seen.

mod counts;
mod learners;
mod model;
mod shared;
mod tables;
#[cfg(test)]
mod tests;
mod triples;
mod weights;

pub use learners::{
    A2de, Aode, BmaAode, LmdOde, LmgOde, MissingValues, NaiveBayes, Ode, OneDependence,
};
pub use model::FittedOneDependence;
