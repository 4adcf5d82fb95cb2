//! Kernel densities: f(y) = 1/(N prod_j h_j) sum_i prod_j K((y_j - x_ij)/h_j) \[SmythWolpert1999, section 3\].
//!
//! One learner makes one density or, with several bandwidths, a ladder of them. `bandwidth` says how wide kernels are and
//! `search` how the widths of greatest likelihood are found; `cross_validate` makes the out-of-sample densities of all
//! bandwidths and folds in one pass; `evaluate` tells how a fitted density is evaluated fast.

mod bandwidth;
mod climb;
mod cross_validate;
mod evaluate;
mod grid;
mod lanes;
mod likelihood;
mod model;
mod points;
mod search;
mod shape;
mod sorted;
mod surface;
mod tile;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rand::seq::SliceRandom;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use bandwidth::{Bandwidth, Rule};
pub use model::{FittedKernel, effective_kernel};
pub use search::Search;
pub use shape::Shape;

use crate::error::{Error, Place, Result, within};
use crate::learner::Block;
use crate::learner::density::DensityModel;
use crate::learner::{Diagnostics, Fitted, Learner, MOST_FOLDS, Sample};
use crate::plan::{OwnedKeys, Plan};
use crate::run::Run;
use crate::spec::Spec;
use crate::table::{Kind, Rows};
use crate::task::Density;
use bandwidth::{Training, Widths, rule_of_thumb};
use search::Searched;
use tile::Order;

/// A product-kernel density of numeric columns.
///
/// ```
/// use dolmen::learner::density::kernel::{KernelDensity, Shape};
/// use dolmen::learner::Learner;
///
/// let ladder = KernelDensity {
///     shape: Shape::Triangular,
///     bandwidth: [0.1, 0.4, 1.5].into(),
///     ..KernelDensity::default()
/// };
/// assert_eq!(ladder.members()[1], "kernel(shape=triangular, bandwidth=0.4)");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct KernelDensity {
    /// The kernel.
    pub shape: Shape,
    /// The bandwidths; a list makes one member per value.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub bandwidth: Bandwidth,
    /// Which rows the bandwidths are measured on when out-of-sample densities are made.
    pub scale: Scale,
    /// The greatest error of a density that fast evaluation may make, besides rounding, relative to the density at the
    /// same point, be it far out in the tails; 0 looks at every row.
    #[schemars(extend("minimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub tolerance: f64,
    /// How the bandwidths of greatest likelihood are looked for (bandwidths `cv` and `loo`).
    pub search: Search,
    /// Folds of the likelihood `cv`, 2 to 10 000 and at most as many as rows.
    #[schemars(range(min = 2, max = MOST_FOLDS))]
    pub folds: usize,
    /// The most rows on which `cv` and `loo` look for bandwidths, as the work grows with their square. Of more rows, so
    /// many are drawn, and the bandwidths found are multiplied by (drawn/all)^(1/(d+4)), as optimal ones shrink.
    #[schemars(range(min = 2))]
    pub search_rows: usize,
}

impl Default for KernelDensity {
    fn default() -> Self {
        Self {
            shape: Shape::default(),
            bandwidth: Bandwidth::default(),
            scale: Scale::default(),
            tolerance: 1e-10,
            search: Search::default(),
            folds: 10,
            search_rows: 5000,
        }
    }
}

/// Which rows the bandwidths are measured on when out-of-sample densities are made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// In each split the rows learned from: what is predicted has no say.
    #[default]
    Training,
    /// Once, all rows, as \[SmythWolpert1999, section 3\] do: standard deviations, and the bandwidths that rules and
    /// searches find. Not for rows with times, of which later ones would then have a say.
    Sample,
}

impl Learner<Density> for KernelDensity {
    fn members(&self) -> Vec<String> {
        let rung = |h: &f64| Spec::rung("kernel", self, "bandwidth", *h).to_string();
        match &self.bandwidth {
            Bandwidth::Fraction(fraction) => vec![rung(fraction)],
            Bandwidth::Ladder(fractions) => fractions.iter().map(rung).collect(),
            Bandwidth::Rule(_) | Bandwidth::Absolute { .. } => {
                vec![Spec::of("kernel", self).to_string()]
            }
        }
    }

    fn fit(
        &self,
        sample: &Sample<'_, Density>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Density>>>> {
        self.validate()?;
        check_rows(sample.x())?;
        let rows = weighted_rows(sample)?;
        let training = Training::new(sample, &rows);
        let models = run.install(|| {
            let (widths, diagnostics) = self.widths(&training, run)?;
            Ok(models(self.shape, self.tolerance, &training, &widths, &diagnostics))
        })?;
        Ok(models.into_iter().map(|model| Box::new(model) as _).collect())
    }

    fn out_of_sample(&self, sample: &Sample<'_, Density>, plan: &Plan, run: &Run) -> Result<Block> {
        self.validate()?;
        cross_validate::out_of_sample(self, sample, plan, run)
    }
}

impl KernelDensity {
    fn validate(&self) -> Result<()> {
        self.bandwidth.validate()?;
        if !(0.0..1.0).contains(&self.tolerance) {
            return Err(Error::param("tolerance", "at least 0 and below 1", self.tolerance));
        }
        within("folds", self.folds, 2..=MOST_FOLDS)?;
        if self.search_rows < 2 {
            return Err(Error::param("search_rows", "at least 2", self.search_rows));
        }
        Ok(())
    }

    /// The bandwidths for these rows, and how they were found.
    fn widths(&self, training: &Training<'_>, run: &Run) -> Result<(Widths, Diagnostics)> {
        let dimension = training.x.width();
        let found = |scale, factors| Ok((Widths { scale, factors }, Diagnostics::default()));
        match &self.bandwidth {
            Bandwidth::Absolute { absolute } if absolute.len() != dimension => {
                Err(Error::shape("absolute bandwidths", dimension, absolute.len()))
            }
            Bandwidth::Absolute { absolute } => found(absolute.clone(), vec![1.0]),
            Bandwidth::Fraction(fraction) => {
                found(training.standard_deviations()?, vec![*fraction])
            }
            Bandwidth::Ladder(factors) => found(training.standard_deviations()?, factors.clone()),
            Bandwidth::Rule(rule @ (Rule::Scott | Rule::Silverman)) => {
                let silverman = *rule == Rule::Silverman;
                let n = training.total_weight();
                let factor = rule_of_thumb(silverman, self.shape, n, dimension);
                found(training.standard_deviations()?, vec![factor])
            }
            Bandwidth::Rule(rule @ (Rule::Cv | Rule::Loo)) => {
                self.searched(training, *rule == Rule::Loo, run)
            }
        }
    }

    /// The bandwidths of greatest likelihood.
    fn searched(
        &self,
        training: &Training<'_>,
        leave_one_out: bool,
        run: &Run,
    ) -> Result<(Widths, Diagnostics)> {
        let mut scale = training.standard_deviations()?;
        // Rows in random order: the first of them are a random part, and folds can be dealt in turn.
        let mut rows = training.rows.to_vec();
        rows.shuffle(&mut run.rng());
        rows.truncate(self.search_rows);
        let Some((folds, order)) = self.search_folds(training, &mut rows, leave_one_out, run)?
        else {
            let factor = rule_of_thumb(false, self.shape, training.total_weight(), scale.len());
            let note = "the rows cannot be split to search for a bandwidth: Scott's rule is used";
            let notes = vec![note.into()];
            let widths = Widths { scale, factors: vec![factor] };
            return Ok((widths, Diagnostics { notes, ..Diagnostics::default() }));
        };
        let first = training.x.row(rows[0]);
        let column =
            |k: usize| rows.iter().map(|&i| (training.x.row(i)[k] - first[k]) / scale[k]).collect();
        let columns: Vec<Vec<f64>> = (0..scale.len()).map(column).collect();
        let weights: Vec<f64> = rows.iter().map(|&i| training.weight(i)).collect();
        let (columns, weights, folds) = (&columns, &weights, &folds);
        let searched = Searched { shape: self.shape, columns, weights, folds, order };
        let peak = searched.search(self.search, run)?;
        let drawn: f64 = weights.iter().sum();
        let log_scale: f64 = scale.iter().map(|s| s.ln()).sum();
        let names = training.x.schema().fields().iter().map(|field| field.name.as_str());
        let diagnostics = Diagnostics {
            converged: Some(peak.converged),
            iterations: Some(peak.evaluations),
            objective: Some(peak.log_likelihood - drawn * log_scale),
            notes: peak.notes(names),
            ..Diagnostics::default()
        };
        let shrink = (drawn / training.total_weight()).powf(1.0 / (scale.len() as f64 + 4.0));
        scale.iter_mut().zip(&peak.bandwidth).for_each(|(s, h)| *s *= h * shrink);
        Ok((Widths::single(scale), diagnostics))
    }
}

impl KernelDensity {
    /// The folds of the rows that bandwidths are searched on: dealt in turn, groups together, or in order of time. `None` if
    /// rows with keys cannot be split.
    fn search_folds(
        &self,
        training: &Training<'_>,
        rows: &mut Vec<usize>,
        leave_one_out: bool,
        run: &Run,
    ) -> Result<Option<(Vec<u32>, Order)>> {
        let wanted = if leave_one_out { rows.len() } else { self.folds };
        if !training.keys.bind() {
            if wanted > rows.len() {
                let expected = format!("at most the number of rows, {}", rows.len());
                return Err(Error::param("folds", expected, wanted));
            }
            return Ok(Some(((0..rows.len()).map(|i| (i % wanted) as u32).collect(), Order::Any)));
        }
        // One fold for each time would make most of them predict from very little.
        let is_timed = training.keys.times.is_some();
        let wanted = if is_timed { self.folds } else { wanted };
        let keys = OwnedKeys::select(&training.keys, rows);
        let Ok(plan) = keys.borrow().folds(rows.len(), wanted, run) else {
            return Ok(None);
        };
        // In order of time the rows before the first block are fold 0, which is learned from only.
        let mut folds = vec![0; rows.len()];
        for (fold, split) in (u32::from(is_timed)..).zip(plan.splits()) {
            split.test().iter().for_each(|&at| folds[at] = fold);
        }
        if !is_timed {
            return Ok(Some((folds, Order::Any)));
        }
        let usable = teach_all_later(&plan, &folds, keys.borrow().groups);
        let mut is_usable = usable.iter();
        rows.retain(|_| *is_usable.next().unwrap_or(&false));
        let mut is_usable = usable.iter();
        folds.retain(|_| *is_usable.next().unwrap_or(&false));
        if folds.iter().max() == folds.iter().min() || !folds.contains(&0) {
            return Ok(None);
        }
        Ok(Some((folds, Order::Forward)))
    }
}

/// In order of time, the rows that every later block may learn from: not those in the gap before one, nor those of a group that spans
/// several blocks and would be on both sides.
fn teach_all_later(plan: &Plan, folds: &[u32], groups: Option<&[u32]>) -> Vec<bool> {
    let mut usable = vec![true; folds.len()];
    for (fold, split) in (1..).zip(plan.splits()) {
        let mut learned = vec![false; folds.len()];
        split.iter_train(folds.len()).for_each(|at| learned[at] = true);
        for (at, usable) in usable.iter_mut().enumerate() {
            *usable &= learned[at] || folds[at] >= fold;
        }
    }
    if let Some(groups) = groups {
        let mut fold_of_group = HashMap::new();
        let mut torn = HashSet::new();
        for (group, &fold) in groups.iter().zip(folds) {
            if *fold_of_group.entry(*group).or_insert(fold) != fold {
                torn.insert(*group);
            }
        }
        usable.iter_mut().zip(groups).for_each(|(usable, group)| *usable &= !torn.contains(group));
    }
    usable
}

/// The members for these bandwidths; they share the rows in memory.
fn models(
    shape: Shape,
    tolerance: f64,
    training: &Training<'_>,
    widths: &Widths,
    diagnostics: &Diagnostics,
) -> Vec<FittedKernel> {
    let (points, order) = training.points(&widths.scale);
    let total = training.total_weight();
    let weight = |&i: &usize| training.weight(training.rows[i]) / total;
    let weights: Arc<Vec<f64>> = Arc::new(order.iter().map(weight).collect());
    let points = Arc::new(points);
    let model = |m: usize| {
        let bandwidth = widths.of(m).collect();
        let (points, weights) = (Arc::clone(&points), Arc::clone(&weights));
        FittedKernel::new(shape, bandwidth, tolerance, points, weights)
            .with_diagnostics(diagnostics.clone())
    };
    (0..widths.factors.len()).map(model).collect()
}

/// Refuses columns that are not numbers, and values that are missing or infinite.
fn check_rows(x: Rows<'_>) -> Result<()> {
    let fields = x.schema().fields();
    if let Some(field) = fields.iter().find(|field| field.kind != Kind::Numeric) {
        let problem = "a kernel density needs numbers, found categories";
        let hint = "drop the column, or encode it as numbers";
        return Err(Error::data(Place::column(&field.name), problem).with_hint(hint));
    }
    match x.find(|value| !value.is_finite()) {
        Some((row, column)) => {
            let place = Place::cell(row, &fields[column].name);
            Err(bad_value(place, x.row(row)[column]))
        }
        None => Ok(()),
    }
}

/// The error of a missing or infinite value.
fn bad_value(place: Place, value: f64) -> Error {
    if value.is_nan() {
        let problem = "the value is missing, a kernel density needs all values";
        Error::data(place, problem)
            .with_hint("impute missing values or drop the rows that have them")
    } else {
        Error::data(place, format!("the value is {value}")).with_hint("drop the row")
    }
}

/// The rows that count.
fn weighted_rows(sample: &Sample<'_, Density>) -> Result<Vec<usize>> {
    let rows: Vec<usize> = (0..sample.rows()).filter(|&i| sample.weight(i) > 0.0).collect();
    if rows.is_empty() { Err(no_rows()) } else { Ok(rows) }
}

fn no_rows() -> Error {
    Error::data(Place::default(), "there are no rows to learn from")
}
