//! Predicted against true numbers, summed up: how often they fell where, and how far off they were. No row is in it.

use serde::{Deserialize, Serialize};

use super::sketch::{Beyond, Ends};

/// Cells along either axis.
const CELLS: usize = 30;
/// Bands of predictions.
const BANDS: usize = 12;
/// Shares of the residuals that are kept of each band.
pub const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// Predicted against true numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictedTrue {
    /// The ends of both axes.
    pub range: [f64; 2],
    /// Cells along either axis.
    pub cells: usize,
    /// Rows in each cell: of the lowest true numbers first, those with the lowest predictions first.
    pub counts: Vec<usize>,
    /// Residuals by what was predicted, from low to high.
    pub bands: Vec<ResidualBand>,
    /// Rows that are in no cell, if there are any: predicted or true far off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
}

/// Rows with about the same prediction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResidualBand {
    /// The mean prediction.
    pub predicted: f64,
    /// How many rows there are.
    pub rows: usize,
    /// The residuals (true less predicted) below which the [shares](SHARES) of them lie.
    pub quantiles: [f64; 5],
}

impl PredictedTrue {
    /// Of predictions and what was true.
    pub fn of(predicted: &[f64], truth: &[f64]) -> Self {
        let both = predicted.iter().chain(truth).copied();
        let mut values: Vec<f64> = both.filter(|v| v.is_finite()).collect();
        let Ends { all, near: [low, high] } = Ends::of(&mut values);
        let range = if high > low { [low, high] } else { [low - 0.5, low + 0.5] };
        let cell = |value: f64| {
            let share = (value - range[0]) / (range[1] - range[0]);
            ((share * CELLS as f64) as usize).min(CELLS - 1)
        };
        let mut counts = vec![0; CELLS * CELLS];
        let mut beyond = Beyond { below: 0, above: 0, ends: all };
        for (p, y) in predicted.iter().zip(truth) {
            if p.min(*y) < low {
                beyond.below += 1;
            } else if p.max(*y) > high {
                beyond.above += 1;
            } else {
                counts[cell(*y) * CELLS + cell(*p)] += 1;
            }
        }
        let beyond = (beyond.total() > 0).then_some(beyond);
        Self { range, cells: CELLS, counts, bands: bands(predicted, truth), beyond }
    }

    /// All rows, in cells or beyond them.
    pub fn rows(&self) -> usize {
        self.counts.iter().sum::<usize>() + self.beyond.map_or(0, |own| own.total())
    }
}

fn bands(predicted: &[f64], truth: &[f64]) -> Vec<ResidualBand> {
    let mut order: Vec<usize> = (0..predicted.len()).collect();
    order.sort_by(|&a, &b| predicted[a].total_cmp(&predicted[b]));
    let size = predicted.len().div_ceil(BANDS).max(1);
    let count = predicted.len().div_ceil(size);
    let band = |rows: &[usize]| {
        let mut residuals: Vec<f64> = rows.iter().map(|&i| truth[i] - predicted[i]).collect();
        residuals.sort_by(f64::total_cmp);
        ResidualBand {
            predicted: rows.iter().map(|&i| predicted[i]).sum::<f64>() / rows.len() as f64,
            rows: rows.len(),
            quantiles: SHARES.map(|share| quantile(&residuals, share)),
        }
    };
    // Bands of this size would leave a few rows to the last one: all have as many, or one more.
    let start = |k: usize| k * order.len() / count;
    (0..count).map(|k| band(&order[start(k)..start(k + 1)])).collect()
}

/// The value below which a share of sorted values lies, between neighbours by the share.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = share * last as f64;
    let (below, part) = (at.floor() as usize, at.fract());
    sorted[below] + part * (sorted[(below + 1).min(last)] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_counted_once_and_residuals_are_in_their_bands() {
        let predicted: Vec<f64> = (0..600).map(|i| f64::from(i % 60)).collect();
        let truth: Vec<f64> =
            (0..600).map(|i| f64::from(i % 60) + f64::from(i / 60) - 4.5).collect();
        let found = PredictedTrue::of(&predicted, &truth);
        assert_eq!(found.counts.iter().sum::<usize>(), 600);
        assert_eq!(found.range, [-4.5, 63.5]);
        assert_eq!(found.bands.len(), 12);
        for band in &found.bands {
            assert_eq!(band.rows, 50);
            assert_eq!(band.quantiles[2], 0.0, "{band:?}");
            assert_eq!(band.quantiles[4], -band.quantiles[0], "{band:?}");
        }
        for rows in [0, 1, 13, 133, 145] {
            let found = PredictedTrue::of(&predicted[..rows], &truth[..rows]);
            let sizes: Vec<usize> = found.bands.iter().map(|band| band.rows).collect();
            assert_eq!(sizes.iter().sum::<usize>(), rows);
            assert!(sizes.iter().all(|size| size + 1 >= rows.div_ceil(12)), "{rows}: {sizes:?}");
        }
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
        assert_eq!(PredictedTrue::of(&[2.0], &[2.0]).counts.iter().sum::<usize>(), 1);
    }

    #[test]
    fn a_row_far_off_leaves_the_others_their_cells() {
        let mut truth: Vec<f64> = (0..500).map(|i| f64::from(i % 100)).collect();
        let predicted: Vec<f64> = truth.iter().map(|y| y + 1.0).collect();
        let whole = PredictedTrue::of(&predicted, &truth);
        truth[7] = 1e9;
        let found = PredictedTrue::of(&predicted, &truth);
        let beyond = Beyond { below: 0, above: 1, ends: [0.0, 1e9] };
        assert_eq!((found.range, found.beyond), (whole.range, Some(beyond)));
        assert_eq!((whole.beyond, whole.rows(), found.rows()), (None, 500, 500));
        assert_eq!(found.bands.iter().map(|band| band.rows).sum::<usize>(), 500);
    }
}
