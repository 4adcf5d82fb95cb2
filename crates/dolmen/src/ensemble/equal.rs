//! Equal weights as a candidate: what weights that were learned from few rows must beat.

use crate::combine::{Combination, Combiner, Evidence, FoundWeights, LinearPool, Method};
use crate::error::Result;
use crate::math::weighted_mean;
use crate::run::Run;
use crate::solver::Solution;
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
        let oos = evidence.oos;
        let members = oos.members().len();
        let equal = vec![1.0 / members as f64; members];
        let mut row = vec![0.0; oos.width()];
        let mut score = |i: usize| {
            T::mix(&equal, |m| oos.row(m, i), &mut row);
            T::score(&row, oos.target(), i)
        };
        let scores: Vec<f64> = (0..oos.rows()).map(&mut score).collect();
        let solution = Solution {
            score: weighted_mean(&scores, &oos.shares()?),
            weights: equal,
            gap: 0.0,
            iterations: 0,
            uninformative_rows: 0,
            converged: true,
        };
        let found = FoundWeights { options: Method::Uniform.into(), solution };
        Ok(vec![Box::new(Self::pool(members).in_place_of(Some(&found)))])
    }
}
