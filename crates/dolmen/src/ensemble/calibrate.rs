//! Calibration: class probabilities that mean what they say, learned from rows that the stack had not seen.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::store::Parameters;
use crate::target::{Labels, Target};

/// How probabilities are calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalibrationKind {
    /// p(c) proportional to p(c)^(1/t), one temperature t for all classes (Guo2017).
    Temperature,
    /// Each class by the monotone function that fits best, then scaled to sum to 1 (ZadroznyElkan2002).
    Isotonic,
}

/// Learned calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Calibration {
    /// The temperature: above 1 the stack was too sure, below too timid.
    Temperature(f64),
    /// One monotone function per class.
    Isotonic(Vec<Steps>),
}

/// A monotone function: linear between its knots, constant beyond them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    #[serde(with = "crate::store::floats")]
    at: Vec<f64>,
    #[serde(with = "crate::store::floats")]
    values: Vec<f64>,
}

/// Temperatures looked at; beyond them the search stops.
const TEMPERATURES: (f64, f64) = (0.05, 20.0);
/// Halvings of the logarithmic interval between them: more than doubles can tell apart.
const HALVINGS: usize = 80;

impl Calibration {
    /// Learns the calibration from predicted probabilities (row after row) of rows with these classes and weights.
    pub fn fit(
        kind: CalibrationKind,
        predicted: &[f64],
        labels: &Labels,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        let width = labels.classes().len();
        let rows = labels.codes().len();
        if predicted.len() != rows * width {
            return Err(Error::shape("probabilities", rows * width, predicted.len()));
        }
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        Ok(match kind {
            CalibrationKind::Temperature => {
                Self::Temperature(temperature(predicted, labels, &weight))
            }
            CalibrationKind::Isotonic => Self::Isotonic(
                (0..width)
                    .map(|class| {
                        let point = |(i, row): (usize, &[f64])| {
                            let own = f64::from(u8::from(labels.class(i) == class));
                            (row[class], own, weight(i))
                        };
                        let rows = predicted.chunks_exact(width).enumerate();
                        isotonic(rows.map(point).collect())
                    })
                    .collect(),
            ),
        })
    }

    /// Whether it calibrates rows of so many classes; read from a file, it might not.
    pub(super) fn is_sound(&self, classes: usize) -> bool {
        match self {
            Self::Temperature(temperature) => *temperature > 0.0 && temperature.is_finite(),
            Self::Isotonic(steps) => steps.len() == classes && steps.iter().all(Steps::is_sound),
        }
    }

    /// What it consists of, as data: the temperature, or for each class a function that is linear between its knots.
    pub fn parameters(&self) -> Parameters {
        match self {
            Self::Temperature(temperature) => {
                Parameters::new("temperature").with("temperature", *temperature)
            }
            Self::Isotonic(classes) => {
                let steps = |steps: &Steps| {
                    Parameters::new("steps").with("at", &steps.at).with("values", &steps.values)
                };
                let classes: Vec<Parameters> = classes.iter().map(steps).collect();
                Parameters::new("isotonic").with("classes", classes)
            }
        }
    }

    /// Calibrates one row of probabilities.
    pub fn apply(&self, row: &mut [f64]) {
        match self {
            Self::Temperature(temperature) => {
                let largest = row.iter().fold(0.0_f64, |a, b| a.max(*b));
                row.iter_mut().for_each(|p| *p = (*p / largest).powf(1.0 / temperature));
            }
            Self::Isotonic(classes) => {
                let before = row.to_vec();
                row.iter_mut().zip(classes).for_each(|(p, steps)| *p = steps.value(*p));
                if row.iter().all(|p| *p <= 0.0) {
                    // Every class says "not me": what was said before is all there is.
                    row.copy_from_slice(&before);
                }
            }
        }
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p /= total);
    }
}

/// The temperature of least log loss. The loss is convex in 1/t: its slope changes sign once.
fn temperature(predicted: &[f64], labels: &Labels, weight: &dyn Fn(usize) -> f64) -> f64 {
    let width = labels.classes().len();
    let logs: Vec<f64> = predicted.iter().map(|p| p.max(f64::MIN_POSITIVE).ln()).collect();
    let slope = |inverse: f64| -> f64 {
        let row = |(i, logs): (usize, &[f64])| {
            let largest = logs.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
            let (mut total, mut mean) = (0.0, 0.0);
            for log in logs {
                let p = (inverse * (log - largest)).exp();
                total += p;
                mean += p * log;
            }
            weight(i) * (mean / total - logs[labels.class(i)])
        };
        logs.chunks_exact(width).enumerate().map(row).sum()
    };
    let (mut low, mut high) = (TEMPERATURES.0.ln(), TEMPERATURES.1.ln());
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        // A positive slope asks for a smaller 1/t, a larger temperature.
        if slope((-middle).exp()) > 0.0 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high).exp()
}

/// The monotone function of least squared error through points (x, y, weight): pool adjacent violators.
fn isotonic(mut points: Vec<(f64, f64, f64)>) -> Steps {
    points.retain(|point| point.2 > 0.0);
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Blocks: first and last x, mean y, weight.
    let mut blocks: Vec<(f64, f64, f64, f64)> = Vec::new();
    for tied in points.chunk_by(|a, b| a.0 == b.0) {
        let weight: f64 = tied.iter().map(|p| p.2).sum();
        let mean = tied.iter().map(|p| p.1 * p.2).sum::<f64>() / weight;
        let mut block = (tied[0].0, tied[0].0, mean, weight);
        while let Some(&(first, _, before, heavy)) = blocks.last()
            && before >= block.2
        {
            blocks.pop();
            let weight = heavy + block.3;
            block = (first, block.1, (before * heavy + block.2 * block.3) / weight, weight);
        }
        blocks.push(block);
    }
    let ends = |block: &(f64, f64, f64, f64)| {
        let last = (block.1 > block.0).then_some((block.1, block.2));
        std::iter::once((block.0, block.2)).chain(last)
    };
    let (at, values) = blocks.iter().flat_map(ends).unzip();
    Steps { at, values }
}

impl Steps {
    fn is_sound(&self) -> bool {
        self.at.len() == self.values.len() && self.at.is_sorted_by(|a, b| a < b)
    }

    fn value(&self, x: f64) -> f64 {
        let after = self.at.partition_point(|at| *at <= x);
        match (after.checked_sub(1), self.at.get(after)) {
            (None, None) => x,
            (None, Some(_)) => self.values[0],
            (Some(before), None) => self.values[before],
            (Some(before), Some(next)) => {
                let share = (x - self.at[before]) / (next - self.at[before]);
                self.values[before] + share * (self.values[after] - self.values[before])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(codes: &[u32]) -> Labels {
        Labels::new(["a", "b"].map(String::from), codes.to_vec()).unwrap()
    }

    #[test]
    fn a_stack_that_is_too_sure_is_cooled() {
        // Nine of ten are right, and it says 0.99.
        let predicted = [0.99, 0.01].repeat(10);
        let codes: Vec<u32> = (0..10).map(|i| u32::from(i == 0)).collect();
        let kind = CalibrationKind::Temperature;
        let fitted = Calibration::fit(kind, &predicted, &labels(&codes), None).unwrap();
        let mut row = [0.99, 0.01];
        fitted.apply(&mut row);
        assert!((row[0] - 0.9).abs() < 1e-9, "{row:?}");
        // Twice the weight is the row twice.
        let weights: Vec<f64> = (0..10).map(|i| if i == 0 { 2.0 } else { 1.0 }).collect();
        let weighted = Calibration::fit(kind, &predicted, &labels(&codes), Some(&weights)).unwrap();
        let mut row = [0.99, 0.01];
        weighted.apply(&mut row);
        assert!((row[0] - 9.0 / 11.0).abs() < 1e-9, "{row:?}");
    }

    #[test]
    fn pooling_adjacent_violators_is_the_monotone_least_squares_fit() {
        let points = [(0.1, 0.0), (0.2, 1.0), (0.3, 0.0), (0.4, 1.0), (0.4, 0.0), (0.9, 1.0)];
        let steps = isotonic(points.iter().map(|&(x, y)| (x, y, 1.0)).collect());
        let expected = [(0.0, 0.0), (0.1, 0.0), (0.25, 0.5), (0.4, 0.5), (0.65, 0.75), (1.0, 1.0)];
        for (x, y) in expected {
            assert!((steps.value(x) - y).abs() < 1e-12, "at {x}: {}", steps.value(x));
        }
    }

    #[test]
    fn isotonic_rows_sum_to_one_even_if_all_classes_decline() {
        let predicted = [0.9, 0.1, 0.8, 0.2, 0.3, 0.7, 0.2, 0.8];
        let kind = CalibrationKind::Isotonic;
        let fitted = Calibration::fit(kind, &predicted, &labels(&[0, 0, 1, 1]), None).unwrap();
        for p in [0.0, 0.2, 0.5, 1.0] {
            let mut row = [p, 1.0 - p];
            fitted.apply(&mut row);
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(row.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }
}
