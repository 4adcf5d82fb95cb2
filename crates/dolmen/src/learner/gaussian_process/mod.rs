//! Gaussian process regression (RasmussenWilliams2006, chapters 2 and 5), on complete numbers.
//!
//! Rows that are alike have like numbers: how alike, column by column, and how much of a number is noise, is found by the evidence
//! of the rows. `evidence` measures that, `model` predicts. The evidence costs the cube of the rows, so it is asked of some of them;
//! with what it says, all rows are learned from: where there are many, by functions about some of them (`basis`).

mod basis;
mod evidence;
mod model;

use dolmen_linalg::{Cholesky, Mat};
use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use model::FittedGaussianProcess;

use super::likeness::{Compared, Likeness};
use super::scales::{Scales, require_moderate, require_numbers};
use super::unit::Unit;
use super::{Fitted, Learner, Sample};
use crate::error::{Error, Result, within};
use crate::math::quasi_newton::{self, Stop};
use crate::memory;
use crate::run::Run;
use crate::spec::Spec;
use crate::task::Regression;
use evidence::Evidence;
use model::Body;

/// Fewer rows than this say nothing of lengths.
const FEWEST: usize = 2;
/// When the search for lengths and noise ends: they need not be exact, and each step costs the cube of the rows.
const STOP: Stop = Stop { gradient: 0.05, iterations: 40 };

/// A Gaussian process: a smooth function of the inputs, and noise.
///
/// Each column has a length over which numbers stay alike; columns that do not matter get long ones. A row of weight 2 is the
/// row twice. In the catalogue its numbers are squashed first ([`Outliers::Squash`](crate::table::encode::Outliers)): one value far from
/// the others would leave them all alike.
///
/// ```
/// use dolmen::learner::Learner;
/// use dolmen::learner::gaussian_process::{GaussianProcess, Kernel};
///
/// let smooth = GaussianProcess { kernel: Kernel::Rbf, ..GaussianProcess::default() };
/// assert_eq!(smooth.members(), ["gaussian-process(kernel=rbf)"]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianProcess {
    /// How likeness falls with distance.
    pub kernel: Kernel,
    /// Rows at most that lengths and noise are found from, drawn at random, 2 to 5000: the time grows with their cube.
    #[schemars(range(min = 2, max = 5000))]
    pub rows: usize,
    /// Rows at most that predictions are made of, 2 to 10 000. Of more, so many are drawn, and all are fitted by functions about these: the
    /// time grows with the rows and the square of this.
    #[schemars(range(min = 2, max = 10_000))]
    pub basis: usize,
}

/// How likeness falls with distance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// Matern's of smoothness 5/2: functions that have two derivatives.
    #[default]
    Matern,
    /// exp(-r^2/2): functions that are smooth without end.
    Rbf,
}

impl Kernel {
    fn likeness(self) -> Likeness {
        match self {
            Self::Matern => Likeness::Matern,
            Self::Rbf => Likeness::Rbf { gamma: 0.5 },
        }
    }
}

impl Default for GaussianProcess {
    fn default() -> Self {
        Self { kernel: Kernel::Matern, rows: 300, basis: 1000 }
    }
}

/// The rows that count: inputs on one scale, the target in units of its deviation.
struct Training {
    scales: Scales,
    points: Vec<f64>,
    target: Vec<f64>,
    weights: Vec<f64>,
    unit: Unit,
    /// Mean and deviation of the target in its unit.
    moments: (f64, f64),
}

impl Training {
    fn of(sample: &Sample<'_, Regression>) -> Result<Self> {
        require_numbers(sample.x())?;
        require_moderate(sample.x())?;
        let rows: Vec<usize> = (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0).collect();
        if rows.is_empty() {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let weights: Vec<f64> = rows.iter().map(|&i| sample.weight(i)).collect();
        let unit = Unit::of(sample.target(), |i| sample.weight(i))?;
        let mut target: Vec<f64> = rows.iter().map(|&i| unit.express(sample.target()[i])).collect();
        let total: f64 = weights.iter().sum();
        let mean_of = |value: &dyn Fn(usize) -> f64| {
            (0..rows.len()).map(|i| weights[i] * value(i)).sum::<f64>() / total
        };
        let mean = mean_of(&|i| target[i]);
        let deviation = mean_of(&|i| (target[i] - mean) * (target[i] - mean)).sqrt();
        let deviation = if deviation > 1e-12 * mean.abs() { deviation } else { 1.0 };
        target.iter_mut().for_each(|y| *y = (*y - mean) / deviation);
        let scales = Scales::fit(sample.x(), sample.weights());
        let points = scales.apply(sample.x().view(&rows).rows());
        Ok(Self { scales, points, target, weights, unit, moments: (mean, deviation) })
    }

    fn rows(&self) -> usize {
        self.target.len()
    }

    fn columns(&self) -> usize {
        self.scales.centres().len()
    }

    /// The evidence of some of the rows.
    fn evidence(&self, kernel: Kernel, chosen: &[usize]) -> Evidence {
        let columns = self.columns();
        let points = chosen.iter().flat_map(|i| &self.points[i * columns..(i + 1) * columns]);
        Evidence {
            kernel,
            columns,
            points: points.copied().collect(),
            target: chosen.iter().map(|&i| self.target[i]).collect(),
            weights: chosen.iter().map(|&i| self.weights[i]).collect(),
        }
    }

    /// What each row adds to a prediction: (K + noise / weights)^-1 y.
    fn coefficients(&self, compared: &Compared, noise: f64) -> Result<Vec<f64>> {
        let (rows, columns) = (self.rows(), compared.padded());
        let needed = memory::size(&[rows, 2 * rows + columns, size_of::<f64>()]);
        memory::claim(needed, "the likeness of all rows to each other")?;
        let mut likeness = vec![0.0; rows * columns];
        for (i, out) in likeness.chunks_exact_mut(columns).enumerate() {
            compared.compare(&compared.row(i), out);
            out[i] += noise / self.weights[i];
        }
        let matrix = Mat::from_fn(rows, rows, |i, j| likeness[i * columns + j]);
        drop(likeness);
        let factor = Cholesky::new(matrix.as_ref()).ok_or_else(|| {
            Error::param("likeness of the rows", "one that can be inverted", "numerically singular")
        })?;
        Ok(factor.solve_vector(&self.target))
    }
}

impl GaussianProcess {
    fn fit_model(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<FittedGaussianProcess> {
        within("rows", self.rows, FEWEST..=5000)?;
        within("basis", self.basis, FEWEST..=10_000)?;
        let training = Training::of(sample)?;
        let columns = training.columns();
        let chosen = drawn(training.rows(), self.rows, run);
        let evidence = training.evidence(self.kernel, &chosen);
        let function = |at: &[f64], slopes: &mut [f64]| {
            run.check()?;
            Ok(evidence.at(at, slopes))
        };
        let found = quasi_newton::minimise(function, evidence.start(), STOP)?;
        let (lengths, noise) = evidence::meaning(&found.at);
        let mut points = training.points.clone();
        for row in points.chunks_exact_mut(columns) {
            row.iter_mut().zip(&lengths).for_each(|(value, length)| *value /= length);
        }
        let likeness = self.kernel.likeness();
        let coefficients = if training.rows() <= self.basis {
            training.coefficients(&Compared::new(likeness, &points, columns), noise)?
        } else {
            let own = drawn(training.rows(), self.basis, &run.stream("basis"));
            let of_row = |i: &usize| points[i * columns..(i + 1) * columns].to_vec();
            let basis: Vec<f64> = own.iter().flat_map(of_row).collect();
            let compared = Compared::new(likeness, &basis, columns);
            let coefficients = basis::coefficients(&training, &points, &compared, noise)?;
            points = basis;
            coefficients
        };
        run.check()?;
        let Training { scales, unit, moments, .. } = training;
        let iterations = found.iterations;
        FittedGaussianProcess::new(Body {
            scales,
            lengths,
            noise,
            likeness,
            points,
            coefficients,
            unit,
            moments,
            iterations,
        })
    }
}

/// So many of the rows at most, drawn at random, ascending.
fn drawn(rows: usize, most: usize, run: &Run) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..rows).collect();
    if rows > most {
        chosen.shuffle(&mut run.rng());
        chosen.truncate(most);
        chosen.sort_unstable();
    }
    chosen
}

impl Learner<Regression> for GaussianProcess {
    fn members(&self) -> Vec<String> {
        vec![Spec::of("gaussian-process", self).to_string()]
    }

    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        Ok(vec![Box::new(self.fit_model(sample, run)?)])
    }
}
