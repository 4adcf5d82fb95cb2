//! The usual figures of a whole set of predictions: log loss, error, Brier score and AUC of classes; RMSE, MAE and R^2 of
//! numbers. Scores of single rows, which can be averaged and compared in pairs, are in [`super::Measure`].

use crate::math::first_largest;
use crate::task::{Labels, Target};

/// A figure's name and value.
pub type Figure = (&'static str, f64);

/// Whether more of a figure is better: of the AUC and of R^2; all others are losses, but for the log density.
pub fn higher_is_better(figure: &str) -> bool {
    matches!(figure, "auc" | "r2" | "log_density")
}

/// The mean log density; `-inf` if any row has none.
pub fn of_densities(predicted: &[f64]) -> Vec<Figure> {
    vec![("log_density", mean(predicted.iter().copied()))]
}

/// Of class probabilities, row after row: mean log loss, error rate (ties go to the lower class), Brier score, AUC.
pub fn of_classes(predicted: &[f64], labels: &Labels) -> Vec<Figure> {
    let width = labels.classes().len();
    let rows = || predicted.chunks_exact(width).enumerate().map(|(i, row)| (row, labels.class(i)));
    let distance = |(row, class): (&[f64], usize)| -> f64 {
        let truth = |c: usize| if c == class { 1.0 } else { 0.0 };
        row.iter().enumerate().map(|(c, p)| (p - truth(c)).powi(2)).sum()
    };
    let wrong = |(row, class)| if first_largest(row) == class { 0.0 } else { 1.0 };
    vec![
        ("log_loss", mean(rows().map(|(row, class)| -row[class].ln()))),
        ("error", mean(rows().map(wrong))),
        ("brier", mean(rows().map(distance))),
        ("auc", hand_till_auc(predicted, labels)),
    ]
}

/// Of predicted numbers: root mean squared error, mean absolute error, and the share of the variance explained.
pub fn of_numbers(predicted: &[f64], truth: &[f64]) -> Vec<Figure> {
    let residuals = || predicted.iter().zip(truth).map(|(p, y)| y - p);
    let centre = mean(truth.iter().copied());
    let squared = mean(residuals().map(|r| r * r));
    let variance = mean(truth.iter().map(|y| (y - centre).powi(2)));
    vec![
        ("rmse", squared.sqrt()),
        ("mae", mean(residuals().map(f64::abs))),
        ("r2", 1.0 - squared / variance),
    ]
}

/// The area under the ROC curve, for several classes as the mean over pairs of classes [Hand & Till 2001, eq. 7]:
/// A(i,j) = (A(i given j) + A(j given i)) / 2, where A(i given j) is the probability that a row of class i is given a higher
/// p(i) than a row of class j. Pairs of which a class has no rows are left out; NaN if no pair is left.
pub fn hand_till_auc(predicted: &[f64], labels: &Labels) -> f64 {
    let width = labels.classes().len();
    let mut areas = Vec::new();
    for i in 0..width {
        for j in 0..i {
            let higher = area(predicted, labels, i, j);
            let lower = area(predicted, labels, j, i);
            areas.extend(higher.zip(lower).map(|(a, b)| f64::midpoint(a, b)));
        }
    }
    mean(areas.into_iter())
}

/// The probability that a row of class `own` is given a higher p(own) than a row of class `other`, ties counting half: from
/// the sum of the ranks of the own rows.
fn area(predicted: &[f64], labels: &Labels, own: usize, other: usize) -> Option<f64> {
    let width = labels.classes().len();
    let rows = predicted.chunks_exact(width).enumerate();
    let mut scored: Vec<(f64, bool)> = rows
        .filter(|(i, _)| labels.class(*i) == own || labels.class(*i) == other)
        .map(|(i, row)| (row[own], labels.class(i) == own))
        .collect();
    let owned = scored.iter().filter(|(_, is_own)| *is_own).count() as f64;
    let others = scored.len() as f64 - owned;
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rank_sum = 0.0;
    let mut before = 0.0;
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let rank = before + f64::midpoint(1.0, tied.len() as f64);
        rank_sum += rank * tied.iter().filter(|(_, is_own)| *is_own).count() as f64;
        before += tied.len() as f64;
    }
    let area = (rank_sum - owned * (owned + 1.0) / 2.0) / (owned * others);
    (owned > 0.0 && others > 0.0).then_some(area)
}

/// The mean; NaN of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
    sum / count
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let found = of_classes(predicted.as_flattened(), &labels);
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
    fn the_area_of_two_classes_counts_pairs() {
        let labels = Labels::new(["a", "b"].map(String::from), vec![0, 1, 1, 0, 1]).unwrap();
        let positive: [f64; 5] = [0.1, 0.4, 0.35, 0.35, 0.8];
        let predicted: Vec<f64> = positive.iter().flat_map(|p| [1.0 - p, *p]).collect();
        // Of the six pairs, five are in order and one is tied.
        assert!((hand_till_auc(&predicted, &labels) - 5.5 / 6.0).abs() < 1e-15);
        let alone = Labels::new(["a", "b"].map(String::from), vec![0, 0]).unwrap();
        assert!(hand_till_auc(&predicted[..4], &alone).is_nan());
    }

    #[test]
    fn figures_of_numbers() {
        let found = of_numbers(&[1.0, 2.0, 6.0], &[1.0, 4.0, 4.0]);
        let expected =
            [("rmse", (8.0_f64 / 3.0).sqrt()), ("mae", 4.0 / 3.0), ("r2", 1.0 - 8.0 / 6.0)];
        for ((name, value), (wanted, figure)) in found.iter().zip(expected) {
            assert_eq!(*name, wanted);
            assert!((value - figure).abs() < 1e-15, "{name}");
        }
    }
}
