//! The linear pool: sum_m weights_m p_m, of densities, probabilities or numbers.

use serde::{Deserialize, Serialize};

use super::{Combination, check_members};
use crate::error::Result;
use crate::store::Record;
use crate::table::Rows;
use crate::task::Task;

/// One weight per member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinearPool {
    weights: Vec<f64>,
}

impl LinearPool {
    /// The kind under which it is stored.
    pub const KIND: &'static str = "linear pool";

    /// A pool with these weights.
    pub fn new(weights: Vec<f64>) -> Self {
        Self { weights }
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

    fn weights(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }

    fn record(&self) -> Result<Record> {
        Record::new(Self::KIND, 1, self)
    }
}
