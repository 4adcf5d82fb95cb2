//! Learners: recipes for models, and the models they make.
//!
//! A [`Learner`] is unfitted and is its own parameter struct; a [`Fitted`] model is another type and cannot exist
//! unfitted. A learner of one's own goes through the easy door, [`SimpleLearner`] and [`SimpleModel`], in under thirty lines.

mod all_rows;
pub mod averaged;
pub mod baseline;
pub mod bayes;
pub mod check;
mod chosen;
pub mod density;
pub mod encoded;
pub mod foreign;
pub mod gaussian_process;
mod ladder;
mod likeness;
pub mod linear;
pub mod neighbours;
pub mod network;
pub mod ordinal;
mod out_of_sample;
pub mod pass;
mod sample;
pub(crate) mod scales;
mod simple;
mod stored;
pub mod svm;
pub mod transformed;
pub mod tree;
pub(crate) mod unit;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

pub(crate) use all_rows::{Attempt, check_numbers, fit_members};
pub(crate) use ladder::Ladder;
pub use out_of_sample::{Block, Failure, refit};
pub(crate) use out_of_sample::{
    by_split, by_split_keeping, fit_split, is_unusable, predict_split, prediction_is,
};
pub use sample::{OwnedSample, Sample, SelectedSample, Weights};
pub use simple::{Simple, SimpleLearner, SimpleModel};
pub use stored::{Stored, check_use};

pub use crate::store::{Parameters, Value};

use density::DensityModel;
use pass::AnyPass;

use crate::error::Result;
use crate::memory;
use crate::plan::Plan;
use crate::run::Run;
use crate::stats::parallel;
use crate::store::Record;
use crate::table::{Rows, Schema};
use crate::task::Task;

/// Folds that learners may split their rows into; of more folds than rows, there are as many as rows.
pub(crate) const MOST_FOLDS: usize = 10_000;
/// Iterations of a search at most: more are a slip of the keyboard.
pub(crate) const MOST_ITERATIONS: usize = 1_000_000;

/// An unfitted model: a recipe with its parameters.
pub trait Learner<T: Task>: Debug + Send + Sync {
    /// The members this learner contributes: usually one; a ladder (several bandwidths, several k) has one per rung.
    fn members(&self) -> Vec<String>;

    /// Fits every member to the sample.
    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>>;

    /// What each member says about rows it has not seen. The default refits split by split; families that can share
    /// work between splits or members (one pass over pairs, counts minus one row) do so here.
    fn out_of_sample(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Block> {
        refit(self, sample, plan, run)
    }

    /// The first of the passes in which the learner is fitted to rows of these columns, if it needs them only block by block.
    /// Made in memory, the same passes give what [`Learner::fit`] gives.
    fn pass(&self, _x: Rows<'_>, _run: &Run) -> Option<Result<Box<dyn AnyPass<T>>>> {
        None
    }

    /// Of a ladder, its members as learners of their own, in the same order: where it cannot be fitted as a whole, those that
    /// can be are. None if there are no such learners; the catalogue makes them of the members' names.
    fn rungs(&self) -> &[Box<dyn Learner<T>>] {
        &[]
    }
}

/// A fitted model.
pub trait Fitted<T: Task>: Debug + Send + Sync {
    /// Values in one prediction row.
    fn width(&self) -> usize;

    /// Rows worth predicting in one piece of work: large enough to amortise a call, small enough for cores to share.
    fn block(&self) -> usize {
        SMALL_BLOCK
    }

    /// Predicts each row by itself into `out` (rows x width, row after row). Single-threaded: [`predict`] splits the rows.
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()>;

    /// Refuses rows of other columns, and prediction rows of another width, than the model was made for. Asked once of a
    /// model read from a file, before it predicts: reading it has shown that its own parts fit together
    /// ([`Stored::restore`]), and a model that holds others asks them.
    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use("model", (inputs.len(), self.width()), inputs, width)
    }

    /// The model as it is stored in a file.
    fn record(&self) -> Result<Record>;

    /// What the model consists of, as data: coefficients, means, trees; of a model that holds others theirs, too. Numbers are
    /// in the units of the data where that is possible, and a copy.
    fn parameters(&self) -> Parameters;

    /// How the fit went.
    fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    /// Free parameters, for models whose form says how many there are: what the evidence of a model is judged by.
    fn free_parameters(&self) -> Option<usize> {
        None
    }

    /// The fits on the folds of a plan that it averages, fold after fold, if it does.
    fn fold_fits(&self) -> Option<&[Box<dyn Fitted<T>>]> {
        None
    }

    /// How much each of its parts has a say in rows, of a model whose parts answer for different rows.
    fn routes(&self, _x: Rows<'_>) -> Result<Option<Routes>> {
        Ok(None)
    }

    /// The model as a density that can be sampled, marginalised and conditioned, if it is one.
    fn density(&self) -> Option<&dyn DensityModel> {
        None
    }
}

/// How a fit went. Not converging is data, not an error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Diagnostics {
    /// Whether the method reached its tolerance; `None` for methods without iterations.
    pub converged: Option<bool>,
    /// Iterations used.
    pub iterations: Option<usize>,
    /// The objective reached (log posterior, log evidence), as the method defines it.
    pub objective: Option<f64>,
    /// Anything the user should know.
    pub notes: Vec<String>,
    /// What the model found, as named rows of numbers: importances of the inputs, weights of the stages.
    pub series: Vec<Series>,
}

/// Numbers with labels: one table of a report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// What the numbers are, e.g. `importance`.
    pub name: String,
    /// What each number belongs to, e.g. the input columns.
    pub labels: Vec<String>,
    /// The numbers.
    pub values: Vec<f64>,
    /// Whether it tells of parts that the fit has numbered (components, experts, rounds): the same number in another fit is
    /// another part, so that means over fits say nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_numbered: bool,
}

impl Series {
    /// One number for each input column, by the columns' numbers: `column 1`, `column 2`, ..
    pub fn of_columns(name: &str, values: Vec<f64>) -> Self {
        let labels = (1..=values.len()).map(|j| format!("column {j}")).collect();
        Self { name: name.into(), labels, values, is_numbered: false }
    }

    /// The loss of rows held out, round by round of a training; nothing without any.
    pub(crate) fn of_rounds(losses: &[f64]) -> Option<Self> {
        let labels = (1..=losses.len()).map(|round| format!("round {round}")).collect();
        let (name, values) = (HELD_OUT_LOSS.into(), losses.to_vec());
        let series = Self { name, labels, values, is_numbered: true };
        (!losses.is_empty()).then_some(series)
    }
}

/// What the series of a training curve is called.
pub const HELD_OUT_LOSS: &str = "held-out loss";

/// Which of its parts a model asks about rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Routes {
    /// How many parts there are.
    pub parts: usize,
    /// Each part's share in each row: rows x parts, row after row.
    pub shares: Vec<f64>,
}

/// Rows predicted in one piece of work by a model that does not ask for more.
pub(crate) const SMALL_BLOCK: usize = 1024;
/// Pieces of work that each thread should have at least, where models ask for large blocks.
const PIECES: usize = 4;

/// Predicts all rows with a fitted model, in parallel over blocks of rows.
pub fn predict<T: Task>(model: &dyn Fitted<T>, x: Rows<'_>, run: &Run) -> Result<Vec<f64>> {
    let width = model.width();
    // Blocks as large as the model likes, but not so large that threads have nothing to do.
    let share = x.rows().div_ceil(PIECES * run.threads()).max(SMALL_BLOCK);
    let block = model.block().clamp(1, share);
    memory::claim(memory::size(&[x.rows(), width, size_of::<f64>()]), "the predictions")?;
    let mut out = vec![0.0; x.rows() * width];
    run.install(|| {
        parallel::try_parts(&mut out, block * width, &|number, out| {
            run.check()?;
            let first = number * block;
            model.predict_into(x.slice(first..first + out.len() / width), out)
        })
    })?;
    Ok(out)
}
