//! Ridge solutions for every penalty from one eigendecomposition (HastieTibshiraniFriedman2009, section 3.4.1).
//!
//! With inputs Z about their means, Z'WZ = V D V' and r = V'Z'Wy: beta(lambda) = V (D + lambda)^-1 r. Leaving out one row
//! changes its residual e to e / (1 - h), h = w/W + w z'(Z'WZ + lambda)^-1 z, so the leave-one-out error of every
//! penalty (PRESS, Allen1974) takes one pass over the rows.

use dolmen_linalg::{Mat, MatMut, MatRef, eigen, multiply, product};
use serde::{Deserialize, Serialize};

use super::normal_equations::{Centred, NormalEquations};
use crate::error::{Error, Place, Result};
use crate::learner::Sample;
use crate::learner::chosen::Chosen;
use crate::learner::scales::Scales;
use crate::stats::{Accumulator, accumulate};
use crate::task::Regression;

/// An eigenvalue below this share of the largest is rounding error: without a penalty, its direction is left alone.
const SINGULAR: f64 = 1e-12;

/// Rows summed into one accumulator, and those multiplied at a time.
const PART: usize = 4096;
const BLOCK: usize = 256;

/// The ridge solutions of some rows, for every penalty.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Solutions {
    /// The sum of the row weights.
    weight: f64,
    /// Where each column is measured from, and its mean from there.
    centres: Vec<f64>,
    means: Vec<f64>,
    target_mean: f64,
    /// From columns about their means to directions: V on the columns' own scales.
    #[serde(with = "by_columns")]
    rotation: Mat<f64>,
    /// The eigenvalues D, each the spread of a direction.
    spreads: Vec<f64>,
    /// The moments r, each that of a direction with the target.
    moments: Vec<f64>,
}

impl Solutions {
    /// From sums over the rows.
    pub(crate) fn of_equations(equations: &NormalEquations, standardise: bool) -> Result<Self> {
        let Centred { weight, centres, means, scales, target_mean, scatter, moments } =
            equations.centred(standardise);
        let (rotation, spreads) = directions(&scatter)?;
        let moments = (0..spreads.len())
            .map(|k| moments.iter().enumerate().map(|(j, m)| rotation[(j, k)] * m).sum())
            .collect();
        let rotation =
            Mat::from_fn(means.len(), spreads.len(), |j, k| rotation[(j, k)] / scales[j]);
        Ok(Self { weight, centres, means, target_mean, rotation, spreads, moments })
    }

    /// From the rows themselves, for more columns than rows: with A the rows about their means, AA' = U D U' is the smaller
    /// matrix, and V = A'U D^(-1/2).
    pub(crate) fn of_rows(sample: &Sample<'_, Regression>, standardise: bool) -> Result<Self> {
        let (x, y, weight) = (sample.x(), sample.target(), sample.total_weight());
        let scales =
            if standardise { Scales::fit(x, sample.weights()) } else { Scales::none(x.width()) };
        let centres = x.row(0).to_vec();
        let mean = |centre: f64, value: &dyn Fn(usize) -> f64| {
            let sum: f64 = (0..x.rows()).map(|i| sample.weight(i) * (value(i) - centre)).sum();
            sum / weight
        };
        let means: Vec<f64> = (0..x.width()).map(|j| mean(centres[j], &|i| x.row(i)[j])).collect();
        let target_mean = y[0] + mean(y[0], &|i| y[i]);
        let a = Mat::from_fn(x.rows(), x.width(), |i, j| {
            sample.weight(i).sqrt() * (x.row(i)[j] - centres[j] - means[j]) / scales.scales()[j]
        });
        let (u, spreads) = directions(&product(a.as_ref(), a.transpose()))?;
        let largest = spreads.iter().fold(0.0_f64, |a, b| a.max(*b));
        let kept: Vec<usize> =
            (0..spreads.len()).filter(|&k| spreads[k] > SINGULAR * largest).collect();
        let v = product(a.transpose(), u.as_ref());
        let rotation = Mat::from_fn(x.width(), kept.len(), |j, k| {
            v[(j, kept[k])] / (spreads[kept[k]].sqrt() * scales.scales()[j])
        });
        let moment = |&k: &usize| {
            let target = |i: usize| sample.weight(i).sqrt() * (y[i] - target_mean);
            spreads[k].sqrt() * (0..x.rows()).map(|i| u[(i, k)] * target(i)).sum::<f64>()
        };
        let moments = kept.iter().map(moment).collect();
        let spreads = kept.iter().map(|&k| spreads[k]).collect();
        Ok(Self { weight, centres, means, target_mean, rotation, spreads, moments })
    }

    /// Where each column is measured from: a point near the means.
    pub(crate) fn centres(&self) -> &[f64] {
        &self.centres
    }

    /// What these coefficients predict where every column is at its centre.
    pub(crate) fn at_centres(&self, coefficients: &[f64]) -> f64 {
        let shift: f64 = self.means.iter().zip(coefficients).map(|(mean, b)| mean * b).sum();
        self.target_mean - shift
    }

    /// The mean spread of a column: a penalty of this size halves the coefficient of a typical direction.
    pub(crate) fn mean_spread(&self) -> f64 {
        self.spreads.iter().sum::<f64>() / self.means.len().max(1) as f64
    }

    /// 1 / (D + lambda), and 0 in directions without spread where nothing is penalised.
    fn inverses(&self, lambda: f64) -> impl Iterator<Item = f64> {
        let largest = self.spreads.iter().fold(0.0_f64, |a, b| a.max(*b));
        self.spreads.iter().map(move |spread| {
            let total = spread.max(0.0) + lambda;
            if total > SINGULAR * largest { 1.0 / total } else { 0.0 }
        })
    }

    /// The coefficients of the columns, in the data's own units.
    pub(crate) fn coefficients(&self, lambda: f64) -> Vec<f64> {
        let turned: Vec<f64> =
            self.inverses(lambda).zip(&self.moments).map(|(inverse, r)| inverse * r).collect();
        let coefficient =
            |j: usize| turned.iter().enumerate().map(|(k, b)| self.rotation[(j, k)] * b).sum();
        (0..self.means.len()).map(coefficient).collect()
    }

    /// The mean squared leave-one-out error of each penalty on the rows the solutions are of.
    pub(crate) fn leave_one_out(
        &self,
        sample: &Sample<'_, Regression>,
        rows: Chosen<'_>,
        lambdas: &[f64],
    ) -> Vec<f64> {
        self.mean_errors(self.squared_errors(sample, rows, lambdas))
    }

    /// Mean errors from their sums over all rows.
    pub(super) fn mean_errors(&self, Errors(sums): Errors) -> Vec<f64> {
        sums.into_iter().map(|sum| sum / self.weight).collect()
    }

    /// The sum of the squared leave-one-out errors of each penalty, over some of the rows the solutions are of. Of a row that
    /// counts as several, one is left out.
    pub(super) fn squared_errors(
        &self,
        sample: &Sample<'_, Regression>,
        rows: Chosen<'_>,
        lambdas: &[f64],
    ) -> Errors {
        let mut inverses = Mat::zeros(self.spreads.len(), lambdas.len());
        let mut turned = inverses.clone();
        for (l, &lambda) in lambdas.iter().enumerate() {
            for (k, inverse) in self.inverses(lambda).enumerate() {
                inverses[(k, l)] = inverse;
                turned[(k, l)] = inverse * self.moments[k];
            }
        }
        let zero = || Errors(vec![0.0; lambdas.len()]);
        accumulate(rows.len(), PART, zero, |sum, part| {
            let mut pass = LeaveOneOut::new(self, &inverses, &turned);
            rows.for_blocks(part, BLOCK, |block| pass.add(sample, block, &mut sum.0));
        })
    }
}

/// Eigenvectors, as columns, and eigenvalues of a symmetric matrix.
fn directions(matrix: &Mat<f64>) -> Result<(Mat<f64>, Vec<f64>)> {
    eigen(matrix.as_ref()).ok_or_else(|| {
        let problem = "the inputs are too large or too unlike in size to be multiplied";
        Error::data(Place::default(), problem)
    })
}

/// Sums of squared errors, one per penalty.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Errors(pub(super) Vec<f64>);

/// Serde for a matrix: its shape, and its numbers column after column.
mod by_columns {
    use dolmen_linalg::{Mat, MatRef};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Stored {
        rows: usize,
        columns: usize,
        #[serde(with = "crate::store::floats")]
        values: Vec<f64>,
    }

    pub(super) fn serialize<S: Serializer>(
        matrix: &Mat<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let values =
            matrix.col_iter().flat_map(|column| column.iter().copied().collect::<Vec<_>>());
        let (rows, columns) = matrix.shape();
        Stored { rows, columns, values: values.collect() }.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Mat<f64>, D::Error> {
        let Stored { rows, columns, values } = Stored::deserialize(deserializer)?;
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(D::Error::invalid_length(values.len(), &"the cells of a matrix"));
        }
        Ok(MatRef::from_column_major_slice(&values, rows, columns).to_owned())
    }
}

impl Accumulator for Errors {
    fn merge(&mut self, later: Self) {
        self.0.iter_mut().zip(later.0).for_each(|(a, b)| *a += b);
    }
}

/// Room for the products of a block of rows.
struct LeaveOneOut<'a> {
    solutions: &'a Solutions,
    inverses: &'a Mat<f64>,
    turned: &'a Mat<f64>,
    about_means: Vec<f64>,
    directions: Vec<f64>,
    leverages: Vec<f64>,
    predictions: Vec<f64>,
}

impl<'a> LeaveOneOut<'a> {
    fn new(solutions: &'a Solutions, inverses: &'a Mat<f64>, turned: &'a Mat<f64>) -> Self {
        let room = |width: usize| vec![0.0; BLOCK * width];
        Self {
            about_means: room(solutions.means.len()),
            directions: room(inverses.nrows()),
            leverages: room(inverses.ncols()),
            predictions: room(inverses.ncols()),
            solutions,
            inverses,
            turned,
        }
    }

    /// Adds the squared errors of some rows.
    fn add(&mut self, sample: &Sample<'_, Regression>, rows: &[usize], sums: &mut [f64]) {
        let Solutions { centres, means, rotation, weight, target_mean, .. } = self.solutions;
        for (&i, out) in rows.iter().zip(self.about_means.chunks_exact_mut(means.len().max(1))) {
            let places = centres.iter().zip(means);
            for ((out, value), (centre, mean)) in out.iter_mut().zip(sample.x().row(i)).zip(places)
            {
                *out = value - centre - mean;
            }
        }
        turn(&self.about_means, rotation, &mut self.directions, rows.len());
        turn(&self.directions, self.turned, &mut self.predictions, rows.len());
        self.directions.iter_mut().for_each(|direction| *direction *= *direction);
        turn(&self.directions, self.inverses, &mut self.leverages, rows.len());
        let width = sums.len();
        let found = self.predictions.chunks_exact(width).zip(self.leverages.chunks_exact(width));
        for (&i, (predictions, leverages)) in rows.iter().zip(found) {
            let residual = sample.target()[i] - target_mean;
            let (own, left_out) = (sample.weight(i), sample.weight(i).min(1.0));
            for ((sum, prediction), leverage) in sums.iter_mut().zip(predictions).zip(leverages) {
                let rest = 1.0 - left_out * (1.0 / weight + leverage);
                let error = (residual - prediction) / rest.max(f64::EPSILON);
                *sum += own * error * error;
            }
        }
    }
}

/// `out = rows * matrix` for rows that stand one after the other.
fn turn(rows: &[f64], matrix: &Mat<f64>, out: &mut [f64], count: usize) {
    let (inner, width) = (matrix.nrows(), matrix.ncols());
    multiply(
        MatMut::from_row_major_slice_mut(&mut out[..count * width], count, width),
        MatRef::from_row_major_slice(&rows[..count * inner], count, inner),
        matrix.as_ref(),
    );
}
