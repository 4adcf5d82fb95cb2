//! The price of a leaf that predicts held-out rows best.

use std::ops::Range;

/// Rows times prices up to which the errors at each price are added up one by one.
const FEW_CELLS: usize = 1 << 28;

/// The price of smallest mean error, or the dearest within a standard error of it. `steps` tells the errors of a row, one for every
/// stretch of prices, and gives the row's weight; nothing is kept of them but sums.
pub(super) fn best_price<R>(
    rows: impl Iterator<Item = R> + Clone,
    steps: impl Fn(R, &mut dyn FnMut(Range<usize>, f64)) -> f64,
    prices: usize,
    one_se: bool,
) -> usize {
    let mut total = 0.0;
    let mut means = vec![0.0; prices + 1];
    let is_few = rows.clone().count().saturating_mul(prices) <= FEW_CELLS;
    let mut stretches: Vec<(Range<usize>, f64)> = Vec::new();
    for row in rows.clone() {
        stretches.clear();
        let weight = steps(row, &mut |prices, error| stretches.push((prices, error)));
        total += weight;
        for (prices, error) in stretches.drain(..) {
            if is_few {
                means[prices].iter_mut().for_each(|sum| *sum += weight * error);
            } else {
                // Where each stretch begins and ends is enough: the sums follow when all rows are in.
                means[prices.start] += weight * error;
                means[prices.end] -= weight * error;
            }
        }
    }
    if !is_few {
        let mut sum = 0.0;
        for mean in &mut means {
            sum += *mean;
            *mean = sum;
        }
    }
    means.truncate(prices);
    means.iter_mut().for_each(|sum| *sum /= total);
    // Of equally good ones the dearest, which has the smaller tree.
    let best = (0..prices).rev().fold(prices - 1, |a, b| if means[b] < means[a] { b } else { a });
    if !one_se {
        return best;
    }
    // In units of the mean, as the square of a squared error soon leaves the range of numbers.
    let unit = means[best].abs().max(f64::MIN_POSITIVE);
    let square = |row| {
        let mut own = 0.0;
        let weight = steps(row, &mut |prices, error| {
            if prices.contains(&best) {
                own = error;
            }
        });
        weight * ((own - means[best]) / unit).powi(2)
    };
    let error = unit * rows.map(square).sum::<f64>().sqrt() / total;
    (best..prices).rev().find(|&price| means[price] <= means[best] + error).unwrap_or(best)
}
