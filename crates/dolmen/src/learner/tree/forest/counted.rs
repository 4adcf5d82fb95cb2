//! What rows count for: their weights, and how often trees have drawn them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::train::average;
use super::{ClassWeights, ForestTask, Truth};
use crate::learner::Sample;

/// Row weights times class weights. Where all are 1 nothing is kept: they would take as much memory as a column.
pub(super) struct Weights {
    rows: usize,
    values: Vec<f64>,
}

impl Weights {
    pub(super) fn new<T: ForestTask>(
        classes: ClassWeights,
        truth: Truth<'_>,
        sample: &Sample<'_, T>,
    ) -> Self {
        let values = sample.weights().map(<[f64]>::to_vec).unwrap_or_default();
        let mut weights = Self { rows: sample.rows(), values };
        if let (Truth::Classes(codes, count), ClassWeights::Balanced) = (truth, classes) {
            let shares = average(truth, &weights);
            weights.values.resize(weights.rows, 1.0);
            for (weight, &class) in weights.values.iter_mut().zip(codes) {
                *weight /= count as f64 * shares[class as usize].max(f64::MIN_POSITIVE);
            }
        }
        if weights.values.iter().all(|weight| *weight == 1.0) {
            weights.values = Vec::new();
        }
        weights
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The weight of a row.
    #[inline]
    pub(super) fn of(&self, row: usize) -> f64 {
        self.values.get(row).copied().unwrap_or(1.0)
    }

    /// Whether all weights are 1, so that sums are counts.
    pub(super) fn are_counts(&self) -> bool {
        i32::try_from(self.rows).is_ok() && self.values.is_empty()
    }
}

/// How often a tree has drawn each row; nothing is kept where it takes every row once.
pub(super) struct Times(Vec<u16>);

impl Times {
    /// Every row once.
    pub(super) fn once() -> Self {
        Self(Vec::new())
    }

    /// As many draws as rows.
    pub(super) fn drawn(rows: usize, rng: &mut ChaCha8Rng) -> Self {
        let mut times = vec![0_u16; rows];
        for _ in 0..rows {
            let row = rng.random_range(0..rows as u32) as usize;
            times[row] = times[row].saturating_add(1);
        }
        Self(times)
    }

    /// How often a row was drawn.
    #[inline]
    pub(super) fn of(&self, row: usize) -> u16 {
        self.0.get(row).copied().unwrap_or(1)
    }

    /// Row after row, if rows were drawn.
    pub(super) fn values(&self) -> &[u16] {
        &self.0
    }
}
