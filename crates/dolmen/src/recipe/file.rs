//! The model file.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::{Fitted, Stored};
use crate::store::{Record, Registry, write_file};
use crate::table::{Conventions, Schema};
use crate::task::{Density, Task};

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

    /// Writes the file. Before it takes its name it is read back: a model that would not come out the same is not written.
    pub fn write<T: Task>(&self, path: &Path, registry: &Registry) -> Result<()> {
        let bytes = self.encode()?;
        let unreadable = |e: Error| {
            Error::file(path, format!("the model cannot be read back, and is not stored: {e}"))
        };
        let read = Self::decode(&bytes, path).map_err(unreadable)?;
        let model = registry.model(&read.model).map_err(unreadable)?;
        read.check::<T>(model.as_ref()).map_err(unreadable)?;
        if read != *self || model.record().map_err(unreadable)? != self.model {
            let problem =
                "the model does not come out the same when it is read back, and is not stored";
            return Err(Error::file(path, problem));
        }
        drop((read, model));
        write_file(path, |out| out.write_all(&bytes))
    }

    /// The bytes of the file.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        rmp_serde::encode::write_named(&mut bytes, self)
            .map_err(|e| Error::param("model", "storable", format!("not: {e}")))?;
        let checksum = crc32fast::hash(&bytes[HEADER..]);
        bytes[HEADER - 4..HEADER].copy_from_slice(&checksum.to_le_bytes());
        Ok(bytes)
    }

    /// The model of the file, held against the columns and classes it will be used with.
    pub fn restore<T: Task, M: Stored<T>>(&self, registry: &Registry) -> Result<M> {
        let model = M::restore(&self.model, registry)?;
        self.check::<T>(&model)?;
        Ok(model)
    }

    /// Refuses a model that does not suit the file's columns and classes.
    fn check<T: Task>(&self, model: &dyn Fitted<T>) -> Result<()> {
        let sound = self.is::<T>()
            && !self.schema.is_empty()
            && T::CLASSES != self.classes.is_empty()
            && self.target.is_some() == (T::NAME != Density::NAME);
        if !sound {
            let expected = format!("a whole model for {}", T::NAME);
            return Err(Error::param("model file", expected, "damaged"));
        }
        let width = if T::CLASSES { self.classes.len() } else { 1 };
        model.validate(&self.schema, width)
    }

    /// Reads a model file; foreign, newer, truncated and damaged files are refused with a clear word.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::decode(&bytes, path)
    }

    /// Reads the bytes of a model file; `path` is for messages.
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Self> {
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
