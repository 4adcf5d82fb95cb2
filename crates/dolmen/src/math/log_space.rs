//! Sums of numbers that are kept as logarithms.

/// The position of the largest value: the first of equals, 0 if there is none; NaN is never the largest.
pub fn first_largest(values: &[f64]) -> usize {
    let better = |best: usize, i: usize| {
        if values[i] > values[best] || values[best].is_nan() { i } else { best }
    };
    (1..values.len()).fold(0, better)
}

/// `ln sum_k exp(x_k)`; `-inf` for no terms or only `-inf`, `+inf` if one is, NaN if one is.
pub fn log_sum_exp(x: &[f64]) -> f64 {
    let shift = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if shift == f64::INFINITY || x.iter().any(|v| v.is_nan()) {
        return x.iter().sum();
    }
    if shift == f64::NEG_INFINITY {
        return shift;
    }
    shift + x.iter().map(|v| (v - shift).exp()).sum::<f64>().ln()
}
