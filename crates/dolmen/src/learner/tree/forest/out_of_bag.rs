//! What the trees say of rows they have not drawn: the forest's own estimate of how good it is (Breiman 2001, section 3.1),
//! and of how much each column matters (section 10).

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Truth;
use super::packed::PackedRows;
use super::train::{Planted, Plot};
use crate::learner::Series;

/// Rows looked at in one piece of work.
const BLOCK: usize = 4096;

/// Sums over the trees to which a row is fresh.
pub(super) struct OutOfBag<'a> {
    plot: &'a Plot<'a>,
    x: &'a PackedRows,
    /// Row after row: what the trees say, and how many there are.
    said: Vec<f64>,
    trees: Vec<u32>,
}

impl<'a> OutOfBag<'a> {
    pub(super) fn new(plot: &'a Plot<'a>, x: &'a PackedRows) -> Self {
        let stride = match plot.truth {
            Truth::Classes(_, count) if count > 2 => count,
            _ => 1,
        };
        Self { plot, x, said: vec![0.0; x.rows() * stride], trees: vec![0; x.rows()] }
    }

    /// Adds what some trees say. Every row hears them in their order, whatever the number of threads.
    pub(super) fn add(&mut self, batch: &[Planted]) {
        let stride = self.said.len() / self.trees.len();
        let blocks = self.said.par_chunks_mut(BLOCK * stride).zip(self.trees.par_chunks_mut(BLOCK));
        blocks.enumerate().for_each(|(block, (said, trees))| {
            let first = block * BLOCK;
            for planted in batch {
                let place =
                    |row: usize| planted.fresh.partition_point(|&fresh| (fresh as usize) < row);
                let fresh = &planted.fresh[place(first)..place(first + trees.len())];
                planted.tree.walk(self.x, fresh.iter().map(|&row| row as usize), |k, values| {
                    let row = fresh[k] as usize - first;
                    trees[row] += 1;
                    let said = &mut said[row * stride..(row + 1) * stride];
                    said.iter_mut()
                        .zip(values)
                        .for_each(|(said, value)| *said += f64::from(*value));
                });
            }
        });
    }

    /// How good the averages are, weighted like the rows; `None` where no row was ever fresh.
    pub(super) fn series(&self) -> Option<Series> {
        let stride = self.said.len() / self.trees.len();
        let (mut first, mut second, mut total) = (0.0, 0.0, 0.0);
        for (row, said) in
            self.said.chunks(stride).enumerate().filter(|(row, _)| self.trees[*row] > 0)
        {
            let weight = self.plot.weights[row];
            let mean = |k: usize| said[k] / f64::from(self.trees[row]);
            total += weight;
            match self.plot.truth {
                Truth::Classes(classes, count) => {
                    let own = classes[row] as usize;
                    let chance = |class: usize| match (count, class) {
                        (1, _) => 1.0,
                        (2, 0) => 1.0 - mean(0),
                        (2, _) => mean(0),
                        _ => mean(class),
                    };
                    first += weight * chance(own).ln();
                    let is_best =
                        (0..count).all(|other| other == own || chance(other) < chance(own));
                    second += weight * f64::from(u8::from(is_best));
                }
                Truth::Numbers(y) => {
                    first += weight * (y[row] - mean(0)).powi(2);
                    second += weight * (y[row] - self.plot.average[0]).powi(2);
                }
            }
        }
        if total == 0.0 {
            return None;
        }
        let (labels, values) = match self.plot.truth {
            Truth::Classes(..) => (["log score", "accuracy"], [first / total, second / total]),
            Truth::Numbers(_) => (
                ["root mean square error", "explained"],
                [(first / total).sqrt(), 1.0 - first / second],
            ),
        };
        Some(Series {
            name: "out-of-bag".into(),
            labels: labels.map(String::from).into(),
            values: values.into(),
        })
    }
}

/// What a tree loses on its fresh rows, column by column, when the column's values are dealt out anew among them: squared
/// error of the number, or of the chance of the row's class.
pub(super) fn permutation_loss(
    plot: &Plot<'_>,
    x: &PackedRows,
    planted: &Planted,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let fresh = &planted.fresh[..];
    let own = error(plot, planted, x, fresh, fresh.iter().map(|&row| row as usize));
    let mut order = fresh.to_vec();
    let loss = |column: usize| {
        order.shuffle(rng);
        let dealt = x.shuffled(fresh, column, &order);
        error(plot, planted, &dealt, fresh, 0..fresh.len()) - own
    };
    (0..plot.bins.columns().len()).map(loss).collect()
}

/// The weighted error of a tree on rows `at` of `x`, which stand for the table's rows `fresh`.
fn error(
    plot: &Plot<'_>,
    planted: &Planted,
    x: &PackedRows,
    fresh: &[u32],
    at: impl ExactSizeIterator<Item = usize>,
) -> f64 {
    let mut sum = 0.0;
    planted.tree.walk(x, at, |k, values| {
        let row = fresh[k] as usize;
        let off = match plot.truth {
            Truth::Numbers(y) => y[row] - f64::from(values[0]),
            Truth::Classes(classes, 2) => f64::from(classes[row]) - f64::from(values[0]),
            Truth::Classes(classes, _) => 1.0 - f64::from(values[classes[row] as usize]),
        };
        sum += plot.weights[row] * off * off;
    });
    sum
}
