//! Ormoneit and Tresp (1995): mixtures with a prior, and averages of them.

use crate::Experiment;

pub(crate) const EXPERIMENTS: &[Experiment] = &[];
