//! The easy door for a learner of one's own: one model, one row at a time, saving for free.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Diagnostics, Fitted, Learner, Sample};
use crate::error::Result;
use crate::learner::{Stored, check_use};
use crate::run::Run;
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// A learner with one member.
pub trait SimpleLearner<T: Task>: Debug + Send + Sync {
    /// What it makes.
    type Model: SimpleModel<T>;

    /// The member's name.
    fn name(&self) -> String;

    /// Fits the model.
    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Self::Model>;
}

/// A model that predicts one row at a time and is stored through serde.
pub trait SimpleModel<T: Task>:
    Debug + Send + Sync + Serialize + DeserializeOwned + 'static
{
    /// The kind under which it is stored; unique, e.g. `"acme.histogram"`.
    const KIND: &'static str;
    /// The version of its stored form.
    const VERSION: u32 = 1;

    /// Values in one prediction row.
    fn width(&self) -> usize;

    /// Refuses columns and prediction rows it was not made for, as [`Fitted::validate`]; also parts of its own that do not fit
    /// together, because nothing else looks at a model that is stored through serde.
    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (inputs.len(), self.width()), inputs, width)
    }

    /// Predicts one row.
    fn predict_row(&self, row: &[f64], out: &mut [f64]);

    /// What the model consists of, as [`Fitted::parameters`]: what serde writes of it, unless it says more.
    fn parameters(&self) -> Parameters {
        Parameters::of(Self::KIND, self)
    }

    /// How the fit went.
    fn diagnostics(&self) -> Diagnostics {
        Diagnostics::default()
    }

    /// Free parameters, for models whose form says how many there are.
    fn free_parameters(&self) -> Option<usize> {
        None
    }
}

/// Lifts a [`SimpleLearner`] or [`SimpleModel`] into the engine.
///
/// A newtype, because a blanket implementation would overlap with the learners of other crates (E0119).
#[derive(Debug, Clone, Default)]
pub struct Simple<S>(pub S);

impl<T: Task, L: SimpleLearner<T>> Learner<T> for Simple<L> {
    fn members(&self) -> Vec<String> {
        vec![self.0.name()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        Ok(vec![Box::new(Simple(self.0.fit(sample, run)?))])
    }
}

impl<T: Task, M: SimpleModel<T>> Fitted<T> for Simple<M> {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        for (row, out) in x.iter().zip(out.chunks_exact_mut(self.0.width())) {
            self.0.predict_row(row, out);
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.0.validate(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        Record::new(M::KIND, M::VERSION, &self.0)
    }

    fn parameters(&self) -> Parameters {
        self.0.parameters()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.0.diagnostics()
    }

    fn free_parameters(&self) -> Option<usize> {
        self.0.free_parameters()
    }
}

impl<T: Task, M: SimpleModel<T>> Stored<T> for Simple<M> {
    const KIND: &'static str = M::KIND;
    const VERSION: u32 = M::VERSION;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        Ok(Simple(record.read()?))
    }
}
