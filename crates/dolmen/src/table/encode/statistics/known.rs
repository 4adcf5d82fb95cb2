//! What is known of training rows beside their inputs, and the order in which it becomes known.

use rand::seq::SliceRandom;

use crate::run::Run;

/// The target of training rows as numbers that can be averaged, and the keys that say which rows may know of which.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What is averaged, by name: the target, or whether it is a class.
    pub names: &'a [String],
    /// So many numbers for each row.
    pub values: &'a [f64],
    /// How many rows each row counts for.
    pub weights: Option<&'a [f64]>,
    /// The group of each row.
    pub groups: Option<&'a [u32]>,
    /// The moment of each row, counted from 0.
    pub moments: Option<&'a [usize]>,
    /// Moments before a row's own that are not yet known.
    pub gap: usize,
}

impl Known<'_> {
    /// The weighted means over all rows.
    pub(super) fn means(&self) -> Vec<f64> {
        let width = self.names.len();
        let (mut total, mut sums) = (0.0, vec![0.0; width]);
        for (i, values) in self.values.chunks_exact(width).enumerate() {
            let weight = self.weight(i);
            total += weight;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        }
        sums.iter().map(|sum| sum / total).collect()
    }

    pub(super) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// The rows in the order in which they become known, those together that do at once.
    pub(super) fn order(&self, run: &Run) -> Order {
        let rows = self.values.len() / self.names.len();
        let mut order: Vec<u32> = (0..rows as u32).collect();
        let batch = |row: u32| match (self.moments, self.groups) {
            (Some(moments), _) => moments[row as usize],
            (None, Some(groups)) => groups[row as usize] as usize,
            (None, None) => row as usize,
        };
        order.sort_by_key(|row| batch(*row));
        let mut batches: Vec<&[u32]> = order.chunk_by(|a, b| batch(*a) == batch(*b)).collect();
        // Times have their order; groups and single rows have none.
        if self.moments.is_none() {
            batches.shuffle(&mut run.rng());
        }
        let end = |end: &mut usize, batch: &&[u32]| {
            *end += batch.len();
            Some(*end)
        };
        let ends = batches.iter().scan(0, end).collect();
        Order { rows: batches.concat(), ends }
    }
}

/// An order of rows.
pub(super) struct Order {
    rows: Vec<u32>,
    /// Where those end that become known at once.
    pub(super) ends: Vec<usize>,
}

impl Order {
    pub(super) fn batch(&self, batch: usize) -> &[u32] {
        let start = if batch == 0 { 0 } else { self.ends[batch - 1] };
        &self.rows[start..self.ends[batch]]
    }
}
