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

    /// Reads the body back.
    pub fn read<B: DeserializeOwned>(&self) -> Result<B> {
        rmp_serde::from_slice(&self.body).map_err(|e| {
            Error::param(
                "model file",
                format!("a readable '{}'", self.kind),
                format!("damaged: {e}"),
            )
        })
    }
}
