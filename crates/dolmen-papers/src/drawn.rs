//! Data sets of known origin, drawn by formula, and what experiments do with them again and again.

use std::f64::consts::PI;

use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::error::{Error, Result};
use dolmen::learner::{Fitted, Learner, OwnedSample, Sample, predict};
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::spec::Spec;
use dolmen::table::{Features, Schema};
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression, Task};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::page::{estimate, in_digits};

/// Rows of inputs with what is to be predicted.
pub(crate) type Numbers = OwnedSample<Regression>;
/// The same with classes.
pub(crate) type Classes = OwnedSample<Classification>;

/// Friedman's first function (Annals of Statistics 19, 1991, section 4.3): ten uniform columns of which five matter,
///
/// > y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise of deviation 1.
///
/// With `squares` the columns' squares stand beside them, so that linear models can bend.
pub(crate) fn friedman(rows: usize, squares: bool, run: &Run) -> Result<Numbers> {
    let mut rng = run.rng();
    let (mut values, mut target) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let x: [f64; 10] = std::array::from_fn(|_| rng.random());
        let noise: f64 = StandardNormal.sample(&mut rng);
        let bend = 20.0 * (x[2] - 0.5).powi(2);
        target.push(10.0 * (PI * x[0] * x[1]).sin() + bend + 10.0 * x[3] + 5.0 * x[4] + noise);
        values.extend(x);
        if squares {
            values.extend(x.map(|x| x * x));
        }
    }
    Numbers::new(Features::numeric(values, if squares { 20 } else { 10 })?, target)
}

/// The sine that bagging is shown on, without noise.
pub(crate) fn sine(x: f64) -> f64 {
    (4.0 * PI * x).sin()
}

/// Rows about [`sine`] between 0 and 1, with noise of this deviation.
pub(crate) fn noisy_sine(rows: usize, noise: f64, run: &Run) -> Result<Numbers> {
    let mut rng = run.rng();
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let at: f64 = rng.random();
        let error: f64 = StandardNormal.sample(&mut rng);
        x.push(at);
        y.push(sine(at) + noise * error);
    }
    Numbers::new(Features::numeric(x, 1)?, y)
}

/// Two classes in ten normal columns, told apart by the length of the row: the set of
/// [HastieTibshiraniFriedman2009, eq. 10.2], on which stumps are weak and boosting is not. A share of the labels is turned over.
pub(crate) fn rings(rows: usize, turned: f64, run: &Run) -> Result<Classes> {
    // The median of chi-squared with ten degrees of freedom.
    const MEDIAN: f64 = 9.341_818;
    let mut rng = run.rng();
    let (mut values, mut codes) = (Vec::new(), Vec::new());
    for _ in 0..rows {
        let x: [f64; 10] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
        let outside = x.iter().map(|x| x * x).sum::<f64>() > MEDIAN;
        let is_turned = rng.random::<f64>() < turned;
        codes.push(u32::from(outside != is_turned));
        values.extend(x);
    }
    Classes::new(Features::numeric(values, 10)?, two_classes(codes)?)
}

/// Labels of two classes, `inside` and `outside`.
pub(crate) fn two_classes(codes: Vec<u32>) -> Result<Labels> {
    Labels::new(["inside".to_string(), "outside".to_string()], codes)
}

/// The learner of a spec for rows of these columns.
pub(crate) fn learner<T: Catalogued>(spec: &str, columns: &Schema) -> Result<Box<dyn Learner<T>>> {
    Catalogue::standard().learner_for(&Spec::parse(spec)?, columns)
}

/// The first member of a spec, fitted.
pub(crate) fn fit<T: Catalogued>(
    spec: &str,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Result<Box<dyn Fitted<T>>> {
    let models = learner::<T>(spec, sample.x().schema())?.fit(sample, run)?;
    models.into_iter().next().ok_or_else(|| Error::shape("members", 1, 0))
}

/// What the first member of a spec, fitted to some rows, says about others.
pub(crate) fn fit_predict<T: Catalogued>(
    spec: &str,
    train: &Sample<'_, T>,
    test: &Sample<'_, T>,
    run: &Run,
) -> Result<Vec<f64>> {
    predict(fit(spec, train, run)?.as_ref(), test.x(), run)
}

/// The mean of squared differences.
pub(crate) fn mean_square(predicted: &[f64], truth: &[f64]) -> f64 {
    let squares = predicted.iter().zip(truth).map(|(p, y)| (p - y) * (p - y));
    squares.sum::<f64>() / truth.len() as f64
}

/// The mean score of predictions: of classes the log probability of the true one, of numbers minus the squared error.
pub(crate) fn mean_score<T: Task>(predicted: &[f64], truth: &T::Target) -> f64 {
    let width = T::width(truth);
    let rows = predicted.chunks_exact(width).enumerate();
    let total: f64 = rows.map(|(i, row)| T::score(row, truth, i)).sum();
    total * width as f64 / predicted.len() as f64
}

/// The mean of the differences between pairs, with its standard error.
pub(crate) fn difference(first: &[f64], second: &[f64]) -> Estimate {
    estimate(&first.iter().zip(second).map(|(a, b)| a - b).collect::<Vec<f64>>())
}

/// The mean of outcomes that are counted. All outcomes alike show no spread, but one of the other kind is never ruled out: the
/// error is that of one among them at least.
pub(crate) fn counted(outcomes: &[f64]) -> Estimate {
    let own = estimate(outcomes);
    let least = 1.0 / outcomes.len().max(1) as f64;
    Estimate { se: own.se.map(|se| se.max(least)), ..own }
}

/// By how much the first of two means that have nothing to do with each other is larger.
pub(crate) fn apart(first: &Estimate, second: &Estimate) -> Estimate {
    let se = first.se.zip(second.se).map(|(a, b)| a.hypot(b));
    Estimate { mean: first.mean - second.mean, se }
}

/// A mean and its standard error, as words.
pub(crate) fn with_error(estimate: &Estimate, digits: usize) -> String {
    let Estimate { mean, se } = *estimate;
    let mean = in_digits(mean, digits);
    match se {
        Some(se) => format!("{mean} (se {se:.digits$})"),
        None => mean,
    }
}

/// Twice the standard error, which is how long whiskers and bands are.
pub(crate) fn reach(estimate: &Estimate) -> f64 {
    2.0 * estimate.se.unwrap_or(0.0)
}
