//! The fitted stack: members, their combination, and the out-of-sample matrix it was learned from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::combine::{self, Combination};
use crate::error::{Error, Result};
use crate::learner::Fitted;
use crate::learner::density::DensityModel;
use crate::oos::OutOfSample;
use crate::store::{Record, Registry, Stored};
use crate::table::Rows;
use crate::task::Task;

/// Fitted members and how they are combined: one model.
#[derive(Debug)]
pub struct Ensemble<T: Task> {
    members: Vec<Member<T>>,
    combination: Box<dyn Combination<T>>,
    matrix: Option<OutOfSample<T>>,
    /// The same members and weights as one density, where that can be.
    density: Option<Box<dyn DensityModel>>,
    width: usize,
}

#[derive(Debug)]
struct Member<T: Task> {
    name: String,
    model: Arc<dyn Fitted<T>>,
}

/// The stored form.
#[derive(Serialize, Deserialize)]
struct Body {
    names: Vec<String>,
    models: Vec<Record>,
    combination: Record,
}

impl<T: Task> Ensemble<T> {
    /// An ensemble of models in the order of the matrix's members.
    pub(super) fn new(
        models: Vec<Box<dyn Fitted<T>>>,
        combination: Box<dyn Combination<T>>,
        matrix: OutOfSample<T>,
    ) -> Result<Self> {
        if models.len() != matrix.members().len() {
            return Err(Error::shape("fitted members", matrix.members().len(), models.len()));
        }
        let width = matrix.width();
        Ok(Self::assemble(matrix.members().to_vec(), models, combination, Some(matrix), width))
    }

    fn assemble(
        names: Vec<String>,
        models: Vec<Box<dyn Fitted<T>>>,
        combination: Box<dyn Combination<T>>,
        matrix: Option<OutOfSample<T>>,
        width: usize,
    ) -> Self {
        let models: Vec<Arc<dyn Fitted<T>>> = models.into_iter().map(Arc::from).collect();
        let density = combination.weights().and_then(|weights| T::pool(weights, &models));
        let members = names.into_iter().zip(models).map(|(name, model)| Member { name, model });
        Self { members: members.collect(), combination, matrix, density, width }
    }

    /// The members' names.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The fitted members.
    pub fn models(&self) -> impl ExactSizeIterator<Item = &dyn Fitted<T>> {
        self.members.iter().map(|member| member.model.as_ref())
    }

    /// How they are combined.
    pub fn combination(&self) -> &dyn Combination<T> {
        self.combination.as_ref()
    }

    /// The out-of-sample matrix the combination was learned from; not stored with the model.
    pub fn matrix(&self) -> Option<&OutOfSample<T>> {
        self.matrix.as_ref()
    }
}

impl<T: Task> Fitted<T> for Ensemble<T> {
    fn width(&self) -> usize {
        self.width
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let weights = self.combination.weights();
        let predict = |(m, member): (usize, &Member<T>)| {
            let mut predicted = vec![0.0; out.len()];
            // A member without weight is not looked at, so it need not be asked.
            if weights.is_none_or(|weights| weights[m] != 0.0) {
                member.model.predict_into(x, &mut predicted)?;
            }
            Ok(predicted)
        };
        let predictions =
            self.members.iter().enumerate().map(predict).collect::<Result<Vec<_>>>()?;
        self.combination.combine_into(&predictions, self.width, x, out)
    }

    fn record(&self) -> Result<Record> {
        let body = Body {
            names: self.names().map(String::from).collect(),
            models: self.models().map(Fitted::record).collect::<Result<_>>()?,
            combination: self.combination.record()?,
        };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        self.density.as_deref()
    }
}

impl<T: Task> Stored<T> for Ensemble<T> {
    const KIND: &'static str = "ensemble";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry<T>) -> Result<Self> {
        let body: Body = record.read()?;
        let models = body.models.iter().map(|m| registry.restore(m)).collect::<Result<Vec<_>>>()?;
        if body.names.len() != models.len() {
            return Err(Error::shape("stored members", body.names.len(), models.len()));
        }
        let width = models.first().map_or(1, |model| model.width());
        let combination = combine::restore::<T>(&body.combination)?;
        if combination.weights().is_some_and(|weights| weights.len() != models.len()) {
            return Err(Error::shape("stored weights", models.len(), 0));
        }
        Ok(Self::assemble(body.names, models, combination, None, width))
    }
}
