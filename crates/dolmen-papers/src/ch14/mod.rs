//! The chapter on combining models: committees, boosting, trees, experts.

use crate::Experiment;

pub(crate) const EXPERIMENTS: &[Experiment] = &[];
