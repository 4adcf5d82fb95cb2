//! Work on blocks of rows that can be sent: what is to be done, and what came of it.

use std::any::Any;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::block::{Block, KeptRows};
use super::context::Context;
use super::look::LookWork;
use super::passes::{PassWork, SentPass};
use super::predict::{PredictWork, SentFits};
use super::weights::Streamable;
use crate::error::{Error, Result};
use crate::run::Run;
use crate::store::Registry;
use crate::task::{Classification, Density, Joint, Regression, Task};

/// What came of some work on a block.
pub type Outcome = Box<dyn Any + Send>;

/// Something that is done with every block.
pub trait Work: Sync {
    /// Does it with one.
    fn on_block(&self, block: &mut Block, run: &Run) -> Result<Outcome>;
    /// The work as it is sent.
    fn to_bytes(&self) -> Result<Vec<u8>>;
    /// An outcome as it is sent.
    fn write_outcome(&self, outcome: &Outcome) -> Result<Vec<u8>>;
    /// An outcome as it was sent.
    fn read_outcome(&self, bytes: &[u8]) -> Result<Outcome>;
}

/// Work on its way. How blocks are seen goes before it ([`sent`]).
#[derive(Serialize, Deserialize)]
pub(super) enum Sent {
    Look(LookWork),
    /// Of a task: fits in passes.
    Passes(String, Vec<SentPass>),
    /// Of a task: predictions of rows held out.
    Predict(String, SentFits),
}

/// Work as it is sent: how it sees blocks, so that whoever keeps one knows whether it serves, and the work.
pub(super) fn sent(context: Option<&Context>, work: &Sent) -> Result<Vec<u8>> {
    let context = context.map(|context| to_bytes(context).map(ByteBuf::from)).transpose()?;
    let mut bytes = to_bytes(&context)?;
    bytes.extend(to_bytes(work)?);
    Ok(bytes)
}

/// How work that was sent sees blocks, and what comes after.
pub(super) fn context_of(mut bytes: &[u8]) -> Result<(Option<ByteBuf>, &[u8])> {
    Ok((rmp_serde::from_read(&mut bytes).map_err(|e| damaged(&e))?, bytes))
}

/// Does work that was sent with a block. Gives its outcome as it is sent back, and the block's rows for the next work, unless this
/// did not need them.
pub fn work_on(
    bytes: &[u8],
    mut block: Block,
    registry: &Registry,
    run: &Run,
) -> Result<(Vec<u8>, Option<KeptRows>)> {
    let (context, rest) = context_of(bytes)?;
    let work = read(context.as_ref(), from_bytes(rest)?, registry)?;
    let outcome = work.write_outcome(&work.on_block(&mut block, run)?)?;
    Ok((outcome, context.and_then(|context| block.kept(context.into_vec()))))
}

fn read(context: Option<&ByteBuf>, sent: Sent, registry: &Registry) -> Result<Box<dyn Work>> {
    let task = match &sent {
        Sent::Look(_) => String::new(),
        Sent::Passes(task, ..) | Sent::Predict(task, ..) => task.clone(),
    };
    let context = || from_bytes(context.map_or(&[], |context| context.as_slice()));
    match (sent, task.as_str()) {
        (Sent::Look(look), _) => Ok(Box::new(look)),
        (sent, Density::NAME) => of_task::<Density>(context()?, sent, registry),
        (sent, Classification::NAME) => of_task::<Classification>(context()?, sent, registry),
        (sent, Joint::NAME) => of_task::<Joint>(context()?, sent, registry),
        (sent, Regression::NAME) => of_task::<Regression>(context()?, sent, registry),
        (_, other) => Err(Error::param("work that was sent", "of a known task", other)),
    }
}

fn of_task<T: Streamable>(
    context: Context,
    sent: Sent,
    registry: &Registry,
) -> Result<Box<dyn Work>> {
    match sent {
        Sent::Look(look) => Ok(Box::new(look)),
        Sent::Passes(_, passes) => Ok(Box::new(PassWork::<T>::read(context, &passes, registry)?)),
        Sent::Predict(_, fits) => Ok(Box::new(PredictWork::<T>::read(context, &fits, registry)?)),
    }
}

pub(super) fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(value)
        .map_err(|e| Error::param("work to be sent", "storable", format!("not: {e}")))
}

pub(super) fn from_bytes<V: DeserializeOwned>(bytes: &[u8]) -> Result<V> {
    rmp_serde::from_slice(bytes).map_err(|e| damaged(&e))
}

fn damaged(error: &rmp_serde::decode::Error) -> Error {
    Error::param("work that was sent", "readable", format!("damaged: {error}"))
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
