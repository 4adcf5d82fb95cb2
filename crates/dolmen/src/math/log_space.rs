//! Sums of numbers that are kept as logarithms.

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
