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
    /// Predicted against observed, in bins of about as many rows each.
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
        let mut rows = vec![0; classes.len()];
        labels.codes().iter().for_each(|&class| rows[class as usize] += 1);
        let mut chosen: Vec<usize> = (0..classes.len()).filter(|&c| rows[c] > 0).collect();
        if let [_, second] = chosen[..]
            && classes.len() == 2
        {
            chosen = vec![second];
        }
        chosen.sort_by_key(|&c| (std::cmp::Reverse(rows[c]), c));
        chosen.truncate(MOST_CLASSES);
        chosen.sort_unstable();
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

/// Cases in the order of their probabilities, in bins of about as many each; ties stay together.
fn reliability(cases: &[Case]) -> Vec<ReliabilityBin> {
    let per_bin = cases.len().div_ceil(BINS).max(1);
    let mut bins: Vec<Vec<Case>> = vec![Vec::new()];
    for tied in cases.chunk_by(|a, b| a.probability == b.probability) {
        match bins.last_mut() {
            Some(bin) if bin.len() < per_bin => bin.extend_from_slice(tied),
            _ => bins.push(tied.to_vec()),
        }
    }
    let summed = |bin: &Vec<Case>| {
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
    bins.iter().rev().filter(|bin| !bin.is_empty()).map(summed).collect()
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
