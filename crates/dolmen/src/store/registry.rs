//! Which type reads which kind of record.

use std::collections::BTreeMap;
use std::sync::Arc;

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

/// Models within models, at most. Each level is a few kinds of record (an average of folds of a model behind an encoder), so
/// that this is far more than anyone stacks; a file may hold thousands, each with a copy of all those within.
const MOST_LEVELS: usize = 64;

/// The kinds of model a program can read, each with its reader.
#[derive(Debug, Clone)]
pub struct Registry<T: Task> {
    readers: Arc<BTreeMap<&'static str, (u32, Reader<T>)>>,
    /// Records that the next one is within.
    level: usize,
}

impl<T: Task> Default for Registry<T> {
    fn default() -> Self {
        Self { readers: Arc::default(), level: 0 }
    }
}

impl<T: Task> Registry<T> {
    /// Adds a kind of model.
    #[must_use]
    pub fn with<M: Stored<T>>(mut self) -> Self {
        let read: Reader<T> = |record, registry| Ok(Box::new(M::restore(record, registry)?));
        Arc::make_mut(&mut self.readers).insert(M::KIND, (M::VERSION, read));
        self
    }

    /// Another task's kinds of model, for those within a model of this one.
    #[must_use]
    pub fn within<U: Task>(&self, other: Registry<U>) -> Registry<U> {
        Registry { level: self.level, ..other }
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
        if self.level == MOST_LEVELS {
            let expected = format!("of at most {MOST_LEVELS} models within one another");
            return Err(Error::param("model file", expected, "of more"));
        }
        read(record, &Self { level: self.level + 1, ..self.clone() })
    }
}
