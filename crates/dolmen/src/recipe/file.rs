//! The model file.
//!
//! Format 2 holds, beside what format 1 did, the recipe, the report, the writer's version and, if asked, the matrix. Files of
//! format 1 have none of these and are read all the same.

use std::fs;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::matrix::StoredMatrix;
use super::{Evidence, FitReport, Recipe};
use crate::error::{Error, Place, Result};
use crate::learner::{Fitted, Stored};
use crate::store::{Record, Registry, write_file};
use crate::table::{Conventions, Schema};
use crate::task::Task;

/// The first bytes of every model file.
const MAGIC: &[u8; 6] = b"DOLMEN";
/// The version of the layout around the records.
pub const FORMAT: u32 = 2;
/// Magic, format version, checksum.
const HEADER: usize = MAGIC.len() + 4 + 4;

/// Everything a program needs to use a model on new rows, and to know where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// The version of Dolmen that wrote it; empty in files of format 1.
    #[serde(default)]
    pub writer: String,
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
    /// What decided the fit.
    #[serde(default)]
    pub recipe: Option<Recipe>,
    /// What the fit said of itself.
    #[serde(default)]
    pub report: Option<FitReport>,
    /// How its predictions did row by row, summed up.
    #[serde(default)]
    pub evidence: Option<Evidence>,
    /// The out-of-sample matrix, if it is kept.
    #[serde(default)]
    pub matrix: Option<StoredMatrix>,
    /// The model itself.
    pub model: Record,
}

impl ModelFile {
    /// A file that holds a model and what it is used with, without recipe and report.
    pub fn new<T: Task>(
        schema: Schema,
        target: Option<String>,
        classes: Vec<String>,
        model: Record,
    ) -> Self {
        Self {
            writer: env!("CARGO_PKG_VERSION").into(),
            task: T::NAME.into(),
            schema,
            target,
            classes,
            conventions: Conventions::default(),
            recipe: None,
            report: None,
            evidence: None,
            matrix: None,
            model,
        }
    }

    /// Whether the file holds a model of this task.
    pub fn is<T: Task>(&self) -> bool {
        self.task == T::NAME
    }

    /// Writes the file. Before it takes its name it is read back: a model that would not come out the same is not written.
    pub fn write<T: Task>(&self, path: &Path, registry: &Registry) -> Result<()> {
        let bytes = self.to_bytes::<T>(registry).map_err(|error| error.in_file(path))?;
        write_file(path, |out| out.write_all(&bytes))
    }

    /// The bytes of the file, read back and compared.
    pub fn to_bytes<T: Task>(&self, registry: &Registry) -> Result<Vec<u8>> {
        let bytes = self.encode()?;
        let unreadable = |e: Error| {
            let got = format!("one that cannot be read back, and is not stored: {e}");
            Error::param("model", "storable", got)
        };
        let read = Self::decode(&bytes).map_err(unreadable)?;
        let model = registry.model::<T>(&read.model).map_err(unreadable)?;
        read.check::<T>(model.as_ref()).map_err(unreadable)?;
        if read.encode()? != bytes || model.record().map_err(unreadable)? != self.model {
            let got = "one that does not come out the same when it is read back, and is not stored";
            return Err(Error::param("model", "storable", got));
        }
        Ok(bytes)
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
            && self.target.is_some() == T::HAS_TARGET;
        if !sound {
            let expected = format!("a whole model for {}", T::NAME);
            return Err(Error::param("model file", expected, "damaged"));
        }
        let width = if T::CLASSES { self.classes.len() } else { 1 };
        model.validate(&self.schema, width)
    }

    /// Whether the file of this name begins like a model file. Pipes, which could not be read again, are not looked at.
    pub fn is_at(path: &Path) -> bool {
        let mut start = [0; MAGIC.len()];
        path.is_file()
            && fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && start == *MAGIC
    }

    /// Reads a model file; foreign, newer, truncated and damaged files are refused with a clear word.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|e| Error::io(path, e))?;
        Self::decode(&bytes).map_err(|error| match error {
            Error::Version { found, supported, .. } => {
                Error::Version { what: path.display().to_string(), found, supported }
            }
            error => error.in_file(path),
        })
    }

    /// Reads the bytes of a model file.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let refuse = |problem: String| Err(Error::data(Place::default(), problem));
        if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) || bytes.is_empty() {
            return refuse("not a Dolmen model file".into());
        }
        let (Some(header), Some(body)) = (bytes.get(..HEADER), bytes.get(HEADER..)) else {
            return refuse("the model file is truncated".into());
        };
        let number = |at: usize| {
            u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let format = number(MAGIC.len());
        if format > FORMAT {
            let what = "the model file".into();
            return Err(Error::Version { what, found: format, supported: FORMAT });
        }
        if format == 0 || number(MAGIC.len() + 4) != crc32fast::hash(body) {
            return refuse("the model file is truncated or damaged".into());
        }
        rmp_serde::from_slice(body)
            .or_else(|e| refuse(format!("the model file cannot be read: {e}")))
    }
}
