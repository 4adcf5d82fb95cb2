//! Logistic regression, binary and multinomial.

use dolmen_linalg::Mat;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::coordinates::Coordinates;
use super::lambda::{Lambda, geometric};
use super::logistic_pass::LogisticPass;
use super::newton::{solve, solve_afresh};
use super::ridge::column_names;
use super::softmax::{Labelled, Problem, contrasts};
use crate::error::{Error, Result, within};
use crate::learner::check_use;
use crate::learner::chosen::{Chosen, listed};
use crate::learner::pass::AnyPass;
use crate::learner::scales::{Scales, require_moderate, require_numbers};
use crate::learner::{
    Diagnostics, Fitted, Learner, MOST_FOLDS, MOST_ITERATIONS, Sample, Series, Simple, SimpleModel,
};
use crate::math::quasi_newton::Minimum;
use crate::plan::Folds;
use crate::run::Run;
use crate::store::Parameters;
use crate::table::{Rows, Schema};
use crate::target::Target;
use crate::task::Classification;

/// The weakest penalty that `auto` tries; the strongest is the number of rows.
const WEAKEST: f64 = 1e-3;
/// Penalties tried per decade.
const PER_DECADE: f64 = 2.0;
/// `auto` goes on to weaker penalties until so many in a row have not lowered the loss by this share.
const PATIENCE: usize = 3;
const GAIN: f64 = 1e-4;
/// Columns with which a fit has passes: of more, a sample of rows large enough to begin with would take more memory than its table.
const MOST_COLUMNS: usize = 10_000;
/// Gradient tolerance while penalties are compared.
const ROUGH: f64 = 1e-4;

/// Logistic regression with a penalty on the squares of its coefficients.
///
/// Two classes have one vector of coefficients, more have one each under a symmetric penalty.
///
/// ```
/// use dolmen::learner::Learner;
/// use dolmen::learner::linear::Logistic;
///
/// let ladder = Logistic { lambda: [0.1, 1.0, 10.0].into(), ..Logistic::default() };
/// assert_eq!(ladder.members()[0], "logistic(lambda=0.1)");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Logistic {
    /// The penalty: a number, a list (one member per value), or `auto`, the one of least cross-validated log loss. Of a
    /// table that is read block by block, `auto` looks at a sample of 16384 rows.
    #[schemars(extend("minimum" = 0.0))]
    pub lambda: Lambda,
    /// Whether the penalty is on coefficients of standardised columns (indicators keep their scale).
    pub standardise: bool,
    /// Folds of the cross-validation that chooses a penalty, 2 to 10 000.
    #[schemars(range(min = 2, max = MOST_FOLDS))]
    pub folds: usize,
    /// The largest element that the gradient of the mean loss may have in the end.
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub tolerance: f64,
    /// Iterations at most.
    #[schemars(range(min = 1, max = MOST_ITERATIONS))]
    pub iterations: usize,
}

impl Default for Logistic {
    fn default() -> Self {
        Self {
            lambda: Lambda::default(),
            standardise: true,
            folds: 5,
            tolerance: 1e-6,
            iterations: 500,
        }
    }
}

impl Learner<Classification> for Logistic {
    fn members(&self) -> Vec<String> {
        self.lambda.members("logistic", self)
    }

    fn fit(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<Box<dyn Fitted<Classification>>>> {
        let models = self.fit_logistics(sample, run)?.into_iter();
        Ok(models.map(|model| Box::new(Simple(model)) as _).collect())
    }

    fn pass(&self, x: Rows<'_>, run: &Run) -> Option<Result<Box<dyn AnyPass<Classification>>>> {
        let few = x.width() <= MOST_COLUMNS;
        few.then(|| LogisticPass::new(self, x, run).map(<dyn AnyPass<Classification>>::of))
    }
}

impl Logistic {
    /// Fits one model per penalty.
    pub fn fit_logistics(
        &self,
        sample: &Sample<'_, Classification>,
        run: &Run,
    ) -> Result<Vec<FittedLogistic>> {
        self.validate()?;
        require_numbers(sample.x())?;
        require_moderate(sample.x())?;
        let mut list = Vec::new();
        let rows = Chosen::of(sample.rows(), |i| sample.weight(i) > 0.0, &mut list)?;
        if rows.len() == 0 {
            return Err(Error::shape("rows to learn from", 1, 0));
        }
        let (numbers, seen) = seen_classes(sample, rows);
        let contrasts = contrasts(seen);
        run.install(|| {
            let scale = if self.standardise { Scales::fit } else { Scales::centring };
            let scales = scale(sample.x(), sample.weights());
            let x = sample.x();
            let coordinates =
                Coordinates::of_wide(x.rows(), x.width(), |i, z| scales.write(x.row(i), z));
            let data = Labelled {
                sample: *sample,
                rows,
                scales: &scales,
                numbers: &numbers,
                coordinates: coordinates.as_ref(),
            };
            let problem = Problem { data, contrasts: &contrasts, lambda: 0.0 };
            if let Some(lambdas) = self.lambda.given() {
                return self.ladder(&problem, lambdas, run);
            }
            let (lambda, note) = self.choose(&problem, run)?;
            let mut models = self.ladder(&problem, &[lambda], run)?;
            models[0].fit.notes.push(note);
            Ok(models)
        })
    }

    /// One model per penalty.
    fn ladder(
        &self,
        problem: &Problem<'_, Labelled<'_>>,
        lambdas: &[f64],
        run: &Run,
    ) -> Result<Vec<FittedLogistic>> {
        let Labelled { sample, scales, numbers, .. } = problem.data;
        let columns = column_names(sample.x());
        let (classes, weight) = (sample.target().classes(), problem.weight());
        let about = About { columns: &columns, classes, numbers, scales, weight };
        let minima = self.minima(problem, lambdas, self.tolerance, run)?;
        let model = |(lambda, minimum): (&f64, &Minimum)| {
            FittedLogistic::new(&about, &problem.column_coefficients(&minimum.at), *lambda, minimum)
        };
        Ok(lambdas.iter().zip(&minima).map(model).collect())
    }

    /// The optimum of each penalty; the strongest first, each from where the one before ended.
    pub(super) fn minima(
        &self,
        problem: &Problem<'_, Labelled<'_>>,
        lambdas: &[f64],
        tolerance: f64,
        run: &Run,
    ) -> Result<Vec<Minimum>> {
        let mut order: Vec<usize> = (0..lambdas.len()).collect();
        order.sort_by(|&a, &b| lambdas[b].total_cmp(&lambdas[a]));
        let mut found: Vec<(usize, Minimum)> = Vec::with_capacity(lambdas.len());
        for rung in order {
            let problem = Problem { lambda: lambdas[rung], ..*problem };
            let minimum = match found.last() {
                None => solve_afresh(&problem, tolerance, self.iterations, run)?,
                Some((_, last)) => {
                    solve(&problem, last.at.clone(), tolerance, self.iterations, run)?
                }
            };
            found.push((rung, minimum));
        }
        found.sort_by_key(|(rung, _)| *rung);
        Ok(found.into_iter().map(|(_, minimum)| minimum).collect())
    }

    /// The penalty of least cross-validated log loss, and what to say of it.
    pub(super) fn choose(
        &self,
        problem: &Problem<'_, Labelled<'_>>,
        run: &Run,
    ) -> Result<(f64, String)> {
        let Labelled { sample, rows, .. } = problem.data;
        let strongest = problem.weight().max(10.0 * WEAKEST);
        let Ok(folds) = sample.folds_among(rows, self.folds, run) else {
            return Ok((strongest, "too few rows to choose lambda by cross-validation".into()));
        };
        let part = |fold: usize| Part { folds: &folds, fold, last: None };
        let mut parts: Vec<Part<'_>> = (0..folds.len()).map(part).collect();
        let decades = (strongest / WEAKEST).log10();
        let count = (decades * PER_DECADE).ceil() as usize + 1;
        let (mut best, mut since) = ((strongest, f64::INFINITY), 0);
        for lambda in geometric(strongest, WEAKEST, count) {
            let mut loss = 0.0;
            for part in &mut parts {
                loss += part.loss(problem, lambda, run)?;
            }
            since = if loss < best.1 * (1.0 - GAIN) { 0 } else { since + 1 };
            if loss < best.1 {
                best = (lambda, loss);
            }
            if since == PATIENCE {
                break;
            }
        }
        let held_out = (0..folds.len()).flat_map(|fold| folds.held_out(fold));
        let weight: f64 = held_out.map(|place| sample.weight(rows.at(place))).sum();
        let mean = best.1 / weight;
        Ok((best.0, format!("lambda {:.4} chosen, cross-validated log loss {mean:.4}", best.0)))
    }

    pub(super) fn validate(&self) -> Result<()> {
        self.lambda.validate()?;
        within("folds", self.folds, 2..=MOST_FOLDS)?;
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(Error::param("tolerance", "above 0", self.tolerance));
        }
        within("iterations", self.iterations, 1..=MOST_ITERATIONS)?;
        Ok(())
    }
}

/// One fold of the cross-validation, and where its last fit ended. Its rows are listed when they are needed: those of all
/// folds at once would take half as much memory as a table of few columns.
struct Part<'a> {
    folds: &'a Folds,
    fold: usize,
    last: Option<Vec<f64>>,
}

impl Part<'_> {
    /// Minus the log likelihood of the rows held out. Scales are those of all rows: they only weigh the penalty.
    fn loss(&mut self, problem: &Problem<'_, Labelled<'_>>, lambda: f64, run: &Run) -> Result<f64> {
        /// Newton needs a handful, and a path that needs more is at its unpenalised end.
        const ITERATIONS: usize = 100;
        let rows = problem.data.rows;
        let learned = listed(self.folds.learned_from(self.fold).map(|place| rows.at(place)))?;
        let train = Problem { lambda, ..problem.over(&learned) };
        let minimum = match self.last.take() {
            None => solve_afresh(&train, ROUGH, ITERATIONS, run)?,
            Some(last) => solve(&train, last, ROUGH, ITERATIONS, run)?,
        };
        drop(learned);
        let held_out = listed(self.folds.held_out(self.fold).map(|place| rows.at(place)))?;
        let loss = problem.over(&held_out).deviance(&minimum.at);
        self.last = Some(minimum.at);
        Ok(loss)
    }
}

/// For each class its number among those with rows, and how many those are.
fn seen_classes(
    sample: &Sample<'_, Classification>,
    rows: Chosen<'_>,
) -> (Vec<Option<usize>>, usize) {
    let mut seen = vec![false; sample.target().classes().len()];
    rows.iter().for_each(|i| seen[sample.target().class(i)] = true);
    let numbers = number_classes(seen.into_iter());
    let count = numbers.iter().flatten().count();
    (numbers, count)
}

/// For each class its number among those that were seen.
pub(super) fn number_classes(seen: impl Iterator<Item = bool>) -> Vec<Option<usize>> {
    let mut count = 0;
    let number = |seen: bool| {
        count += usize::from(seen);
        seen.then(|| count - 1)
    };
    seen.map(number).collect()
}

/// What a model has to know of the rows it was fitted to.
pub(super) struct About<'a> {
    pub(super) columns: &'a [String],
    pub(super) classes: &'a [String],
    /// For each class its number among those with rows.
    pub(super) numbers: &'a [Option<usize>],
    pub(super) scales: &'a Scales,
    /// The sum of the row weights.
    pub(super) weight: f64,
}

/// A fitted logistic regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedLogistic {
    #[serde(with = "crate::store::floats")]
    centres: Vec<f64>,
    /// Class after class: one coefficient per column, in the data's units.
    #[serde(with = "crate::store::floats")]
    coefficients: Vec<f64>,
    /// Each class's score at the centres; `-inf` for a class without training rows.
    #[serde(with = "crate::store::floats")]
    at_centres: Vec<f64>,
    /// The probability of each class without training rows: that of the next row by Laplace's rule.
    unseen: f64,
    lambda: f64,
    fit: Fit,
}

/// How the fit went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Fit {
    converged: bool,
    iterations: usize,
    objective: f64,
    notes: Vec<String>,
    series: Vec<Series>,
}

impl FittedLogistic {
    /// From the classes' coefficients on the common scale: one column per class, the intercepts last.
    pub(super) fn new(about: &About<'_>, theta: &Mat<f64>, lambda: f64, minimum: &Minimum) -> Self {
        let (columns, classes) = (about.columns.len(), about.numbers.len());
        let mut coefficients = vec![0.0; classes * columns];
        let mut at_centres = vec![f64::NEG_INFINITY; classes];
        for (class, number) in about.numbers.iter().enumerate() {
            let Some(number) = *number else { continue };
            at_centres[class] = theta[(columns, number)];
            for j in 0..columns {
                coefficients[class * columns + j] = theta[(j, number)] / about.scales.scales()[j];
            }
        }
        let unseen = about.numbers.iter().filter(|number| number.is_none()).count() as f64;
        let mut model = Self {
            centres: about.scales.centres().to_vec(),
            coefficients,
            at_centres,
            unseen: if unseen > 0.0 { 1.0 / (about.weight + unseen) } else { 0.0 },
            lambda,
            fit: Fit {
                converged: minimum.converged,
                iterations: minimum.iterations,
                objective: -minimum.value,
                notes: Vec::new(),
                series: Vec::new(),
            },
        };
        model.fit.series = model.series(about, theta);
        model
    }

    pub(super) fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.fit.notes.extend(notes);
        self
    }

    /// The coefficients of each class that has some: of two classes, those of the second.
    fn series(&self, about: &About<'_>, theta: &Mat<f64>) -> Vec<Series> {
        let classes = about.classes.iter().enumerate();
        let first = usize::from(theta.ncols() == 2);
        classes
            .filter(|(class, _)| about.numbers[*class].is_some_and(|number| number >= first))
            .map(|(class, name)| Series {
                name: format!("coefficients of {name}"),
                labels: std::iter::once("(intercept)".to_string())
                    .chain(about.columns.iter().cloned())
                    .collect(),
                values: std::iter::once(self.intercept(class))
                    .chain(self.coefficients(class).iter().copied())
                    .collect(),
                is_numbered: false,
            })
            .collect()
    }

    /// The coefficients of a class, in the data's units; 0 for the first of two classes.
    pub fn coefficients(&self, class: usize) -> &[f64] {
        let columns = self.centres.len();
        &self.coefficients[class * columns..(class + 1) * columns]
    }

    /// The score of a class where all columns are 0.
    pub fn intercept(&self, class: usize) -> f64 {
        let terms = self.centres.iter().zip(self.coefficients(class));
        self.at_centres[class] - terms.map(|(centre, b)| centre * b).sum::<f64>()
    }

    /// The penalty, as given or as chosen.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }
}

impl SimpleModel<Classification> for FittedLogistic {
    const KIND: &'static str = "logistic";

    fn width(&self) -> usize {
        self.at_centres.len()
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        check_use(Self::KIND, (self.centres.len(), self.at_centres.len()), inputs, width)?;
        match inputs.len() * width {
            expected if expected == self.coefficients.len() => Ok(()),
            expected => Err(Error::shape("stored coefficients", expected, self.coefficients.len())),
        }
    }

    fn predict_row(&self, row: &[f64], out: &mut [f64]) {
        for (class, score) in out.iter_mut().enumerate() {
            let terms = row.iter().zip(&self.centres).zip(self.coefficients(class));
            *score = self.at_centres[class] + terms.map(|((x, c), b)| (x - c) * b).sum::<f64>();
        }
        let largest = out.iter().fold(f64::NEG_INFINITY, |a, b| a.max(*b));
        out.iter_mut().for_each(|score| *score = (*score - largest).exp());
        let unseen = self.at_centres.iter().filter(|score| **score == f64::NEG_INFINITY).count();
        let share = (1.0 - self.unseen * unseen as f64) / out.iter().sum::<f64>();
        for (probability, score) in out.iter_mut().zip(&self.at_centres) {
            let seen = *score > f64::NEG_INFINITY;
            *probability = if seen { *probability * share } else { self.unseen };
        }
    }

    /// A class without training rows has the intercept `-inf` and the probability `unseen`.
    fn parameters(&self) -> Parameters {
        let (classes, columns) = (self.at_centres.len(), self.centres.len());
        let intercepts: Vec<f64> = (0..classes).map(|class| self.intercept(class)).collect();
        Parameters::new(Self::KIND)
            .with_array("coefficients", &[classes, columns], self.coefficients.as_slice())
            .with("intercepts", intercepts)
            .with("unseen", self.unseen)
            .with("lambda", self.lambda)
    }

    fn free_parameters(&self) -> Option<usize> {
        Some((self.centres.len() + 1) * (self.at_centres.len() - 1))
    }

    fn diagnostics(&self) -> Diagnostics {
        let Fit { converged, iterations, objective, notes, series } = self.fit.clone();
        Diagnostics {
            converged: Some(converged),
            iterations: Some(iterations),
            objective: Some(objective),
            notes,
            series,
        }
    }
}
