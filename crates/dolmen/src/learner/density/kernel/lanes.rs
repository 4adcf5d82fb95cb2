//! The inner loops over pairs of rows, compiled for several instruction sets as in [`crate::math::bulk`].
//!
//! A block of rows is given column after column. Kernels of finite support are computed from t = |x - y| * (1/h), from
//! differences of the values as they are: rows exactly one bandwidth apart (values rounded to a grid) are then treated
//! alike by every way of evaluation.

#![expect(clippy::inline_always, reason = "the lanes take the instruction set of their caller")]

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::shape::Profile;
use crate::math::lane;

/// Running sums of a reduction.
pub(super) const LANES: usize = 16;

/// All bits set if the condition holds: a choice that stays a vector operation.
#[inline(always)]
pub(super) fn mask(condition: bool) -> u64 {
    u64::from(condition).wrapping_neg()
}

/// The larger of v and 0, as one instruction.
#[inline(always)]
pub(super) fn positive(v: f64) -> f64 {
    if v > 0.0 { v } else { 0.0 }
}

/// The sum of running sums, by halves: a sum one by one would cost as much as the loop before it.
#[inline(always)]
fn total(mut sums: [f64; LANES]) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] += sums[l + half];
        }
        half /= 2;
    }
    sums[0]
}

/// The sum of all values.
#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (lanes, rest) = values.as_chunks::<LANES>();
    for lane in lanes {
        for l in 0..LANES {
            sums[l] += lane[l];
        }
    }
    total(sums) + rest.iter().sum::<f64>()
}

/// (2^f - 1) / f for |f| <= 1/2: Chebyshev interpolant of degree 9, relative error of 2^f 6e-16.
const POWER_OF_TWO: [f64; 10] = [
    0.693_147_180_559_946_2,
    0.240_226_506_959_100_75,
    0.055_504_108_664_651_67,
    0.009_618_129_107_618_665,
    0.001_333_355_820_079_459_2,
    0.000_154_035_304_247_765_29,
    1.525_267_292_485_073_7e-5,
    1.321_545_163_322_143_4e-6,
    1.020_590_541_376_559_5e-7,
    7.070_977_866_508_138e-9,
];

/// 2^y for y <= 0, within about two units in the last place; below 2^-1020 it stays there instead of becoming 0.
///
/// A third cheaper than [`lane::exp`], which has to care for both ends of the line and for the last bit: this is where
/// Gaussian kernels spend their time. Sums near 2^-1020 are formed anew in another way.
#[inline(always)]
pub(super) fn power_of_two<const FMA: bool>(y: f64) -> f64 {
    const LOWEST: f64 = -1020.0;
    // 1.5 * 2^52: adding it rounds to the nearest integer, which then stands in the low bits.
    const ROUNDER: f64 = 6_755_399_441_055_744.0;
    let y = if y > LOWEST { y } else { LOWEST };
    let rounded = y + ROUNDER;
    let f = y - (rounded - ROUNDER);
    let f2 = f * f;
    let pair = |i: usize| lane::fma::<FMA>(POWER_OF_TWO[i + 1], f, POWER_OF_TWO[i]);
    let low = lane::fma::<FMA>(pair(2), f2, pair(0));
    let high = lane::fma::<FMA>(pair(6), f2, pair(4));
    let f4 = f2 * f2;
    let q = lane::fma::<FMA>(lane::fma::<FMA>(pair(8), f4, high), f4, low);
    let mantissa = lane::fma::<FMA>(q, f, 1.0);
    // Added to the exponent.
    f64::from_bits(mantissa.to_bits().wrapping_add(rounded.to_bits() << 52))
}

/// The squared Euclidean distance of `row` to each row of a block.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn squared_distances(row: &[f64], block: &[f64], out: &mut [f64]) {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    let len = out.len();
    // Two columns at a time: half the trips to memory.
    let start = if row.len().is_multiple_of(2) { 2 } else { 1 };
    let (columns, block) = block.split_at(start * len);
    if let &[x] = &row[..start] {
        for (out, y) in out.iter_mut().zip(columns) {
            *out = (x - y) * (x - y);
        }
    } else {
        let (first, second) = columns.split_at(len);
        for ((out, y), z) in out.iter_mut().zip(first).zip(second) {
            *out = lane::fma::<FMA>(row[0] - y, row[0] - y, (row[1] - z) * (row[1] - z));
        }
    }
    for (x, columns) in row[start..].chunks_exact(2).zip(block.chunks_exact(2 * len)) {
        let (first, second) = columns.split_at(len);
        for ((out, y), z) in out.iter_mut().zip(first).zip(second) {
            let square = lane::fma::<FMA>(x[1] - z, x[1] - z, *out);
            *out = lane::fma::<FMA>(x[0] - y, x[0] - y, square);
        }
    }
}

/// `sum_i weights[i] 2^(factor * squares[i])` for a negative factor; `kernels` is room for one number per row.
///
/// Kernels are written down before they are summed: running sums beside the polynomial of [`power_of_two`] are more
/// than the registers hold.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn power_sum(squares: &[f64], factor: f64, weights: &[f64], kernels: &mut [f64]) -> f64 {
    const FMA: bool = target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64"));
    for ((kernel, square), weight) in kernels.iter_mut().zip(squares).zip(weights) {
        *kernel = weight * power_of_two::<FMA>(factor * square);
    }
    sum(&kernels[..squares.len()])
}

/// `sum_i weights[i] prod_k profile(|row[k] - block[k][i]| * inverse[k])` for profiles of finite support; `product` is
/// room for one number per row of the block.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn product_sum(
    profile: Profile,
    row: &[f64],
    inverse: &[f64],
    block: &[f64],
    weights: &[f64],
    product: &mut [f64],
) -> f64 {
    product.copy_from_slice(weights);
    for ((&x, &inverse), column) in row.iter().zip(inverse).zip(block.chunks_exact(weights.len())) {
        let pairs = product.iter_mut().zip(column);
        match profile {
            Profile::Linear => {
                pairs.for_each(|(p, y)| *p *= positive(1.0 - (x - y).abs() * inverse));
            }
            Profile::Quadratic(1) => pairs.for_each(|(p, y)| *p *= bump(x - y, inverse)),
            Profile::Quadratic(2) => pairs.for_each(|(p, y)| {
                let bump = bump(x - y, inverse);
                *p *= bump * bump;
            }),
            Profile::Quadratic(_) => pairs.for_each(|(p, y)| {
                let bump = bump(x - y, inverse);
                *p *= bump * bump * bump;
            }),
            Profile::Box | Profile::Gaussian => pairs.for_each(|(p, y)| {
                let inside = mask((x - y).abs() * inverse <= 1.0);
                *p = f64::from_bits(p.to_bits() & inside);
            }),
        }
    }
    sum(product)
}

/// max(0, 1 - t^2).
#[inline(always)]
fn bump(difference: f64, inverse: f64) -> f64 {
    let t = difference * inverse;
    positive(1.0 - t * t)
}

/// Adds to `total` the squared distance of x to each interval [low, high].
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn add_squared_gaps(x: f64, low: &[f64], high: &[f64], total: &mut [f64]) {
    for ((total, low), high) in total.iter_mut().zip(low).zip(high) {
        let gap = positive(low - x) + positive(x - high);
        *total += gap * gap;
    }
}

/// Raises `total` to the distance of x to each interval [low, high], times `inverse`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn max_gaps(x: f64, inverse: f64, low: &[f64], high: &[f64], total: &mut [f64]) {
    for ((total, low), high) in total.iter_mut().zip(low).zip(high) {
        let gap = (positive(low - x) + positive(x - high)) * inverse;
        *total = if gap > *total { gap } else { *total };
    }
}
