//! The normal equations of least squares, summed over rows: they can be added, taken apart by folds, and solved.
//!
//! Kept are the sums of products of inputs, target and 1 about a point near their means: about zero, a small spread
//! around a large mean would drown in rounding. Everything a fit on other rows needs (their means, standard deviations and
//! centred products) follows from these sums, so the training rows of a fold cost no pass of their own.

use dolmen_linalg::Mat;
use serde::{Deserialize, Serialize};

use crate::learner::chosen::Chosen;
use crate::learner::{Sample, scales};
use crate::math::Gram;
use crate::stats::{Accumulator, accumulate};
use crate::task::Regression;

/// Rows summed into one accumulator, and those multiplied at a time.
const PART: usize = 4096;
const BLOCK: usize = 256;

/// Rows looked at to find a point near the means.
const ANCHOR_ROWS: usize = 256;

/// Weighted sums of products over some rows of a sample.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct NormalEquations {
    /// The point about which products are formed: one value per column, then that of the target.
    anchor: Vec<f64>,
    /// Of the columns, the target and 1.
    gram: Gram,
    /// In each column, rows with a value other than 0 and 1.
    not_indicator: Vec<usize>,
}

impl Accumulator for NormalEquations {
    /// Sums about another point are first brought to the one of these.
    fn merge(&mut self, mut later: Self) {
        if later.anchor != self.anchor {
            later.move_to(&self.anchor);
        }
        self.gram.merge(later.gram);
        self.not_indicator.iter_mut().zip(later.not_indicator).for_each(|(a, b)| *a += b);
    }
}

/// Inputs and target about their means, the inputs on their scales.
#[derive(Debug, Clone)]
pub(crate) struct Centred {
    /// The sum of the row weights.
    pub(crate) weight: f64,
    /// Where each column is measured from, and its mean from there: one number for both would round a small spread.
    pub(crate) centres: Vec<f64>,
    pub(crate) means: Vec<f64>,
    pub(crate) scales: Vec<f64>,
    pub(crate) target_mean: f64,
    /// Z'WZ.
    pub(crate) scatter: Mat<f64>,
    /// Z'Wy.
    pub(crate) moments: Vec<f64>,
}

/// A point near the means of these rows: one value per column, then that of the target.
pub(crate) fn anchor(sample: &Sample<'_, Regression>, rows: Chosen<'_>) -> Vec<f64> {
    let step = rows.len().div_ceil(ANCHOR_ROWS).max(1);
    let chosen = || rows.iter().step_by(step);
    let mut sums = vec![0.0; sample.x().width() + 1];
    for i in chosen() {
        let values = sample.x().row(i).iter().chain([&sample.target()[i]]);
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    let count = chosen().count().max(1) as f64;
    sums.into_iter().map(|sum| sum / count).collect()
}

impl NormalEquations {
    /// The sums over these rows of a sample, about this point.
    pub(crate) fn over(sample: &Sample<'_, Regression>, rows: Chosen<'_>, anchor: &[f64]) -> Self {
        let columns = sample.x().width();
        let zero = || Self {
            anchor: anchor.to_vec(),
            gram: Gram::zero(columns + 2),
            not_indicator: vec![0; columns],
        };
        accumulate(rows.len(), PART, zero, |sum, part| {
            let mut z = vec![0.0; BLOCK * (columns + 2)];
            rows.for_blocks(part, BLOCK, |block| {
                sum.add(sample, block, &mut z[..block.len() * (columns + 2)]);
            });
        })
    }

    fn add(&mut self, sample: &Sample<'_, Regression>, rows: &[usize], z: &mut [f64]) {
        let columns = self.not_indicator.len();
        for (&i, z) in rows.iter().zip(z.chunks_exact_mut(columns + 2)) {
            let root = sample.weight(i).sqrt();
            let row = sample.x().row(i);
            for ((z, value), at) in z.iter_mut().zip(row).zip(&self.anchor) {
                *z = root * (value - at);
            }
            for (count, value) in self.not_indicator.iter_mut().zip(row) {
                *count += usize::from(*value != 0.0 && *value != 1.0);
            }
            z[columns] = root * (sample.target()[i] - self.anchor[columns]);
            z[columns + 1] = root;
        }
        self.gram.add_rows(z, rows.len());
    }

    /// The same sums about another point.
    fn move_to(&mut self, anchor: &[f64]) {
        let gram = &self.gram;
        let last = gram.order() - 1;
        let off = |j: usize| if j == last { 0.0 } else { self.anchor[j] - anchor[j] };
        let moved = Gram::from_fn(gram.order(), |i, j| {
            let (a, b) = (off(i), off(j));
            gram.get(i, j)
                + a * gram.get(j, last)
                + b * gram.get(i, last)
                + a * b * gram.get(last, last)
        });
        self.gram = moved;
        self.anchor.copy_from_slice(anchor);
    }

    /// The sums without some of the rows, which must be about the same point.
    #[must_use]
    pub(crate) fn without(&self, rows: &Self) -> Self {
        let mut rest = self.clone();
        rest.gram.subtract(&rows.gram);
        rest.not_indicator.iter_mut().zip(&rows.not_indicator).for_each(|(a, b)| *a -= b);
        rest
    }

    /// The point about which products are formed.
    pub(crate) fn anchor(&self) -> &[f64] {
        &self.anchor
    }

    /// The sum of the row weights.
    pub(crate) fn weight(&self) -> f64 {
        let last = self.gram.order() - 1;
        self.gram.get(last, last)
    }

    /// Element (i, j) about the means instead of the anchor.
    fn about_means(&self, i: usize, j: usize) -> f64 {
        let last = self.gram.order() - 1;
        let shift = self.gram.get(i, last) * self.gram.get(j, last) / self.weight();
        self.gram.get(i, j) - shift
    }

    /// The mean of column j, or of the target, from the anchor.
    fn mean(&self, j: usize) -> f64 {
        self.gram.get(j, self.gram.order() - 1) / self.weight()
    }

    /// Whether column j, or the target, is more than one value with rounding errors.
    fn varies(&self, j: usize) -> bool {
        self.deviation(j) > 1e-12 * (self.anchor[j] + self.mean(j)).abs()
    }

    /// The standard deviation of column j, or of the target.
    fn deviation(&self, j: usize) -> f64 {
        (self.about_means(j, j).max(0.0) / self.weight()).sqrt()
    }

    /// Whether these sums, what was left of `all` by taking rows away, are free of rounding errors that matter: every
    /// column still has a good part of its spread.
    pub(crate) fn keeps_spread_of(&self, all: &Self) -> bool {
        const LEAST_SHARE: f64 = 1e-3;
        self.weight() > LEAST_SHARE * all.weight()
            && (0..self.anchor.len())
                .filter(|&j| all.varies(j))
                .all(|j| self.about_means(j, j) > LEAST_SHARE * all.about_means(j, j))
    }

    /// About the means and on the columns' scales.
    pub(crate) fn centred(&self, standardise: bool) -> Centred {
        let columns = self.not_indicator.len();
        let means: Vec<f64> = (0..columns).map(|j| self.mean(j)).collect();
        let scale = |j: usize| {
            scales::scale(self.anchor[j] + means[j], self.deviation(j), self.not_indicator[j] == 0)
        };
        let scales: Vec<f64> =
            (0..columns).map(|j| if standardise { scale(j) } else { 1.0 }).collect();
        Centred {
            weight: self.weight(),
            scatter: Mat::from_fn(columns, columns, |i, j| {
                self.about_means(i, j) / (scales[i] * scales[j])
            }),
            moments: (0..columns).map(|j| self.about_means(j, columns) / scales[j]).collect(),
            target_mean: self.anchor[columns] + self.mean(columns),
            centres: self.anchor[..columns].to_vec(),
            means,
            scales,
        }
    }
}
