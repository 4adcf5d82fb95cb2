//! What class probabilities say row by row, summed up as curves: ROC, precision against recall, reliability; and the table of
//! true against predicted classes. All of them are small, whatever the number of rows, and hold no row.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::math::first_largest;
use crate::target::{Labels, Target};

/// Steps of a curve along either axis that are kept apart.
const STEPS: f64 = 100.0;
/// Bins of a reliability curve, at most.
const BINS: usize = 10;
/// Classes that have curves: the most frequent ones.
const MOST_CLASSES: usize = 8;
/// Classes up to which true and predicted ones are counted against each other.
const MOST_CONFUSED: usize = 40;

/// What predicted class probabilities are worth, class by class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassCurves {
    /// The curves of each class against the others; of two classes those of the second alone, as the first's mirror them.
    pub curves: Vec<ClassCurve>,
    /// How often which class was taken for which; `None` where there are very many classes.
    pub confusion: Option<Confusion>,
}

/// One class against all others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassCurve {
    /// The class.
    pub class: String,
    /// Rows of it.
    pub rows: usize,
    /// The share of the weight that it has.
    pub share: f64,
    /// The area under the ROC curve.
    pub area: f64,
    /// False positive rate and true positive rate, from (0, 0) to (1, 1).
    pub roc: Vec<[f64; 2]>,
    /// The mean precision over the recalls: the area under the steps of the other curve.
    pub average_precision: f64,
    /// Recall and precision, with falling thresholds.
    pub precision_recall: Vec<[f64; 2]>,
    /// Predicted against observed, in bins of equal width; in older model files of about as many rows each.
    pub reliability: Vec<ReliabilityBin>,
}

/// Rows that were given about the same probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// The mean probability they were given.
    pub predicted: f64,
    /// The share that was of the class.
    pub observed: Estimate,
    /// How many there are.
    pub rows: usize,
}

impl ReliabilityBin {
    /// The interval of the share that was of the class, of so many standard errors on either side (Wilson1927). It has a width where
    /// the share is 0 or 1, too: that no row of a few was of the class says little. Rows with weights count as the rows without any
    /// that would have the same standard error.
    pub fn interval(&self, errors: f64) -> [f64; 2] {
        let share = self.observed.mean;
        let rows = match self.observed.se {
            Some(se) if se > 0.0 => 1.0 + share * (1.0 - share) / (se * se),
            _ => f64::INFINITY,
        };
        let rows = rows.min(self.rows as f64);
        let square = errors * errors;
        let middle = (share + square / (2.0 * rows)) / (1.0 + square / rows);
        let spread = (share * (1.0 - share) / rows + square / (4.0 * rows * rows)).sqrt();
        let half = errors * spread / (1.0 + square / rows);
        [(middle - half).max(0.0), (middle + half).min(1.0)]
    }
}

/// How often which class was taken for which.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confusion {
    /// The classes.
    pub classes: Vec<String>,
    /// Rows of each true class (row) that were taken for each class (column): row after row.
    pub counts: Vec<usize>,
}

impl ClassCurves {
    /// Of predicted probabilities, row after row, for rows with these classes and weights.
    pub fn of(predicted: &[f64], labels: &Labels, weights: &[f64]) -> Self {
        let classes = labels.classes();
        let rows = labels.counts();
        let mut chosen = labels.frequent(MOST_CLASSES);
        if let [_, second] = chosen[..]
            && classes.len() == 2
        {
            chosen = vec![second];
        }
        let curve = |c: usize| ClassCurve::of(c, rows[c], predicted, labels, weights);
        Self {
            curves: chosen.into_iter().map(curve).collect(),
            confusion: (classes.len() <= MOST_CONFUSED).then(|| Confusion::of(predicted, labels)),
        }
    }
}

impl Confusion {
    fn of(predicted: &[f64], labels: &Labels) -> Self {
        let width = labels.classes().len();
        let mut counts = vec![0; width * width];
        for (row, &class) in predicted.chunks_exact(width).zip(labels.codes()) {
            counts[class as usize * width + first_largest(row)] += 1;
        }
        Self { classes: labels.classes().to_vec(), counts }
    }
}

/// A row as one class sees it.
#[derive(Clone, Copy)]
struct Case {
    probability: f64,
    is_own: bool,
    weight: f64,
}

impl ClassCurve {
    fn of(class: usize, rows: usize, predicted: &[f64], labels: &Labels, weights: &[f64]) -> Self {
        let width = labels.classes().len();
        let case = |(i, row): (usize, &[f64])| Case {
            probability: row[class],
            is_own: labels.class(i) == class,
            weight: weights[i],
        };
        let mut cases: Vec<Case> = predicted.chunks_exact(width).enumerate().map(case).collect();
        cases.retain(|case| case.weight > 0.0);
        // The surest first.
        cases.sort_by(|a, b| b.probability.total_cmp(&a.probability));
        let total = |own: bool| -> f64 {
            cases.iter().filter(|case| case.is_own == own).map(|case| case.weight).sum()
        };
        let (owned, others) = (total(true), total(false));
        let (mut hits, mut alarms, mut area, mut average_precision) = (0.0, 0.0, 0.0, 0.0);
        let (mut roc, mut precision_recall) = (vec![[0.0, 0.0]], Vec::new());
        for tied in cases.chunk_by(|a, b| a.probability == b.probability) {
            let weight = |own: bool| -> f64 {
                tied.iter().filter(|case| case.is_own == own).map(|case| case.weight).sum()
            };
            let (own, other) = (weight(true), weight(false));
            area += other / others * (hits + own / 2.0) / owned;
            (hits, alarms) = (hits + own, alarms + other);
            let precision = hits / (hits + alarms);
            average_precision += own / owned * precision;
            roc.push([alarms / others, hits / owned]);
            precision_recall.push([hits / owned, precision]);
        }
        Self {
            class: labels.classes()[class].clone(),
            rows,
            share: owned / (owned + others),
            area,
            roc: thinned(roc),
            average_precision,
            precision_recall: thinned(precision_recall),
            reliability: reliability(&cases),
        }
    }
}

/// The points of a curve that can be told apart; the first and the last always.
fn thinned(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let last = points.len().saturating_sub(1);
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for (i, point) in points.into_iter().enumerate() {
        if point.iter().any(|value| value.is_nan()) {
            continue;
        }
        let is_far = |before: &[f64; 2]| {
            before.iter().zip(&point).any(|(a, b)| (a - b).abs() * STEPS >= 1.0)
        };
        if i == last || kept.last().is_none_or(is_far) {
            kept.push(point);
        }
    }
    kept
}

/// Cases in the order of their probabilities, in bins of equal width; empty ones are left out. Bins of equal counts would say nothing
/// of a rare class, which nearly all rows give next to no probability. Where all cases fall into one bin, what they span is divided.
fn reliability(cases: &[Case]) -> Vec<ReliabilityBin> {
    let (Some(most), Some(least)) = (cases.first(), cases.last()) else { return Vec::new() };
    let bin_within = |[low, high]: [f64; 2], case: &Case| {
        let share = (case.probability - low) / (high - low);
        ((share * BINS as f64) as usize).min(BINS - 1)
    };
    let all = [0.0, 1.0];
    let range = if bin_within(all, most) == bin_within(all, least) {
        [least.probability, most.probability]
    } else {
        all
    };
    let bins = cases.chunk_by(|a, b| bin_within(range, a) == bin_within(range, b));
    let summed = |bin: &[Case]| {
        let total: f64 = bin.iter().map(|case| case.weight).sum();
        let shares: Vec<f64> = bin.iter().map(|case| case.weight / total).collect();
        let own: Vec<f64> = bin.iter().map(|case| f64::from(u8::from(case.is_own))).collect();
        let given: Vec<f64> = bin.iter().map(|case| case.probability).collect();
        ReliabilityBin {
            predicted: Estimate::of(&given, &shares).mean,
            observed: Estimate::of(&own, &shares),
            rows: bin.len(),
        }
    };
    let mut summed: Vec<ReliabilityBin> = bins.map(summed).collect();
    summed.reverse();
    summed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::auc;

    fn labels(classes: usize, codes: Vec<u32>) -> Labels {
        let names: Vec<String> = (0..classes).map(|c| format!("c{c}")).collect();
        Labels::new(names, codes).unwrap()
    }

    /// Probabilities that rise with i, and classes that follow them loosely.
    fn made(n: usize) -> (Vec<f64>, Labels) {
        let p = |i: usize| ((i * 37) % n) as f64 / n as f64;
        let predicted = (0..n).flat_map(|i| [1.0 - p(i), p(i)]).collect();
        let codes =
            (0..n).map(|i| u32::from(p(i) + ((i * 61) % n) as f64 / n as f64 > 1.0)).collect();
        (predicted, labels(2, codes))
    }

    #[test]
    fn the_area_is_that_of_the_figure() {
        let (predicted, labels) = made(500);
        let weights: Vec<f64> = (0..500).map(|i| f64::from(i % 3)).collect();
        let found = ClassCurves::of(&predicted, &labels, &weights);
        assert_eq!(found.curves.len(), 1);
        let curve = &found.curves[0];
        let figure = auc::hand_till(&predicted, &labels, &weights).mean;
        assert!((curve.area - figure).abs() < 1e-12, "{} against {figure}", curve.area);
        assert_eq!((curve.roc[0], *curve.roc.last().unwrap()), ([0.0, 0.0], [1.0, 1.0]));
        // The curve that is kept has the same area, but for what cannot be seen.
        let trapezoids = curve.roc.windows(2);
        let kept: f64 = trapezoids.map(|w| (w[1][0] - w[0][0]) * (w[0][1] + w[1][1]) / 2.0).sum();
        assert!((kept - figure).abs() < 0.01, "{kept}");
        assert!(curve.roc.len() < 210);
    }

    /// scikit-learn 1.5: average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]) is 0.8333.
    #[test]
    fn the_average_precision_is_that_of_the_reference() {
        let p = [0.1, 0.4, 0.35, 0.8];
        let predicted: Vec<f64> = p.iter().flat_map(|p| [1.0 - p, *p]).collect();
        let found = ClassCurves::of(&predicted, &labels(2, vec![0, 0, 1, 1]), &[1.0; 4]);
        let curve = &found.curves[0];
        assert!((curve.average_precision - 0.833_333_333).abs() < 1e-8);
        assert!((curve.area - 0.75).abs() < 1e-12);
        let points = [[0.5, 1.0], [0.5, 0.5], [1.0, 2.0 / 3.0], [1.0, 0.5]];
        assert_eq!(curve.precision_recall, points);
    }

    #[test]
    fn reliable_probabilities_are_observed_as_often_as_predicted() {
        let (predicted, labels) = made(997);
        let found = ClassCurves::of(&predicted, &labels, &[1.0; 997]);
        let bins = &found.curves[0].reliability;
        assert_eq!(bins.len(), 10);
        assert_eq!(bins.iter().map(|bin| bin.rows).sum::<usize>(), 997);
        assert!(bins.windows(2).all(|pair| pair[0].predicted < pair[1].predicted));
        for bin in bins {
            let off = (bin.predicted - bin.observed.mean).abs();
            assert!(off < 4.0 * bin.observed.se.unwrap() + 0.02, "{bin:?}");
        }
    }

    #[test]
    fn bins_are_as_wide_as_one_another_whatever_the_counts() {
        // A rare class: next to no probability for nearly all rows, much for a few.
        let p = |i: usize| if i.is_multiple_of(100) { 0.455 + 0.0001 * i as f64 } else { 0.001 };
        let predicted: Vec<f64> = (0..1000).flat_map(|i| [1.0 - p(i), p(i)]).collect();
        let codes = (0..1000).map(|i| u32::from(i % 200 == 0)).collect();
        let found = ClassCurves::of(&predicted, &labels(2, codes), &[1.0; 1000]);
        let rows: Vec<usize> = found.curves[0].reliability.iter().map(|bin| bin.rows).collect();
        // 0.455 to 0.495 and 0.505 to 0.545.
        assert_eq!(rows, [990, 5, 5]);
        // All within one bin: what they span is divided.
        let small: Vec<f64> = (0..100).map(|i| 0.0005 * f64::from(i)).collect();
        let predicted: Vec<f64> = small.iter().flat_map(|p| [1.0 - p, *p]).collect();
        let codes = (0..100).map(|i| u32::from(i % 50 == 49)).collect();
        let found = ClassCurves::of(&predicted, &labels(2, codes), &[1.0; 100]);
        let bins = &found.curves[0].reliability;
        assert_eq!(bins.len(), 10);
        assert!(bins.windows(2).all(|pair| pair[0].predicted < pair[1].predicted), "{bins:?}");
    }

    /// Against the roots of (share - q)^2 = errors^2 q (1 - q) / rows, whose ends the interval is made of.
    #[test]
    fn shares_of_none_and_of_all_have_intervals() {
        let errors = 1.644_853_626_951_472_2;
        let bin = |own: usize, rows: usize| {
            let values: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(i < own))).collect();
            let observed = Estimate::of(&values, &vec![1.0 / rows as f64; rows]);
            ReliabilityBin { predicted: 0.5, observed, rows }.interval(errors)
        };
        let known = [
            (0, 12, [0.000_000_000_000, 0.183_981_194_747]),
            (12, 12, [0.816_018_805_253, 1.000_000_000_000]),
            (3, 40, [0.030_370_252_612, 0.173_480_178_737]),
            (7, 9, [0.503_642_782_377, 0.923_505_262_446]),
        ];
        for (own, rows, [low, high]) in known {
            let found = bin(own, rows);
            assert!((found[0] - low).abs() < 1e-9 && (found[1] - high).abs() < 1e-9, "{found:?}");
        }
        // A single row says next to nothing.
        let [low, high] = bin(1, 1);
        assert!(low < 0.3 && high > 1.0 - 1e-12, "{low} to {high}");
    }

    #[test]
    fn rare_classes_ties_and_one_sided_rows_do_no_harm() {
        // One row of the rare class, all probabilities alike.
        let codes: Vec<u32> = (0..30).map(|i| if i == 7 { 2 } else { i % 2 }).collect();
        let found = ClassCurves::of(&[1.0 / 3.0; 90], &labels(3, codes), &[1.0; 30]);
        let rare = found.curves.iter().find(|curve| curve.class == "c2").unwrap();
        assert_eq!((rare.rows, rare.area, rare.reliability.len()), (1, 0.5, 1));
        assert_eq!(found.confusion.unwrap().counts, [15, 0, 0, 14, 0, 0, 1, 0, 0]);
        // All rows of one class: there are no false alarms to count.
        let one = ClassCurves::of(&[0.3, 0.7, 0.2, 0.8], &labels(2, vec![1, 1]), &[1.0; 2]);
        assert!(one.curves[0].area.is_nan());
        assert!(one.curves[0].roc.iter().flatten().all(|value| value.is_finite()));
    }
}
