//! Learners: recipes for models, and the models they make.
//!
//! A [`Learner`] is unfitted and is its own parameter struct; a [`Fitted`] model is another type and cannot exist
//! unfitted. A learner of one's own goes through the easy door, [`SimpleLearner`] and [`SimpleModel`], in under thirty lines.

pub mod baseline;
pub mod bayes;
pub mod check;
mod chosen;
pub mod density;
pub mod encoded;
pub mod linear;
pub mod neighbours;
pub mod network;
mod out_of_sample;
mod sample;
pub(crate) mod scales;
mod simple;
mod stored;
pub mod svm;
pub mod tree;
pub(crate) mod unit;

use std::fmt::Debug;

use serde::{Deserialize, Serialize};

pub use out_of_sample::{Block, Failure, refit};
pub(crate) use out_of_sample::{by_split, by_split_keeping, fit_split, is_unusable, predict_split};
pub use sample::{OwnedSample, Sample, Weights};
pub use simple::{Simple, SimpleLearner, SimpleModel};
pub use stored::{Stored, check_use};

pub use crate::store::{Parameters, Value};

use density::DensityModel;

use crate::error::Result;
use crate::memory;
use crate::plan::Plan;
use crate::run::Run;
use crate::store::Record;
use crate::table::{Rows, Schema};
use crate::task::Task;

/// Folds that learners may split their rows into; of more folds than rows, there are as many as rows.
pub(crate) const MOST_FOLDS: usize = 10_000;

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
}

impl Series {
    /// One number for each input column, by the columns' numbers: `column 1`, `column 2`, ..
    pub fn of_columns(name: &str, values: Vec<f64>) -> Self {
        let labels = (1..=values.len()).map(|j| format!("column {j}")).collect();
        Self { name: name.into(), labels, values }
    }
}

/// Rows predicted in one piece of work by a model that does not ask for more.
pub(crate) const SMALL_BLOCK: usize = 1024;
/// Pieces of work that each thread should have at least, where models ask for large blocks.
const PIECES: usize = 4;

/// Predicts all rows with a fitted model, in parallel over blocks of rows.
pub fn predict<T: Task>(model: &dyn Fitted<T>, x: Rows<'_>, run: &Run) -> Result<Vec<f64>> {
    use rayon::prelude::*;

    let width = model.width();
    // Blocks as large as the model likes, but not so large that threads have nothing to do.
    let share = x.rows().div_ceil(PIECES * run.threads()).max(SMALL_BLOCK);
    let block = model.block().clamp(1, share);
    memory::claim(memory::size(&[x.rows(), width, size_of::<f64>()]), "the predictions")?;
    let mut out = vec![0.0; x.rows() * width];
    run.install(|| {
        out.par_chunks_mut(block * width).enumerate().try_for_each(|(number, out)| {
            run.check()?;
            let first = number * block;
            model.predict_into(x.slice(first..first + out.len() / width), out)
        })
    })?;
    Ok(out)
}
