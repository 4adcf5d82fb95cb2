//! The fitted kernel density.

use std::sync::{Arc, OnceLock};

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::evaluate::{self, Kernels, Shortcut};
use super::points::Points;
use super::shape::Shape;
use super::surface;
use super::{DensityModel, bad_value};
use crate::error::{Error, Place, Result};
use crate::learner::{Diagnostics, Fitted, Series};
use crate::learner::{Stored, check_use};
use crate::store::{Parameters, Record, Registry, are_shares, floats};
use crate::table::{Rows, Schema};
use crate::task::Density;

/// A kernel density: weighted rows, a shape and a bandwidth per column.
///
/// The members of a ladder share their rows in memory; each one's record holds a copy of its own.
#[derive(Debug, Clone)]
pub struct FittedKernel {
    shape: Shape,
    bandwidth: Vec<f64>,
    tolerance: f64,
    points: Arc<Points>,
    /// Sum to 1, in the order of the points.
    weights: Arc<Vec<f64>>,
    diagnostics: Diagnostics,
    /// Prepared at the first prediction.
    shortcut: OnceLock<Shortcut>,
    /// Running sums of the weights, prepared when first needed.
    cumulative: OnceLock<Vec<f64>>,
}

impl FittedKernel {
    pub(super) fn new(
        shape: Shape,
        bandwidth: Vec<f64>,
        tolerance: f64,
        points: Arc<Points>,
        weights: Arc<Vec<f64>>,
    ) -> Self {
        Self {
            shape,
            bandwidth,
            tolerance,
            points,
            weights,
            diagnostics: Diagnostics::default(),
            shortcut: OnceLock::new(),
            cumulative: OnceLock::new(),
        }
    }

    pub(super) fn with_diagnostics(mut self, diagnostics: Diagnostics) -> Self {
        self.diagnostics = diagnostics;
        self
    }

    /// The kernel.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The bandwidth of each column, in its own units.
    pub fn bandwidth(&self) -> &[f64] {
        &self.bandwidth
    }

    /// Number of rows it stands on.
    pub fn rows(&self) -> usize {
        self.points.len()
    }

    fn kernels(&self) -> Kernels<'_> {
        Kernels {
            points: &self.points,
            weights: &self.weights,
            shape: self.shape,
            tolerance: self.tolerance,
        }
    }

    /// Running sums of the weights.
    fn cumulative(&self) -> &[f64] {
        self.cumulative.get_or_init(|| {
            let mut sum = 0.0;
            let running = |weight: &f64| {
                sum += weight;
                sum
            };
            self.weights.iter().map(running).collect()
        })
    }

    /// The density of some of the columns with new weights (not negative, not all 0).
    fn with_columns(&self, columns: &[usize], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let kept: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let column = |&k: &usize| kept.iter().map(|&i| self.points.column(k)[i]).collect();
        let values: Vec<Vec<f64>> = columns.iter().map(column).collect();
        let bandwidth: Vec<f64> = columns.iter().map(|&k| self.bandwidth[k]).collect();
        let (points, order) = Points::build(&values, &bandwidth);
        let weights = order.iter().map(|&i| weights[kept[i]] / total).collect();
        let (points, weights) = (Arc::new(points), Arc::new(weights));
        Self::new(self.shape, bandwidth, self.tolerance, points, weights)
    }

    /// Refuses columns that are not there or are named twice.
    fn check_columns(&self, columns: &[usize]) -> Result<()> {
        for (i, &column) in columns.iter().enumerate() {
            if column >= self.dimension() {
                return Err(Error::shape("columns of the density", self.dimension(), column + 1));
            }
            if columns[..i].contains(&column) {
                return Err(Error::param("columns", "different", format!("{column} twice")));
            }
        }
        Ok(())
    }
}

impl Fitted<Density> for FittedKernel {
    fn width(&self) -> usize {
        1
    }

    /// An infinite value has density 0; a missing one is an error.
    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        if x.width() != self.dimension() {
            return Err(Error::shape("columns of the density", self.dimension(), x.width()));
        }
        if let Some((_, column)) = x.find(f64::is_nan) {
            // Rows are predicted in pieces, so that their numbers are not known here.
            let name = &x.schema().fields()[column].name;
            return Err(bad_value(Place::column(name), f64::NAN));
        }
        let shortcut = self
            .shortcut
            .get_or_init(|| Shortcut::new(self.kernels(), &self.bandwidth, self.points.len()));
        evaluate::log_densities(self.kernels(), &self.bandwidth, shortcut, &x.values(), out);
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (self.bandwidth.len(), 1), inputs, width)
    }

    fn record(&self) -> Result<Record> {
        let body = Body {
            shape: self.shape,
            bandwidth: self.bandwidth.clone(),
            tolerance: self.tolerance,
            columns: self.points.columns().to_vec(),
            weights: self.weights.to_vec(),
            converged: self.diagnostics.converged,
            iterations: self.diagnostics.iterations,
            objective: self.diagnostics.objective,
            notes: self.diagnostics.notes.clone(),
        };
        Record::new(Self::KIND, Self::VERSION, &body)
    }

    /// The rows are in the order in which it keeps them.
    fn parameters(&self) -> Parameters {
        let (rows, columns) = (self.points.len(), self.dimension());
        let row = |i| (0..columns).map(move |k| self.points.column(k)[i]);
        Parameters::new(Self::KIND)
            .with("shape", self.shape.name())
            .with("bandwidth", &self.bandwidth)
            .with_array("points", &[rows, columns], (0..rows).flat_map(row).collect::<Vec<f64>>())
            .with("weights", &*self.weights)
    }

    /// How the bandwidths were found, and what they are.
    fn diagnostics(&self) -> Diagnostics {
        let mut diagnostics = self.diagnostics.clone();
        diagnostics.series.push(Series::of_columns("bandwidth", self.bandwidth.clone()));
        diagnostics
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        Some(self)
    }
}

impl DensityModel for FittedKernel {
    fn dimension(&self) -> usize {
        self.bandwidth.len()
    }

    fn sample_into(&self, rng: &mut dyn Rng, out: &mut [f64]) {
        let cumulative = self.cumulative();
        let share = rng.random::<f64>() * cumulative.last().copied().unwrap_or(1.0);
        let row = cumulative.partition_point(|c| *c <= share).min(cumulative.len() - 1);
        for (k, (out, h)) in out.iter_mut().zip(&self.bandwidth).enumerate() {
            *out = self.points.column(k)[row] + h * self.shape.draw(rng);
        }
    }

    fn marginal(&self, columns: &[usize]) -> Result<Box<dyn DensityModel>> {
        if columns.is_empty() {
            return Err(Error::param("columns", "at least one", "none"));
        }
        self.check_columns(columns)?;
        Ok(Box::new(self.with_columns(columns, &self.weights)))
    }

    fn on_grid(&self, columns: [usize; 2], x: &[f64], y: &[f64]) -> Result<Vec<f64>> {
        self.check_columns(&columns)?;
        Ok(surface::on_grid(self.kernels(), &self.bandwidth, columns, [x, y]))
    }

    /// A kernel density of the other columns, a row's weight multiplied by its kernels at the values given.
    fn condition(&self, given: &[(usize, f64)]) -> Result<Box<dyn DensityModel>> {
        let columns: Vec<usize> = given.iter().map(|(column, _)| *column).collect();
        self.check_columns(&columns)?;
        let rest: Vec<usize> = (0..self.dimension()).filter(|k| !columns.contains(k)).collect();
        if rest.is_empty() {
            return Err(Error::param("given", "fewer columns than the density has", columns.len()));
        }
        if let Some((column, value)) = given.iter().find(|(_, value)| !value.is_finite()) {
            return Err(Error::param(
                "given",
                "finite values",
                format!("{value} in column {column}"),
            ));
        }
        let log_weight = |i: usize| {
            let log_kernel = |&(k, value): &(usize, f64)| {
                let t = (value - self.points.column(k)[i]).abs() * (1.0 / self.bandwidth[k]);
                if self.shape == Shape::Gaussian {
                    -0.5 * t * t
                } else {
                    self.shape.profile().value(t).ln()
                }
            };
            self.weights[i].ln() + given.iter().map(log_kernel).sum::<f64>()
        };
        let mut weights: Vec<f64> = (0..self.points.len()).map(log_weight).collect();
        let greatest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if greatest == f64::NEG_INFINITY {
            return Err(Error::param("given", "values of positive density", "values of density 0"));
        }
        for weight in &mut weights {
            *weight = (*weight - greatest).exp();
        }
        Ok(Box::new(self.with_columns(&rest, &weights)))
    }

    fn cdf(&self, x: f64) -> Result<f64> {
        if self.dimension() != 1 {
            return Err(Error::shape("columns of a density with a cdf", 1, self.dimension()));
        }
        let (values, h) = (self.points.column(0), self.bandwidth[0]);
        // Rows are sorted: those far below count whole, those far above not at all.
        let (whole, nothing) = if self.shape == Shape::Gaussian { (9.0, 39.0) } else { (1.0, 1.0) };
        let low = values.partition_point(|v| *v < x - whole * h);
        let high = values.partition_point(|v| *v <= x + nothing * h);
        let below = if low == 0 { 0.0 } else { self.cumulative()[low - 1] };
        let near = values[low..high].iter().zip(&self.weights[low..high]);
        Ok(below + near.map(|(v, w)| w * self.shape.cdf((x - v) / h)).sum::<f64>())
    }

    fn boxed(&self) -> Box<dyn DensityModel> {
        Box::new(self.clone())
    }
}

/// The stored form.
#[derive(Serialize, Deserialize)]
struct Body {
    shape: Shape,
    #[serde(with = "floats")]
    bandwidth: Vec<f64>,
    tolerance: f64,
    /// Column after column, in the order of [`Points`]: no sorting when it is read back, and the same bits.
    #[serde(with = "floats")]
    columns: Vec<f64>,
    #[serde(with = "floats")]
    weights: Vec<f64>,
    converged: Option<bool>,
    iterations: Option<usize>,
    objective: Option<f64>,
    notes: Vec<String>,
}

impl Stored<Density> for FittedKernel {
    const KIND: &'static str = "kernel";
    const VERSION: u32 = 1;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        let body: Body = record.read()?;
        let dimension = body.bandwidth.len();
        let sound = body.bandwidth.iter().all(|h| *h > 0.0 && h.is_finite())
            && are_shares(&body.weights)
            && dimension > 0
            && body.tolerance >= 0.0
            && body.columns.len() == dimension * body.weights.len()
            && body.columns.iter().all(|v| v.is_finite());
        record.require(sound)?;
        let points = Arc::new(Points::from_ordered(body.columns, dimension));
        let weights = Arc::new(body.weights);
        let model = Self::new(body.shape, body.bandwidth, body.tolerance, points, weights);
        Ok(model.with_diagnostics(Diagnostics {
            converged: body.converged,
            iterations: body.iterations,
            objective: body.objective,
            notes: body.notes,
            ..Diagnostics::default()
        }))
    }
}

/// The effective kernel of stacked kernel densities in one column: sum_m alpha_m K(u / h_m) / h_m at each offset u, in
/// the column's units \[SmythWolpert1999, section 4\].
///
/// Kernel densities of one shape on the same rows, mixed with weights alpha, are one density with this kernel.
pub fn effective_kernel(
    members: &[&FittedKernel],
    alpha: &[f64],
    column: usize,
    offsets: &[f64],
) -> Result<Vec<f64>> {
    let [first, others @ ..] = members else {
        return Err(Error::param("members", "at least one", "none"));
    };
    if alpha.len() != members.len() {
        return Err(Error::shape("weights of kernel members", members.len(), alpha.len()));
    }
    first.check_columns(&[column])?;
    let same_rows = |other: &&FittedKernel| {
        Arc::ptr_eq(&other.points, &first.points)
            || other.points.columns() == first.points.columns()
    };
    if !others.iter().all(|other| other.shape == first.shape && same_rows(other)) {
        return Err(Error::param("members", "kernels of one shape on the same rows", "not"));
    }
    let at = |&u: &f64| {
        let kernel = |(member, alpha): (&&FittedKernel, &f64)| {
            let h = member.bandwidth[column];
            alpha * member.shape.value(u / h) / h
        };
        members.iter().zip(alpha).map(kernel).sum()
    };
    Ok(offsets.iter().map(at).collect())
}
