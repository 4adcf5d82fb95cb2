//! The fitted process: the rows it learned from, and what each adds to a prediction.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::likeness::{Compared, Likeness};
use crate::learner::scales::{Scales, require_numbers};
use crate::learner::unit::Unit;
use crate::learner::{Diagnostics, Fitted, Stored, check_use};
use crate::math::bulk;
use crate::store::{Parameters, Record, Registry, floats};
use crate::table::{Rows, Schema};
use crate::task::Regression;

/// A fitted [`GaussianProcess`](super::GaussianProcess).
#[derive(Debug, Clone)]
pub struct FittedGaussianProcess {
    body: Body,
    compared: Compared,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Body {
    pub(super) scales: Scales,
    /// Over which numbers stay alike, column by column, on the common scale.
    pub(super) lengths: Vec<f64>,
    /// The noise's variance as a share of the signal's.
    pub(super) noise: f64,
    pub(super) likeness: Likeness,
    /// The rows on the common scale, in lengths.
    #[serde(with = "floats")]
    pub(super) points: Vec<f64>,
    #[serde(with = "floats")]
    pub(super) coefficients: Vec<f64>,
    pub(super) unit: Unit,
    /// Mean and deviation of the target in its unit.
    pub(super) moments: (f64, f64),
    pub(super) iterations: usize,
}

impl FittedGaussianProcess {
    pub(super) fn new(body: Body) -> Result<Self> {
        if body.coefficients.iter().any(|value| !value.is_finite()) {
            let expected = "one that can be inverted";
            return Err(Error::param("likeness of the rows", expected, "numerically singular"));
        }
        let compared = Compared::new(body.likeness, &body.points, body.lengths.len());
        Ok(Self { body, compared })
    }
}

impl Fitted<Regression> for FittedGaussianProcess {
    fn width(&self) -> usize {
        1
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let Body { scales, lengths, coefficients, unit, moments: (mean, deviation), .. } =
            &self.body;
        if x.width() != lengths.len() {
            return Err(Error::shape("input columns", lengths.len(), x.width()));
        }
        require_numbers(x)?;
        let mut row = vec![0.0; x.width()];
        let mut likeness = vec![0.0; self.compared.padded()];
        for (input, out) in x.iter().zip(out) {
            scales.write(input, &mut row);
            row.iter_mut().zip(lengths).for_each(|(value, length)| *value /= length);
            self.compared.compare(&row, &mut likeness);
            let sum = bulk::dot(coefficients, &likeness[..coefficients.len()]);
            *out = unit.restore(mean + deviation * sum);
        }
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (self.body.lengths.len(), 1), inputs, width)
    }

    fn record(&self) -> Result<Record> {
        Record::new(Self::KIND, Self::VERSION, &self.body)
    }

    /// The rows in lengths on the common scale, what each adds to a prediction, and lengths in units of the columns.
    fn parameters(&self) -> Parameters {
        let Body { scales, lengths, noise, points, coefficients, unit, moments, .. } = &self.body;
        let units = lengths.iter().zip(scales.scales());
        let lengths_in_units: Vec<f64> = units.map(|(length, scale)| length * scale).collect();
        let kernel = if self.body.likeness == Likeness::Matern { "matern" } else { "rbf" };
        scales
            .describe(Parameters::new(Self::KIND).with("kernel", kernel))
            .with("lengths", lengths_in_units)
            .with("noise", *noise)
            .with_array("rows", &[coefficients.len(), lengths.len()], points.as_slice())
            .with("coefficients", coefficients)
            .with("target_centre", unit.restore(moments.0))
            .with("target_scale", unit.restore_difference(moments.1))
    }

    fn diagnostics(&self) -> Diagnostics {
        Diagnostics { iterations: Some(self.body.iterations), ..Diagnostics::default() }
    }
}

impl Stored<Regression> for FittedGaussianProcess {
    const KIND: &'static str = "gaussian-process";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        let columns = body.lengths.len();
        let is_length = |length: &f64| *length > 0.0 && length.is_finite();
        record.require(columns > 0 && body.lengths.iter().all(is_length))?;
        let scales = (body.scales.centres().len(), body.scales.scales().len());
        record.require(scales == (columns, columns))?;
        record.require(body.points.len() == body.coefficients.len() * columns)?;
        record.require(body.likeness != Likeness::Linear)?;
        Self::new(body)
    }
}
