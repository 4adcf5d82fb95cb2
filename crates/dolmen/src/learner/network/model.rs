//! Fitted networks: one, or the average of several.

use serde::{Deserialize, Serialize};

use super::layers::Activation;
use super::net::{Net, Shape};
use super::waves::Waves;
use crate::error::Result;
use crate::learner::scales::Scales;
use crate::learner::{Diagnostics, Fitted, Series};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry};
use crate::table::{Rows, Schema};
use crate::task::{Classification, Regression, Task};

/// Rows predicted at a time.
const BLOCK: usize = 64;

/// Inputs further from the mean than so many deviations are taken to be that far: f32 ends somewhere.
const FARTHEST: f64 = 1e6;

/// Networks of one shape whose predictions are averaged.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedNetwork {
    pub(super) body: Body,
    net: Net,
}

/// The stored form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Body {
    pub(super) scales: Scales,
    /// Units of each layer, inputs first.
    pub(super) sizes: Vec<usize>,
    pub(super) activation: Activation,
    /// The columns that are seen by waves; none in files of earlier versions.
    #[serde(default, skip_serializing_if = "Waves::is_empty")]
    pub(super) waves: Waves,
    pub(super) copies: Vec<Single>,
    /// The target's mean and standard deviation; for classes not used.
    pub(super) target: (f64, f64),
}

impl Body {
    fn shape(&self) -> Shape {
        let (sizes, waves) = (self.sizes.clone(), self.waves.clone());
        Shape { sizes, activation: self.activation, waves }
    }
}

/// One network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Single {
    #[serde(with = "crate::store::floats")]
    pub(super) parameters: Vec<f64>,
    pub(super) passes: usize,
    pub(super) loss: f64,
    pub(super) stopped: bool,
    /// The mean loss of the rows held out, pass after pass; none in files of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) losses: Vec<f64>,
}

/// A row on the common scale.
pub(super) fn read_row(scales: &Scales, row: &[f64], wide: &mut [f64], out: &mut Vec<f32>) {
    scales.write(row, wide);
    out.extend(wide.iter().map(|v| v.clamp(-FARTHEST, FARTHEST) as f32));
}

impl FittedNetwork {
    pub(super) fn new(body: Body) -> Self {
        Self { net: Net::new(&body.shape()), body }
    }

    /// Calls `take` with each copy's outputs of each row: the row's number and its outputs.
    fn outputs(&self, x: Rows<'_>, mut take: impl FnMut(usize, &[f32])) {
        let rows = BLOCK.min(x.rows());
        let mut room = self.net.room(rows);
        let (mut wide, mut block) = (vec![0.0; x.width()], Vec::with_capacity(rows * x.width()));
        let (stride, used) = (self.net.output_stride(), self.body.sizes.last().copied());
        for copy in &self.body.copies {
            let parameters: Vec<f32> = copy.parameters.iter().map(|v| *v as f32).collect();
            for first in (0..x.rows()).step_by(BLOCK) {
                let rows = BLOCK.min(x.rows() - first);
                block.clear();
                for i in first..first + rows {
                    read_row(&self.body.scales, x.row(i), &mut wide, &mut block);
                }
                let outputs = self.net.forward(&parameters, &block, rows, &mut room);
                for (r, outputs) in outputs.chunks_exact(stride).enumerate() {
                    take(first + r, &outputs[..used.unwrap_or(0)]);
                }
            }
        }
    }

    /// Passes and losses of the copies together.
    fn fit_diagnostics(&self) -> Diagnostics {
        let copies = &self.body.copies;
        let loss = copies.iter().map(|copy| copy.loss).sum::<f64>() / copies.len().max(1) as f64;
        Diagnostics {
            converged: Some(copies.iter().all(|copy| copy.stopped)),
            iterations: Some(
                copies.iter().fold(0_usize, |sum, copy| sum.saturating_add(copy.passes)),
            ),
            notes: vec![format!("mean loss {loss:.4} of the rows held out to stop training")],
            series: copies.iter().filter_map(|copy| Series::of_rounds(&copy.losses)).collect(),
            ..Diagnostics::default()
        }
    }

    /// The layers of each copy. Inputs go in minus the centres and divided by the scales, behind them the positive parts of sums of waves of
    /// single columns, the activation stands between layers, and numbers come out in units of the target.
    pub fn parameters(&self) -> Parameters {
        let Body { scales, activation, copies, target: (centre, scale), .. } = &self.body;
        let activation = match activation {
            Activation::Relu => "relu",
            Activation::Tanh => "tanh",
        };
        let copy = |copy: &Single| self.net.describe(&copy.parameters);
        scales
            .describe(Parameters::new("network").with("activation", activation))
            .with("copies", copies.iter().map(copy).collect::<Vec<Parameters>>())
            .with("target_centre", *centre)
            .with("target_scale", *scale)
    }

    fn stored(&self) -> Result<Record> {
        Record::new("network", 1, &self.body)
    }

    fn restored(record: &Record) -> Result<Self> {
        let body: Body = record.read()?;
        let columns = body.scales.centres().len();
        let parameters = body.shape().parameters();
        let fits = |copy: &Single| Some(copy.parameters.len()) == parameters;
        record.require(
            !body.copies.is_empty()
                && body.copies.iter().all(fits)
                && body.sizes.first() == Some(&columns)
                && body.scales.scales().len() == columns,
        )?;
        Ok(Self::new(body))
    }

    fn validated(&self, values: usize, inputs: &Schema, width: usize) -> Result<()> {
        check_use("network", (self.body.scales.centres().len(), values), inputs, width)?;
        let outputs = self.body.sizes.last().copied().unwrap_or(0);
        check_use("network", (inputs.len(), outputs), inputs, width)
    }
}

impl Fitted<Classification> for FittedNetwork {
    fn width(&self) -> usize {
        self.body.sizes.last().copied().unwrap_or(0)
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let width = <Self as Fitted<Classification>>::width(self);
        let mut probabilities = vec![0.0; width];
        out.fill(0.0);
        self.outputs(x, |i, outputs| {
            let largest = outputs.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
            for (probability, output) in probabilities.iter_mut().zip(outputs) {
                *probability = f64::from(output - largest).exp();
            }
            let share = 1.0 / (probabilities.iter().sum::<f64>() * self.body.copies.len() as f64);
            for (out, probability) in out[i * width..(i + 1) * width].iter_mut().zip(&probabilities)
            {
                *out += share * probability;
            }
        });
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.validated(<Self as Fitted<Classification>>::width(self), inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.fit_diagnostics()
    }
}

impl Fitted<Regression> for FittedNetwork {
    fn width(&self) -> usize {
        1
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let ((mean, deviation), copies) = (self.body.target, self.body.copies.len() as f64);
        out.fill(mean);
        self.outputs(x, |i, outputs| out[i] += deviation * f64::from(outputs[0]) / copies);
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.validated(<Self as Fitted<Regression>>::width(self), inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.stored()
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.fit_diagnostics()
    }
}

impl<T: Task> Stored<T> for FittedNetwork
where
    Self: Fitted<T>,
{
    const KIND: &'static str = "network";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        Self::restored(record)
    }
}
