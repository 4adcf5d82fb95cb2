//! Experts of numbers: p_k(t given x) = N(t; u_k'z, s_k^2), linear with a variance of their own (Bishop2006, eq. 14.53).
//!
//! The prior of an expert is conjugate: log p(u, s^2) = -(lambda |u|^2 + a ((u'0 - m)^2 + v)) / (2 s^2) - (a/2) ln s^2. Its
//! first part is ridge regression's penalty whatever s is; the rest are a rows imagined at the centre of the inputs, drawn
//! from the single model that is fitted to all rows, with mean m and variance v there. They keep an expert's variance
//! from shrinking around a few rows, and one expert alone is ridge regression to the last digit. The M-step is weighted
//! least squares.

use std::ops::Range;

use dolmen_linalg::Mat;

use super::design::Design;
use super::em::Family;
use crate::error::Result;
use crate::learner::linear::newton;
use crate::math::{Gram, bulk};
use crate::run::Run;
use crate::stats::{Accumulator, accumulate};

/// Rows summed into one accumulator, and those multiplied at a time.
const PART: usize = 4096;
const BLOCK: usize = 256;

/// The least variance that the single model is taken to have, of a target of variance 1: a target without noise.
const LEAST_VARIANCE: f64 = 1e-10;

/// A target that linear experts predict.
#[derive(Debug)]
pub(super) struct Gaussian {
    /// With mean 0 and variance 1.
    target: Vec<f64>,
    pub(super) centre: f64,
    pub(super) spread: f64,
    ridge: f64,
    single: Linear,
}

/// The parameters of experts.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    /// Expert after expert: one coefficient per column and the intercept.
    coefficients: Vec<f64>,
    pub(super) variances: Vec<f64>,
}

/// Each expert's weighted sums of products of the columns, 1 and the target.
struct Products(Vec<Gram>);

impl Accumulator for Products {
    fn merge(&mut self, later: Self) {
        self.0.iter_mut().zip(later.0).for_each(|(a, b)| a.merge(b));
    }
}

impl Gaussian {
    /// The target of the design's rows, and the single model.
    pub(super) fn new(design: &Design, target: &[f64], ridge: f64) -> Self {
        let (weights, total) = (design.weights(), design.total());
        let centre = bulk::dot(weights, target) / total;
        let squares = target.iter().zip(weights).map(|(t, w)| w * (t - centre) * (t - centre));
        let deviation = (squares.sum::<f64>() / total).sqrt();
        let varies = deviation > 1e-12 * centre.abs() && deviation.is_finite();
        let spread = if varies { deviation } else { 1.0 };
        let target = target.iter().map(|t| (t - centre) / spread).collect();
        let single = Linear { coefficients: Vec::new(), variances: Vec::new() };
        let mut family = Self { target, centre, spread, ridge, single };
        let all = vec![1.0; design.rows()];
        let gram = &family.products(design, &all, 1).0[0];
        let mut coefficients = vec![0.0; design.width()];
        let squares = family.least_squares(gram, &mut coefficients);
        let variances = vec![(squares / design.total()).max(LEAST_VARIANCE)];
        family.single = Linear { coefficients, variances };
        family
    }

    /// Sums over all rows, weighted by each expert's responsibilities.
    fn products(&self, design: &Design, responsibilities: &[f64], count: usize) -> Products {
        let width = design.width();
        let zero = || Products(vec![Gram::zero(width + 1); count]);
        accumulate(design.rows(), PART, zero, |sum, part| {
            let mut z = vec![0.0; BLOCK * (width + 1)];
            let mut weighted = z.clone();
            for first in part.clone().step_by(BLOCK) {
                let rows = first..part.end.min(first + BLOCK);
                let cells = rows.len() * (width + 1);
                for (i, z) in rows.clone().zip(z.chunks_exact_mut(width + 1)) {
                    z[..width].copy_from_slice(design.row(i));
                    z[width] = self.target[i];
                }
                for (k, gram) in sum.0.iter_mut().enumerate() {
                    let pairs = z.chunks_exact(width + 1).zip(weighted.chunks_exact_mut(width + 1));
                    for (i, (z, weighted)) in rows.clone().zip(pairs) {
                        let weight = design.weights()[i] * responsibilities[i * count + k];
                        weighted.iter_mut().zip(z).for_each(|(out, z)| *out = weight * z);
                    }
                    gram.add_weighted_rows(&z[..cells], &weighted[..cells], rows.len());
                }
            }
        })
    }

    /// Moves coefficients to where the sum of squares and penalty is least; returns that sum.
    fn least_squares(&self, gram: &Gram, coefficients: &mut [f64]) -> f64 {
        let width = coefficients.len();
        let penalty = |j: usize| if j < width - 1 { self.ridge } else { 0.0 };
        let against = |coefficients: &[f64]| [coefficients, &[-1.0]].concat();
        // From where they are: a second step of the same kind would only polish the first.
        let mut gradient = gram.times(&against(coefficients));
        gradient.truncate(width);
        gradient.iter_mut().enumerate().for_each(|(j, g)| *g += penalty(j) * coefficients[j]);
        if gradient.iter().any(|g| *g != 0.0) {
            let hessian = Mat::from_fn(width, width, |i, j| {
                gram.get(i, j) + if i == j { penalty(i) } else { 0.0 }
            });
            bulk::add_scaled(coefficients, 1.0, &newton::direction(hessian, &gradient));
        }
        let residual = against(coefficients);
        let slopes = &coefficients[..width - 1];
        bulk::dot(&residual, &gram.times(&residual)).max(0.0)
            + self.ridge * bulk::dot(slopes, slopes)
    }

    /// The single model's prediction at the centre of the inputs, and its variance.
    fn imagined(&self) -> (f64, f64) {
        let single = &self.single;
        (single.coefficients[single.coefficients.len() - 1], single.variances[0])
    }
}

impl Family for Gaussian {
    type Experts = Linear;

    fn outputs(&self) -> usize {
        1
    }

    fn several(&self, count: usize) -> Linear {
        Linear {
            coefficients: self.single.coefficients.repeat(count),
            variances: self.single.variances.repeat(count),
        }
    }

    fn coefficients(&self, experts: &Linear, _width: usize) -> Vec<f64> {
        experts.coefficients.clone()
    }

    fn ln_likelihood(
        &self,
        experts: &Linear,
        rows: Range<usize>,
        outputs: &mut [f64],
        _room: &mut [f64],
        out: &mut [f64],
    ) {
        let count = rows.len();
        let columns = outputs.chunks_exact(count).zip(out.chunks_exact_mut(count));
        for ((means, out), variance) in columns.zip(&experts.variances) {
            let constant = -0.5 * (std::f64::consts::TAU * variance).ln();
            let factor = -0.5 / variance;
            for ((out, mean), t) in out.iter_mut().zip(means).zip(&self.target[rows.clone()]) {
                *out = constant + factor * (t - mean) * (t - mean);
            }
        }
    }

    fn ln_prior(&self, experts: &Linear, design: &Design) -> f64 {
        let (mean, variance) = self.imagined();
        let width = design.width();
        let expert = |(u, s): (&[f64], &f64)| {
            let (slopes, off) = (&u[..width - 1], u[width - 1] - mean);
            let squares =
                self.ridge * bulk::dot(slopes, slopes) + design.prior() * (off * off + variance);
            -0.5 * (squares / s + design.prior() * s.ln())
        };
        experts.coefficients.chunks_exact(width).zip(&experts.variances).map(expert).sum()
    }

    fn improve(
        &self,
        experts: &mut Linear,
        design: &Design,
        responsibilities: &[f64],
        _run: &Run,
    ) -> Result<()> {
        let (width, count) = (design.width(), experts.variances.len());
        let mut products = self.products(design, responsibilities, count);
        let (mean, variance) = self.imagined();
        let row = [design.row(design.rows()), &[mean]].concat();
        let weighted: Vec<f64> = row.iter().map(|value| design.prior() * value).collect();
        let places = experts.coefficients.chunks_exact_mut(width).zip(&mut experts.variances);
        for ((coefficients, place), gram) in places.zip(&mut products.0) {
            gram.add_weighted_rows(&row, &weighted, 1);
            let squares = self.least_squares(gram, coefficients) + design.prior() * variance;
            *place = squares / gram.get(width - 1, width - 1);
        }
        Ok(())
    }
}
