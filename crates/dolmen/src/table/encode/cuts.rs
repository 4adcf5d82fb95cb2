//! Quantiles of weighted numbers, and the cuts between bins of equal frequency.

/// A finite number with the weight of its row.
pub(super) type Weighted = (f64, f64);

/// The `fraction` quantile of numbers in ascending order, by linear interpolation between the two order statistics around
/// position `fraction (n - 1)`, counted from 0, where n is the total weight: weights count copies.
pub(super) fn quantile(sorted: &[Weighted], fraction: f64) -> f64 {
    let total: f64 = sorted.iter().map(|(_, weight)| weight).sum();
    let position = (fraction * (total - 1.0)).max(0.0);
    let below = order_statistic(sorted, position.floor());
    let above = order_statistic(sorted, position.floor() + 1.0);
    below + (position - position.floor()) * (above - below)
}

/// The number at `position` among the copies of all numbers; the last one if there are fewer.
fn order_statistic(sorted: &[Weighted], position: f64) -> f64 {
    let mut copies = 0.0;
    let reaches = |(_, weight): &&Weighted| {
        copies += weight;
        copies > position
    };
    sorted.iter().find(reaches).or(sorted.last()).map_or(f64::NAN, |(value, _)| *value)
}

/// The cuts between `bins` intervals with equal numbers of rows: the quantiles 1/bins, 2/bins, ... by linear interpolation,
/// equal ones dropped. Missing values do not count.
///
/// ```
/// use dolmen::table::encode::{bin, equal_frequency_cuts};
/// let cuts = equal_frequency_cuts(&[1.0, 2.0, 3.0, 4.0, 10.0], None, 2);
/// assert_eq!(cuts, [3.0]);
/// assert_eq!((bin(&cuts, 3.0), bin(&cuts, 3.1)), (0, 1));
/// ```
pub fn equal_frequency_cuts(values: &[f64], weights: Option<&[f64]>, bins: usize) -> Vec<f64> {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let weighted = values.iter().enumerate().map(|(i, value)| (*value, weight(i)));
    let mut cells: Vec<Weighted> = weighted.filter(|(v, w)| !v.is_nan() && *w > 0.0).collect();
    sort(&mut cells);
    cuts(&cells, bins)
}

/// The same of numbers in ascending order.
pub(super) fn cuts(sorted: &[Weighted], bins: usize) -> Vec<f64> {
    if sorted.is_empty() {
        return Vec::new();
    }
    let mut cuts: Vec<f64> = (1..bins).map(|k| quantile(sorted, k as f64 / bins as f64)).collect();
    cuts.dedup();
    cuts
}

/// Which interval a number lies in; a number equal to a cut lies below it.
pub fn bin(cuts: &[f64], value: f64) -> usize {
    cuts.partition_point(|cut| *cut < value)
}

/// Brings numbers into ascending order.
pub(super) fn sort(cells: &mut [Weighted]) {
    cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.total_cmp(&b.1)));
}
