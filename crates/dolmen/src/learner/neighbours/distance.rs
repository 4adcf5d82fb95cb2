//! Squared Euclidean distances, compiled for several instruction sets as in [`crate::math::bulk`].
//!
//! All of them add the squares column by column in the same order, so that a row has the same distance, to the bit,
//! however it is found: ties are then ties everywhere. And because rounding is monotone, the distance to a box is never
//! above that to a row inside it: no margin is needed when boxes are left out.

#![expect(clippy::inline_always, reason = "the lanes take the instruction set of their caller")]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::math::lane;

/// Rows of a block, and the stride of its columns.
pub(in crate::learner) const BLOCK: usize = 32;
/// Boxes looked at together.
pub(super) const FAN: usize = 8;
/// Rows screened together, and the stride of their columns.
pub(super) const LANES: usize = 16;
/// Queries screened together.
pub(super) const TOGETHER: usize = 4;

/// The squared distance of two rows.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn to_row(query: &[f64], row: &[f64]) -> f64 {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    query.iter().zip(row).fold(0.0, |sum, (x, y)| lane::fma::<FMA>(x - y, x - y, sum))
}

/// The squared distance of a query to each row of a block, whose columns stand one after the other.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(in crate::learner) fn to_block(query: &[f64], block: &[f64], out: &mut [f64; BLOCK]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let (columns, _) = block.as_chunks::<BLOCK>();
    let mut sums = [0.0; BLOCK];
    for (x, column) in query.iter().zip(columns) {
        for (sum, y) in sums.iter_mut().zip(column) {
            *sum = lane::fma::<FMA>(x - y, x - y, *sum);
        }
    }
    *out = sums;
}

/// The squared distance of a query to each of a few boxes: for each column their least values, then their greatest.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn to_boxes(query: &[f64], boxes: &[f64], out: &mut [f64; FAN]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let (sides, _) = boxes.as_chunks::<FAN>();
    let (columns, _) = sides.as_chunks::<2>();
    let mut sums = [0.0; FAN];
    for (x, [low, high]) in query.iter().zip(columns) {
        for b in 0..FAN {
            let (below, above) = (low[b] - x, x - high[b]);
            let gap = if below > above { below } else { above };
            let gap = if gap > 0.0 { gap } else { 0.0 };
            sums[b] = lane::fma::<FMA>(gap, gap, sums[b]);
        }
    }
    *out = sums;
}

/// Rows that may be near enough to a query: bit l of `lanes` stands for row l of the block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) query: u32,
    pub(super) block: u32,
    pub(super) lanes: u16,
}

/// sums += x column.
#[inline(always)]
fn add<const FMA: bool>(mut sums: [f32; LANES], x: f32, column: &[f32; LANES]) -> [f32; LANES] {
    for l in 0..LANES {
        sums[l] = if FMA { x.mul_add(column[l], sums[l]) } else { x * column[l] + sums[l] };
    }
    sums
}

/// The lanes whose sums are not above the threshold, or not numbers: those are looked at in double precision.
#[inline(always)]
fn near(sums: &[f32; LANES], threshold: f32) -> u16 {
    let mut far = true;
    for sum in sums {
        far &= *sum > threshold;
    }
    if far {
        return 0;
    }
    let bit = |(l, sum): (usize, &f32)| if *sum > threshold { 0 } else { 1 << l };
    sums.iter().enumerate().map(bit).sum()
}

/// Single-precision sums offset + sum_j x_j y_j for a few queries (for each column, their values side by side) and blocks
/// of rows (columns of [`LANES`]); notes where they are not above the query's threshold.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn screen(
    queries: &[[f32; TOGETHER]],
    thresholds: &[f32; TOGETHER],
    blocks: &[f32],
    offsets: &[[f32; LANES]],
    hits: &mut Vec<Hit>,
) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let rows = blocks.chunks_exact(queries.len() * LANES).zip(offsets);
    for (b, (block, offset)) in rows.enumerate() {
        // Variables of their own instead of an array: they stay in registers.
        let (mut s0, mut s1, mut s2, mut s3) = (*offset, *offset, *offset, *offset);
        for ([x0, x1, x2, x3], column) in queries.iter().zip(block.as_chunks::<LANES>().0) {
            s0 = add::<FMA>(s0, *x0, column);
            s1 = add::<FMA>(s1, *x1, column);
            s2 = add::<FMA>(s2, *x2, column);
            s3 = add::<FMA>(s3, *x3, column);
        }
        for (q, (sums, threshold)) in [s0, s1, s2, s3].iter().zip(thresholds).enumerate() {
            let lanes = near(sums, *threshold);
            if lanes != 0 {
                hits.push(Hit { query: q as u32, block: b as u32, lanes });
            }
        }
    }
}
