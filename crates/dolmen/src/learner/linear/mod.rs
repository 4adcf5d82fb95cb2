//! Linear models: ridge regression in closed form, logistic regression by Newton's method or L-BFGS.
//!
//! | file | holds |
//! | --- | --- |
//! | `lambda` | the penalty as a parameter: a number, a ladder, or chosen |
//! | `normal_equations` | Gram matrices of inputs and target that can be added and taken apart |
//! | `spectrum` | the solutions for all penalties from one eigendecomposition, and their leave-one-out errors |
//! | `ridge` | ridge regression |
//! | `ridge_pass` | the same in passes |
//! | `softmax` | the likelihood of classes, its gradient and Hessian |
//! | `newton` | its maximum |
//! | `coordinates` | rows with more columns than rows, in as many coordinates as rows |
//! | `logistic` | logistic regression |
//! | `logistic_pass` | the same in passes |
//!
//! Inputs are complete numbers; the library puts an encoder in front. Both penalties are those of scikit-learn: ridge
//! minimises `sum_i w_i (y_i - f(x_i))^2 + lambda |beta|^2`, logistic regression
//! `-sum_i w_i ln p(c_i given x_i) + lambda |beta|^2 / 2` (its `1/C`), both with a free intercept and, unless
//! `standardise` is off, with beta on the common scale of standardised columns.

pub(crate) mod coordinates;
mod lambda;
mod logistic;
mod logistic_pass;
pub(crate) mod newton;
mod normal_equations;
mod ridge;
mod ridge_pass;
pub(crate) mod softmax;
mod spectrum;

pub use lambda::{Auto, Lambda};
pub use logistic::{FittedLogistic, Logistic};
pub(crate) use logistic_pass::LogisticPass;
pub use ridge::{FittedRidge, Ridge};
pub(crate) use ridge_pass::RidgePass;
