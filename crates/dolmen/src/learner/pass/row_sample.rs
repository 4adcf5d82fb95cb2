//! A sample of the rows, drawn by their numbers: the same rows whoever reads them, and in whatever pieces.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Piece;
use crate::error::Result;
use crate::run::mix;
use crate::table::{Features, Schema};
use crate::task::Task;

/// The rows of least key, where a row's key is a hash of its number: at most so many, each subset as likely as any other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RowSample {
    seed: u64,
    most: usize,
    width: usize,
    /// Key and number of each row.
    rows: Vec<(u64, u64)>,
    #[serde(with = "crate::store::floats")]
    weights: Vec<f64>,
    #[serde(with = "crate::store::floats")]
    values: Vec<f64>,
}

impl RowSample {
    /// No rows yet, of so many columns.
    pub(crate) fn new(most: usize, width: usize, seed: u64) -> Self {
        let (rows, weights, values) = (Vec::new(), Vec::new(), Vec::new());
        Self { seed, most, width, rows, weights, values }
    }

    /// Offers the rows of a piece that count.
    pub(crate) fn add<T: Task>(&mut self, piece: &Piece<'_, T>) {
        self.offer(piece, |_| None);
    }

    /// The same with one more value for each row, such as what is to be predicted.
    pub(crate) fn add_with<T: Task>(&mut self, piece: &Piece<'_, T>, last: impl Fn(usize) -> f64) {
        self.offer(piece, |i| Some(last(i)));
    }

    fn offer<T: Task>(&mut self, piece: &Piece<'_, T>, last: impl Fn(usize) -> Option<f64>) {
        if self.most == 0 {
            return;
        }
        let x = piece.sample.x();
        for i in 0..x.rows() {
            let (number, weight) = (piece.number(i), piece.sample.weight(i));
            if weight > 0.0 {
                self.rows.push((mix(self.seed ^ mix(number)), number));
                self.weights.push(weight);
                self.values.extend_from_slice(x.row(i));
                self.values.extend(last(i));
            }
            if self.rows.len() >= 2 * self.most {
                self.prune();
            }
        }
    }

    /// Adds a sample of other rows.
    pub(crate) fn merge(&mut self, later: Self) {
        self.rows.extend(later.rows);
        self.weights.extend(later.weights);
        self.values.extend(later.values);
        if self.rows.len() > self.most {
            self.prune();
        }
    }

    /// Keeps the rows of least key, in the order in which they stand.
    fn prune(&mut self) {
        if self.rows.len() <= self.most {
            return;
        }
        let mut keys = self.rows.clone();
        let (_, &mut largest, _) = keys.select_nth_unstable(self.most - 1);
        let width = self.width;
        let mut kept = 0;
        for i in 0..self.rows.len() {
            if self.rows[i] <= largest {
                self.rows[kept] = self.rows[i];
                self.weights[kept] = self.weights[i];
                self.values.copy_within(i * width..(i + 1) * width, kept * width);
                kept += 1;
            }
        }
        self.rows.truncate(kept);
        self.weights.truncate(kept);
        self.values.truncate(kept * width);
    }

    /// The sample, in the order of the rows' numbers, and the rows' weights.
    pub(crate) fn finish(self, schema: &Arc<Schema>) -> Result<(Features, Vec<f64>)> {
        let (values, weights) = self.finish_plain();
        Ok((Features::new(values, Arc::clone(schema))?, weights))
    }

    /// The same as numbers, row after row.
    pub(crate) fn finish_plain(mut self) -> (Vec<f64>, Vec<f64>) {
        self.prune();
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| self.rows[i].1);
        let width = self.width;
        let row = |&i: &usize| self.values[i * width..(i + 1) * width].iter().copied();
        let values: Vec<f64> = order.iter().flat_map(row).collect();
        let weights = order.iter().map(|&i| self.weights[i]).collect();
        (values, weights)
    }
}
