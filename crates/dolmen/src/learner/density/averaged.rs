//! Averages of densities: several fits, mixed with weights (OrmoneitTresp1995, section 4).

use std::sync::Arc;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::DensityModel;
use crate::error::{Error, Result};
use crate::learner::averaged::{Averageable, Averaged, Averaging};
use crate::learner::{Diagnostics, Fitted, Learner, Stored};
use crate::math::{bulk, log_sum_exp};
use crate::store::{Parameters, Record, Registry, are_shares};
use crate::table::{Features, Rows, Schema};
use crate::task::{Density, Task};

impl Averageable for Density {
    /// A mixture, which can be sampled and taken apart where its parts can.
    fn average(fits: Vec<Box<dyn Fitted<Self>>>) -> Box<dyn Fitted<Self>> {
        Box::new(FittedAverage::uniform(fits.into_iter().map(Arc::from).collect()))
    }
}

impl Averaged<Density> {
    /// Averages fits of a density.
    pub fn new(learner: impl Learner<Density> + 'static, averaging: Averaging) -> Self {
        Self::of(Arc::new(learner), averaging)
    }
}

/// A mixture of fitted densities, `p(x) = sum_k weight_k p_k(x)`.
#[derive(Debug, Clone)]
pub struct FittedAverage {
    /// Positive, summing to 1. Uniform for an average as fitted; conditioning changes them.
    weights: Vec<f64>,
    parts: Vec<Arc<dyn Fitted<Density>>>,
}

/// The stored form.
#[derive(Debug, Serialize, Deserialize)]
struct Body {
    #[serde(with = "crate::store::floats")]
    weights: Vec<f64>,
    parts: Vec<Record>,
}

/// Rows predicted at a time: bounds the memory of the parts' predictions.
const BLOCK: usize = 256;

impl FittedAverage {
    fn uniform(parts: Vec<Arc<dyn Fitted<Density>>>) -> Self {
        let weights = vec![1.0 / parts.len() as f64; parts.len()];
        Self { weights, parts }
    }

    /// The mixture of densities with these positive weights; `None` of none.
    pub(crate) fn mixture(
        mut weights: Vec<f64>,
        parts: Vec<Box<dyn DensityModel>>,
    ) -> Option<Self> {
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let parts = parts.into_iter().map(erase).collect();
        (!weights.is_empty()).then_some(Self { weights, parts })
    }

    /// The densities averaged.
    pub fn parts(&self) -> &[Arc<dyn Fitted<Density>>] {
        &self.parts
    }

    /// The parts as densities that can do more than say ln p(x); `None` if one cannot.
    fn densities(&self) -> Option<Vec<&dyn DensityModel>> {
        self.parts.iter().map(|part| part.density()).collect()
    }

    /// The same, where [`Fitted::density`] was asked before.
    fn able(&self) -> Result<Vec<&dyn DensityModel>> {
        let missing =
            || Error::param("parts of the average", "sampled and marginalised", "not all able to");
        self.densities().ok_or_else(missing)
    }
}

impl Fitted<Density> for FittedAverage {
    fn width(&self) -> usize {
        1
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let mut logs = vec![0.0; self.parts.len() * BLOCK.min(x.rows())];
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let first = block * BLOCK;
            let rows = x.slice(first..first + out.len());
            for (part, logs) in self.parts.iter().zip(logs.chunks_exact_mut(out.len())) {
                part.predict_into(rows, logs)?;
            }
            for (i, out) in out.chunks_exact_mut(1).enumerate() {
                let (logs, step) = (&logs, rows.rows());
                Density::mix(&self.weights, |k| &logs[k * step + i..][..1], out);
            }
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.parts.iter().try_for_each(|part| part.validate(inputs, width))
    }

    fn record(&self) -> Result<Record> {
        let parts: Result<Vec<Record>> = self.parts.iter().map(|part| part.record()).collect();
        let body = Body { weights: self.weights.clone(), parts: parts? };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    fn parameters(&self) -> Parameters {
        let parts: Vec<Parameters> = self.parts.iter().map(|part| part.parameters()).collect();
        Parameters::new(Self::KIND).with("weights", &self.weights).with("parts", parts)
    }

    /// Converged if all parts did; iterations are those of all parts together.
    fn diagnostics(&self) -> Diagnostics {
        let parts: Vec<Diagnostics> = self.parts.iter().map(|part| part.diagnostics()).collect();
        let converged: Option<Vec<bool>> = parts.iter().map(|part| part.converged).collect();
        let iterations: Option<Vec<usize>> = parts.iter().map(|part| part.iterations).collect();
        let notes = parts.iter().enumerate().flat_map(|(k, part)| {
            part.notes.iter().map(move |note| format!("fit {}: {note}", k + 1))
        });
        Diagnostics {
            converged: converged.map(|all| all.iter().all(|c| *c)),
            iterations: iterations.map(|all| all.iter().fold(0_usize, |a, b| a.saturating_add(*b))),
            notes: notes.collect(),
            ..Diagnostics::default()
        }
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        self.densities().map(|_| self as _)
    }
}

impl DensityModel for FittedAverage {
    fn dimension(&self) -> usize {
        let first = self.parts.first().and_then(|part| part.density());
        first.map_or(0, DensityModel::dimension)
    }

    fn sample_into(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        let mut left = rng.random::<f64>();
        let mut chosen = 0;
        for (k, weight) in self.weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            chosen = k;
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        if let Some(part) = self.parts[chosen].density() {
            part.sample_into(rng, out);
        }
    }

    fn marginal(&self, columns: &[usize]) -> Result<Box<dyn DensityModel>> {
        let marginal = |part: &&dyn DensityModel| Ok(erase(part.marginal(columns)?));
        let parts: Result<_> = self.able()?.iter().map(marginal).collect();
        Ok(Box::new(Self { weights: self.weights.clone(), parts: parts? }))
    }

    fn on_grid(&self, columns: [usize; 2], x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        let mut sum = vec![0.0; x.len() * y.len()];
        for (part, weight) in self.able()?.iter().zip(&self.weights) {
            bulk::add_scaled(&mut sum, *weight, &part.on_grid(columns, x, y)?);
        }
        Ok(sum)
    }

    /// Each part is conditioned, and weighs by the density it gives to the values given.
    fn condition(&self, given: &[(usize, f64)]) -> Result<Box<dyn DensityModel>> {
        let columns: Vec<usize> = given.iter().map(|(j, _)| *j).collect();
        let values: Vec<f64> = given.iter().map(|(_, value)| *value).collect();
        let mut logs = Vec::with_capacity(self.parts.len());
        let mut parts = Vec::with_capacity(self.parts.len());
        for (part, weight) in self.able()?.iter().zip(&self.weights) {
            let mut log = [0.0];
            let row = Features::numeric(values.clone(), columns.len())?;
            part.marginal(&columns)?.predict_into(row.rows(), &mut log)?;
            // A part that gives the values no density cannot be conditioned on them, and has no weight.
            if *weight > 0.0 && log[0] > f64::NEG_INFINITY {
                logs.push(weight.ln() + log[0]);
                parts.push(erase(part.condition(given)?));
            }
        }
        let total = log_sum_exp(&logs);
        if !total.is_finite() {
            return Err(Error::param("given values", "of positive density", "of density 0"));
        }
        let weights = logs.iter().map(|log| (log - total).exp()).collect();
        Ok(Box::new(Self { weights, parts }))
    }

    fn cdf(&self, x: f64) -> Result<f64> {
        let mut sum = 0.0;
        for (part, weight) in self.able()?.iter().zip(&self.weights) {
            sum += weight * part.cdf(x)?;
        }
        Ok(sum)
    }

    fn boxed(&self) -> Box<dyn DensityModel> {
        Box::new(self.clone())
    }
}

/// Forgets what a density can do beyond being a fitted model; [`Fitted::density`] finds it again.
fn erase(density: Box<dyn DensityModel>) -> Arc<dyn Fitted<Density>> {
    let fitted: Box<dyn Fitted<Density>> = density;
    fitted.into()
}

impl Stored<Density> for FittedAverage {
    const KIND: &'static str = "averaged";
    const VERSION: u32 = 1;

    fn restore(record: &Record, registry: &Registry) -> Result<Self> {
        let Body { weights, parts } = record.read()?;
        record.require(weights.len() == parts.len() && are_shares(&weights))?;
        let restore = |part: Record| Ok(registry.model(&part)?.into());
        let parts: Result<_> = parts.into_iter().map(restore).collect();
        Ok(Self { weights, parts: parts? })
    }
}
