//! Cerquides and Lopez de Mantaras (2005): linear mixtures of one-dependence estimators.

use crate::Experiment;

pub(crate) const EXPERIMENTS: &[Experiment] = &[];
