//! Equal weights as a candidate: what weights that were learned from few rows must beat.

use crate::combine::{Combination, Combiner, Evidence, LinearPool, Method};
use crate::error::Result;
use crate::run::Run;
use crate::task::Task;

/// The same weight for every member.
#[derive(Debug, Clone, Copy)]
pub(super) struct EqualWeights;

impl EqualWeights {
    /// The pool of so many members.
    pub(super) fn pool(members: usize) -> LinearPool {
        LinearPool::new(vec![1.0 / members as f64; members])
    }
}

impl<T: Task> Combiner<T> for EqualWeights {
    fn rungs(&self) -> Vec<String> {
        vec![Method::Uniform.name().into()]
    }

    fn fit(&self, evidence: &Evidence<'_, T>, _run: &Run) -> Result<Vec<Box<dyn Combination<T>>>> {
        Ok(vec![Box::new(Self::pool(evidence.oos.members().len()))])
    }
}
