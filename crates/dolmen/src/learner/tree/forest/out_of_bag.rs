//! Predictions of the trees for rows they have not drawn: the forest's own estimate of how good it is (Breiman2001, section 3.1),
//! and of how much each column matters (section 10).

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Truth;
use super::model::average;
use super::train::{Planted, Plot};
use super::walk::{PackedRows, Walker};
use crate::learner::Series;
use crate::learner::unit::Unit;

/// Rows looked at in one piece of work; whole words of a [`RowSet`].
const BLOCK: usize = 16384;

/// What a forest predicts for the rows it was fitted to, each by the trees that had not drawn it.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfBag {
    /// Row after row, as wide as predictions of the task; NaN where every tree had drawn the row.
    pub predictions: Vec<f64>,
    /// How many trees had not drawn each row.
    pub trees: Vec<u32>,
}

/// Some rows of a table, a bit each.
#[derive(Debug)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    /// The rows that were drawn no times.
    pub(super) fn fresh(times: &[u8]) -> Self {
        let word = |times: &[u8]| {
            times.iter().rev().fold(0, |word, &times| word << 1 | u64::from(times == 0))
        };
        Self(times.chunks(64).map(word).collect())
    }

    /// Those of the `count` rows from row `first` on, which is a multiple of 64, as distances from it.
    fn within(&self, first: usize, count: usize) -> impl Iterator<Item = usize> {
        let words = &self.0[first / 64..(first + count).div_ceil(64)];
        let bits = |(place, &word): (usize, &u64)| {
            let next = |bits: &u64| Some(bits & bits.wrapping_sub(1)).filter(|bits| *bits != 0);
            let all = std::iter::successors(Some(word).filter(|bits| *bits != 0), next);
            all.map(move |bits| 64 * place + bits.trailing_zeros() as usize)
        };
        words.iter().enumerate().flat_map(bits)
    }
}

/// Sums over the trees to which a row is fresh.
pub(super) struct FreshSums<'a> {
    plot: &'a Plot<'a>,
    /// Row after row: what the trees say, and how many there are.
    sums: Vec<f64>,
    trees: Vec<u32>,
}

impl<'a> FreshSums<'a> {
    pub(super) fn new(plot: &'a Plot<'a>) -> Self {
        let rows = plot.weights.rows();
        let stride = match plot.truth {
            Truth::Classes(_, count) if count > 2 => count,
            _ => 1,
        };
        Self { plot, sums: vec![0.0; rows * stride], trees: vec![0; rows] }
    }

    /// Adds the predictions of some trees, for every row in the order of the trees, whatever the number of threads.
    pub(super) fn add(&mut self, batch: &[Planted]) {
        let stride = self.sums.len() / self.trees.len();
        let blocks = self.sums.par_chunks_mut(BLOCK * stride).zip(self.trees.par_chunks_mut(BLOCK));
        blocks.enumerate().for_each(|(block, (sums, trees))| {
            let first = block * BLOCK;
            let rows: Vec<u32> = (first as u32..).take(trees.len()).collect();
            let x = PackedRows::gather(self.plot.bins, self.plot.codes, &rows);
            let (mut walker, mut fresh) = (Walker::new(), Vec::with_capacity(rows.len()));
            for planted in batch {
                fresh.clear();
                fresh.extend(planted.fresh.within(first, rows.len()));
                walker.walk(&planted.tree, &x, fresh.iter().copied(), |k, values| {
                    let row = fresh[k];
                    trees[row] += 1;
                    let sums = &mut sums[row * stride..(row + 1) * stride];
                    sums.iter_mut()
                        .zip(values)
                        .for_each(|(sums, value)| *sums += f64::from(*value));
                });
            }
        });
    }

    fn width(&self) -> usize {
        match self.plot.truth {
            Truth::Classes(_, count) => count,
            Truth::Numbers(_) => 1,
        }
    }

    /// Calls with the averages of every row that was fresh to a tree.
    fn for_rows(&self, mut call: impl FnMut(usize, &[f64])) {
        let stride = self.sums.len() / self.trees.len();
        let mut out = vec![0.0; self.width()];
        let rows = self.sums.chunks_exact(stride).zip(&self.trees).enumerate();
        for (row, (sums, &trees)) in rows.filter(|(_, (_, trees))| **trees > 0) {
            average(sums, f64::from(trees), &mut out);
            call(row, &out);
        }
    }

    /// The averages, of numbers that are in this unit.
    pub(super) fn out_of_bag(self, unit: Unit) -> OutOfBag {
        let width = self.width();
        let mut predictions = vec![f64::NAN; self.trees.len() * width];
        self.for_rows(|row, sums| {
            let out = &mut predictions[row * width..(row + 1) * width];
            for (out, sums) in out.iter_mut().zip(sums) {
                *out = if unit == Unit::default() { *sums } else { unit.restore(*sums) };
            }
        });
        OutOfBag { predictions, trees: self.trees }
    }

    /// How good the averages are, weighted like the rows; `None` where no row was ever fresh.
    pub(super) fn series(&self, unit: Unit) -> Option<Series> {
        let plot = self.plot;
        let (mut first, mut second, mut total) = (0.0, 0.0, 0.0);
        self.for_rows(|row, sums| {
            let weight = plot.weights.of(row);
            total += weight;
            match plot.truth {
                Truth::Classes(classes, count) => {
                    let own = classes[row] as usize;
                    first += weight * sums[own].ln();
                    let is_best = (0..count).all(|other| other == own || sums[other] < sums[own]);
                    second += weight * f64::from(u8::from(is_best));
                }
                Truth::Numbers(y) => {
                    first += weight * (y[row] - sums[0]).powi(2);
                    second += weight * (y[row] - plot.average[0]).powi(2);
                }
            }
        });
        if total == 0.0 {
            return None;
        }
        let (labels, values) = match plot.truth {
            Truth::Classes(..) => (["log score", "accuracy"], [first / total, second / total]),
            Truth::Numbers(_) => (
                ["root mean square error", "explained"],
                [unit.restore_difference((first / total).sqrt()), 1.0 - first / second],
            ),
        };
        Some(Series {
            name: "out-of-bag".into(),
            labels: labels.map(String::from).into(),
            values: values.into(),
            is_numbered: false,
        })
    }
}

/// What a tree loses on its fresh rows, column by column, when the column's values are dealt out anew among them: squared
/// error of the number, or of the chance of the row's class.
pub(super) fn permutation_loss(
    plot: &Plot<'_>,
    planted: &Planted,
    rng: &mut ChaCha8Rng,
) -> Vec<f64> {
    let rows: Vec<u32> =
        planted.fresh.within(0, plot.weights.rows()).map(|row| row as u32).collect();
    let own = PackedRows::gather(plot.bins, plot.codes, &rows);
    let least = error(plot, planted, &own, &rows);
    let mut dealt = own.clone();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let loss = |column: usize| {
        order.shuffle(rng);
        dealt.deal(column, &own, order.iter().copied());
        let more = error(plot, planted, &dealt, &rows) - least;
        dealt.deal(column, &own, 0..rows.len());
        more
    };
    (0..plot.bins.columns().len()).map(loss).collect()
}

/// The weighted error of a tree on `x`, whose rows stand for these rows of the table.
fn error(plot: &Plot<'_>, planted: &Planted, x: &PackedRows, rows: &[u32]) -> f64 {
    let mut sum = 0.0;
    Walker::new().walk(&planted.tree, x, 0..rows.len(), |k, values| {
        let row = rows[k] as usize;
        let off = match plot.truth {
            Truth::Numbers(y) => y[row] - f64::from(values[0]),
            Truth::Classes(classes, 2) => f64::from(classes[row]) - f64::from(values[0]),
            Truth::Classes(classes, _) => 1.0 - f64::from(values[classes[row] as usize]),
        };
        sum += plot.weights.of(row) * off * off;
    });
    sum
}
