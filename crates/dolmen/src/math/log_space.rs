//! Sums of numbers that are kept as logarithms.

use super::bulk;

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

/// The largest value of each row of a block whose columns stand one after the other.
pub(crate) fn largest_in_rows(columns: &[f64], largest: &mut [f64]) {
    largest.fill(f64::NEG_INFINITY);
    columns.chunks_exact(largest.len()).for_each(|column| bulk::max_in_place(largest, column));
}

/// Replaces x by exp(x - shift of its row) in such a block, and sums each row.
pub(crate) fn exp_and_sum_rows(columns: &mut [f64], shift: &[f64], totals: &mut [f64]) {
    totals.fill(0.0);
    for column in columns.chunks_exact_mut(shift.len()) {
        bulk::exp_shifted_in_place(column, shift);
        bulk::add_scaled(totals, 1.0, column);
    }
}

/// Divides each row of such a block by a number.
pub(crate) fn divide_rows(columns: &mut [f64], divisors: &[f64]) {
    for column in columns.chunks_exact_mut(divisors.len()) {
        column.iter_mut().zip(divisors).for_each(|(value, divisor)| *value /= divisor);
    }
}

/// The mean of values that may be `-inf`; rows without a share are not looked at. `-inf` if no row has one.
pub(crate) fn weighted_mean(values: &[f64], shares: &[f64]) -> f64 {
    let mut rows = values.iter().zip(shares).filter(|(_, share)| **share > 0.0).peekable();
    if rows.peek().is_none() {
        return f64::NEG_INFINITY;
    }
    rows.map(|(value, share)| value * share).sum()
}
