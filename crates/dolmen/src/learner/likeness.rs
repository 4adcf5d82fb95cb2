//! Kernels between a row and many, in blocks of rows that stand column after column.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;
use serde::{Deserialize, Serialize};

use crate::learner::neighbours::distance::{BLOCK, to_block};
use crate::math::{bulk, lane};

/// How alike two rows are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Likeness {
    /// x'y.
    Linear,
    /// exp(-gamma |x - y|^2).
    Rbf { gamma: f64 },
    /// (1 + a + a^2/3) exp(-a) with a^2 = 5 |x - y|^2: Matern's of smoothness 5/2 (RasmussenWilliams2006, equation 4.17).
    Matern,
}

/// Rows that others are compared with.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    likeness: Likeness,
    dimension: usize,
    rows: usize,
    /// Blocks of [`BLOCK`] rows, column after column, the last one padded with zeros.
    blocks: Vec<f64>,
}

impl Compared {
    /// Takes in rows, one after the other.
    pub(super) fn new(likeness: Likeness, points: &[f64], dimension: usize) -> Self {
        let rows = points.len() / dimension;
        let mut blocks = vec![0.0; rows.div_ceil(BLOCK) * BLOCK * dimension];
        for (i, point) in points.chunks_exact(dimension).enumerate() {
            let block = &mut blocks[i / BLOCK * BLOCK * dimension..];
            point.iter().enumerate().for_each(|(j, value)| block[j * BLOCK + i % BLOCK] = *value);
        }
        Self { likeness, dimension, rows, blocks }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Rows with those that fill up the last block.
    pub(super) fn padded(&self) -> usize {
        self.rows.div_ceil(BLOCK) * BLOCK
    }

    /// Row `i`.
    pub(super) fn row(&self, i: usize) -> Vec<f64> {
        let block = &self.blocks[i / BLOCK * BLOCK * self.dimension..];
        (0..self.dimension).map(|j| block[j * BLOCK + i % BLOCK]).collect()
    }

    /// A row compared with itself.
    pub(super) fn own(&self, i: usize) -> f64 {
        match self.likeness {
            Likeness::Rbf { .. } | Likeness::Matern => 1.0,
            Likeness::Linear => self.row(i).iter().map(|value| value * value).sum(),
        }
    }

    /// A row compared with each; `out` has room for the padded number of rows.
    pub(super) fn compare(&self, x: &[f64], out: &mut [f64]) {
        let (pieces, _) = out.as_chunks_mut::<BLOCK>();
        for (block, out) in self.blocks.chunks_exact(BLOCK * self.dimension).zip(pieces) {
            match self.likeness {
                Likeness::Linear => dot_block(x, block, out),
                Likeness::Rbf { gamma } => {
                    to_block(x, block, out);
                    out.iter_mut().for_each(|distance| *distance *= -gamma);
                }
                Likeness::Matern => {
                    to_block(x, block, out);
                    matern_block(out);
                }
            }
        }
        if matches!(self.likeness, Likeness::Rbf { .. }) {
            bulk::exp_in_place(out);
        }
    }
}

/// Matern's kernel of squared distances, in their place.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn matern_block(squares: &mut [f64; BLOCK]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    for square in squares {
        let a = (5.0 * *square).sqrt();
        *square = (1.0 + a + a * a / 3.0) * lane::exp::<FMA>(-a);
    }
}

/// The products of a row with each row of a block.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
fn dot_block(x: &[f64], block: &[f64], out: &mut [f64; BLOCK]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let (columns, _) = block.as_chunks::<BLOCK>();
    let mut sums = [0.0; BLOCK];
    for (x, column) in x.iter().zip(columns) {
        for (sum, y) in sums.iter_mut().zip(column) {
            *sum = lane::fma::<FMA>(*x, *y, *sum);
        }
    }
    *out = sums;
}
