//! Loops over slices, compiled for AVX-512, AVX2 and the plain target, chosen at run time.
//!
//! The order of summation is part of the code (sixteen running sums), so results do not depend on how many rows a thread
//! was given, only on the instruction set.

use std::ops::Range;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::lane;

/// Running sums of a reduction: enough to hide the latency of addition with the widest vectors.
const LANES: usize = 16;

/// Columns that are read together.
pub const FOUR: usize = 4;

/// Replaces each x by exp(x).
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn exp_in_place(x: &mut [f64]) {
    for v in x {
        *v = lane::exp::<{ target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) }>(
            *v,
        );
    }
}

/// Replaces each x by exp(x - shift).
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn exp_shifted_in_place(x: &mut [f64], shift: &[f64]) {
    for (v, s) in x.iter_mut().zip(shift) {
        *v = lane::exp::<{ target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) }>(
            *v - s,
        );
    }
}

/// Replaces each x by ln(x).
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn ln_in_place(x: &mut [f64]) {
    for v in x {
        *v =
            lane::ln::<{ target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) }>(*v);
    }
}

/// `y += a x`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = lane::fma::<{ target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) }>(
            a, *x, *y,
        );
    }
}

/// `y += a[0] x[0] + .. + a[3] x[3]`, in that order: y passes through the registers once instead of four times. Every x is
/// at least as long as y.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn add_four_scaled(y: &mut [f64], a: [f64; FOUR], x: [&[f64]; FOUR]) {
    let [first, second, third, fourth] = x;
    let columns = first.iter().zip(second).zip(third.iter().zip(fourth));
    for (y, ((first, second), (third, fourth))) in y.iter_mut().zip(columns) {
        for (a, x) in a.into_iter().zip([first, second, third, fourth]) {
            *y = lane::fma::<{ target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) }>(
                a, *x, *y,
            );
        }
    }
}

/// `out = x * y`, element by element.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn multiply(x: &[f64], y: &[f64], out: &mut [f64]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = x * y;
    }
}

/// The larger of each pair, into `y`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn max_in_place(y: &mut [f64], x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = y.max(*x);
    }
}

/// `sum_i x_i y_i`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (y_blocks, y_rest) = y.as_chunks::<LANES>();
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        for l in 0..LANES {
            sums[l] = lane::fma::<
                { target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) },
            >(x[l], y[l], sums[l]);
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// `y += (x - a)^2`, element by element.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn add_squares_from(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        let way = x - a;
        *y = lane::fma::<{ target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) }>(
            way, way, *y,
        );
    }
}

/// `sum_i w_i (x_i - a)^2`.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn weighted_squares_from(a: f64, x: &[f64], w: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (w_blocks, w_rest) = w.as_chunks::<LANES>();
    for (x, w) in x_blocks.iter().zip(w_blocks) {
        for l in 0..LANES {
            let way = x[l] - a;
            sums[l] = lane::fma::<
                { target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) },
            >(way * way, w[l], sums[l]);
        }
    }
    let rest: f64 = x_rest.iter().zip(w_rest).map(|(x, w)| w * (x - a) * (x - a)).sum();
    sums.iter().sum::<f64>() + rest
}

/// `sum_i x[k]_i y_i` of four x at once: y is read once instead of four times. Every x is at least as long as y.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn four_dots(x: [&[f64]; FOUR], y: &[f64]) -> [f64; FOUR] {
    // Half the running sums of `dot`, for each of four: all of them stay in registers. Each column has a loop of its own:
    // of one loop over all, the compiler makes vectors across the columns, which do not lie side by side in memory.
    const HALF: usize = LANES / 2;
    let blocks = y.len() / HALF;
    let y_blocks = &y.as_chunks::<HALF>().0[..blocks];
    let [a, b, c, d] = x.map(|x| &x.as_chunks::<HALF>().0[..blocks]);
    let mut sums = [[0.0; HALF]; FOUR];
    for i in 0..blocks {
        for (sums, x) in sums.iter_mut().zip([a[i], b[i], c[i], d[i]]) {
            *sums =
                std::array::from_fn(|l| {
                    lane::fma::<
                        { target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) },
                    >(x[l], y_blocks[i][l], sums[l])
                });
        }
    }
    let done = blocks * HALF;
    std::array::from_fn(|k| {
        let rest: f64 = x[k][done..].iter().zip(&y[done..]).map(|(x, y)| x * y).sum();
        sums[k].iter().sum::<f64>() + rest
    })
}

/// Whether all values lie in the range. Without an early end, so that it is SIMD code.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn all_within(values: &[f64], range: &Range<f64>) -> bool {
    values.iter().fold(true, |all, value| all & range.contains(value))
}

/// `sum_i w_i ln f_i`, and w_i / f_i into `ratios`; rows of weight zero add nothing, whatever their f.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn log_sum_and_ratios(weights: &[f64], f: &[f64], ratios: &mut [f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (blocks, rest) = ratios.as_chunks_mut::<LANES>();
    let (w_blocks, w_rest) = weights.as_chunks::<LANES>();
    let (f_blocks, f_rest) = f.as_chunks::<LANES>();
    for ((ratios, w), f) in blocks.iter_mut().zip(w_blocks).zip(f_blocks) {
        for l in 0..LANES {
            let f = if w[l] > 0.0 { f[l] } else { 1.0 };
            ratios[l] = w[l] / f;
            let log = lane::ln::<
                { target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) },
            >(f);
            sums[l] += w[l] * log;
        }
    }
    let mut sum: f64 = sums.iter().sum();
    for ((ratio, w), f) in rest.iter_mut().zip(w_rest).zip(f_rest) {
        let f = if *w > 0.0 { *f } else { 1.0 };
        *ratio = w / f;
        sum += w * lane::ln::<
            { target_cfg_f!(any(target_feature = "fma", target_arch = "aarch64")) },
        >(f);
    }
    sum
}

/// sqrt(w_i) / f_i into `ratios`; 0 for rows of weight zero, whatever their f.
#[multiversion(targets(
    "x86_64+avx512f+avx512dq+avx512vl+avx2+fma",
    "x86_64+avx2+fma",
    "aarch64+neon"
))]
pub fn root_ratios(weights: &[f64], f: &[f64], ratios: &mut [f64]) {
    for ((ratio, w), f) in ratios.iter_mut().zip(weights).zip(f) {
        *ratio = w.sqrt() / if *w > 0.0 { *f } else { 1.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place.
    fn ulps(a: f64, b: f64) -> u64 {
        a.to_bits().abs_diff(b.to_bits())
    }

    #[test]
    fn exp_is_within_two_units_of_the_standard_library() {
        let x: Vec<f64> = (0..200_000).map(|i| -706.9 + 1416.6 * f64::from(i) / 2e5).collect();
        let mut y = x.clone();
        exp_in_place(&mut y);
        let worst = x.iter().zip(&y).map(|(x, y)| ulps(x.exp(), *y)).max();
        assert!(worst <= Some(2), "{worst:?}");
    }

    #[test]
    fn ln_is_within_two_units_of_the_standard_library() {
        let x: Vec<f64> =
            (0..200_000).map(|i| (-740.0 + 1449.0 * f64::from(i) / 2e5).exp()).collect();
        let near_one = (0..1000).map(|i| 1.0 + (f64::from(i) - 500.0) * 1e-6);
        let x: Vec<f64> = x.into_iter().chain(near_one).collect();
        let mut y = x.clone();
        ln_in_place(&mut y);
        let worst = x.iter().zip(&y).map(|(x, y)| ulps(x.ln(), *y)).max();
        assert!(worst <= Some(2), "{worst:?}");
    }

    #[test]
    fn the_ends_of_the_line_are_kept() {
        let mut x = [f64::NEG_INFINITY, -800.0, 0.0, 709.79, f64::INFINITY, f64::NAN];
        exp_in_place(&mut x);
        assert_eq!(x[..5], [0.0, 0.0, 1.0, f64::INFINITY, f64::INFINITY]);
        assert!(x[5].is_nan());
        let mut y = [0.0, 1.0, f64::INFINITY, -1.0, f64::NAN];
        ln_in_place(&mut y);
        assert_eq!(y[..3], [f64::NEG_INFINITY, 0.0, f64::INFINITY]);
        assert!(y[3].is_nan() && y[4].is_nan());
    }

    #[test]
    fn dot_products_of_any_length() {
        for n in [0, 1, 15, 16, 17, 100] {
            let x: Vec<f64> = (0..n).map(f64::from).collect();
            let expected: f64 = x.iter().map(|v| v * v).sum();
            assert!((dot(&x, &x) - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn four_columns_at_once_are_one_after_another() {
        for n in [0, 1, 7, 8, 100] {
            let column = |k: usize| (0..n).map(|i| (i * (k + 2)) as f64 * 0.1).collect::<Vec<_>>();
            let columns: Vec<Vec<f64>> = (0..FOUR).map(column).collect();
            let x: [&[f64]; FOUR] = std::array::from_fn(|k| columns[k].as_slice());
            let a = [0.3, -1.0, 2.0, 0.7];
            let (mut one, mut four) = (vec![1.0; n], vec![1.0; n]);
            x.iter().zip(a).for_each(|(x, a)| add_scaled(&mut one, a, x));
            add_four_scaled(&mut four, a, x);
            assert_eq!(one, four);
            for (found, x) in four_dots(x, &one).iter().zip(x) {
                let expected = dot(x, &one);
                assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0));
            }
        }
    }
}
