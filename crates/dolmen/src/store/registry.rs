//! Which type reads which kind of record.

use std::collections::BTreeMap;

use super::Record;
use crate::error::{Error, Result};
use crate::learner::Fitted;
use crate::task::Task;

/// A fitted model that can be read back from its record.
pub trait Stored<T: Task>: Fitted<T> + Sized + 'static {
    /// The kind under which it is stored.
    const KIND: &'static str;
    /// The newest version of the stored form it reads; older ones too.
    const VERSION: u32;

    /// Reads it back; models that hold other models read those through the registry.
    fn restore(record: &Record, registry: &Registry<T>) -> Result<Self>;
}

type Reader<T> = fn(&Record, &Registry<T>) -> Result<Box<dyn Fitted<T>>>;

/// The kinds of model a program can read, each with its reader.
#[derive(Debug, Clone)]
pub struct Registry<T: Task> {
    readers: BTreeMap<&'static str, (u32, Reader<T>)>,
}

impl<T: Task> Default for Registry<T> {
    fn default() -> Self {
        Self { readers: BTreeMap::new() }
    }
}

impl<T: Task> Registry<T> {
    /// Adds a kind of model.
    #[must_use]
    pub fn with<M: Stored<T>>(mut self) -> Self {
        let read: Reader<T> = |record, registry| Ok(Box::new(M::restore(record, registry)?));
        self.readers.insert(M::KIND, (M::VERSION, read));
        self
    }

    /// Reads a model of any registered kind.
    pub fn restore(&self, record: &Record) -> Result<Box<dyn Fitted<T>>> {
        let Some((supported, read)) = self.readers.get(record.kind()) else {
            return Err(Error::UnknownKind { kind: record.kind().into() });
        };
        if record.version() > *supported {
            return Err(Error::Version {
                what: format!("the model '{}'", record.kind()),
                found: record.version(),
                supported: *supported,
            });
        }
        read(record, self)
    }
}
