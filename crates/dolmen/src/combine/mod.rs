//! Combiners: from the out-of-sample matrix to a combination of the members.
//!
//! A [`Combiner`] reads the kept matrix and makes a [`Combination`], or several to choose from.
//!
//! | file | combination |
//! | --- | --- |
//! | `method`, `linear_pool` | one weight per member, by a [`Method`] |
//! | `limited` | the best weights of few members, or of members that are quick enough together |
//! | `learned` | any learner on the members' predictions: ridge and logistic stackers, layers |
//! | `log_pool` | the product of the members' probabilities, each to a power |
//! | `gate` | weights that depend on the inputs |
//! | `bma` | weights by the members' evidence |
//!
//! The catalogue finds them by name. How sure weights are is the business of [`inference`], and [`weigh`](weigh::weigh) does
//! it all for predictions from anywhere.

mod bma;
pub mod check;
mod copies;
mod gate;
mod greedy;
pub mod inference;
mod learned;
mod limited;
mod linear_pool;
mod log_pool;
mod method;
pub(crate) mod pseudo_bma;
pub mod weigh;
mod weighable;

use std::fmt::Debug;

pub use bma::{Bma, log_evidence};
pub use gate::{Gate, Gated};
pub(crate) use learned::Seen;
pub use learned::{Learned, LearnedCombination, Scale};
pub use limited::{LimitReport, Limited};
pub use linear_pool::LinearPool;
pub use log_pool::{LogPool, LogPooling};
pub use method::{FoundWeights, Method, Weights};
pub use weighable::Weighable;

use crate::error::{Error, Result};
use crate::learner::Diagnostics;
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// A recipe for combining: unfitted.
pub trait Combiner<T: Task>: Debug + Send + Sync {
    /// The combinations it makes, by name: usually one; a ladder (several penalties) makes one per rung, and the stack
    /// chooses among them.
    fn rungs(&self) -> Vec<String>;

    /// Whether it asks for the members' [evidence](Evidence::log_evidence), which costs fits of its own.
    fn needs_evidence(&self) -> bool {
        false
    }

    /// Learns the combinations, one per rung.
    fn fit(&self, evidence: &Evidence<'_, T>, run: &Run) -> Result<Vec<Box<dyn Combination<T>>>>;
}

/// Shows what the members said block by block, always in the same order.
pub type ShowBlocks<'a, T> =
    dyn Fn(&mut dyn FnMut(&OutOfSample<T>) -> Result<()>) -> Result<()> + 'a;

/// What a combiner learns from.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a, T: Task> {
    /// What every member said about rows it had not seen.
    pub oos: &'a OutOfSample<T>,
    /// Those rows' inputs, where there are any: predictions from elsewhere come without.
    pub x: Option<Rows<'a>>,
    /// Each member's log evidence on the rows learned from, if it was asked for.
    pub log_evidence: Option<&'a [f64]>,
}

impl<'a, T: Task> From<&'a OutOfSample<T>> for Evidence<'a, T> {
    /// The matrix alone.
    fn from(oos: &'a OutOfSample<T>) -> Self {
        Self { oos, x: None, log_evidence: None }
    }
}

/// A fitted combination of members.
pub trait Combination<T: Task>: Debug + Send + Sync {
    /// Combines a block of rows: `members[m]` holds member m's predictions (rows x width), `out` the combined ones.
    fn combine_into(
        &self,
        members: &[&[f64]],
        width: usize,
        x: Rows<'_>,
        out: &mut [f64],
    ) -> Result<()>;

    /// Refuses members, columns and prediction rows it was not made for. Asked once of a combination read from a file, before
    /// it combines.
    fn validate(&self, members: usize, inputs: &Schema, width: usize) -> Result<()>;

    /// One weight per member, for combinations that have them. Members of weight zero are not looked at.
    fn weights(&self) -> Option<&[f64]>;

    /// One weight per member in each row (rows x members, row after row), for combinations whose weights depend on the inputs.
    fn weights_at(&self, _x: Rows<'_>) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// The weights as they were found, with their certificate, for reports; not stored. They may be more than those that are
    /// used, where the best member took the place of the others.
    fn found(&self) -> Option<&FoundWeights> {
        None
    }

    /// What a limit on the members cost, if there was one; for reports, not stored.
    fn limit(&self) -> Option<&LimitReport> {
        None
    }

    /// The same combination of chosen members alone, in that order, where all others have no weight in it; `None` if it needs
    /// them all.
    fn of_members(&self, _members: &[usize]) -> Option<Box<dyn Combination<T>>> {
        None
    }

    /// The same kind of combination for the same members, from rows that are shown block by block, as often as it asks for
    /// them; `None` if it needs all rows at once.
    fn learned_from_blocks(
        &self,
        _blocks: &ShowBlocks<'_, T>,
        _run: &Run,
    ) -> Result<Option<Box<dyn Combination<T>>>> {
        Ok(None)
    }

    /// What it consists of, as data: weights, powers, the coefficients of a gate, the model of a stacker.
    fn parameters(&self) -> Parameters;

    /// How the fit went, and what it found.
    fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    /// The combination as it is stored in a file.
    fn record(&self) -> Result<Record>;
}

/// A combination that can be read back from its record.
pub trait StoredCombination<T: Task>: Combination<T> + Sized + 'static {
    /// The kind under which it is stored.
    const KIND: &'static str;
    /// The newest version of the stored form it reads; older ones too.
    const VERSION: u32;

    /// Reads it back; a combination that holds a model reads that through the registry.
    fn restore(record: &Record, registry: &Registry) -> Result<Self>;
}

impl Registry {
    /// Adds a kind of combination.
    #[must_use]
    pub fn with_combination<T: Task, C: StoredCombination<T>>(self) -> Self {
        self.with::<Box<dyn Combination<T>>>(C::KIND, C::VERSION, |record, registry| {
            Ok(Box::new(C::restore(record, registry)?))
        })
    }

    /// Reads a combination of any registered kind.
    pub fn combination<T: Task>(&self, record: &Record) -> Result<Box<dyn Combination<T>>> {
        self.restore(record)
    }
}

/// Checks that there are as many members as a combination knows.
fn check_members(expected: usize, members: &[&[f64]]) -> Result<()> {
    check_member_count(expected, members.len())
}

fn check_member_count(expected: usize, members: usize) -> Result<()> {
    if members == expected {
        return Ok(());
    }
    Err(Error::shape("members to combine", expected, members))
}

/// The weights of chosen members; `None` if another has weight.
fn chosen_weights(weights: &[f64], members: &[usize]) -> Option<Vec<f64>> {
    let is_chosen = |m: usize| weights[m] == 0.0 || members.contains(&m);
    (0..weights.len()).all(is_chosen).then(|| members.iter().map(|&m| weights[m]).collect())
}

/// Refuses stored weights that are not one finite number for each member.
fn check_weights(weights: &[f64], members: usize) -> Result<()> {
    check_member_count(weights.len(), members)?;
    match weights.iter().find(|weight| !weight.is_finite()) {
        None => Ok(()),
        Some(weight) => Err(Error::param("stored weight", "a finite number", weight)),
    }
}
