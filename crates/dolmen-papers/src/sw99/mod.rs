//! Smyth and Wolpert (1999): stacked density estimation.

use crate::Experiment;

pub(crate) const EXPERIMENTS: &[Experiment] = &[];
