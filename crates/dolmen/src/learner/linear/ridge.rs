//! Ridge regression in closed form.

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lambda::{Lambda, geometric};
use super::normal_equations::{NormalEquations, anchor};
use super::ridge_pass::RidgePass;
use super::spectrum::{Errors, Solutions};
use crate::error::{Error, Place, Result};
use crate::learner::Block;
use crate::learner::check_use;
use crate::learner::chosen::{Chosen, listed};
use crate::learner::pass::{AnyPass, fit_in_passes};
use crate::learner::scales::{require_finite, require_moderate, require_numbers};
use crate::learner::{self, Diagnostics, Fitted, Learner, Sample, Series, Simple, SimpleModel};
use crate::plan::{Folds, Lot, Plan, Split};
use crate::run::Run;
use crate::stats::accumulate;
use crate::store::Parameters;
use crate::table::{Rows, Schema};
use crate::task::Regression;

/// Penalties tried by `auto`, as multiples of the columns' mean spread: four per decade.
const AUTO: (f64, f64, usize) = (1e-6, 1e3, 37);

/// Folds by which a penalty is chosen where rows have groups or times; of many columns fewer groups are told apart, because the
/// sums of each are held.
const FOLDS: usize = 10;
const FOLDS_OF_MANY: usize = 4;
const MANY_COLUMNS: usize = 256;

/// Columns of which all pairs are summed for all folds at once; with more, ridge has no passes.
const MOST_COLUMNS: usize = 1024;

/// Linear regression with a penalty on the squares of its coefficients.
///
/// ```
/// use dolmen::learner::linear::Ridge;
/// use dolmen::run::Run;
/// use dolmen::learner::Sample;
/// use dolmen::table::Features;
/// use dolmen::task::Regression;
///
/// let x = Features::numeric(vec![0.0, 1.0, 2.0, 3.0], 1)?;
/// let y = vec![1.0, 3.0, 5.0, 7.0];
/// let ridge = Ridge { lambda: 0.0.into(), ..Ridge::default() };
/// let models = ridge.fit_ridges(&Sample::<Regression>::new(x.rows(), &y)?, &Run::new(0))?;
/// assert!((models[0].coefficients()[0] - 2.0).abs() < 1e-12);
/// assert!((models[0].intercept() - 1.0).abs() < 1e-12);
/// # Ok::<(), dolmen::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ridge {
    /// The penalty: a number, a list (one member per value), or `auto`, the one of least leave-one-out error.
    #[schemars(extend("minimum" = 0.0))]
    pub lambda: Lambda,
    /// Whether the penalty is on coefficients of standardised columns (indicators keep their scale).
    pub standardise: bool,
}

impl Default for Ridge {
    fn default() -> Self {
        Self { lambda: Lambda::default(), standardise: true }
    }
}

impl Learner<Regression> for Ridge {
    fn members(&self) -> Vec<String> {
        self.lambda.members("ridge", self)
    }

    fn fit(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Regression>>>> {
        let models = self.fit_ridges(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(Simple(model)) as _).collect())
    }

    /// All splits share one pass over the rows: what a split learns from are the sums over all rows less those held out.
    fn out_of_sample(
        &self,
        sample: &Sample<'_, Regression>,
        plan: &Plan,
        run: &Run,
    ) -> Result<Block> {
        self.validate(sample)?;
        let mut list = Vec::new();
        let rows = Chosen::of(sample.rows(), |i| sample.weight(i) > 0.0, &mut list)?;
        // Where columns outnumber rows, a fit needs the rows themselves.
        if plan.rows() != sample.rows() || 2 * sample.x().width() >= rows.len() {
            return learner::refit(self, sample, plan, run);
        }
        let all = run.install(|| NormalEquations::over(sample, rows, &anchor(sample, rows)));
        learner::by_split(&self.members(), sample, plan, run, &|split, run| match self
            .fit_split(sample, split, &all, run)?
        {
            Some(models) => Ok(models.iter().map(|m| m.predict_rows(sample, split)).collect()),
            None => learner::predict_split(self, sample, split, run),
        })
    }

    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<Regression>>>> {
        let few = x.width() <= MOST_COLUMNS;
        few.then(|| RidgePass::new(self, x, run).map(<dyn AnyPass<Regression>>::of))
    }
}

impl Ridge {
    /// Fits one model per penalty.
    pub fn fit_ridges(
        &self,
        sample: &Sample<'_, Regression>,
        run: &Run,
    ) -> Result<Vec<FittedRidge>> {
        let mut list = Vec::new();
        let rows = Chosen::of(sample.rows(), |i| sample.weight(i) > 0.0, &mut list)?;
        let is_wide = sample.x().width() >= rows.len();
        // A penalty chosen in order of time, and more columns than rows, need the rows at once.
        if !is_wide && (self.lambda.given().is_some() || sample.times().is_none()) {
            let models = fit_in_passes(RidgePass::new(self, sample.x(), run)?, sample, run)?;
            return Ok(models.into_iter().map(|Simple(model)| model).collect());
        }
        self.validate(sample)?;
        if rows.len() == 0 {
            return Err(no_rows());
        }
        run.install(|| {
            let solutions = self.solutions(sample, rows)?;
            run.check()?;
            self.models(&solutions, sample, rows, run)
        })
    }

    /// What chosen rows say, for all penalties.
    fn solutions(&self, sample: &Sample<'_, Regression>, rows: Chosen<'_>) -> Result<Solutions> {
        if sample.x().width() >= rows.len() {
            let rows: Vec<usize> = rows.iter().collect();
            return Solutions::of_rows(&sample.select(&rows).borrow(), self.standardise);
        }
        let equations = NormalEquations::over(sample, rows, &anchor(sample, rows));
        Solutions::of_equations(&equations, self.standardise)
    }

    /// The models of a split from the sums over all rows; `None` if those do not tell enough about the split's rows.
    fn fit_split(
        &self,
        sample: &Sample<'_, Regression>,
        split: &Split,
        all: &NormalEquations,
        run: &Run,
    ) -> Result<Option<Vec<FittedRidge>>> {
        if !split.learns_from_all_others() {
            return Ok(None);
        }
        let held_out = rows_that_count(sample, split.test().iter().copied())?;
        let held_out = NormalEquations::over(sample, Chosen::These(&held_out), all.anchor());
        let equations = all.without(&held_out);
        if !equations.keeps_spread_of(all) {
            return Ok(None);
        }
        let solutions = Solutions::of_equations(&equations, self.standardise)?;
        // Only the choice of a penalty looks at single rows.
        let rows = match self.lambda.given() {
            Some(_) => Vec::new(),
            None => rows_that_count(sample, split.train(sample.rows()).iter().copied())?,
        };
        self.models(&solutions, sample, Chosen::These(&rows), run).map(Some)
    }

    fn models(
        &self,
        solutions: &Solutions,
        sample: &Sample<'_, Regression>,
        rows: Chosen<'_>,
        run: &Run,
    ) -> Result<Vec<FittedRidge>> {
        let columns = column_names(sample.x());
        if let Some(lambdas) = self.lambda.given() {
            let model = |&lambda: &f64| FittedRidge::new(solutions, lambda, &columns);
            return lambdas.iter().map(model).collect();
        }
        let lambdas = penalties(solutions);
        if !sample.keys().bind() {
            let errors = solutions.leave_one_out(sample, rows, &lambdas);
            return Ok(vec![FittedRidge::of_least_error(solutions, &lambdas, &errors, &columns)?]);
        }
        // Leaving out single rows would learn from the rest of their groups, or from later rows.
        let folds = match sample.times() {
            Some(_) => sample.folds_among(rows, FOLDS, run).ok(),
            None => group_lot(sample.x().width(), run).among(&sample.keys(), rows.iter()),
        };
        let Some(folds) = folds else {
            return Ok(vec![FittedRidge::new(solutions, usual_spread(solutions), &columns)?]);
        };
        let errors = self.fold_errors(sample, rows, &folds, &lambdas)?;
        let model = FittedRidge::of_least_error(solutions, &lambdas, &errors, &columns)?;
        Ok(vec![model.chosen_by_folds()])
    }

    /// The mean squared error on the folds of a plan over chosen rows, penalty by penalty.
    fn fold_errors(
        &self,
        sample: &Sample<'_, Regression>,
        rows: Chosen<'_>,
        folds: &Folds,
        lambdas: &[f64],
    ) -> Result<Vec<f64>> {
        let (mut errors, mut weight) = (vec![0.0; lambdas.len()], 0.0);
        for fold in 0..folds.len() {
            let learned = listed(folds.learned_from(fold).map(|place| rows.at(place)))?;
            let solutions = self.solutions(sample, Chosen::These(&learned))?;
            let held_out = || folds.held_out(fold).map(|place| rows.at(place));
            weight += held_out().map(|i| sample.weight(i)).sum::<f64>();
            let places = listed(held_out())?;
            let lines = Line::of_all(&solutions, lambdas);
            let Errors(found) = Line::squared_errors(&lines, sample, Chosen::These(&places));
            errors.iter_mut().zip(found).for_each(|(error, found)| *error += found);
        }
        errors.iter_mut().for_each(|error| *error /= weight);
        Ok(errors)
    }

    fn validate(&self, sample: &Sample<'_, Regression>) -> Result<()> {
        self.lambda.validate()?;
        require_numbers(sample.x())?;
        require_moderate(sample.x())?;
        require_finite(sample.target(), |row| row as u64)
    }
}

/// What draws the folds of groups, by a hash: the fold of a group is known without the others.
pub(super) fn group_lot(columns: usize, run: &Run) -> Lot {
    Lot::new(if columns > MANY_COLUMNS { FOLDS_OF_MANY } else { FOLDS }, run)
}

/// What one penalty predicts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Line {
    #[serde(with = "crate::store::floats")]
    centres: Vec<f64>,
    at_centres: f64,
    #[serde(with = "crate::store::floats")]
    slopes: Vec<f64>,
}

impl Line {
    /// Rows summed into one accumulator.
    const PART: usize = 4096;

    /// One for each penalty.
    pub(super) fn of_all(solutions: &Solutions, lambdas: &[f64]) -> Vec<Self> {
        let line = |&lambda: &f64| {
            let slopes = solutions.coefficients(lambda);
            let at_centres = solutions.at_centres(&slopes);
            Self { centres: solutions.centres().to_vec(), at_centres, slopes }
        };
        lambdas.iter().map(line).collect()
    }

    /// The sums of their squared errors over chosen rows.
    pub(super) fn squared_errors(
        lines: &[Self],
        sample: &Sample<'_, Regression>,
        rows: Chosen<'_>,
    ) -> Errors {
        let zero = || Errors(vec![0.0; lines.len()]);
        accumulate(rows.len(), Self::PART, zero, |sum, part| {
            for i in part.map(|place| rows.at(place)) {
                let (row, target, weight) =
                    (sample.x().row(i), sample.target()[i], sample.weight(i));
                for (error, line) in sum.0.iter_mut().zip(lines) {
                    let terms = row.iter().zip(&line.centres).zip(&line.slopes);
                    let predicted =
                        line.at_centres + terms.map(|((x, c), b)| (x - c) * b).sum::<f64>();
                    *error += weight * (target - predicted).powi(2);
                }
            }
        })
    }
}

/// The spread of a typical direction, of columns that vary.
pub(super) fn usual_spread(solutions: &Solutions) -> f64 {
    Some(solutions.mean_spread()).filter(|spread| *spread > 0.0).unwrap_or(1.0)
}

/// The penalties among which `auto` chooses.
pub(super) fn penalties(solutions: &Solutions) -> Vec<f64> {
    let (first, last, count) = AUTO;
    let spread = usual_spread(solutions);
    geometric(first * spread, last * spread, count)
}

pub(super) fn column_names(x: Rows<'_>) -> Vec<String> {
    x.schema().fields().iter().map(|field| field.name.clone()).collect()
}

pub(super) fn no_rows() -> Error {
    Error::shape("rows to learn from", 1, 0)
}

/// Those of the rows that have a positive weight.
fn rows_that_count(
    sample: &Sample<'_, Regression>,
    rows: impl Iterator<Item = usize>,
) -> Result<Vec<u32>> {
    listed(rows.filter(|&i| sample.weight(i) > 0.0))
}

/// A fitted ridge regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedRidge {
    #[serde(with = "crate::store::floats")]
    centres: Vec<f64>,
    at_centres: f64,
    #[serde(with = "crate::store::floats")]
    coefficients: Vec<f64>,
    lambda: f64,
    leave_one_out: Option<f64>,
    /// The same by folds, where rows have keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    held_out: Option<f64>,
    columns: Vec<String>,
}

impl FittedRidge {
    pub(super) fn new(solutions: &Solutions, lambda: f64, columns: &[String]) -> Result<Self> {
        let coefficients = solutions.coefficients(lambda);
        if !coefficients.iter().all(|b| b.is_finite()) {
            return Err(Error::data(Place::default(), "the coefficients are not finite"));
        }
        Ok(Self {
            centres: solutions.centres().to_vec(),
            at_centres: solutions.at_centres(&coefficients),
            coefficients,
            lambda,
            leave_one_out: None,
            held_out: None,
            columns: columns.to_vec(),
        })
    }

    /// With the penalty of least leave-one-out error.
    pub(super) fn of_least_error(
        solutions: &Solutions,
        lambdas: &[f64],
        errors: &[f64],
        columns: &[String],
    ) -> Result<Self> {
        let places = 0..lambdas.len();
        let best = places.min_by(|&a, &b| errors[a].total_cmp(&errors[b])).unwrap_or(0);
        let model = Self::new(solutions, lambdas[best], columns)?;
        Ok(Self { leave_one_out: Some(errors[best]), ..model })
    }

    /// The same, where the error is that of folds.
    pub(super) fn chosen_by_folds(self) -> Self {
        Self { held_out: self.leave_one_out, leave_one_out: None, ..self }
    }

    /// The coefficient of each column, in the data's units.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// What is predicted where all columns are 0.
    pub fn intercept(&self) -> f64 {
        self.predict(&vec![0.0; self.centres.len()])
    }

    /// The penalty, as given or as chosen.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The mean squared leave-one-out error on the training rows, where it chose the penalty.
    pub fn leave_one_out(&self) -> Option<f64> {
        self.leave_one_out
    }

    fn predict(&self, row: &[f64]) -> f64 {
        let terms = row.iter().zip(&self.centres).zip(&self.coefficients);
        self.at_centres + terms.map(|((x, centre), b)| (x - centre) * b).sum::<f64>()
    }

    fn predict_rows(&self, sample: &Sample<'_, Regression>, split: &Split) -> Vec<f64> {
        split.test().par_iter().map(|&i| self.predict(sample.x().row(i))).collect()
    }
}

impl SimpleModel<Regression> for FittedRidge {
    const KIND: &'static str = "ridge";

    fn width(&self) -> usize {
        1
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        for columns in [self.centres.len(), self.coefficients.len(), self.columns.len()] {
            check_use(Self::KIND, (columns, 1), inputs, width)?;
        }
        Ok(())
    }

    fn predict_row(&self, row: &[f64], out: &mut [f64]) {
        out[0] = self.predict(row);
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(Self::KIND)
            .with("columns", &self.columns)
            .with("coefficients", &self.coefficients)
            .with("intercept", self.intercept())
            .with("lambda", self.lambda)
    }

    fn free_parameters(&self) -> Option<usize> {
        Some(self.coefficients.len() + 1)
    }

    fn diagnostics(&self) -> Diagnostics {
        let by = if self.held_out.is_some() { "held-out" } else { "leave-one-out" };
        let chosen = self.leave_one_out.or(self.held_out).map(|error| {
            let (lambda, error) = (self.lambda, error.sqrt());
            format!("lambda {lambda:.4} chosen, root mean squared {by} error {error:.4}")
        });
        let labels = std::iter::once("(intercept)".to_string()).chain(self.columns.iter().cloned());
        let values = std::iter::once(self.intercept()).chain(self.coefficients.iter().copied());
        Diagnostics {
            notes: chosen.into_iter().collect(),
            series: vec![Series {
                name: "coefficients".into(),
                labels: labels.collect(),
                values: values.collect(),
                is_numbered: false,
            }],
            ..Diagnostics::default()
        }
    }
}
