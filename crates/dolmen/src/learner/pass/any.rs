//! Passes of any learner, for those who make many at once and send them about.

use std::any::Any;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Pass, Piece, Step};
use crate::error::{Error, Result};
use crate::learner::Fitted;
use crate::store::{Record, Registry};
use crate::task::Task;

/// The sums of some pass.
pub type AnySums = Box<dyn Any + Send>;

/// What follows a pass of any kind.
#[derive(Debug)]
pub enum AnyStep<T: Task> {
    /// Another one.
    Again(Box<dyn AnyPass<T>>),
    /// The models, one for each member of the learner.
    Done(Vec<Box<dyn Fitted<T>>>),
}

/// A [`Pass`] of any kind. Sums given to it must be its own.
pub trait AnyPass<T: Task>: Debug + Send + Sync {
    /// The sums over one piece.
    fn sums(&self, piece: &Piece<'_, T>) -> Result<AnySums>;
    /// The sums over no rows.
    fn zero(&self) -> AnySums;
    /// Adds the sums over later rows.
    fn merge(&self, sums: &mut AnySums, later: AnySums) -> Result<()>;
    /// What follows from the sums over all rows.
    fn next(self: Box<Self>, sums: AnySums) -> Result<AnyStep<T>>;
    /// The pass as it is sent.
    fn record(&self) -> Result<Record>;
    /// Sums as they are sent.
    fn write_sums(&self, sums: &AnySums) -> Result<Vec<u8>>;
    /// Sums as they were sent.
    fn read_sums(&self, bytes: &[u8]) -> Result<AnySums>;
    /// About how many passes are still to be made ([`Pass::left`]).
    fn left(&self) -> usize {
        1
    }
}

impl<T: Task> dyn AnyPass<T> {
    /// A pass whose kind is forgotten.
    pub fn of(pass: impl Pass<T>) -> Box<Self> {
        Box::new(Erased(pass))
    }
}

#[derive(Debug)]
struct Erased<P>(P);

/// The version of the stored form of passes: both sides of a cluster run the same program.
const VERSION: u32 = 1;

fn foreign() -> Error {
    Error::param("sums of a pass", "those of the pass they are given to", "others")
}

impl<T: Task, P: Pass<T>> AnyPass<T> for Erased<P> {
    fn sums(&self, piece: &Piece<'_, T>) -> Result<AnySums> {
        let mut sums = self.0.zero();
        self.0.add(&mut sums, piece)?;
        Ok(Box::new(sums))
    }

    fn zero(&self) -> AnySums {
        Box::new(self.0.zero())
    }

    fn merge(&self, sums: &mut AnySums, later: AnySums) -> Result<()> {
        let sums = sums.downcast_mut::<P::Sums>().ok_or_else(foreign)?;
        self.0.merge(sums, *later.downcast::<P::Sums>().map_err(|_| foreign())?);
        Ok(())
    }

    fn next(self: Box<Self>, sums: AnySums) -> Result<AnyStep<T>> {
        let sums = sums.downcast::<P::Sums>().map_err(|_| foreign())?;
        Ok(match self.0.next(*sums)? {
            Step::Again(pass) => AnyStep::Again(<dyn AnyPass<T>>::of(pass)),
            Step::Done(models) => {
                AnyStep::Done(models.into_iter().map(|model| Box::new(model) as _).collect())
            }
        })
    }

    fn record(&self) -> Result<Record> {
        Record::new(P::KIND, VERSION, &self.0)
    }

    fn write_sums(&self, sums: &AnySums) -> Result<Vec<u8>> {
        write_sums(sums.downcast_ref::<P::Sums>().ok_or_else(foreign)?)
    }

    fn read_sums(&self, bytes: &[u8]) -> Result<AnySums> {
        Ok(Box::new(read_sums::<P::Sums>(bytes)?))
    }

    fn left(&self) -> usize {
        self.0.left()
    }
}

/// Sums as they are sent.
pub(crate) fn write_sums<S: Serialize>(sums: &S) -> Result<Vec<u8>> {
    rmp_serde::to_vec_named(sums)
        .map_err(|e| Error::param("sums of a pass", "storable", format!("not: {e}")))
}

/// Sums as they were sent.
pub(crate) fn read_sums<S: DeserializeOwned>(bytes: &[u8]) -> Result<S> {
    rmp_serde::from_slice(bytes)
        .map_err(|e| Error::param("sums of a pass", "readable", format!("damaged: {e}")))
}

impl Registry {
    /// Adds a kind of pass.
    #[must_use]
    pub fn with_pass<T: Task, P: Pass<T>>(self) -> Self {
        self.with::<Box<dyn AnyPass<T>>>(P::KIND, VERSION, |record, _| {
            Ok(<dyn AnyPass<T>>::of(record.read::<P>()?))
        })
    }
}
