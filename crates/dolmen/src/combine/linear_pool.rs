//! The linear pool: sum_m weights_m p_m, of densities, probabilities or numbers.

use serde::{Deserialize, Serialize};

use super::{Combination, StoredCombination, check_members, check_weights, chosen_weights};
use crate::error::Result;
use crate::learner::Diagnostics;
use crate::solver::Solution;
use crate::store::{Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// One weight per member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearPool {
    weights: Vec<f64>,
    /// What the user should know of them.
    #[serde(default)]
    notes: Vec<String>,
    /// Whether the search for them reached its tolerance; `None` if there was none.
    #[serde(default)]
    converged: Option<bool>,
}

impl LinearPool {
    /// A pool with these weights.
    pub fn new(weights: Vec<f64>) -> Self {
        Self { weights, notes: Vec::new(), converged: None }
    }

    /// The pool that a search for weights ended with.
    pub(super) fn found(solution: Solution) -> Self {
        let mut pool = Self::new(solution.weights);
        pool.converged = Some(solution.converged);
        if solution.converged {
            return pool;
        }
        let gap = solution.gap;
        pool.noting(&format!(
            "the weights missed their tolerance: others may score better by up to {gap:.2e} per row"
        ))
    }

    /// With something the user should know.
    #[must_use]
    pub fn noting(mut self, note: &str) -> Self {
        self.notes.push(note.into());
        self
    }
}

impl<T: Task> Combination<T> for LinearPool {
    fn combine_into(
        &self,
        members: &[&[f64]],
        width: usize,
        _x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()> {
        check_members(self.weights.len(), members)?;
        for (i, out) in out.chunks_exact_mut(width).enumerate() {
            T::mix(&self.weights, |m| &members[m][i * width..(i + 1) * width], out);
        }
        Ok(())
    }

    fn validate(&self, members: usize, _inputs: &Schema, _width: usize) -> Result<()> {
        check_weights(&self.weights, members)
    }

    fn weights(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }

    fn of_members(&self, members: &[usize]) -> Option<Box<dyn Combination<T>>> {
        let weights = chosen_weights(&self.weights, members)?;
        Some(Box::new(Self { weights, ..self.clone() }))
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics {
            notes: self.notes.clone(),
            converged: self.converged,
            ..Diagnostics::default()
        }
    }

    fn record(&self) -> Result<Record> {
        Record::new(<Self as StoredCombination<T>>::KIND, 1, self)
    }
}

impl<T: Task> StoredCombination<T> for LinearPool {
    const KIND: &'static str = "linear pool";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        record.read()
    }
}
