//! What one prediction row means, and how it is scored.
//!
//! | task | one prediction row | score of a row (higher is better) |
//! | --- | --- | --- |
//! | [`Density`] | `[ln p(x)]` | `ln p(x)` |
//! | [`Joint`] | `[ln p(x, c) for each class c]` | `ln p(c_i given x_i)` |
//! | [`Classification`] | `[p(c given x) for each class c]` | `ln p(c_i given x_i)` |
//! | [`Regression`] | `[E(y given x)]` | `-(y - E(y given x))^2` |
//!
//! The task is a type parameter everywhere, so a density learner in a stack of classifiers does not compile.

use std::fmt::{self, Debug};

use serde::{Deserialize, Serialize};

use crate::math::log_sum_exp;
use crate::score::Measure;
use crate::score::figures::{self, Estimates, Figure};
use crate::score::sums::{ClassSums, DensitySums, FigureSums, NumberSums};
use crate::target::{Labels, Target};

/// Which task a model, a matrix or a report is of, where its type does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// [`Density`].
    Density,
    /// [`Joint`].
    Joint,
    /// [`Classification`].
    Classification,
    /// [`Regression`].
    Regression,
}

impl TaskKind {
    /// The name in files, on the command line and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Density => "density",
            Self::Joint => "joint",
            Self::Classification => "classification",
            Self::Regression => "regression",
        }
    }

    /// Whether scores are logarithms, of probabilities or densities.
    pub const fn has_log_scores(self) -> bool {
        !matches!(self, Self::Regression)
    }

    /// Whether there is something to predict beside the rows themselves.
    pub const fn has_target(self) -> bool {
        !matches!(self, Self::Density)
    }

    /// What the score of a row is.
    pub const fn score(self) -> &'static str {
        match self {
            Self::Density => "log density",
            Self::Joint | Self::Classification => "log probability of the true class",
            Self::Regression => "minus squared error",
        }
    }
}

impl fmt::Display for TaskKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A kind of prediction problem.
pub trait Task: Copy + Debug + Default + Send + Sync + 'static {
    /// What is known of the rows that are learned from.
    type Target: Target;
    /// What is kept of prediction rows until their figures are asked for.
    type Sums: FigureSums;
    /// Which of the tasks it is.
    const KIND: TaskKind;
    /// The name in files, on the command line and in messages.
    const NAME: &'static str = Self::KIND.name();
    /// Whether prediction rows hold logarithms (then they are mixed in log space).
    const LOG_SPACE: bool;
    /// Whether prediction rows hold one value per class.
    const CLASSES: bool;
    /// Whether scores are logarithms, of probabilities or densities.
    const LOG_SCORES: bool = Self::KIND.has_log_scores();
    /// Whether there is something to predict beside the rows themselves.
    const HAS_TARGET: bool = Self::KIND.has_target();

    /// Values in one prediction row.
    fn width(target: &Self::Target) -> usize;

    /// The numbers to predict, of a task whose prediction row is one number: it misses its truth by an error, which has a sign
    /// and of which prediction intervals are made.
    fn numbers(_target: &Self::Target) -> Option<&[f64]> {
        None
    }

    /// The score of one prediction row for row `i` of the target; higher is better.
    fn score(row: &[f64], target: &Self::Target, i: usize) -> f64;

    /// Another measure of one prediction row, higher is better; `None` if it does not suit the task.
    fn measure(measure: Measure, row: &[f64], target: &Self::Target, i: usize) -> Option<f64>;

    /// The usual figures of a whole set of predictions (log loss, error, RMSE, ..), by name.
    fn figures(predicted: &[f64], target: &Self::Target) -> Vec<Figure> {
        let mut sums = Self::Sums::new(true);
        Self::sum_up(&mut sums, predicted, target);
        sums.finish().into_iter().map(|(name, figure)| (name, figure.mean)).collect()
    }

    /// Adds prediction rows to what is kept for the figures.
    fn sum_up(sums: &mut Self::Sums, predicted: &[f64], target: &Self::Target);

    /// The same figures with their standard errors, over rows with a share of the weight.
    fn estimates(predicted: &[f64], target: &Self::Target, shares: &[f64]) -> Estimates;

    /// Mixes the members' rows linearly: `out[k] = sum_m weights[m] rows[m][k]`, for logarithms of the mixed quantities
    /// if the task is in log space. Members of weight zero are not looked at, so their `-inf` and NaN do no harm.
    fn mix<'a>(weights: &[f64], rows: impl Fn(usize) -> &'a [f64], out: &mut [f64]) {
        if Self::LOG_SPACE {
            for (k, value) in out.iter_mut().enumerate() {
                *value = log_mix(weights, |m| rows(m)[k]);
            }
        } else {
            out.fill(0.0);
            for (m, &weight) in weights.iter().enumerate().filter(|(_, w)| **w != 0.0) {
                for (value, &member) in out.iter_mut().zip(rows(m)) {
                    *value += weight * member;
                }
            }
        }
    }
}

/// `ln sum_m weights[m] exp(log(m))`, looking only at members of positive weight.
fn log_mix(weights: &[f64], log: impl Fn(usize) -> f64) -> f64 {
    let terms = || weights.iter().enumerate().filter(|(_, w)| **w > 0.0).map(|(m, &w)| (w, log(m)));
    let shift = terms().fold(f64::NEG_INFINITY, |shift, (_, l)| shift.max(l));
    if !shift.is_finite() {
        // All members say -inf, or one says +inf or NaN: the plain sum says the right thing.
        return terms().map(|(_, l)| l).fold(shift, |a, b| if b.is_nan() { b } else { a });
    }
    shift + terms().map(|(w, l)| w * (l - shift).exp()).sum::<f64>().ln()
}

/// The density of the rows: a prediction row is `[ln p(x)]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Density;

/// Generative classification: a prediction row is `[ln p(x, c) for each class c]`. What LMG mixes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Joint;

/// Classification: a prediction row is `[p(c given x) for each class c]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Classification;

/// Regression: a prediction row is `[E(y given x)]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Regression;

impl Task for Density {
    type Target = ();
    type Sums = DensitySums;
    const KIND: TaskKind = TaskKind::Density;
    const LOG_SPACE: bool = true;
    const CLASSES: bool = false;

    fn width((): &()) -> usize {
        1
    }
    fn score(row: &[f64], (): &(), _i: usize) -> f64 {
        row[0]
    }
    fn measure(measure: Measure, row: &[f64], (): &(), _i: usize) -> Option<f64> {
        (measure == Measure::Log).then_some(row[0])
    }
    fn sum_up(sums: &mut DensitySums, predicted: &[f64], (): &()) {
        sums.add(predicted);
    }
    fn estimates(predicted: &[f64], (): &(), shares: &[f64]) -> Estimates {
        figures::estimates_of_densities(predicted, shares)
    }
}

impl Task for Joint {
    type Target = Labels;
    type Sums = ClassSums;
    const KIND: TaskKind = TaskKind::Joint;
    const LOG_SPACE: bool = true;
    const CLASSES: bool = true;

    fn width(target: &Labels) -> usize {
        target.classes().len()
    }
    fn score(row: &[f64], target: &Labels, i: usize) -> f64 {
        let own = row[target.class(i)];
        if own == f64::NEG_INFINITY { own } else { own - log_sum_exp(row) }
    }
    fn measure(measure: Measure, row: &[f64], target: &Labels, i: usize) -> Option<f64> {
        measure.of_classes(&posterior(row), target, i)
    }
    fn sum_up(sums: &mut ClassSums, predicted: &[f64], target: &Labels) {
        sums.add(&Self::posteriors(predicted, Self::width(target)), target);
    }
    fn estimates(predicted: &[f64], target: &Labels, shares: &[f64]) -> Estimates {
        let posteriors = Self::posteriors(predicted, Self::width(target));
        figures::estimates_of_classes(&posteriors, target, shares)
    }
}

/// p(c given x) from ln p(x, c); equal probabilities where no class gives the row anything.
fn posterior(joint: &[f64]) -> Vec<f64> {
    let total = log_sum_exp(joint);
    if total == f64::NEG_INFINITY {
        return vec![1.0 / joint.len() as f64; joint.len()];
    }
    joint.iter().map(|joint| (joint - total).exp()).collect()
}

impl Joint {
    /// The class probabilities of prediction rows, row after row.
    pub fn posteriors(predicted: &[f64], classes: usize) -> Vec<f64> {
        predicted.chunks_exact(classes).flat_map(posterior).collect()
    }
}

impl Task for Classification {
    type Target = Labels;
    type Sums = ClassSums;
    const KIND: TaskKind = TaskKind::Classification;
    const LOG_SPACE: bool = false;
    const CLASSES: bool = true;

    fn width(target: &Labels) -> usize {
        target.classes().len()
    }
    fn score(row: &[f64], target: &Labels, i: usize) -> f64 {
        row[target.class(i)].ln()
    }
    fn measure(measure: Measure, row: &[f64], target: &Labels, i: usize) -> Option<f64> {
        measure.of_classes(row, target, i)
    }
    fn sum_up(sums: &mut ClassSums, predicted: &[f64], target: &Labels) {
        sums.add(predicted, target);
    }
    fn estimates(predicted: &[f64], target: &Labels, shares: &[f64]) -> Estimates {
        figures::estimates_of_classes(predicted, target, shares)
    }
}

impl Task for Regression {
    type Target = Vec<f64>;
    type Sums = NumberSums;
    const KIND: TaskKind = TaskKind::Regression;
    const LOG_SPACE: bool = false;
    const CLASSES: bool = false;

    fn width(_target: &Vec<f64>) -> usize {
        1
    }
    fn numbers(target: &Vec<f64>) -> Option<&[f64]> {
        Some(target)
    }
    fn score(row: &[f64], target: &Vec<f64>, i: usize) -> f64 {
        let residual = figures::residual(target[i], row[0]);
        -residual * residual
    }
    fn measure(measure: Measure, row: &[f64], target: &Vec<f64>, i: usize) -> Option<f64> {
        measure.of_number(row[0], target[i])
    }
    fn sum_up(sums: &mut NumberSums, predicted: &[f64], target: &Vec<f64>) {
        sums.add(predicted, target);
    }
    fn estimates(predicted: &[f64], target: &Vec<f64>, shares: &[f64]) -> Estimates {
        figures::estimates_of_numbers(predicted, target, shares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_logarithms_ignores_members_without_weight_and_keeps_infinities() {
        let rows = [[f64::NEG_INFINITY], [-800.0], [f64::NAN]];
        let mut out = [0.0];
        Density::mix(&[0.5, 0.5, 0.0], |m| &rows[m][..], &mut out);
        assert!((out[0] - (-800.0 + 0.5_f64.ln())).abs() < 1e-12);
        Density::mix(&[1.0, 0.0, 0.0], |m| &rows[m][..], &mut out);
        assert_eq!(out[0], f64::NEG_INFINITY);
        Density::mix(&[0.5, 0.0, 0.5], |m| &rows[m][..], &mut out);
        assert!(out[0].is_nan());
    }

    #[test]
    fn a_joint_row_is_scored_by_its_posterior() {
        let labels = Labels::new(["a".to_string(), "b".to_string()], vec![1]).unwrap();
        let row = [-900.0, -900.0 + 3.0_f64.ln()];
        assert!((Joint::score(&row, &labels, 0) - 0.75_f64.ln()).abs() < 1e-12);
        assert_eq!(Joint::score(&[-1.0, f64::NEG_INFINITY], &labels, 0), f64::NEG_INFINITY);
        assert_eq!(Joint::posteriors(&[f64::NEG_INFINITY; 2], 2), [0.5, 0.5]);
    }
}
