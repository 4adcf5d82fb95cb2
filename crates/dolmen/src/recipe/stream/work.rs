//! Work on blocks of rows that can be sent: what is to be done, and what came of it.

use std::any::Any;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::look::LookWork;
use super::passes::{PassWork, SentPass};
use super::predict::{PredictWork, SentFits};
use super::weights::Streamable;
use crate::error::{Error, Result};
use crate::run::Run;
use crate::store::Registry;
use crate::table::Table;
use crate::task::{Classification, Density, Joint, Regression, Task};

/// What came of some work on a block.
pub type Outcome = Box<dyn Any + Send>;

/// Something that is done with every block.
pub trait Work: Sync {
    /// Does it with one, whose first row has this number in the table.
    fn on_block(&self, first: usize, table: Table, run: &Run) -> Result<Outcome>;
    /// The work as it is sent.
    fn to_bytes(&self) -> Result<Vec<u8>>;
    /// An outcome as it is sent.
    fn write_outcome(&self, outcome: &Outcome) -> Result<Vec<u8>>;
    /// An outcome as it was sent.
    fn read_outcome(&self, bytes: &[u8]) -> Result<Outcome>;
}

/// Work on its way.
#[derive(Serialize, Deserialize)]
pub(super) enum Sent {
    Look(LookWork),
    /// Of a task: fits in passes.
    Passes(String, Context, Vec<SentPass>),
    /// Of a task: predictions of rows held out.
    Predict(String, Context, SentFits),
}

/// Does work that was sent with a block, and gives its outcome as it is sent back.
pub fn work_on(
    bytes: &[u8],
    first: usize,
    table: Table,
    registry: &Registry,
    run: &Run,
) -> Result<Vec<u8>> {
    let work = read(from_bytes(bytes)?, registry)?;
    work.write_outcome(&work.on_block(first, table, run)?)
}

fn read(sent: Sent, registry: &Registry) -> Result<Box<dyn Work>> {
    let task = match &sent {
        Sent::Look(_) => String::new(),
        Sent::Passes(task, ..) | Sent::Predict(task, ..) => task.clone(),
    };
    match (sent, task.as_str()) {
        (Sent::Look(look), _) => Ok(Box::new(look)),
        (sent, Density::NAME) => of_task::<Density>(sent, registry),
        (sent, Classification::NAME) => of_task::<Classification>(sent, registry),
        (sent, Joint::NAME) => of_task::<Joint>(sent, registry),
        (sent, Regression::NAME) => of_task::<Regression>(sent, registry),
        (_, other) => Err(Error::param("work that was sent", "of a known task", other)),
    }
}

fn of_task<T: Streamable>(sent: Sent, registry: &Registry) -> Result<Box<dyn Work>> {
    match sent {
        Sent::Look(look) => Ok(Box::new(look)),
        Sent::Passes(_, context, passes) => {
            Ok(Box::new(PassWork::<T>::read(context, &passes, registry)?))
        }
        Sent::Predict(_, context, fits) => {
            Ok(Box::new(PredictWork::<T>::read(context, &fits, registry)?))
        }
    }
}

pub(super) fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value)
        .map_err(|e| Error::param("work to be sent", "storable", format!("not: {e}")))
}

pub(super) fn from_bytes<V: DeserializeOwned>(bytes: &[u8]) -> Result<V> {
    rmp_serde::from_slice(bytes)
        .map_err(|e| Error::param("work that was sent", "readable", format!("damaged: {e}")))
}

/// An outcome of the type that the work gives.
pub(super) fn known<V: 'static>(outcome: &Outcome) -> Result<&V> {
    outcome.downcast_ref().ok_or_else(foreign)
}

/// The same, taken.
pub(super) fn taken<V: 'static>(outcome: Outcome) -> Result<V> {
    outcome.downcast().map(|outcome| *outcome).map_err(|_| foreign())
}

fn foreign() -> Error {
    Error::param("outcome of some work", "that of this work", "another")
}
