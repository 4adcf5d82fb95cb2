//! One stored model: kind, version, body.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// A stored model. Records nest: an ensemble's body holds its members' records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    kind: String,
    version: u32,
    #[serde(with = "serde_bytes")]
    body: Vec<u8>,
}

impl Record {
    /// Stores a body through serde.
    pub fn new(kind: &str, version: u32, body: &impl Serialize) -> Result<Self> {
        let body = rmp_serde::to_vec_named(body)
            .map_err(|e| Error::param("model", "storable", format!("not: {e}")))?;
        Ok(Self { kind: kind.into(), version, body })
    }

    /// The kind of model.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The version of the kind's stored form.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Refuses the record unless its parts fit together.
    pub fn require(&self, sound: bool) -> Result<()> {
        if sound { Ok(()) } else { Err(self.damaged("its parts do not fit together")) }
    }

    fn damaged(&self, problem: impl std::fmt::Display) -> Error {
        let expected = format!("a readable '{}'", self.kind);
        Error::param("model file", expected, format!("damaged: {problem}"))
    }

    /// Reads the body back.
    pub fn read<B: DeserializeOwned>(&self) -> Result<B> {
        rmp_serde::from_slice(&self.body).map_err(|e| self.damaged(e))
    }
}

/// Whether stored numbers are shares of one whole, as nearly as sums of roundings are.
pub(crate) fn are_shares(weights: &[f64]) -> bool {
    weights.iter().all(|w| *w >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-6
}

/// Whether stored numbers are those of some things among so many, each named once and in order; at least one.
pub(crate) fn is_ascending_below(numbers: &[usize], count: usize) -> bool {
    numbers.is_sorted_by(|a, b| a < b) && numbers.last().is_some_and(|last| *last < count)
}
