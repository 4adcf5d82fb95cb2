//! The figures of predictions that are seen block by block: what is kept of the rows until all have been seen.
//!
//! Means and their standard errors need sums only. The AUC ranks all rows, so that it needs them all: where they cannot be kept, there
//! is no AUC.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::figures::{CLASS_LOSSES, class_losses, explained, residual};
use super::{Estimate, Running, auc};
use crate::target::{Labels, Target};

/// What is kept of rows for a task's figures. Parts can be summed up in several places and merged in the order of the rows.
pub trait FigureSums: Debug + Clone + Serialize + DeserializeOwned + Send {
    /// Of no rows yet; `keeps_rows` says whether predictions may be kept where a figure needs them all.
    fn new(keeps_rows: bool) -> Self;
    /// Adds rows that come after these.
    fn merge(&mut self, later: Self);
    /// The figures of all rows with their standard errors, the best known first.
    fn finish(&self) -> Vec<(&'static str, Estimate)>;
}

/// Of densities: the mean log density; `-inf` if any row has none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DensitySums(Running);

impl DensitySums {
    /// Adds log densities.
    pub fn add(&mut self, predicted: &[f64]) {
        predicted.iter().for_each(|&log| self.0.add(log));
    }
}

impl FigureSums for DensitySums {
    fn new(_keeps_rows: bool) -> Self {
        Self::default()
    }

    fn merge(&mut self, later: Self) {
        self.0.merge(&later.0);
    }

    fn finish(&self) -> Vec<(&'static str, Estimate)> {
        vec![("log_density", self.0.estimate())]
    }
}

/// Of numbers: root mean squared error, mean absolute error, and the share of the variance explained.
///
/// The variance is summed about the mean of the first rows; with u the truth's distance from it and r a squared residual, the
/// standard error of R^2 (by the delta method, as in [`super::figures::estimates_of_numbers`]) needs the sums of u to u^4, of r u and
/// r u^2.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NumberSums {
    origin: f64,
    /// The sums of u, u^2, u^3, u^4.
    powers: [f64; 4],
    squared: Running,
    absolute: Running,
    /// The sums of r^2, r u, r u^2.
    products: [f64; 3],
}

impl NumberSums {
    /// Adds predicted numbers and the truth.
    pub fn add(&mut self, predicted: &[f64], truth: &[f64]) {
        if self.squared.rows() == 0 && !truth.is_empty() {
            self.origin = truth.iter().sum::<f64>() / truth.len() as f64;
        }
        for (p, y) in predicted.iter().zip(truth) {
            let (u, residual) = (y - self.origin, residual(*y, *p));
            let r = residual * residual;
            self.squared.add(r);
            self.absolute.add(residual.abs());
            let square = u * u;
            let powers = [u, square, square * u, square * square];
            self.powers.iter_mut().zip(powers).for_each(|(sum, power)| *sum += power);
            let products = [r * r, r * u, r * square];
            self.products.iter_mut().zip(products).for_each(|(sum, product)| *sum += product);
        }
    }

    /// The same sums about another place.
    fn moved_to(mut self, origin: f64) -> Self {
        let a = self.origin - origin;
        let (n, [u, u2, u3, u4]) = (self.squared.rows() as f64, self.powers);
        let r = self.squared.mean() * n;
        let [_, ru, ru2] = self.products;
        self.origin = origin;
        self.powers = [
            u + n * a,
            u2 + 2.0 * a * u + n * a * a,
            u3 + 3.0 * a * u2 + 3.0 * a * a * u + n * a.powi(3),
            u4 + 4.0 * a * u3 + 6.0 * a * a * u2 + 4.0 * a.powi(3) * u + n * a.powi(4),
        ];
        self.products[1] = ru + a * r;
        self.products[2] = ru2 + 2.0 * a * ru + a * a * r;
        self
    }

    /// R^2 = 1 - s / v for the mean squared error s and the variance v.
    fn explained(&self) -> Estimate {
        let n = self.squared.rows() as f64;
        let [u, u2, u3, u4] = self.powers.map(|sum| sum / n);
        let [r2, ru, ru2] = self.products.map(|sum| sum / n);
        let (s, v) = (self.squared.mean(), u2 - u * u);
        // d is the squared distance from the mean: those of d^2 and of d r.
        let d2 = u4 - 4.0 * u * u3 + 6.0 * u * u * u2 - 3.0 * u.powi(4);
        let dr = ru2 - 2.0 * u * ru + u * u * s;
        let variance = (s * s * d2 / (v * v) - 2.0 * s * dr / v + r2) / (v * v);
        // What rounding leaves of 0 may be below it.
        let se = if variance < 0.0 { 0.0 } else { (variance / (n - 1.0)).sqrt() };
        Estimate { mean: explained(s, v, self.origin + u), se: se.is_finite().then_some(se) }
    }
}

impl FigureSums for NumberSums {
    fn new(_keeps_rows: bool) -> Self {
        Self::default()
    }

    fn merge(&mut self, later: Self) {
        if later.squared.rows() == 0 {
            return;
        }
        if self.squared.rows() == 0 {
            *self = later;
            return;
        }
        let later = later.moved_to(self.origin);
        self.squared.merge(&later.squared);
        self.absolute.merge(&later.absolute);
        self.powers.iter_mut().zip(later.powers).for_each(|(sum, more)| *sum += more);
        self.products.iter_mut().zip(later.products).for_each(|(sum, more)| *sum += more);
    }

    fn finish(&self) -> Vec<(&'static str, Estimate)> {
        let squared = self.squared.estimate();
        let root = squared.mean.sqrt();
        let se = squared.se.map(|se| se / (2.0 * root)).filter(|se| se.is_finite());
        vec![
            ("rmse", Estimate { mean: root, se }),
            ("mae", self.absolute.estimate()),
            ("r2", self.explained()),
        ]
    }
}

/// Of class probabilities: mean log loss, error rate (ties go to the lower class), Brier score, and the AUC where rows are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassSums {
    losses: [Running; 3],
    kept: Option<KeptClasses>,
}

/// The rows that the AUC ranks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct KeptClasses {
    classes: Vec<String>,
    probabilities: Vec<f64>,
    codes: Vec<u32>,
}

impl ClassSums {
    /// Adds class probabilities, row after row, and the classes.
    pub fn add(&mut self, predicted: &[f64], labels: &Labels) {
        let rows = predicted.chunks_exact(labels.classes().len()).zip(labels.codes());
        for (row, &class) in rows {
            let losses = class_losses(row, class as usize);
            self.losses.iter_mut().zip(losses).for_each(|(running, loss)| running.add(loss));
        }
        if let Some(kept) = &mut self.kept {
            kept.classes = labels.classes().to_vec();
            kept.probabilities.extend_from_slice(predicted);
            kept.codes.extend_from_slice(labels.codes());
        }
    }
}

impl FigureSums for ClassSums {
    fn new(keeps_rows: bool) -> Self {
        Self { kept: keeps_rows.then(KeptClasses::default), ..Self::default() }
    }

    fn merge(&mut self, later: Self) {
        self.losses.iter_mut().zip(&later.losses).for_each(|(all, more)| all.merge(more));
        self.kept = self.kept.take().zip(later.kept).map(|(mut kept, later)| {
            kept.classes = later.classes;
            kept.probabilities.extend(later.probabilities);
            kept.codes.extend(later.codes);
            kept
        });
    }

    fn finish(&self) -> Vec<(&'static str, Estimate)> {
        let losses = CLASS_LOSSES.into_iter().zip(&self.losses);
        let mut figures: Vec<_> = losses.map(|(name, loss)| (name, loss.estimate())).collect();
        let kept = self.kept.as_ref().and_then(|kept| {
            Some((kept, Labels::new(kept.classes.clone(), kept.codes.clone()).ok()?))
        });
        if let Some((kept, labels)) = kept {
            let weights = vec![1.0; kept.codes.len()];
            figures.push(("auc", auc::hand_till(&kept.probabilities, &labels, &weights)));
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::{Estimates, estimates_of_classes, estimates_of_numbers};
    use super::*;

    fn same(found: &[(&'static str, Estimate)], whole: &Estimates, tolerance: f64) {
        assert_eq!(found.len(), whole.len());
        for (name, own) in found {
            let figure = &whole[*name];
            assert!((own.mean - figure.mean).abs() <= tolerance * figure.mean.abs(), "{name}");
            let (own, se) = (own.se.unwrap(), figure.se.unwrap());
            assert!((own - se).abs() <= tolerance * se, "{name}: {own} {se}");
        }
    }

    /// Also where the first rows are far from the others, and far from 0.
    #[test]
    fn figures_of_numbers_by_parts_are_those_of_all_rows() {
        for shift in [0.0, 1e4] {
            let truth: Vec<f64> =
                (0..300).map(|i| shift + f64::from(i) / 50.0 + f64::from(i * 37 % 11)).collect();
            let predicted: Vec<f64> = truth
                .iter()
                .enumerate()
                .map(|(i, y)| y + (i * 31 % 17) as f64 / 5.0 - 1.0)
                .collect();
            let whole = estimates_of_numbers(&predicted, &truth, &[1.0 / 300.0; 300]);
            let part = |rows: std::ops::Range<usize>| {
                let mut sums = NumberSums::new(false);
                sums.add(&predicted[rows.clone()], &truth[rows]);
                sums
            };
            let mut merged = part(0..20);
            merged.merge(part(20..20));
            merged.merge(part(20..150));
            merged.add(&predicted[150..200], &truth[150..200]);
            merged.merge(part(200..300));
            same(&merged.finish(), &whole, 1e-9);
            same(&part(0..300).finish(), &whole, 1e-10);
        }
    }

    #[test]
    fn figures_of_classes_by_parts_are_those_of_all_rows() {
        let names = ["a", "b", "c"].map(String::from);
        let codes: Vec<u32> = (0..90).map(|i| i * 7 % 3).collect();
        let labels = Labels::new(names.clone(), codes.clone()).unwrap();
        let row = |i: usize| {
            let raw = [1.0 + (i * 5 % 7) as f64, 1.0 + (i * 3 % 5) as f64, 1.0 + (i % 4) as f64];
            raw.map(|v| v / raw.iter().sum::<f64>())
        };
        let predicted: Vec<f64> = (0..90).flat_map(row).collect();
        let whole = estimates_of_classes(&predicted, &labels, &[1.0 / 90.0; 90]);
        let part = |rows: std::ops::Range<usize>, keeps: bool| {
            let mut sums = ClassSums::new(keeps);
            let own = Labels::new(names.clone(), codes[rows.clone()].to_vec()).unwrap();
            sums.add(&predicted[3 * rows.start..3 * rows.end], &own);
            sums
        };
        let mut merged = part(0..40, true);
        merged.merge(part(40..90, true));
        same(&merged.finish(), &whole, 1e-12);
        let mut unkept = part(0..40, false);
        unkept.merge(part(40..90, false));
        let mut without = whole.clone();
        without.remove("auc");
        same(&unkept.finish(), &without, 1e-12);
    }
}
