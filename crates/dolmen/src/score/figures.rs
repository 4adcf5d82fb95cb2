//! The usual figures of a whole set of predictions: log loss, error, Brier score and AUC of classes; RMSE, MAE and R^2 of
//! numbers. Scores of single rows, which can be averaged and compared in pairs, are in [`super::Measure`].

use std::collections::BTreeMap;

use super::auc;
use crate::math::first_largest;
use crate::score::Estimate;
use crate::target::{Labels, Target};

/// A figure's name and value.
pub type Figure = (&'static str, f64);

/// Figures with their standard errors, by name.
pub type Estimates = BTreeMap<String, Estimate>;

/// Figures by name.
pub type Figures = BTreeMap<String, f64>;

/// Whether more of a figure is better: of the AUC and of R^2; all others are losses, but for the log density.
pub fn higher_is_better(figure: &str) -> bool {
    matches!(figure, "auc" | "r2" | "log_density")
}

/// The losses of [`class_losses`].
pub(super) const CLASS_LOSSES: [&str; 3] = ["log_loss", "error", "brier"];

/// What a row of class probabilities loses, of the class that is the truth: log loss, error, Brier score.
pub(super) fn class_losses(row: &[f64], class: usize) -> [f64; 3] {
    let truth = |c: usize| if c == class { 1.0 } else { 0.0 };
    let distance = row.iter().enumerate().map(|(c, p)| (p - truth(c)).powi(2)).sum();
    [-row[class].ln(), f64::from(first_largest(row) != class), distance]
}

/// The mean log density, with its standard error, over rows with a share.
pub fn estimates_of_densities(predicted: &[f64], shares: &[f64]) -> Estimates {
    Estimates::from([("log_density".to_string(), Estimate::of(predicted, shares))])
}

/// The figures of class probabilities with their standard errors, over rows with a share: those of means, and
/// [DeLong's](auc) of the AUC.
pub fn estimates_of_classes(predicted: &[f64], labels: &Labels, shares: &[f64]) -> Estimates {
    let rows = predicted.chunks_exact(labels.classes().len()).zip(labels.codes());
    let losses: Vec<[f64; 3]> =
        rows.map(|(row, &class)| class_losses(row, class as usize)).collect();
    let estimate = |(k, name): (usize, &str)| {
        let own: Vec<f64> = losses.iter().map(|row| row[k]).collect();
        (name.to_string(), Estimate::of(&own, shares))
    };
    let mut figures: Estimates = CLASS_LOSSES.into_iter().enumerate().map(estimate).collect();
    figures.insert("auc".into(), auc::hand_till(predicted, labels, shares));
    figures
}

/// The truth less what was predicted; what rounding leaves of 0 is 0.
pub fn residual(truth: f64, predicted: f64) -> f64 {
    let residual = truth - predicted;
    if residual.abs() <= ROUNDING * truth.abs() { 0.0 } else { residual }
}

/// What a number may be off by because it was rounded a few times.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Shares smaller than this are what rounding leaves of 0.
const NOTHING: f64 = 1e-12;

/// 1 - s / v for the mean squared error s and the variance v of numbers around `centre`; unknown where they do not vary.
pub(super) fn explained(s: f64, v: f64, centre: f64) -> f64 {
    let share = if v > (ROUNDING * centre).powi(2) { 1.0 - s / v } else { f64::NAN };
    // What rounding leaves of 0, as of rows that are all predicted by their mean.
    if share.abs() < NOTHING { 0.0 } else { share }
}

/// The figures of predicted numbers with their standard errors, over rows with a share. Those of RMSE and R^2 are by the
/// delta method: sqrt(s) changes by ds / (2 sqrt(s)), and 1 - s / v by -ds / v + s dv / v^2, for the mean squared error s
/// and the variance v, both means over the same rows.
pub fn estimates_of_numbers(predicted: &[f64], truth: &[f64], shares: &[f64]) -> Estimates {
    let centre = Estimate::of(truth, shares).mean;
    let residuals = || predicted.iter().zip(truth).map(|(p, y)| residual(*y, *p));
    let squares: Vec<f64> = residuals().map(|r| r * r).collect();
    let deviations: Vec<f64> = truth.iter().map(|y| (y - centre).powi(2)).collect();
    let squared = Estimate::of(&squares, shares);
    let (s, v) = (squared.mean, Estimate::of(&deviations, shares).mean);
    let rmse = Estimate { mean: s.sqrt(), se: squared.se.map(|se| se / (2.0 * s.sqrt())) };
    let moves = squares.iter().zip(&deviations).map(|(r, d)| (s / v) * (d / v) - r / v);
    let r2 = Estimate::of(&moves.collect::<Vec<_>>(), shares);
    let absolute: Vec<f64> = residuals().map(f64::abs).collect();
    let known = |e: Estimate| Estimate { se: e.se.filter(|se| se.is_finite()), ..e };
    Estimates::from([
        ("rmse".into(), known(rmse)),
        ("mae".into(), Estimate::of(&absolute, shares)),
        ("r2".into(), Estimate { mean: explained(s, v, centre), se: r2.se }),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{Classification, Regression, Task};

    /// Golden values of the reference implementation, `scores`.
    #[test]
    fn figures_of_classes_are_those_of_the_reference() {
        let predicted = [
            [0.7, 0.2, 0.1],
            [0.3, 0.4, 0.3],
            [0.3, 0.4, 0.3],
            [0.2, 0.2, 0.6],
            [0.1, 0.8, 0.1],
            [0.5, 0.25, 0.25],
            [0.25, 0.5, 0.25],
            [0.2, 0.3, 0.5],
            [0.6, 0.3, 0.1],
            [0.1, 0.3, 0.6],
        ];
        let classes = ["a", "b", "c"].map(String::from);
        let labels = Labels::new(classes, vec![0, 1, 0, 2, 1, 0, 2, 2, 1, 2]).unwrap();
        let found = Classification::figures(predicted.as_flattened(), &labels);
        let expected = [
            ("log_loss", 0.769_829_480_555_073_2),
            ("error", 0.3),
            ("auc", 0.849_537_037_037_036_9),
        ];
        for (name, value) in expected {
            let (_, figure) = found.iter().find(|(n, _)| *n == name).unwrap();
            assert!((figure - value).abs() < 1e-12, "{name}: {figure}");
        }
    }

    #[test]
    fn figures_of_numbers() {
        let found = Regression::figures(&[1.0, 2.0, 6.0], &vec![1.0, 4.0, 4.0]);
        let expected =
            [("rmse", (8.0_f64 / 3.0).sqrt()), ("mae", 4.0 / 3.0), ("r2", 1.0 - 8.0 / 6.0)];
        for ((name, value), (wanted, figure)) in found.iter().zip(expected) {
            assert_eq!(*name, wanted);
            assert!((value - figure).abs() < 1e-15, "{name}");
        }
    }

    /// The errors by the delta method are those of leaving out one row at a time, up to the square of 1/n.
    #[test]
    fn errors_of_rmse_and_r2_are_those_of_the_jackknife() {
        let n = 400;
        let noise = |i: usize| ((i * 7919) % 1009) as f64 / 1009.0 - 0.5;
        let truth: Vec<f64> = (0..n).map(|i| (i as f64 / 40.0).sin() + noise(i)).collect();
        let predicted: Vec<f64> = (0..n).map(|i| (i as f64 / 40.0).sin()).collect();
        let found = estimates_of_numbers(&predicted, &truth, &vec![1.0 / n as f64; n]);
        let without = |i: usize| -> Vec<Figure> {
            let others = |v: &[f64]| [&v[..i], &v[i + 1..]].concat();
            Regression::figures(&others(&predicted), &others(&truth))
        };
        let left: Vec<Vec<Figure>> = (0..n).map(without).collect();
        for (f, (name, value)) in Regression::figures(&predicted, &truth).into_iter().enumerate() {
            let centre = left.iter().map(|figures| figures[f].1).sum::<f64>() / n as f64;
            let spread: f64 = left.iter().map(|figures| (figures[f].1 - centre).powi(2)).sum();
            let jackknife = (spread * (n - 1) as f64 / n as f64).sqrt();
            assert!((found[name].mean - value).abs() < 1e-12, "{name}");
            let ratio = found[name].se.unwrap() / jackknife;
            assert!((ratio - 1.0).abs() < 0.01, "{name}: {ratio}");
        }
    }
}
