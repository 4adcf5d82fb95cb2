//! One-dependence estimators and their mixtures (CerquidesMantaras2005): naive Bayes, ODE, AODE, exact Bayesian model
//! averaging over roots, and MAP linear mixtures of posteriors (LMD) and of joint probabilities (LMG); and averaged
//! two-dependence estimators (A2DE, Webb2012).
//!
//! Attributes are categories; numbers are cut into bins of equal frequency, learned from the training rows. Everything
//! follows from one table of counts (`counts`), also what each estimator says of a row it has not seen.
//!
//! Cost, with N rows, n attributes of S values together, and C classes: counting takes N n^2 / 2 additions and S^2 C / 2 numbers of memory,
//! a prediction n^2 C multiplications; the leave-one-out columns of LMD and LMG N n^2 C multiplications and 2 N n logarithms,
//! and each step of their weights N n^2. A2DE counts N n^3 / 6 and predicts with n^3 C / 2; `triples` says what it needs of
//! memory. Naive Bayes counts single values only. Of more than 256 attributes the others use those that tell most of the class
//! (`screen`).

mod counts;
mod learners;
mod mixing;
mod model;
mod pairs;
mod parameters;
mod passes;
mod polish;
mod scale;
mod screen;
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
pub(crate) use passes::OneDependencePass;
pub use screen::USUAL_MOST;
