//! The lane of nearest neighbours: numbers of fresh rows from those of the rows around them.

use std::error::Error;

use dolmen::learner::neighbours::Neighbours;
use dolmen::learner::{Learner, Sample, predict};
use dolmen::run::Run;
use dolmen::task::Regression;
use serde_json::{Value, json};

use crate::outcome::timed;
use crate::rows::Rows;

/// Fresh rows whose predictions are given to the referee.
const JUDGED: usize = 200;

/// The mean of the first column over the k nearest rows, measured in all columns as they are.
pub(crate) fn race(rows: &Rows, k: usize, run: &Run) -> Result<Value, Box<dyn Error>> {
    let target: Vec<f64> = rows.known.rows().iter().map(|row| row[0]).collect();
    let learner = Neighbours { k: k.into(), standardise: false, ..Neighbours::default() };
    let (answer, cost) = timed(|| {
        let sample = Sample::<Regression>::new(rows.known.rows(), &target)?;
        let model = learner.fit(&sample, run)?.remove(0);
        predict(model.as_ref(), rows.fresh.rows(), run)
    })?;
    let answer = answer?;
    Ok(cost.outcome(&json!({}), &answer[..JUDGED.min(answer.len())]))
}
