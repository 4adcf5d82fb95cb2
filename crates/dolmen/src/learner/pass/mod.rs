//! Fits in passes: those that need the rows only block by block.
//!
//! A [`Pass`] is where such a fit stands: it says what is to be summed over the rows, and what comes next once it is. The rows
//! may be in memory, in files larger than memory, or in the partitions of a cluster; whoever has them sums each piece by itself and merges
//! the sums in the order of the pieces. Same pieces, same bits, whoever did the work. A pass and its sums are serde values, so that
//! both travel: a worker needs the pass and its rows, and sends the sums back.
//!
//! ```text
//! pass ──► sums of each piece ──► merged in order ──► next ──► pass (again), or the models
//! ```

mod any;
mod row_sample;

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use any::{AnyPass, AnyStep, AnySums};
pub(crate) use any::{read_sums, write_sums};
pub(crate) use row_sample::{LABELS, LabelledRows, RowSample};

use super::{Fitted, Sample};
use crate::error::Result;
use crate::run::Run;
use crate::task::Task;

/// Rows of a piece, unless whoever has the rows cuts them in another way.
pub const PIECE: usize = 1 << 16;

/// A part of the rows to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a, T: Task> {
    /// Its rows, which may be chosen ones among those that stand there.
    pub sample: Sample<'a, T>,
    /// The number, in the whole table, of the first row that stands there.
    pub first: u64,
    /// The number of each row in the whole table, where the rows stand somewhere else: those that were encoded.
    pub numbers: Option<&'a [u64]>,
}

impl<'a, T: Task> Piece<'a, T> {
    /// Rows that stand in their table, or in a part of it that begins with the row of this number.
    pub fn new(sample: Sample<'a, T>, first: u64) -> Self {
        Self { sample, first, numbers: None }
    }

    /// The number of its row `i` in the whole table.
    pub fn number(&self, i: usize) -> u64 {
        match self.numbers {
            Some(numbers) => numbers[i],
            None => self.first + self.sample.x().place(i) as u64,
        }
    }
}

/// Where a fit in passes stands.
pub trait Pass<T: Task>: Debug + Send + Sync + Serialize + DeserializeOwned + 'static {
    /// The name under which it is stored and sent.
    const KIND: &'static str;
    /// What is summed over the rows.
    type Sums: Send + Serialize + DeserializeOwned + 'static;
    /// What comes of it.
    type Model: Fitted<T> + 'static;

    /// The sums over no rows.
    fn zero(&self) -> Self::Sums;

    /// Adds a piece, on the thread pool it is called in.
    fn add(&self, sums: &mut Self::Sums, piece: &Piece<'_, T>) -> Result<()>;

    /// Adds the sums over later rows.
    fn merge(&self, sums: &mut Self::Sums, later: Self::Sums);

    /// What follows from the sums over all rows.
    fn next(self, sums: Self::Sums) -> Result<Step<Self, Self::Model>>;

    /// About how many passes are still to be made, this one included, as far as can be told: for those who wait.
    fn left(&self) -> usize {
        1
    }
}

/// What follows a pass.
#[derive(Debug)]
pub enum Step<P, M> {
    /// Another one.
    Again(P),
    /// The models, one for each member of the learner.
    Done(Vec<M>),
}

/// Makes pass after pass over rows in memory.
pub fn fit_in_passes<T: Task, P: Pass<T>>(
    mut pass: P,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Result<Vec<P::Model>> {
    run.install(|| {
        loop {
            let mut total: Option<P::Sums> = None;
            sample.for_pieces(PIECE, |piece| {
                run.check()?;
                let mut sums = pass.zero();
                pass.add(&mut sums, piece)?;
                match &mut total {
                    None => total = Some(sums),
                    Some(total) => pass.merge(total, sums),
                }
                Ok(())
            })?;
            let total = total.unwrap_or_else(|| pass.zero());
            match pass.next(total)? {
                Step::Again(next) => pass = next,
                Step::Done(models) => return Ok(models),
            }
        }
    })
}
