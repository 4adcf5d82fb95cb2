//! The rows a kernel density stands on, ordered in space: blocks of neighbouring rows with their bounding boxes.
//!
//! The order is that of a balanced k-d tree whose inner nodes are not kept: a query looks at the boxes of all blocks,
//! which costs a hundredth of a look at all rows and is done with SIMD. One column is simply sorted.

use rayon::prelude::*;

/// Rows in one block. A block's columns fit into the first-level cache many times over, and a call per block is cheap.
pub(super) const BLOCK: usize = 128;

/// Rows in blocks of neighbours, column after column.
#[derive(Debug, Clone)]
pub(super) struct Points {
    /// All of column 0, then all of column 1, ...
    columns: Vec<f64>,
    dimension: usize,
    len: usize,
    /// The least value of column k in block b, at `k * blocks + b`.
    low: Vec<f64>,
    /// The greatest.
    high: Vec<f64>,
}

impl Points {
    /// Rows in blocks of neighbours, and their order: row `order[i]` of the columns given is row i here.
    ///
    /// `scale` is the unit of each column, in which the extent of a block is measured.
    pub(super) fn build(columns: &[Vec<f64>], scale: &[f64]) -> (Self, Vec<usize>) {
        let mut order: Vec<usize> = (0..columns[0].len()).collect();
        if let [column] = columns {
            // Values are sorted along with the rows' numbers, as one number: no trip to memory for each comparison.
            let keyed = |(&value, i): (&f64, usize)| (u128::from(rank(value)) << 64) | i as u128;
            let mut keys: Vec<u128> = column.iter().zip(order).map(keyed).collect();
            keys.par_sort_unstable();
            order = keys.into_iter().map(|key| key as u64 as usize).collect();
        } else {
            split(columns, &mut order, scale);
        }
        let ordered = |column: &Vec<f64>| order.iter().map(|&i| column[i]).collect::<Vec<f64>>();
        let ordered = columns.iter().flat_map(ordered).collect();
        (Self::from_ordered(ordered, columns.len()), order)
    }

    /// Rows that are in order already.
    pub(super) fn from_ordered(columns: Vec<f64>, dimension: usize) -> Self {
        let len = columns.len() / dimension;
        let fold = |start: f64, pick: fn(f64, f64) -> f64| -> Vec<f64> {
            columns
                .chunks_exact(len.max(1))
                .flat_map(|column| column.chunks(BLOCK))
                .map(|block| block.iter().copied().fold(start, pick))
                .collect()
        };
        let low = fold(f64::INFINITY, f64::min);
        let high = fold(f64::NEG_INFINITY, f64::max);
        Self { columns, dimension, len, low, high }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Number of columns.
    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Column k of all rows.
    pub(super) fn column(&self, k: usize) -> &[f64] {
        &self.columns[k * self.len..(k + 1) * self.len]
    }

    /// All columns, one after the other.
    pub(super) fn columns(&self) -> &[f64] {
        &self.columns
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }

    /// The rows of block b.
    pub(super) fn block(&self, b: usize) -> std::ops::Range<usize> {
        b * BLOCK..((b + 1) * BLOCK).min(self.len)
    }

    /// The least and greatest values of column k, block by block.
    pub(super) fn bounds(&self, k: usize) -> (&[f64], &[f64]) {
        let blocks = k * self.blocks()..(k + 1) * self.blocks();
        (&self.low[blocks.clone()], &self.high[blocks])
    }

    /// The least and the greatest value of column k.
    pub(super) fn range(&self, k: usize) -> (f64, f64) {
        let (low, high) = self.bounds(k);
        let least = low.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = high.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least, greatest)
    }
}

/// A whole number that is the larger, the larger the value.
fn rank(value: f64) -> u64 {
    let bits = value.to_bits();
    if value.is_sign_negative() { !bits } else { bits | (1 << 63) }
}

/// Orders rows so that every block of [`BLOCK`] is compact: cut the longest side at a block boundary, again and again.
fn split(columns: &[Vec<f64>], order: &mut [usize], scale: &[f64]) {
    let blocks = order.len().div_ceil(BLOCK);
    if blocks <= 1 {
        return;
    }
    let extent = |(column, scale): (&Vec<f64>, &f64)| {
        let values = order.iter().map(|&i| column[i]);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
        (high - low) / scale
    };
    let extents = columns.iter().zip(scale).map(extent).enumerate();
    let longest = extents.max_by(|a, b| a.1.total_cmp(&b.1));
    let column = &columns[longest.map_or(0, |(k, _)| k)];
    let cut = blocks / 2 * BLOCK;
    order.select_nth_unstable_by(cut, |&a, &b| column[a].total_cmp(&column[b]).then(a.cmp(&b)));
    let (left, right) = order.split_at_mut(cut);
    split(columns, left, scale);
    split(columns, right, scale);
}
