//! The linear pool: sum_m weights_m p_m, of densities, probabilities or numbers.

use serde::{Deserialize, Serialize};

use super::{
    Combination, FoundWeights, LimitReport, StoredCombination, check_members, check_weights,
    chosen_weights,
};
use crate::error::Result;
use crate::learner::Diagnostics;
use crate::solver::Solution;
use crate::store::{Parameters, Record, Registry};
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
    /// The search for them, as long as the pool is not stored.
    #[serde(skip)]
    found: Option<FoundWeights>,
    /// What a limit on the members cost, as long as the pool is not stored.
    #[serde(skip)]
    limit: Option<LimitReport>,
}

impl LinearPool {
    /// A pool with these weights.
    pub fn new(weights: Vec<f64>) -> Self {
        Self { weights, notes: Vec::new(), converged: None, found: None, limit: None }
    }

    /// The pool that a search for weights ended with.
    pub(crate) fn searched(found: FoundWeights) -> Self {
        let Solution { weights, converged, gap, .. } = &found.solution;
        let mut pool = Self::new(weights.clone());
        pool.converged = Some(*converged);
        if !converged {
            pool = pool.noting(&format!(
                "the weights missed their tolerance: others may score better by up to {gap:.2e} per row"
            ));
        }
        Self { found: Some(found), ..pool }
    }

    /// With what another pool was found by, whose place this one takes.
    #[must_use]
    pub fn in_place_of(mut self, found: Option<&FoundWeights>) -> Self {
        self.found = found.cloned();
        self
    }

    /// With what the limit cost that it was found within.
    #[must_use]
    pub(super) fn limited_by(mut self, limit: LimitReport) -> Self {
        self.limit = Some(limit);
        self
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

    fn found(&self) -> Option<&FoundWeights> {
        self.found.as_ref()
    }

    fn limit(&self) -> Option<&LimitReport> {
        self.limit.as_ref()
    }

    fn of_members(&self, members: &[usize]) -> Option<Box<dyn Combination<T>>> {
        let weights = chosen_weights(&self.weights, members)?;
        Some(Box::new(Self { weights, ..self.clone() }))
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(<Self as StoredCombination<T>>::KIND).with("weights", &self.weights)
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
