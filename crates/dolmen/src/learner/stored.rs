//! Models that can be read back from a file.

use super::Fitted;
use crate::error::{Error, Result};
use crate::store::{Record, Registry};
use crate::table::Schema;
use crate::task::Task;

/// A fitted model that can be read back from its record.
pub trait Stored<T: Task>: Fitted<T> + Sized + 'static {
    /// The kind under which it is stored.
    const KIND: &'static str;
    /// The newest version of the stored form it reads; older ones too.
    const VERSION: u32;

    /// Reads it back; models that hold other models read those through the registry.
    fn restore(record: &Record, registry: &Registry) -> Result<Self>;
}

impl Registry {
    /// Adds a kind of model.
    #[must_use]
    pub fn with_model<T: Task, M: Stored<T>>(self) -> Self {
        self.with::<Box<dyn Fitted<T>>>(M::KIND, M::VERSION, |record, registry| {
            Ok(Box::new(M::restore(record, registry)?))
        })
    }

    /// Reads a model of any registered kind.
    pub fn model<T: Task>(&self, record: &Record) -> Result<Box<dyn Fitted<T>>> {
        self.restore(record)
    }
}

/// Refuses a stored model made for another number of input columns, or of values in a prediction row, than it is to be used
/// with: `made_for` are the two numbers it has, `inputs` and `width` those it will meet.
pub fn check_use(
    kind: &str,
    made_for: (usize, usize),
    inputs: &Schema,
    width: usize,
) -> Result<()> {
    let (columns, values) = made_for;
    if columns != inputs.len() {
        let what = format!("input columns of the stored '{kind}'");
        return Err(Error::shape(what, inputs.len(), columns));
    }
    if values != width {
        let what = format!("values that the stored '{kind}' predicts");
        return Err(Error::shape(what, width, values));
    }
    Ok(())
}
