//! Prediction intervals for numbers, from the errors on rows that the stack had not seen.
//!
//! With fold averages they are CV+ intervals [Barber2021, section 3.2]: the alpha and 1 - alpha quantiles of
//! f_-v(i)(x) -+ R_i, where f_-v is the stack as it was learned without fold v, and R_i the error on row i of the stack
//! that had not seen it. Whatever the data and the learners, they hold the truth with probability 1 - 2 alpha at least
//! (nearly), and in practice about 1 - alpha. With members refitted on all rows, the one stack stands in for all f_-v;
//! then there is no guarantee.
//!
//! Local intervals divide each error by the one expected at its row ([spread](super::spread)), and multiply by the one
//! expected at the new row: R_i s_-v(x) / s_-v(x_i) stands in the place of R_i.

use serde::{Deserialize, Serialize};

use super::trial_rows::TrialRows;
use crate::error::{Error, Result};
use crate::score::{Estimate, Running};

/// How wide intervals are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntervalKind {
    /// Everywhere the same, but for the differences between the folds' predictions.
    #[default]
    Constant,
    /// In proportion to the error expected at the row.
    Local,
}

/// The intervals of a stack and how often they hold the truth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntervalReport {
    /// Their kind; constant where rows are too few to learn where errors are large.
    pub kind: IntervalKind,
    /// How often they hold the truth of rows held out, at the [levels](LEVELS) that are usually asked for.
    pub coverage: Vec<Coverage>,
}

/// The intervals of one level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// How often they are to hold the truth.
    pub level: f64,
    /// How often they did.
    pub measured: Estimate,
    /// Their mean width; infinite with too few rows for the level.
    pub width: f64,
}

/// Levels at which coverage is reported.
pub const LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

impl Coverage {
    /// Of intervals and the truths they were to hold.
    pub(super) fn of(level: f64, intervals: &[[f64; 2]], truth: &[f64]) -> Self {
        let mut covered = Covered::new(level);
        covered.add(intervals, truth);
        covered.coverage()
    }
}

/// What is kept of the intervals of one level until all rows have been seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Covered {
    level: f64,
    /// How often they held the truth.
    held: Running,
    /// The sum of their widths.
    width: f64,
}

impl Covered {
    pub(super) fn new(level: f64) -> Self {
        Self { level, held: Running::default(), width: 0.0 }
    }

    /// Adds the intervals of further rows and the truths they were to hold.
    pub(super) fn add(&mut self, intervals: &[[f64; 2]], truth: &[f64]) {
        for ([low, high], y) in intervals.iter().zip(truth) {
            self.held.add(f64::from((low..=high).contains(&y)));
            self.width += high - low;
        }
    }

    /// Adds rows that come after these.
    pub(super) fn merge(&mut self, later: &Self) {
        self.held.merge(&later.held);
        self.width += later.width;
    }

    /// How they did.
    pub(super) fn coverage(&self) -> Coverage {
        let width = self.width / self.held.rows() as f64;
        Coverage { level: self.level, measured: self.held.estimate(), width }
    }
}

/// The rank of the error that bounds intervals of this level, from so many rows; `None` with too few of them.
fn rank(level: f64, rows: usize) -> Option<usize> {
    // The ceil((1 - alpha)(n + 1))-th smallest.
    let rank = (level * (rows + 1) as f64).ceil() as usize;
    (rank <= rows).then_some(rank)
}

/// What the stack said about rows it had not seen, beside the truth.
pub(super) struct Errors {
    pub(super) predicted: Vec<f64>,
    pub(super) truth: Vec<f64>,
    pub(super) rows: TrialRows,
}

impl Errors {
    /// Absolute errors, row by row.
    pub(super) fn absolute(&self) -> Vec<f64> {
        self.predicted.iter().zip(&self.truth).map(|(p, y)| (y - p).abs()).collect()
    }

    /// Leaves out the first fold, and from `others` its rows.
    pub(super) fn drop_first_fold(&mut self, others: &mut [&mut Vec<f64>]) {
        let (rows, places) = self.rows.after_first_fold();
        let keep = |all: &mut Vec<f64>| *all = places.iter().map(|&i| all[i]).collect();
        keep(&mut self.predicted);
        keep(&mut self.truth);
        others.iter_mut().for_each(|other| keep(other));
        self.rows = rows;
    }

    /// How often intervals hold the truth in order of time: each row's from the errors of earlier folds, each of them in the
    /// units of the error expected at its row, and times what its fold expects at the new row (`expected`, fold by fold).
    pub(super) fn forward_coverage(&self, units: &[f64], expected: &[Vec<f64>]) -> Vec<Coverage> {
        let judges = |fold: usize| Residuals::in_units(self, &self.rows.judging(fold), units);
        let judges: Vec<Residuals> = (0..self.rows.folds()).map(judges).collect();
        let judged = |&i: &usize| !judges[self.rows.fold_of_row[i]].is_empty();
        let judged: Vec<usize> = (0..self.rows.len()).filter(judged).collect();
        self.coverage_of(&judged, |i, level| {
            let fold = self.rows.fold_of_row[i];
            let spreads: Vec<f64> = expected[..fold].iter().map(|expected| expected[i]).collect();
            judges[fold].local_interval(&vec![self.predicted[i]; fold], &spreads, level)
        })
    }

    /// How often intervals about predictions hold the truth, each row's with errors from other folds than its own (earlier
    /// ones, in order of time; the first has none and does not count); `spread` is the error expected at each row.
    pub(super) fn held_out_coverage(&self, spread: &[f64]) -> Vec<Coverage> {
        let errors: Vec<f64> =
            self.absolute().iter().zip(spread).map(|(error, s)| error / s).collect();
        let others = |fold: usize| {
            let mut others: Vec<f64> =
                self.rows.judging(fold).into_iter().map(|i| errors[i]).collect();
            others.sort_by(f64::total_cmp);
            others
        };
        let others: Vec<Vec<f64>> = (0..self.rows.folds()).map(others).collect();
        let judged = |&i: &usize| !others[self.rows.fold_of_row[i]].is_empty();
        let judged: Vec<usize> = (0..self.rows.len()).filter(judged).collect();
        self.coverage_of(&judged, |i, level| {
            let others = &others[self.rows.fold_of_row[i]];
            let bound = rank(level, others.len()).map_or(f64::INFINITY, |rank| others[rank - 1]);
            let half = bound * spread[i];
            [self.predicted[i] - half, self.predicted[i] + half]
        })
    }

    /// How often the intervals of some rows hold their truth; nothing without a row.
    fn coverage_of(
        &self,
        judged: &[usize],
        interval: impl Fn(usize, f64) -> [f64; 2],
    ) -> Vec<Coverage> {
        if judged.is_empty() {
            return Vec::new();
        }
        let truth: Vec<f64> = judged.iter().map(|&i| self.truth[i]).collect();
        let coverage = |level: f64| {
            let intervals: Vec<[f64; 2]> = judged.iter().map(|&i| interval(i, level)).collect();
            Coverage::of(level, &intervals, &truth)
        };
        LEVELS.into_iter().map(coverage).collect()
    }
}

/// Errors on rows that the stack had not seen, in units of the error expected at each.
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
    /// All errors, as they are.
    pub(super) fn of(errors: &Errors) -> Self {
        let rows: Vec<usize> = (0..errors.rows.len()).collect();
        Self::in_units(errors, &rows, &vec![1.0; rows.len()])
    }

    /// The errors on some rows, each in units of the error expected at it.
    pub(super) fn in_units(errors: &Errors, rows: &[usize], units: &[f64]) -> Self {
        let mut folds = vec![Fold { errors: Vec::new() }; errors.rows.folds()];
        for &i in rows {
            let error = (errors.truth[i] - errors.predicted[i]).abs();
            folds[errors.rows.fold_of_row[i]].errors.push(error / units[i]);
        }
        folds.iter_mut().for_each(|fold| fold.errors.sort_by(f64::total_cmp));
        Self { folds }
    }

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.folds.iter().all(|fold| fold.errors.is_empty())
    }

    /// Folds they came from.
    pub(super) fn folds(&self) -> usize {
        self.folds.len()
    }

    /// Half the width of the interval of each level about one prediction, whichever fold an error is from: infinite where rows are too few.
    pub(super) fn half_widths(&self, levels: &[f64]) -> Vec<f64> {
        let mut errors: Vec<f64> =
            self.folds.iter().flat_map(|fold| &fold.errors).copied().collect();
        errors.sort_unstable_by(f64::total_cmp);
        let width =
            |level: &f64| rank(*level, errors.len()).map_or(f64::INFINITY, |rank| errors[rank - 1]);
        levels.iter().map(width).collect()
    }

    /// The interval of this level about the folds' predictions of one row.
    pub(super) fn interval(&self, centres: &[f64], level: f64) -> [f64; 2] {
        self.local_interval(centres, &vec![1.0; centres.len()], level)
    }

    /// The same with the errors that the folds expect at the row; only the folds that have a centre count.
    pub(super) fn local_interval(&self, centres: &[f64], spreads: &[f64], level: f64) -> [f64; 2] {
        let counted = self.folds.iter().zip(centres);
        let rows: usize = counted.map(|(fold, _)| fold.errors.len()).sum();
        let Some(rank) = rank(level, rows) else {
            return [f64::NEG_INFINITY, f64::INFINITY];
        };
        let upper = self.order_statistic(centres, spreads, rank);
        let mirrored: Vec<f64> = centres.iter().map(|centre| -centre).collect();
        [-self.order_statistic(&mirrored, spreads, rank), upper]
    }

    /// The rank-th smallest of all centre + spread * error.
    fn order_statistic(&self, centres: &[f64], spreads: &[f64], rank: usize) -> f64 {
        let folds = || self.folds.iter().zip(centres).zip(spreads);
        let count = |value: f64| -> usize {
            let within = |((fold, centre), spread): ((&Fold, &f64), &f64)| {
                fold.errors.partition_point(|error| centre + spread * error <= value)
            };
            folds().map(within).sum()
        };
        let mut low = centres.iter().fold(f64::INFINITY, |a, b| a.min(*b));
        let end = |((fold, centre), spread): ((&Fold, &f64), &f64)| {
            fold.errors.last().map(|error| centre + spread * error)
        };
        let mut high = folds().filter_map(end).fold(low, f64::max);
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
        let rows = TrialRows { fold_of_row: folds.to_vec(), groups: None, is_forward: false };
        let errors = Errors { predicted: predicted.to_vec(), truth: truth.to_vec(), rows };
        let residuals = Residuals::of(&errors);
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
        // About one prediction the errors of all folds are as good as those of one.
        let levels = [0.2, 0.5, 0.8, 0.99];
        for (level, half) in levels.into_iter().zip(residuals.half_widths(&levels)) {
            let [lower, upper] = residuals.interval(&[5.0; 3], level);
            let about = [5.0 - half, 5.0 + half];
            let is_same = |(a, b): (f64, f64)| a == b || (a - b).abs() < 1e-12;
            assert!([lower, upper].into_iter().zip(about).all(is_same), "{level}");
        }
    }
}
