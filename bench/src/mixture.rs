//! The mixture lanes: EM from a given start, and bagged mixtures.

use std::error::Error;
use std::fs;

use dolmen::learner::averaged::{Averaged, Averaging};
use dolmen::learner::density::mixture::{Given, OneOrMany, Start};
use dolmen::learner::density::{FittedMixture, GaussianMixture};
use dolmen::learner::{Fitted, Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::task::Density;
use serde_json::{Value, json};

use crate::outcome::timed;
use crate::rows::Rows;

/// Follows maximum likelihood for so many iterations from the start in a file.
pub(crate) fn race(
    rows: &Rows,
    start: &str,
    iterations: usize,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let given: Given = serde_json::from_str(&fs::read_to_string(start)?)?;
    let dimension = rows.known.rows().width();
    let mixture = GaussianMixture {
        components: OneOrMany::One(given.weights.len()),
        beta: OneOrMany::One(0.0),
        a: Some(dimension as f64 / 2.0),
        standardise: false,
        start: Start::Given(given),
        tolerance: 0.0,
        iterations,
        ..GaussianMixture::default()
    };
    let sample = Sample::<Density>::new(rows.known.rows(), &())?;
    let (models, cost) = timed(|| mixture.fit_mixtures(&sample, run))?;
    let answer: Vec<f64> = models?.iter().flat_map(parameters).collect();
    Ok(cost.outcome(&json!({}), &answer))
}

/// Weights, means and covariances, one after the other.
fn parameters(model: &FittedMixture) -> Vec<f64> {
    let Given { weights, means, covariances } = model.parameters();
    let covariances = covariances.into_iter().flatten().flatten();
    weights.into_iter().chain(means.into_iter().flatten()).chain(covariances).collect()
}

/// Averages mixtures of bootstrap samples.
pub(crate) fn race_bagged(
    rows: &Rows,
    fits: usize,
    components: usize,
    iterations: usize,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let mixture = GaussianMixture {
        components: OneOrMany::One(components),
        restarts: 1,
        tolerance: 0.0,
        iterations,
        ..GaussianMixture::default()
    };
    let bagged = Averaged::new(mixture, Averaging { fits, ..Averaging::default() });
    let sample = Sample::<Density>::new(rows.known.rows(), &())?;
    let (models, cost) = timed(|| bagged.fit(&sample, run))?;
    let models: Vec<Box<dyn Fitted<Density>>> = models?;
    let answer = predict(models[0].as_ref(), rows.fresh.rows(), run)?;
    Ok(cost.outcome(&json!({}), &answer))
}
