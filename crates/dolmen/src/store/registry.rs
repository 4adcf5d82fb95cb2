//! Which function reads which kind of record.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::Record;
use crate::error::{Error, Result};

/// Reads a record as an `O`: a boxed model of some task, a boxed combination. What holds others reads those through the
/// registry.
pub type Reader<O> = fn(&Record, &Registry) -> Result<O>;

/// Records within records, at most. Each level is a few kinds of record (an average of folds of a model behind an encoder),
/// so that this is far more than anyone stacks; a file may hold thousands, each with a copy of all those within.
const MOST_LEVELS: usize = 64;

/// What a kind is read as, and its name.
type Key = (TypeId, &'static str);

/// A reader of one kind, whatever it makes, and the newest version it reads.
#[derive(Clone)]
struct Entry {
    version: u32,
    reader: Arc<dyn Any + Send + Sync>,
}

/// The kinds of records a program can read, each with its reader. A kind is known by its name and by what it is read as, so
/// that a density and a classifier may share a name, and whoever holds models of another task finds them here too.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Arc<BTreeMap<Key, Entry>>,
    /// Records that the next one is within.
    level: usize,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.keys().map(|(_, kind)| kind)).finish()
    }
}

impl Registry {
    /// With one more kind; of two readers of the same kind the later counts.
    #[must_use]
    pub fn with<O: 'static>(mut self, kind: &'static str, version: u32, reader: Reader<O>) -> Self {
        let entry = Entry { version, reader: Arc::new(reader) };
        Arc::make_mut(&mut self.entries).insert((TypeId::of::<O>(), kind), entry);
        self
    }

    /// Reads a record of any registered kind.
    pub fn restore<O: 'static>(&self, record: &Record) -> Result<O> {
        let kind = record.kind();
        let known = |(&(of, name), entry): (&Key, &'_ Entry)| {
            (of == TypeId::of::<O>() && name == kind).then(|| entry.clone())
        };
        let Some(Entry { version, reader }) = self.entries.iter().find_map(known) else {
            return Err(Error::UnknownKind { kind: kind.into() });
        };
        if record.version() > version {
            return Err(Error::Version {
                what: format!("the model '{kind}'"),
                found: record.version(),
                supported: version,
            });
        }
        if self.level == MOST_LEVELS {
            let expected = format!("of at most {MOST_LEVELS} models within one another");
            return Err(Error::param("model file", expected, "of more"));
        }
        let reader = reader.downcast_ref::<Reader<O>>();
        let reader = reader.ok_or_else(|| Error::UnknownKind { kind: kind.into() })?;
        reader(record, &Self { level: self.level + 1, ..self.clone() })
    }
}
