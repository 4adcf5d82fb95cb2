//! The passes over all rows that an iteration makes, compiled for several instruction sets as in [`crate::math::bulk`].
//!
//! Arrays are padded to a multiple of [`CHUNK`]. The best value of every chunk is found with SIMD, its place only in the
//! chunk that has it: of equal values the first counts.

#![expect(clippy::inline_always, reason = "the lanes take the instruction set of their caller")]

use multiversion::multiversion;

/// Values looked at together.
pub(super) const CHUNK: usize = 32;
/// Running minima and maxima.
const LANES: usize = 8;

/// Where the derivative upwards is least, and the least derivative upwards and greatest downwards.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extremes {
    pub(super) least_at: usize,
    pub(super) least: f64,
    pub(super) greatest: f64,
}

#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

#[inline(always)]
fn greatest(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// What moving a pair gains, to second order; nothing if its rates are not apart.
#[inline(always)]
fn gain(apart: f64, curvature: f64) -> f64 {
    let apart = greatest(0.0, apart);
    apart * apart / greatest(FLAT, curvature)
}

/// gradient += step (first - second), and the extremes of what comes out.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn update(
    gradient: &mut [f64],
    (first, second): (&[f32], &[f32]),
    step: f64,
    up: &[f64],
    down: &[f64],
) -> Extremes {
    let mut found = Extremes { least_at: 0, least: f64::INFINITY, greatest: f64::NEG_INFINITY };
    let mut chunk_of_least = 0;
    let rows = first.as_chunks::<CHUNK>().0.iter().zip(second.as_chunks::<CHUNK>().0);
    let shifts = up.as_chunks::<CHUNK>().0.iter().zip(down.as_chunks::<CHUNK>().0);
    let gradients = gradient.as_chunks_mut::<CHUNK>().0.iter_mut();
    for (c, ((gradient, (first, second)), (up, down))) in
        gradients.zip(rows).zip(shifts).enumerate()
    {
        let mut low = [f64::INFINITY; LANES];
        let mut high = [f64::NEG_INFINITY; LANES];
        for b in 0..CHUNK / LANES {
            for l in 0..LANES {
                let t = b * LANES + l;
                let value = gradient[t] + step * (f64::from(first[t]) - f64::from(second[t]));
                gradient[t] = value;
                low[l] = least(low[l], value + up[t]);
                high[l] = greatest(high[l], value + down[t]);
            }
        }
        let low = low.into_iter().fold(f64::INFINITY, least);
        found.greatest = high.into_iter().fold(found.greatest, greatest);
        if low < found.least {
            (found.least, chunk_of_least) = (low, c);
        }
    }
    let start = chunk_of_least * CHUNK;
    let at = (start..start + CHUNK).find(|&t| gradient[t] + up[t] == found.least);
    found.least_at = at.unwrap_or(start);
    found
}

/// The partner for row i of greatest gain (d_j - u_i)^2 / (K_ii + K_jj - 2 K_ij) among those with d_j > u_i
/// [FanChenLin2005, WSS 2]; `base` is u_i.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn partner(
    gradient: &[f64],
    down: &[f64],
    row: &[f32],
    own: &[f64],
    (base, own_i): (f64, f64),
) -> Option<usize> {
    let mut best = 0.0;
    let mut chunk_of_best = None;
    let derivatives = gradient.as_chunks::<CHUNK>().0.iter().zip(down.as_chunks::<CHUNK>().0);
    let kernels = row.as_chunks::<CHUNK>().0.iter().zip(own.as_chunks::<CHUNK>().0);
    for (c, ((gradient, down), (row, own))) in derivatives.zip(kernels).enumerate() {
        let mut high = [0.0; LANES];
        for b in 0..CHUNK / LANES {
            for (l, high) in high.iter_mut().enumerate() {
                let t = b * LANES + l;
                let curvature = own_i + own[t] - 2.0 * f64::from(row[t]);
                *high = greatest(*high, gain(gradient[t] + down[t] - base, curvature));
            }
        }
        let high = high.into_iter().fold(0.0, greatest);
        if high > best {
            (best, chunk_of_best) = (high, Some((c, gradient, down, row, own)));
        }
    }
    let (c, gradient, down, row, own) = chunk_of_best?;
    let gain_of =
        |t: usize| gain(gradient[t] + down[t] - base, own_i + own[t] - 2.0 * f64::from(row[t]));
    let at = (0..CHUNK).find(|&t| gain_of(t) == best).unwrap_or(0);
    Some(c * CHUNK + at)
}

/// The least curvature of a pair: equal rows have none [ChangLin2011, section 4.1.3].
pub(super) const FLAT: f64 = 1e-12;

/// sum += factor row.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub(super) fn add_row(sum: &mut [f64], factor: f64, row: &[f32]) {
    for (sum, value) in sum.iter_mut().zip(row) {
        *sum += factor * f64::from(*value);
    }
}
