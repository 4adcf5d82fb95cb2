//! Any learner behind an encoder: what is learned from the inputs (means, levels, bins) is learned in the fold.

mod known;
mod passes;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::density::DensityModel;
use super::pass::AnyPass;
use super::{Diagnostics, Fitted, Learner, Routes, Sample};
use crate::error::{Error, Result};
use crate::learner::Stored;
use crate::learner::{self, Block};
use crate::plan::Plan;
use crate::run::Run;
use crate::spec::Spec;
use crate::store::{Parameters, Record, Registry};
use crate::table::encode::{Applied, Encoder, EncoderSpec, Outliers, Targets};
use crate::table::{Rows, Schema};
use crate::task::Task;

/// A learner whose inputs go through an encoder that is fitted on the rows it learns from, and stored with its models.
///
/// For a density or a joint probability the encoder must leave the columns' units alone: imputing does, standardising, bins, what is done to outliers, crossed columns and statistics of the target are refused.
#[derive(Debug, Clone)]
pub struct Encoded<T: Task> {
    spec: EncoderSpec,
    learner: Arc<dyn Learner<T>>,
    /// Whether the encoder is a part of the learner, so that members are called as if there were none.
    is_part: bool,
}

impl<T: Task> Encoded<T> {
    /// Encodes the inputs of `learner`.
    pub fn new(spec: EncoderSpec, learner: impl Into<Arc<dyn Learner<T>>>) -> Self {
        Self { spec, learner: learner.into(), is_part: false }
    }

    /// For a learner that works on complete numbers: indicators in place of categories, means in place of missing values.
    /// Members keep their names, because the learner is never without.
    pub fn of_numbers(learner: impl Into<Arc<dyn Learner<T>>>) -> Self {
        Self { spec: EncoderSpec::complete(), learner: learner.into(), is_part: true }
    }

    /// What becomes of numbers far from the others.
    #[must_use]
    pub fn outliers(mut self, outliers: Outliers) -> Self {
        self.spec.outliers = outliers;
        self
    }

    /// Densities are of the columns as they are.
    fn check_units(&self) -> Result<()> {
        let EncoderSpec { standardise, bins, outliers, crosses, targets, .. } = self.spec;
        let levels = bins.is_some() || crosses.is_some() || targets != Targets::Leave;
        if T::LOG_SPACE && (standardise || levels || outliers != Outliers::Keep) {
            let expected = "left out for densities: they would change the units of p(x)";
            let what = "standardise, bins, outliers, crosses and targets of an encoder";
            return Err(Error::param(what, expected, "given"));
        }
        Ok(())
    }
}

impl<T: Task> Learner<T> for Encoded<T> {
    fn members(&self) -> Vec<String> {
        let members = self.learner.members();
        if self.is_part || self.spec == EncoderSpec::default() {
            return members;
        }
        let name = |inner: String| Spec::around("encoded", &self.spec, "of", Spec::nested(&inner));
        members.into_iter().map(|inner| name(inner).to_string()).collect()
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        self.check_units()?;
        let (encoder, made) = if self.spec.targets == Targets::Leave {
            (self.spec.fit(sample.x(), sample.weights())?, None)
        } else {
            let (encoder, features) = known::fit(&self.spec, sample, run)?;
            (encoder, Some(features))
        };
        let encoder = Arc::new(encoder);
        let applied =
            made.map_or_else(|| encoder.view(sample.x()), |own| Ok(Applied::Made(own)))?;
        let models = self.learner.fit(&sample.with_inputs(applied.rows())?, run)?.into_iter();
        Ok(models
            .map(|model| {
                let encoder = Arc::clone(&encoder);
                Box::new(FittedEncoded { encoder, model }) as Box<dyn Fitted<T>>
            })
            .collect())
    }

    /// Where nothing is learned by the encoder, all splits share the encoded rows and whatever the learner shares.
    fn out_of_sample(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Block> {
        if !self.spec.is_fixed_on(sample.x()) {
            return learner::refit(self, sample, plan, run);
        }
        let encoder = self.spec.fit(sample.x(), None)?;
        let applied = encoder.view(sample.x())?;
        self.learner.out_of_sample(&sample.with_inputs(applied.rows())?, plan, run)
    }

    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<T>>>> {
        self.begin(x, run).transpose()
    }
}

/// A model behind its encoder.
#[derive(Debug)]
pub struct FittedEncoded<T: Task> {
    encoder: Arc<Encoder>,
    model: Box<dyn Fitted<T>>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    encoder: Encoder,
    model: Record,
}

impl<T: Task> Fitted<T> for FittedEncoded<T> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn block(&self) -> usize {
        self.model.block()
    }

    /// The density of the rows themselves, where the encoder leaves the columns as they are and fills gaps at most.
    fn density(&self) -> Option<&dyn DensityModel> {
        self.model.density().filter(|_| self.encoder.schema() == self.encoder.input())
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        self.model.predict_into(self.encoder.view(x)?.rows(), out)
    }

    fn routes(&self, x: Rows<'_>) -> Result<Option<Routes>> {
        self.model.routes(self.encoder.view(x)?.rows())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.encoder.check_inputs(inputs)?;
        self.model.validate(self.encoder.schema(), width)
    }

    fn record(&self) -> Result<Record> {
        let body = Body { encoder: Encoder::clone(&self.encoder), model: self.model.record()? };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(Self::KIND)
            .with("encoder", self.encoder.parameters())
            .with("model", self.model.parameters())
    }

    fn diagnostics(&self) -> Diagnostics {
        self.model.diagnostics()
    }

    fn free_parameters(&self) -> Option<usize> {
        self.model.free_parameters()
    }
}

impl<T: Task> Stored<T> for FittedEncoded<T> {
    const KIND: &'static str = "encoded";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        Ok(Self { encoder: Arc::new(body.encoder), model: registry.model(&body.model)? })
    }
}
