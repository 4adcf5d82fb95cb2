//! The lanes of linear models: the last column of the rows is the response.

use std::error::Error;

use dolmen::learner::linear::{Lambda, Logistic, Ridge};
use dolmen::learner::{Sample, Simple, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression, Task};
use serde_json::{Value, json};

use crate::outcome::timed;
use crate::rows::Rows;

/// Inputs and response.
fn split(rows: &Features) -> dolmen::Result<(Features, Vec<f64>)> {
    let rows = rows.rows();
    let inputs = rows.width() - 1;
    let response = rows.iter().map(|row| row[inputs]).collect();
    let values = rows.iter().flat_map(|row| &row[..inputs]).copied().collect();
    Ok((Features::numeric(values, inputs)?, response))
}

/// Fits a ridge regression at a penalty or `auto`; the answer is the squared error of each fresh row.
pub(crate) fn race_ridge(rows: &Rows, lambda: &str, run: &Run) -> Result<Value, Box<dyn Error>> {
    let lambda = match lambda {
        "auto" => Lambda::default(),
        number => number.parse::<f64>()?.into(),
    };
    let ridge = Ridge { lambda, standardise: false };
    let (x, y) = split(&rows.known)?;
    let sample = Sample::<Regression>::new(x.rows(), &y)?;
    let (models, cost) = timed(|| ridge.fit_ridges(&sample, run))?;
    let (x, y) = split(&rows.fresh)?;
    let predictions = predict(&Simple(models?.remove(0)), x.rows(), run)?;
    let answer: Vec<f64> = predictions.iter().zip(&y).map(|(f, y)| (y - f) * (y - f)).collect();
    Ok(cost.outcome(&json!({}), &answer))
}

/// Fits a logistic regression with lambda 1; the answer is minus the log probability of each fresh row's class.
pub(crate) fn race_logistic(
    rows: &Rows,
    classes: usize,
    tolerance: f64,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let logistic =
        Logistic { lambda: 1.0.into(), standardise: false, tolerance, ..Logistic::default() };
    let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
    let labels =
        |codes: &[f64]| Labels::new(names.clone(), codes.iter().map(|c| *c as u32).collect());
    let (x, codes) = split(&rows.known)?;
    let target = labels(&codes)?;
    let sample = Sample::<Classification>::new(x.rows(), &target)?;
    let (models, cost) = timed(|| logistic.fit_logistics(&sample, run))?;
    let (x, codes) = split(&rows.fresh)?;
    let target = labels(&codes)?;
    let predictions = predict(&Simple(models?.remove(0)), x.rows(), run)?;
    let scored = predictions.chunks_exact(classes).enumerate();
    let answer: Vec<f64> = scored.map(|(i, row)| -Classification::score(row, &target, i)).collect();
    Ok(cost.outcome(&json!({}), &answer))
}
