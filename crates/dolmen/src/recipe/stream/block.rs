//! A block of a table on its way through some work, and its rows as whoever has it keeps them for the next.

use std::any::Any;
use std::mem;
use std::sync::Arc;

use super::context::{Context, Rows};
use super::work::context_of;
use crate::error::{Error, Result};
use crate::table::Table;
use crate::task::Task;

/// A block of a table.
pub struct Block {
    /// The number of its first row in the table.
    pub(super) first: usize,
    held: Held,
}

/// What there is of a block: its table until some work looks at the rows in its own way.
enum Held {
    Table(Table),
    /// As a task sees them, with the bytes that they take.
    Rows(Arc<dyn Any + Send + Sync>, usize),
    Nothing,
}

impl Block {
    /// A block whose first row has this number in the table.
    pub fn new(first: usize, table: Table) -> Self {
        Self { first, held: Held::Table(table) }
    }

    /// Its table, for work that no other follows.
    pub(super) fn take_table(&mut self) -> Result<Table> {
        match mem::replace(&mut self.held, Held::Nothing) {
            Held::Table(table) => Ok(table),
            Held::Rows(..) | Held::Nothing => Err(foreign()),
        }
    }

    /// Its rows as a task sees them.
    pub(super) fn rows<T: Task>(&mut self, context: &Context) -> Result<Arc<Rows<T>>> {
        if let Held::Rows(rows, _) = &self.held {
            return Arc::clone(rows).downcast().map_err(|_| foreign());
        }
        let rows = Arc::new(context.rows::<T>(self.first, self.take_table()?)?);
        self.held = Held::Rows(Arc::clone(&rows) as _, rows.bytes());
        Ok(rows)
    }

    /// Its rows, if some work looked at them in the way that is stored here.
    pub(super) fn kept(self, context: Vec<u8>) -> Option<KeptRows> {
        match self.held {
            Held::Rows(rows, bytes) => Some(KeptRows { first: self.first, context, rows, bytes }),
            Held::Table(_) | Held::Nothing => None,
        }
    }
}

fn foreign() -> Error {
    Error::param("rows that were kept", "those that the work looks at", "others")
}

/// The rows of a block as the last work saw them. Reading a table and making rows of it may take longer than what is done with
/// them, and takes memory anew each time.
#[derive(Clone)]
pub struct KeptRows {
    first: usize,
    /// How they are seen, as it is sent.
    context: Vec<u8>,
    rows: Arc<dyn Any + Send + Sync>,
    bytes: usize,
}

impl KeptRows {
    /// Whether work that was sent sees them in the same way: it can be done with them, and needs no table.
    pub fn serve(&self, work: &[u8]) -> bool {
        matches!(context_of(work), Ok((Some(context), _)) if *context == self.context)
    }

    /// The memory that they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl From<KeptRows> for Block {
    fn from(kept: KeptRows) -> Self {
        Self { first: kept.first, held: Held::Rows(kept.rows, kept.bytes) }
    }
}
