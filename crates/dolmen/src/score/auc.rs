//! The area under the ROC curve and its standard error.
//!
//! Of several classes it is the mean over pairs of classes [HandTill2001, eq. 7]: A(i,j) = (A(i given j) + A(j given
//! i)) / 2, where A(i given j) is the probability that a row of class i is given a higher p(i) than a row of class j, ties
//! counting half. Pairs of which a class has no rows are left out, and where there are others so are those of which a class
//! has a single row: that row's rank alone would be half of such an area, which then counts as much as the areas of classes
//! with hundreds of rows, and its standard error cannot be known.
//!
//! The standard error is that of DeLong1988: each row's placement among the rows of the
//! other class, V, has the area as its mean, and the classes are samples of their own, so that the variance is the sum
//! over classes of that of their mean placements. With several classes a row takes part in several pairs; what it adds to
//! all of them is added up first.

use crate::score::Estimate;
use crate::target::{Labels, Target};

/// The area of the rows' class probabilities, NaN if no pair of classes has rows; rows count by their weights.
pub fn hand_till(predicted: &[f64], labels: &Labels, weights: &[f64]) -> Estimate {
    let classes = Classes::new(predicted, labels, weights);
    let mut areas = Vec::new();
    let mut placements = vec![0.0; labels.codes().len()];
    let pairs = classes.pairs();
    for &(i, j) in &pairs {
        let first = classes.area(i, j, &mut placements);
        areas.push(f64::midpoint(first, classes.area(j, i, &mut placements)));
    }
    let count = areas.len() as f64;
    let mean = areas.iter().sum::<f64>() / count;
    let takes_part = |class: &usize| pairs.iter().any(|(i, j)| i == class || j == class);
    let compared = (0..classes.rows.len()).filter(takes_part);
    let variance: f64 = compared.map(|c| classes.variance(c, &placements)).sum();
    // Each pair of classes is the mean of two areas.
    let se = variance.sqrt() / (2.0 * count);
    Estimate { mean, se: se.is_finite().then_some(se) }
}

/// The rows of each class that have weight.
struct Classes<'a> {
    rows: Vec<Vec<usize>>,
    predicted: &'a [f64],
    weights: &'a [f64],
}

impl<'a> Classes<'a> {
    fn new(predicted: &'a [f64], labels: &Labels, weights: &'a [f64]) -> Self {
        let mut rows = vec![Vec::new(); labels.classes().len()];
        for (i, &class) in labels.codes().iter().enumerate().filter(|(i, _)| weights[*i] > 0.0) {
            rows[class as usize].push(i);
        }
        Self { rows, predicted, weights }
    }

    /// The pairs of classes that count: both with two rows or more, or if there are no such pairs, both with rows.
    fn pairs(&self) -> Vec<(usize, usize)> {
        let with = |least: usize| -> Vec<(usize, usize)> {
            let enough = |class: &usize| self.rows[*class].len() >= least;
            let classes: Vec<usize> = (0..self.rows.len()).filter(enough).collect();
            let pairs = classes.iter().enumerate();
            pairs.flat_map(|(k, &i)| classes[..k].iter().map(move |&j| (i, j))).collect()
        };
        let sound = with(2);
        if sound.is_empty() { with(1) } else { sound }
    }

    fn total(&self, class: usize) -> f64 {
        self.rows[class].iter().map(|&i| self.weights[i]).sum()
    }

    /// A(own given other); what each row's placement is above it, or below, is added to `placements`.
    fn area(&self, own: usize, other: usize, placements: &mut [f64]) -> f64 {
        let p = |i: usize| self.predicted[i * self.rows.len() + own];
        let (owned, others) = (self.total(own), self.total(other));
        let mut order: Vec<(usize, bool)> = self.rows[own].iter().map(|&i| (i, true)).collect();
        order.extend(self.rows[other].iter().map(|&i| (i, false)));
        order.sort_by(|a, b| p(a.0).total_cmp(&p(b.0)));
        let (mut own_below, mut others_below, mut sum) = (0.0, 0.0, 0.0);
        let mut placed = Vec::with_capacity(order.len());
        for tied in order.chunk_by(|a, b| p(a.0) == p(b.0)) {
            let weight = |wanted: bool| -> f64 {
                tied.iter().filter(|row| row.1 == wanted).map(|row| self.weights[row.0]).sum()
            };
            let (own_here, others_here) = (weight(true), weight(false));
            let below = (others_below + others_here / 2.0) / others;
            let above = (owned - own_below - own_here / 2.0) / owned;
            sum += own_here * below;
            placed.extend(tied.iter().map(|&(i, is_own)| (i, if is_own { below } else { above })));
            own_below += own_here;
            others_below += others_here;
        }
        let area = sum / owned;
        placed.into_iter().for_each(|(i, placement)| placements[i] += placement - area);
        area
    }

    /// The variance of the mean of a class's placements.
    fn variance(&self, class: usize, placements: &[f64]) -> f64 {
        let (rows, total) = (&self.rows[class], self.total(class));
        let n = rows.len() as f64;
        let square = |&i: &usize| (self.weights[i] / total * placements[i]).powi(2);
        rows.iter().map(square).sum::<f64>() * n / (n - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_of_two_classes_counts_pairs() {
        let labels = Labels::new(["a", "b"].map(String::from), vec![0, 1, 1, 0, 1]).unwrap();
        let positive: [f64; 5] = [0.1, 0.4, 0.35, 0.35, 0.8];
        let predicted: Vec<f64> = positive.iter().flat_map(|p| [1.0 - p, *p]).collect();
        // Of the six pairs, five are in order and one is tied.
        let area = hand_till(&predicted, &labels, &[1.0; 5]);
        assert!((area.mean - 5.5 / 6.0).abs() < 1e-15);
        // Placements 1, 1, 3/4 of b among a and 1, 5/6 of a among b: variances 1/48 / 3 and 1/72 / 2.
        let variance: f64 = 1.0 / 48.0 / 3.0 + 1.0 / 72.0 / 2.0;
        assert!((area.se.unwrap() - variance.sqrt()).abs() < 1e-15);
        let alone = Labels::new(["a", "b"].map(String::from), vec![0, 0]).unwrap();
        assert!(hand_till(&predicted[..4], &alone, &[1.0; 2]).mean.is_nan());
    }

    /// A class of one row says little of the area and nothing of its error.
    #[test]
    fn a_class_of_one_row_does_not_count_beside_others() {
        let labels = |codes| Labels::new(["a", "b", "c"].map(String::from), codes).unwrap();
        let predicted: Vec<f64> =
            [0.6, 0.3, 0.2, 0.55, 0.4].iter().flat_map(|p| [*p, 0.9 - p, 0.1]).collect();
        let three = hand_till(&predicted, &labels(vec![0, 1, 1, 0, 2]), &[1.0; 5]);
        let two = hand_till(&predicted[..12], &labels(vec![0, 1, 1, 0]), &[1.0; 4]);
        assert_eq!(three, two);
        assert!(three.se.is_some());
        // Where there is nothing else it counts, and the error is not known.
        let only = hand_till(&predicted[..9], &labels(vec![0, 1, 1]), &[1.0; 3]);
        assert_eq!((only.mean, only.se), (1.0, None));
    }

    /// A row of weight two is two rows, but for the number of rows that the error knows of.
    #[test]
    fn rows_count_by_their_weights() {
        let labels = |codes| Labels::new(["a", "b", "c"].map(String::from), codes).unwrap();
        let p = |i: usize| [0.1 + 0.05 * i as f64, 0.4 - 0.03 * i as f64, 0.5 - 0.02 * i as f64];
        let rows: Vec<usize> = vec![3, 1, 4, 1, 5, 9, 2, 6, 5];
        let codes = vec![0, 1, 0, 1, 2, 2, 0, 1, 2];
        let predicted: Vec<f64> = rows.iter().flat_map(|&i| p(i)).collect();
        let weights: Vec<f64> = [2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 1.0].to_vec();
        let twice: Vec<usize> = vec![3, 3, 1, 4, 1, 5, 5, 9, 2, 6, 5];
        let codes_twice = vec![0, 0, 1, 0, 1, 2, 2, 2, 0, 1, 2];
        let predicted_twice: Vec<f64> = twice.iter().flat_map(|&i| p(i)).collect();
        let weighted = hand_till(&predicted, &labels(codes), &weights);
        let repeated = hand_till(&predicted_twice, &labels(codes_twice), &[1.0; 11]);
        assert!((weighted.mean - repeated.mean).abs() < 1e-14);
    }
}
