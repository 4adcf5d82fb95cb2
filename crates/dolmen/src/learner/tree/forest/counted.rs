//! What rows count for: their weights, and how often trees have drawn them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::train::average;
use super::{ClassWeights, Truth};

/// Row weights times class weights. Where all are 1 nothing is kept: they would take as much memory as a column.
pub(super) struct Weights {
    rows: usize,
    values: Vec<f64>,
}

impl Weights {
    /// Of so many rows, with these weights if they are not all 1.
    pub(super) fn new(
        classes: ClassWeights,
        truth: Truth<'_>,
        rows: usize,
        values: Option<Vec<f64>>,
    ) -> Self {
        let mut weights = Self { rows, values: values.unwrap_or_default() };
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
pub(super) struct Times(Vec<u8>);

impl Times {
    /// Every row once.
    pub(super) fn once() -> Self {
        Self(Vec::new())
    }

    /// As many draws as rows.
    pub(super) fn drawn(rows: usize, rng: &mut ChaCha8Rng) -> Self {
        // No row is drawn more than a few times.
        let mut times = vec![0_u8; rows];
        for _ in 0..rows {
            let row = rng.random_range(0..rows as u32) as usize;
            times[row] = times[row].saturating_add(1);
        }
        Self(times)
    }

    /// As many draws as there are groups, of whole groups: rows that were not drawn then have nothing in common with those that
    /// were. Groups are numbered from 0 on ([`numbered`]).
    pub(super) fn drawn_together(groups: &[u32], rng: &mut ChaCha8Rng) -> Self {
        let count = groups.iter().max().map_or(0, |last| *last as usize + 1);
        let Self(times) = Self::drawn(count, rng);
        Self(groups.iter().map(|group| times[*group as usize]).collect())
    }

    /// How often a row was drawn.
    #[inline]
    pub(super) fn of(&self, row: usize) -> u16 {
        self.0.get(row).map_or(1, |times| u16::from(*times))
    }

    /// Row after row, if rows were drawn.
    pub(super) fn values(&self) -> &[u8] {
        &self.0
    }
}

/// The groups of rows by numbers without a gap.
pub(super) fn numbered(groups: &[u32]) -> Vec<u32> {
    let mut all = groups.to_vec();
    all.sort_unstable();
    all.dedup();
    let number = |group: &u32| all.partition_point(|other| other < group) as u32;
    groups.iter().map(number).collect()
}
