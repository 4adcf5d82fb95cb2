//! The work of one pass: the sums of many fits over a block, each over the rows that its fold leaves.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::block::Block;
use super::context::Context;
use super::work::{Outcome, Sent, Work, from_bytes, known, sent, to_bytes};
use crate::error::{Error, Result};
use crate::learner::pass::{AnyPass, AnySums, Piece};
use crate::run::Run;
use crate::store::{Record, Registry};
use crate::task::Task;

/// A fit's pass, and the fold that it does not see.
pub(super) type FoldPass<P> = (Option<usize>, P);
/// The same on its way.
pub(super) type SentPass = FoldPass<Record>;

/// The sums of each fit, or what went wrong.
pub(super) type PassSums = Vec<Result<AnySums>>;

/// The same on their way.
#[derive(Serialize, Deserialize)]
struct SentSums(Vec<Result<serde_bytes::ByteBuf, String>>);

/// The passes of many fits.
pub(super) struct PassWork<'a, T: Task> {
    context: Context,
    passes: Vec<FoldPass<Held<'a, T>>>,
}

/// A pass of one's own, or of somebody else.
enum Held<'a, T: Task> {
    Own(Box<dyn AnyPass<T>>),
    Lent(&'a dyn AnyPass<T>),
}

impl<T: Task> Held<'_, T> {
    fn pass(&self) -> &dyn AnyPass<T> {
        match self {
            Self::Own(pass) => pass.as_ref(),
            Self::Lent(pass) => *pass,
        }
    }
}

impl<'a, T: Task> PassWork<'a, T> {
    pub(super) fn new(context: &Context, passes: Vec<FoldPass<&'a dyn AnyPass<T>>>) -> Self {
        let lent = |(fold, pass)| (fold, Held::Lent(pass));
        Self { context: context.clone(), passes: passes.into_iter().map(lent).collect() }
    }

    /// What was sent.
    pub(super) fn read(context: Context, sent: &[SentPass], registry: &Registry) -> Result<Self> {
        let own = |(fold, record): &SentPass| {
            Ok((*fold, Held::Own(registry.restore::<Box<dyn AnyPass<T>>>(record)?)))
        };
        Ok(Self { context, passes: sent.iter().map(own).collect::<Result<_>>()? })
    }
}

impl<T: Task> Work for PassWork<'_, T> {
    fn on_block(&self, block: &mut Block, run: &Run) -> Result<Outcome> {
        let rows = block.rows::<T>(&self.context)?;
        // Fits on the same fold share their list of rows.
        let mut folds: Vec<Option<usize>> = self.passes.iter().map(|(fold, _)| *fold).collect();
        folds.sort_unstable();
        folds.dedup();
        let chosen = folds
            .iter()
            .map(|fold| rows.select(rows.without(*fold)))
            .collect::<Result<Vec<_>>>()?;
        let sums = |(fold, held): &FoldPass<Held<'_, T>>| {
            let chosen = &chosen[folds.partition_point(|other| other < fold)];
            held.pass().sums(&Piece::new(chosen.borrow(), rows.first))
        };
        let sums: PassSums = run.install(|| self.passes.par_iter().map(sums).collect());
        Ok(Box::new(sums))
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        let record = |(fold, held): &FoldPass<Held<'_, T>>| Ok((*fold, held.pass().record()?));
        let passes = self.passes.iter().map(record).collect::<Result<Vec<SentPass>>>()?;
        sent(Some(&self.context), &Sent::Passes(T::NAME.into(), passes))
    }

    fn write_outcome(&self, outcome: &Outcome) -> Result<Vec<u8>> {
        let write = |((_, held), sums): (&FoldPass<Held<'_, T>>, &Result<AnySums>)| match sums {
            Ok(sums) => held
                .pass()
                .write_sums(sums)
                .map(serde_bytes::ByteBuf::from)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let sums = known::<PassSums>(outcome)?;
        to_bytes(&SentSums(self.passes.iter().zip(sums).map(write).collect()))
    }

    fn read_outcome(&self, bytes: &[u8]) -> Result<Outcome> {
        let SentSums(sent) = from_bytes(bytes)?;
        if sent.len() != self.passes.len() {
            return Err(Error::shape("sums of passes", self.passes.len(), sent.len()));
        }
        let read =
            |((_, held), sums): (&FoldPass<Held<'_, T>>, Result<serde_bytes::ByteBuf, String>)| {
                match sums {
                    Ok(bytes) => held.pass().read_sums(&bytes),
                    Err(message) => Err(Error::data(crate::error::Place::default(), message)),
                }
            };
        let sums: PassSums = self.passes.iter().zip(sent).map(read).collect();
        Ok(Box::new(sums))
    }
}
