//! Ensembles: learners made of learners.
//!
//! | file | holds |
//! | --- | --- |
//! | `stack`, `fit`, `refit` | stacking: what a stack is made of, the way from learners to an [`Ensemble`], and its models for new rows |
//! | `assess` | the trials of its combiners, and whether it is better than its best member |
//! | `verdict` | which of stack, equal weights and best member is kept, and how sure that is |
//! | `equal` | equal weights as a candidate |
//! | `stacked` | the fitted stack |
//! | `blend` | the same way from predictions made elsewhere |
//! | `fold_average` | a member as the average of its fits on the folds |
//! | `limits` | what a stack keeps to: `bounds` (how far predictions of numbers go beyond those learned from), `reach` (how far inputs are followed), `doubt` (no class is impossible) |
//! | `calibrate` | class probabilities that mean what they say |
//! | `intervals` | prediction intervals for numbers |
//! | `latency` | how long members take to predict a row |
//! | `spread` | how far off a stack of numbers is to be expected at a row |
//! | `timed` | the matrix of as many learners as a time allows |
//! | `tuned` | a learner that chooses among others in an inner cross-validation |
//! | `adaboost/` | boosting by reweighted rows |
//! | `experts/` | mixtures of experts behind a gate |

mod adaboost;
mod assess;
mod blend;
mod bounds;
mod calibrate;
mod doubt;
mod equal;
mod experts;
mod fit;
mod fold_average;
mod intervals;
mod latency;
mod limits;
mod reach;
mod refit;
mod spread;
mod stack;
mod stacked;
mod timed;
mod trial_rows;
mod tuned;
mod unseen;
mod verdict;

pub use adaboost::{AdaBoost, FittedAdaBoost, Rounds};
pub(crate) use assess::Compared;
pub use assess::{Assessment, Candidate, StackFigures};
pub use blend::{Blend, BlendOptions};
pub use calibrate::{Calibration, CalibrationKind};
pub use experts::{Experts, FittedExperts, Routed};
pub use fit::Failures;
pub(crate) use fit::MoreRows;
pub use fold_average::FoldAverage;
pub use intervals::{Coverage, IntervalKind, IntervalReport, LEVELS as INTERVAL_LEVELS, Residuals};
pub use stack::{Check, Ending, Stack};
pub use stacked::{Ensemble, HeldOutPredictions};
pub use tuned::{Folds, Tuned};
pub use unseen::Coverages;
pub use verdict::{Kept, Surety, Verdict};
