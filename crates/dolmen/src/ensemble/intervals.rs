//! Prediction intervals for numbers, from the errors on rows that the stack had not seen.
//!
//! With fold averages they are CV+ intervals [Barber2021, section 3.2]: the alpha and 1 - alpha quantiles of
//! f_-v(i)(x) -+ R_i, where f_-v is the stack as it was learned without fold v, and R_i the error on row i of the stack
//! that had not seen it. Whatever the data and the learners, they hold the truth with probability 1 - 2 alpha at least
//! (nearly), and in practice about 1 - alpha. With members refitted on all rows, the one stack stands in for all f_-v;
//! then there is no guarantee.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Errors on rows that the stack had not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Residuals {
    /// Fold after fold: absolute errors, ascending.
    folds: Vec<Fold>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fold {
    #[serde(with = "crate::store::floats")]
    errors: Vec<f64>,
}

/// Halvings of the interval in which a bound is searched: more than doubles can tell apart.
const HALVINGS: usize = 200;

impl Residuals {
    /// The errors of predictions, each made without its row's fold.
    pub(super) fn new(predicted: &[f64], truth: &[f64], fold_of_row: &[usize]) -> Self {
        let count = fold_of_row.iter().max().map_or(0, |last| last + 1);
        let mut folds = vec![Fold { errors: Vec::new() }; count];
        for ((p, y), &fold) in predicted.iter().zip(truth).zip(fold_of_row) {
            folds[fold].errors.push((y - p).abs());
        }
        folds.iter_mut().for_each(|fold| fold.errors.sort_by(f64::total_cmp));
        Self { folds }
    }

    /// Folds they came from.
    pub(super) fn folds(&self) -> usize {
        self.folds.len()
    }

    /// The interval of this level about the folds' predictions of one row.
    pub(super) fn interval(&self, centres: &[f64], level: f64) -> [f64; 2] {
        let rows: usize = self.folds.iter().map(|fold| fold.errors.len()).sum();
        // The ceil((1 - alpha)(n + 1))-th smallest; with too few rows for the level, no bound.
        let rank = (level * (rows + 1) as f64).ceil() as usize;
        if rank > rows {
            return [f64::NEG_INFINITY, f64::INFINITY];
        }
        let upper = self.order_statistic(centres, rank);
        let mirrored: Vec<f64> = centres.iter().map(|centre| -centre).collect();
        [-self.order_statistic(&mirrored, rank), upper]
    }

    /// The rank-th smallest of all centre + error.
    fn order_statistic(&self, centres: &[f64], rank: usize) -> f64 {
        let count = |value: f64| -> usize {
            let within = |(fold, centre): (&Fold, &f64)| {
                fold.errors.partition_point(|error| centre + error <= value)
            };
            self.folds.iter().zip(centres).map(within).sum()
        };
        let mut low = centres.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        let ends = self.folds.iter().zip(centres);
        let ends = ends.filter_map(|(fold, centre)| fold.errors.last().map(|e| centre + e));
        let mut high = ends.fold(low, f64::max);
        if count(low) >= rank {
            return low;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if middle <= low || middle >= high {
                break;
            }
            if count(middle) >= rank { high = middle } else { low = middle }
        }
        high
    }
}

/// Refuses a level that is no probability strictly between 0 and 1.
pub(super) fn check_level(level: f64) -> Result<()> {
    if level > 0.0 && level < 1.0 {
        return Ok(());
    }
    Err(Error::param("level of the intervals", "between 0 and 1, such as 0.9", level))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_order_statistics_of_all_centres_and_errors() {
        let truth = [1.0, 2.0, 4.0, 7.0, 11.0, 16.0, 3.0];
        let predicted = [1.5, 1.0, 4.25, 9.0, 10.0, 12.0, 3.0];
        let folds = [0, 1, 2, 0, 1, 2, 0];
        let centres = [5.0, 5.5, 4.0];
        let residuals = Residuals::new(&predicted, &truth, &folds);
        for level in [0.2, 0.5, 0.8] {
            let rank = (level * 8.0_f64).ceil() as usize;
            let error = |i: usize| (truth[i] - predicted[i]).abs();
            let mut high: Vec<f64> = (0..7).map(|i| centres[folds[i]] + error(i)).collect();
            let mut low: Vec<f64> = (0..7).map(|i| centres[folds[i]] - error(i)).collect();
            high.sort_by(f64::total_cmp);
            low.sort_by(|a, b| b.total_cmp(a));
            let [lower, upper] = residuals.interval(&centres, level);
            assert!((lower - low[rank - 1]).abs() < 1e-12, "{level}");
            assert!((upper - high[rank - 1]).abs() < 1e-12, "{level}");
        }
        assert_eq!(residuals.interval(&centres, 0.99), [f64::NEG_INFINITY, f64::INFINITY]);
    }
}
