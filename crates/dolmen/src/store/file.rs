//! The model file.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Record, write_file};
use crate::error::{Error, Result};
use crate::table::{Conventions, Schema};
use crate::task::Task;

/// The first bytes of every model file.
const MAGIC: &[u8; 6] = b"DOLMEN";
/// The version of the layout around the records.
const FORMAT: u32 = 1;
/// Magic, format version, checksum.
const HEADER: usize = MAGIC.len() + 4 + 4;

/// Everything a program needs to use a model on new rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// The task's name.
    pub task: String,
    /// The input columns.
    pub schema: Schema,
    /// The target column's name; `None` for densities.
    pub target: Option<String>,
    /// The classes' names, in the order of the prediction row; empty unless the task has classes.
    pub classes: Vec<String>,
    /// How the table was read; the usual way in files that do not say it.
    #[serde(default)]
    pub conventions: Conventions,
    /// The model itself.
    pub model: Record,
}

impl ModelFile {
    /// Whether the file holds a model of this task.
    pub fn is<T: Task>(&self) -> bool {
        self.task == T::NAME
    }

    /// Writes the file; a file of that name is replaced only by a complete new one.
    pub fn write(&self, path: &Path) -> Result<()> {
        let body = rmp_serde::to_vec_named(self)
            .map_err(|e| Error::file(path, format!("the model cannot be stored: {e}")))?;
        write_file(path, |out| {
            out.write_all(MAGIC)?;
            out.write_all(&FORMAT.to_le_bytes())?;
            out.write_all(&crc32fast::hash(&body).to_le_bytes())?;
            out.write_all(&body)
        })
    }

    /// Reads a model file; foreign, newer, truncated and damaged files are refused with a clear word.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::parse(&bytes, path)
    }

    fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) || bytes.is_empty() {
            return Err(Error::file(path, "not a Dolmen model file"));
        }
        let (Some(header), Some(body)) = (bytes.get(..HEADER), bytes.get(HEADER..)) else {
            return Err(Error::file(path, "the model file is truncated"));
        };
        let number = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let format = number(MAGIC.len());
        if format > FORMAT {
            let what = path.display().to_string();
            return Err(Error::Version { what, found: format, supported: FORMAT });
        }
        if format == 0 || number(MAGIC.len() + 4) != crc32fast::hash(body) {
            return Err(Error::file(path, "the model file is truncated or damaged"));
        }
        rmp_serde::from_slice(body)
            .map_err(|e| Error::file(path, format!("the model file cannot be read: {e}")))
    }
}
