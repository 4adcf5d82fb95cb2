//! Himmetoglu (2019): stacking of regressors and classifiers step by step.

use crate::Experiment;

pub(crate) const EXPERIMENTS: &[Experiment] = &[];
