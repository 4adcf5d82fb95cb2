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

use std::fmt::Debug;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::evaluate::Measure;
use crate::evaluate::figures::{self, Estimates, Figure};
use crate::learner::Fitted;
use crate::learner::density::{DensityModel, FittedAverage};
use crate::math::log_sum_exp;
use crate::table::{Categories, Column};

/// A kind of prediction problem.
pub trait Task: Copy + Debug + Default + Send + Sync + 'static {
    /// What is known of the rows that are learned from.
    type Target: Target;
    /// The name in files, on the command line and in messages.
    const NAME: &'static str;
    /// Whether prediction rows hold logarithms (then they are mixed in log space).
    const LOG_SPACE: bool;
    /// Whether prediction rows hold one value per class.
    const CLASSES: bool;

    /// Values in one prediction row.
    fn width(target: &Self::Target) -> usize;

    /// The score of one prediction row for row `i` of the target; higher is better.
    fn score(row: &[f64], target: &Self::Target, i: usize) -> f64;

    /// Another measure of one prediction row, higher is better; `None` if it does not suit the task.
    fn measure(measure: Measure, row: &[f64], target: &Self::Target, i: usize) -> Option<f64>;

    /// The usual figures of a whole set of predictions (log loss, error, RMSE, ..), by name.
    fn figures(predicted: &[f64], target: &Self::Target) -> Vec<Figure>;

    /// The same figures with their standard errors, over rows with a share of the weight.
    fn estimates(predicted: &[f64], target: &Self::Target, shares: &[f64]) -> Estimates;

    /// A weighted pool of models as a density that can be sampled, marginalised and conditioned; `None` for other tasks
    /// and for parts that cannot.
    fn pool(_weights: &[f64], _parts: &[Arc<dyn Fitted<Self>>]) -> Option<Box<dyn DensityModel>> {
        None
    }

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

/// What is known of the rows that are learned from: nothing, labels or numbers.
pub trait Target: Clone + Debug + Send + Sync {
    /// Number of rows, where the target has any.
    fn rows(&self) -> Option<usize>;
    /// The target of chosen rows, in that order.
    #[must_use]
    fn select(&self, rows: &[usize]) -> Self;
    /// The classes' names; none unless the target has classes.
    fn classes(&self) -> &[String] {
        &[]
    }
    /// Classes by which splits of the rows are to be stratified, where there are any.
    fn strata(&self) -> Option<&[u32]> {
        None
    }
    /// The labels themselves, where the target is labels.
    fn labels(&self) -> Option<&Labels> {
        None
    }
    /// The numbers to predict; none unless the target is numbers.
    fn numbers(&self) -> Option<&[f64]> {
        None
    }
    /// The target as a column of a table, where there is one.
    fn to_column(&self) -> Option<Column>;
    /// The target from a column of a table, with classes in the given order; `None` if the column does not fit.
    fn from_column(column: Option<Column>, classes: &[String]) -> Option<Self>;
}

/// No target: the density of the rows themselves.
impl Target for () {
    fn rows(&self) -> Option<usize> {
        None
    }
    fn select(&self, _rows: &[usize]) -> Self {}
    fn to_column(&self) -> Option<Column> {
        None
    }
    fn from_column(column: Option<Column>, _classes: &[String]) -> Option<Self> {
        column.is_none().then_some(())
    }
}

/// Numbers to predict.
impl Target for Vec<f64> {
    fn rows(&self) -> Option<usize> {
        Some(self.len())
    }
    fn select(&self, rows: &[usize]) -> Self {
        rows.iter().map(|&i| self[i]).collect()
    }
    fn numbers(&self) -> Option<&[f64]> {
        Some(self)
    }
    fn to_column(&self) -> Option<Column> {
        Some(Column::Numeric(self.clone()))
    }
    fn from_column(column: Option<Column>, _classes: &[String]) -> Option<Self> {
        match column {
            Some(Column::Numeric(values)) if values.iter().all(|v| v.is_finite()) => Some(values),
            _ => None,
        }
    }
}

/// Class labels: the names of the classes, and each row's class as an index into them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    classes: Arc<[String]>,
    codes: Vec<u32>,
}

impl Labels {
    /// Labels from class names and codes; every code must name a class.
    pub fn new(classes: impl Into<Arc<[String]>>, codes: Vec<u32>) -> Result<Self> {
        let classes = classes.into();
        if let Some(bad) = codes.iter().find(|&&c| c as usize >= classes.len()) {
            return Err(Error::shape("class code", classes.len(), *bad as usize));
        }
        Ok(Self { classes, codes })
    }

    /// Each row's class.
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The class of row `i`.
    pub fn class(&self, i: usize) -> usize {
        self.codes[i] as usize
    }
}

impl Target for Labels {
    fn rows(&self) -> Option<usize> {
        Some(self.codes.len())
    }
    fn select(&self, rows: &[usize]) -> Self {
        Self {
            classes: Arc::clone(&self.classes),
            codes: rows.iter().map(|&i| self.codes[i]).collect(),
        }
    }
    fn classes(&self) -> &[String] {
        &self.classes
    }
    fn strata(&self) -> Option<&[u32]> {
        Some(&self.codes)
    }
    fn labels(&self) -> Option<&Labels> {
        Some(self)
    }
    fn to_column(&self) -> Option<Column> {
        let (levels, codes) = (Arc::clone(&self.classes), self.codes.clone());
        Some(Column::Categorical(Categories { levels, codes }))
    }
    fn from_column(column: Option<Column>, classes: &[String]) -> Option<Self> {
        let spelled: Vec<String> = match column? {
            Column::Numeric(values) => values.iter().map(f64::to_string).collect(),
            Column::Categorical(c) => {
                (0..c.codes.len()).map(|i| c.level(i).map(String::from)).collect::<Option<_>>()?
            }
        };
        let code = |name: &String| classes.iter().position(|c| c == name).map(|c| c as u32);
        let codes = spelled.iter().map(code).collect::<Option<_>>()?;
        Labels::new(classes.to_vec(), codes).ok()
    }
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
    const NAME: &'static str = "density";
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
    fn figures(predicted: &[f64], (): &()) -> Vec<Figure> {
        figures::of_densities(predicted)
    }
    fn estimates(predicted: &[f64], (): &(), shares: &[f64]) -> Estimates {
        figures::estimates_of_densities(predicted, shares)
    }
    fn pool(weights: &[f64], parts: &[Arc<dyn Fitted<Self>>]) -> Option<Box<dyn DensityModel>> {
        let pool = FittedAverage::weighted(weights, parts)?;
        pool.density().is_some().then(|| Box::new(pool) as Box<dyn DensityModel>)
    }
}

impl Task for Joint {
    type Target = Labels;
    const NAME: &'static str = "joint";
    const LOG_SPACE: bool = true;
    const CLASSES: bool = true;

    fn width(target: &Labels) -> usize {
        target.classes.len()
    }
    fn score(row: &[f64], target: &Labels, i: usize) -> f64 {
        let own = row[target.class(i)];
        if own == f64::NEG_INFINITY { own } else { own - log_sum_exp(row) }
    }
    fn measure(measure: Measure, row: &[f64], target: &Labels, i: usize) -> Option<f64> {
        measure.of_classes(&posterior(row), target, i)
    }
    fn figures(predicted: &[f64], target: &Labels) -> Vec<Figure> {
        figures::of_classes(&Self::posteriors(predicted, Self::width(target)), target)
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
    const NAME: &'static str = "classification";
    const LOG_SPACE: bool = false;
    const CLASSES: bool = true;

    fn width(target: &Labels) -> usize {
        target.classes.len()
    }
    fn score(row: &[f64], target: &Labels, i: usize) -> f64 {
        row[target.class(i)].ln()
    }
    fn measure(measure: Measure, row: &[f64], target: &Labels, i: usize) -> Option<f64> {
        measure.of_classes(row, target, i)
    }
    fn figures(predicted: &[f64], target: &Labels) -> Vec<Figure> {
        figures::of_classes(predicted, target)
    }
    fn estimates(predicted: &[f64], target: &Labels, shares: &[f64]) -> Estimates {
        figures::estimates_of_classes(predicted, target, shares)
    }
}

impl Task for Regression {
    type Target = Vec<f64>;
    const NAME: &'static str = "regression";
    const LOG_SPACE: bool = false;
    const CLASSES: bool = false;

    fn width(_target: &Vec<f64>) -> usize {
        1
    }
    fn score(row: &[f64], target: &Vec<f64>, i: usize) -> f64 {
        let residual = target[i] - row[0];
        -residual * residual
    }
    fn measure(measure: Measure, row: &[f64], target: &Vec<f64>, i: usize) -> Option<f64> {
        measure.of_number(row[0], target[i])
    }
    fn figures(predicted: &[f64], target: &Vec<f64>) -> Vec<Figure> {
        figures::of_numbers(predicted, target)
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
