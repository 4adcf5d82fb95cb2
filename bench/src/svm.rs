//! The lane of support vector machines: classes with probabilities, and numbers.

use std::error::Error;

use dolmen::learner::svm::Svm;
use dolmen::learner::{Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::table::Features;
use dolmen::target::Labels;
use dolmen::task::{Classification, Regression};
use serde_json::{Value, json};

use crate::outcome::timed;
use crate::rows::Rows;

/// Fits to the known rows and predicts the fresh ones. The last column is the target: a number, or a class by its sign.
pub(crate) fn race(rows: &Rows, task: &str, run: &Run) -> Result<Value, Box<dyn Error>> {
    let (known, target) = split(&rows.known)?;
    let (fresh, _) = split(&rows.fresh)?;
    let learner = Svm { standardise: false, ..Svm::default() };
    let (answer, cost) = if task == "classes" {
        let codes = target.iter().map(|y| u32::from(*y > 0.0)).collect();
        let labels = Labels::new(["below", "above"].map(String::from), codes)?;
        let (rows, cost) = timed(|| {
            let sample = Sample::<Classification>::new(known.rows(), &labels)?;
            let model = learner.fit(&sample, run)?.remove(0);
            predict(model.as_ref(), fresh.rows(), run)
        })?;
        (rows?.into_iter().skip(1).step_by(2).collect(), cost)
    } else {
        let (numbers, cost) = timed(|| {
            let sample = Sample::<Regression>::new(known.rows(), &target)?;
            let model = learner.fit(&sample, run)?.remove(0);
            predict(model.as_ref(), fresh.rows(), run)
        })?;
        (numbers?, cost)
    };
    Ok(cost.outcome(&json!({}), &answer))
}

/// The inputs, and the last column.
fn split(features: &Features) -> dolmen::Result<(Features, Vec<f64>)> {
    let inputs = features.rows().width() - 1;
    let values = features.rows().iter().flat_map(|row| &row[..inputs]).copied().collect();
    let target = features.rows().iter().map(|row| row[inputs]).collect();
    Ok((Features::numeric(values, inputs)?, target))
}
