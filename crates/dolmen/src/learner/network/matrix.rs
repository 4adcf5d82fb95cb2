//! Products of small f32 matrices, in tiles that stay in registers.
//!
//! Rows are padded with zeros to whole tiles of columns, so that only the last rows of a product need care, and each element
//! is the same sum in the same order whatever rows stand around it.

#![expect(
    clippy::inline_always,
    reason = "these must be compiled with the features of their caller"
)]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

/// Columns of a tile.
pub(super) const LANES: usize = 16;
/// Rows of a tile: with 16 columns, eight registers of AVX2 hold its sums.
const ROWS: usize = 4;

/// The width of a row with its padding.
pub(super) fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// The left factor of a product: element (r, k) is `values[r * row_step + k * inner_step]`.
#[derive(Clone, Copy)]
pub(super) struct Left<'a> {
    pub(super) values: &'a [f32],
    pub(super) row_step: usize,
    pub(super) inner_step: usize,
    pub(super) rows: usize,
    pub(super) inner: usize,
}

/// `out += left * right`; rows of `right` and `out` are `stride` apart, a multiple of the tiles' width. `packed` is room.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn add_product(
    left: Left<'_>,
    right: &[f32],
    out: &mut [f32],
    stride: usize,
    packed: &mut Vec<f32>,
) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let mut row = 0;
    while row + ROWS <= left.rows {
        tiles::<ROWS, FMA>(left, row, right, out, stride, packed);
        row += ROWS;
    }
    while row < left.rows {
        tiles::<1, FMA>(left, row, right, out, stride, packed);
        row += 1;
    }
}

/// The tiles of R rows from `row` on.
#[inline(always)]
fn tiles<const R: usize, const FMA: bool>(
    left: Left<'_>,
    row: usize,
    right: &[f32],
    out: &mut [f32],
    stride: usize,
    packed: &mut Vec<f32>,
) {
    packed.clear();
    for k in 0..left.inner {
        for r in row..row + R {
            packed.push(left.values[r * left.row_step + k * left.inner_step]);
        }
    }
    let (packed, _) = packed.as_chunks::<R>();
    for column in (0..stride).step_by(LANES) {
        let mut sums = [[0.0_f32; LANES]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            sums.copy_from_slice(&out[(row + r) * stride + column..][..LANES]);
        }
        for (left, right) in packed.iter().zip(right.chunks_exact(stride)) {
            let right = &right[column..column + LANES];
            for r in 0..R {
                for l in 0..LANES {
                    sums[r][l] = fma::<FMA>(left[r], right[l], sums[r][l]);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            out[(row + r) * stride + column..][..LANES].copy_from_slice(sums);
        }
    }
}

/// `a * b + c`.
#[inline(always)]
pub(super) fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// How fast Adam forgets gradients and their squares, and what keeps it from dividing by zero (KingmaBa2015).
const FORGET: (f32, f32) = (0.9, 0.999);
const LEAST: f32 = 1e-8;

/// One step of Adam with decoupled weight decay (LoshchilovHutter2019). `rate` is corrected for the first steps.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn adam_step(
    parameters: &mut [f32],
    gradient: &[f32],
    means: &mut [f32],
    squares: &mut [f32],
    rate: f32,
    shrink: f32,
) {
    let moments = means.iter_mut().zip(squares);
    for ((parameter, gradient), (mean, square)) in parameters.iter_mut().zip(gradient).zip(moments)
    {
        *mean = FORGET.0 * *mean + (1.0 - FORGET.0) * gradient;
        *square = FORGET.1 * *square + (1.0 - FORGET.1) * gradient * gradient;
        *parameter -= rate * *mean / (square.sqrt() + LEAST) + shrink * *parameter;
    }
}

/// The learning rate of step `step`, counted from 1, for means that started at zero.
pub(super) fn corrected(rate: f64, step: u64) -> f32 {
    let power = |forget: f32| f64::from(forget).powf(step as f64);
    (rate * (1.0 - power(FORGET.1)).sqrt() / (1.0 - power(FORGET.0))) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_any_size_are_those_of_the_definition() {
        let value = |at: usize| (at as f32 * 0.7).sin();
        for (rows, inner, width) in [(1, 1, 1), (4, 3, 16), (7, 5, 17), (9, 40, 33)] {
            let stride = padded(width);
            let left: Vec<f32> = (0..rows * inner).map(value).collect();
            let mut right = vec![0.0; inner * stride];
            for k in 0..inner {
                (0..width).for_each(|c| right[k * stride + c] = value(k * 31 + c));
            }
            // Both ways to lay out the left factor.
            let plain = Left { values: &left, row_step: inner, inner_step: 1, rows, inner };
            let turned = Left { values: &left, row_step: 1, inner_step: rows, rows, inner };
            for (left, at) in [
                (
                    plain,
                    (|r, k, _, inner| r * inner + k) as fn(usize, usize, usize, usize) -> usize,
                ),
                (turned, |r, k, rows, _| k * rows + r),
            ] {
                let mut out = vec![1.0; rows * stride];
                add_product(left, &right, &mut out, stride, &mut Vec::new());
                for r in 0..rows {
                    for c in 0..width {
                        let term = |k| {
                            let a = left.values[at(r, k, rows, inner)];
                            f64::from(a) * f64::from(right[k * stride + c])
                        };
                        let expected = 1.0 + (0..inner).map(term).sum::<f64>();
                        let error = (f64::from(out[r * stride + c]) - expected).abs();
                        assert!(error < 1e-5, "{rows} {inner} {width}: {error}");
                    }
                }
            }
        }
    }
}
