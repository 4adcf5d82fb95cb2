//! The lanes of two classes: any learner of classes, named by its spec, on rows whose last column is the label 0 or 1.

use std::error::Error;

use dolmen::catalogue::Catalogued;
use dolmen::learner::{Sample, predict};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Features, Rows};
use dolmen::target::Labels;
use dolmen::task::Classification;
use serde_json::{Value, json};

use crate::outcome::timed;
use crate::rows;

/// Times the fit and the prediction of the fresh rows; the answer is the chance of label 1 in the first `shown` of these.
pub(crate) fn race(
    spec: &str,
    rows: &rows::Rows,
    shown: usize,
    run: &Run,
) -> Result<Value, Box<dyn Error>> {
    let learner = Classification::learner(&Spec::parse(spec)?)?;
    let (known, labels) = split(rows.known.rows())?;
    let (fresh, _) = split(rows.fresh.rows())?;
    let sample = Sample::new(known.rows(), &labels)?;
    let (models, cost) = timed(|| learner.fit(&sample, run))?;
    let (chances, prediction) = timed(|| predict(models?[0].as_ref(), fresh.rows(), run))?;
    let answer: Vec<f64> = chances?.chunks(2).map(|row| row[1]).take(shown).collect();
    let (seconds, processor_seconds) = prediction.seconds();
    let quality = json!({ "predict s": seconds, "predict CPU s": processor_seconds });
    Ok(cost.outcome(&quality, &answer))
}

/// The inputs, and the labels of the last column.
fn split(rows: Rows<'_>) -> dolmen::Result<(Features, Labels)> {
    let inputs = rows.width() - 1;
    let values = rows.iter().flat_map(|row| &row[..inputs]).copied().collect();
    let codes = rows.iter().map(|row| u32::from(row[inputs] != 0.0)).collect();
    let labels = Labels::new(["0", "1"].map(String::from), codes)?;
    Ok((Features::numeric(values, inputs)?, labels))
}
