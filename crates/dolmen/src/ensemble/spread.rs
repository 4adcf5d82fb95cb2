//! How far off the stack is to be expected at a row: what makes prediction intervals wide where the errors are large and
//! narrow where they are small.
//!
//! A small forest learns the absolute errors on rows the stack had not seen from their inputs and from what was predicted
//! [Lei2018, section 5.2; Papadopoulos2008]. There is one for each fold, learned from the other folds, so
//! that the errors that are divided by it took no part in it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::intervals::Errors;
use crate::error::{Error, Result};
use crate::learner::tree::Forest;
use crate::learner::{Fitted, Learner, Sample, predict};
use crate::run::Run;
use crate::store::{Record, Registry};
use crate::table::{Features, Field, Kind, Rows, Schema};
use crate::task::Regression;

/// Fewer rows than this say too little of where errors are large.
const LEAST_ROWS: usize = 40;

/// Trees of a forest: an average of absolute errors need not be exact.
const TREES: usize = 60;

/// The least spread, as a share of the mean absolute error: no row is certain.
const FLOOR: f64 = 0.1;

/// The expected absolute errors, by the forests of the folds.
#[derive(Debug)]
pub(super) struct Spread {
    forests: Vec<Box<dyn Fitted<Regression>>>,
    floor: f64,
}

/// The stored form.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredSpread {
    forests: Vec<Record>,
    floor: f64,
}

/// Whether there are rows enough, and every fold has some to learn from; in order of time the first fold needs none.
pub(super) fn can_learn(errors: &Errors) -> bool {
    let folds = usize::from(errors.rows.is_forward)..errors.rows.folds();
    let learned: usize = folds.clone().map(|fold| errors.rows.of_fold(fold).len()).sum();
    learned >= LEAST_ROWS && folds.into_iter().all(|fold| !errors.rows.judging(fold).is_empty())
}

impl Spread {
    /// Learns from absolute errors on unseen rows; also the expected ones of these rows, each by its own fold's forest. In
    /// order of time a fold's forest is learned from the earlier folds, so that the first has none.
    pub(super) fn fit(x: Rows<'_>, errors: &Errors, run: &Run) -> Result<(Self, Vec<f64>)> {
        let absolute = errors.absolute();
        let mean = absolute.iter().sum::<f64>() / absolute.len() as f64;
        let floor = (FLOOR * mean).max(f64::MIN_POSITIVE);
        let inputs = inputs(x, &errors.predicted)?;
        let forest = |fold: usize| {
            let rows = errors.rows.judging(fold);
            let min_leaf = Some((rows.len() as f64).sqrt().floor().max(1.0));
            let forest = Forest { trees: TREES, min_leaf, ..Forest::default() };
            let target: Vec<f64> = rows.iter().map(|&i| absolute[i]).collect();
            let features = inputs.rows().view(&rows);
            let groups: Option<Vec<u32>> =
                errors.rows.groups.as_ref().map(|all| rows.iter().map(|&i| all[i]).collect());
            let mut sample = Sample::<Regression>::new(features.rows(), &target)?;
            if let Some(groups) = &groups {
                sample = sample.grouped(groups)?;
            }
            let models = Learner::<Regression>::fit(&forest, &sample, &run.child(fold as u64))?;
            models.into_iter().next().ok_or_else(|| Error::shape("forests of the spread", 1, 0))
        };
        let folds = usize::from(errors.rows.is_forward)..errors.rows.folds();
        let forests = run.try_map(folds.len(), |k| forest(folds.start + k))?;
        let spread = Self { forests, floor };
        let mut expected = vec![floor; absolute.len()];
        for (number, fold) in folds.enumerate() {
            let rows = errors.rows.of_fold(fold);
            let own = inputs.rows().view(&rows);
            let found = spread.of_inputs(number, own.rows(), run)?;
            rows.iter().zip(found).for_each(|(&i, value)| expected[i] = value);
        }
        Ok((spread, expected))
    }

    /// The expected absolute errors of rows about what was predicted for them, by one fold's forest.
    pub(super) fn of(&self, fold: usize, x: Rows<'_>, predicted: &[f64]) -> Result<Vec<f64>> {
        let inputs = inputs(x, predicted)?;
        let mut out = vec![0.0; predicted.len()];
        self.forests[fold].predict_into(inputs.rows(), &mut out)?;
        out.iter_mut().for_each(|value| *value = value.max(self.floor));
        Ok(out)
    }

    /// The same by each fold's forest.
    pub(super) fn of_each_fold(&self, x: Rows<'_>, predicted: &[f64]) -> Result<Vec<Vec<f64>>> {
        (0..self.forests.len()).map(|fold| self.of(fold, x, predicted)).collect()
    }

    fn of_inputs(&self, fold: usize, inputs: Rows<'_>, run: &Run) -> Result<Vec<f64>> {
        let found = predict(self.forests[fold].as_ref(), inputs, run)?;
        Ok(found.into_iter().map(|value| value.max(self.floor)).collect())
    }

    /// Refuses inputs of other columns than those it was learned from.
    pub(super) fn validate(&self, inputs: &Schema) -> Result<()> {
        let schema = with_prediction(inputs);
        self.forests.iter().try_for_each(|forest| forest.validate(&schema, 1))
    }

    pub(super) fn stored(&self) -> Result<StoredSpread> {
        let forests = self.forests.iter().map(|forest| forest.record()).collect::<Result<_>>()?;
        Ok(StoredSpread { forests, floor: self.floor })
    }
}

impl StoredSpread {
    /// Reads it back; there must be a forest for each of so many folds.
    pub(super) fn restore(&self, folds: usize, registry: &Registry) -> Result<Spread> {
        if self.forests.len() != folds {
            return Err(Error::shape("stored forests of the spread", folds, self.forests.len()));
        }
        if !(self.floor.is_finite() && self.floor > 0.0) {
            return Err(Error::param("stored least spread", "above 0", self.floor));
        }
        let forests = self.forests.iter().map(|forest| registry.model(forest));
        let forests: Vec<Box<dyn Fitted<Regression>>> = forests.collect::<Result<_>>()?;
        if let Some(other) = forests.iter().find(|forest| forest.width() != 1) {
            return Err(Error::shape("width of a stored spread", 1, other.width()));
        }
        Ok(Spread { forests, floor: self.floor })
    }
}

/// Inputs with the prediction as one more column.
fn inputs(x: Rows<'_>, predicted: &[f64]) -> Result<Features> {
    let schema = with_prediction(x.schema());
    let mut values = Vec::with_capacity(x.rows() * schema.len());
    for (row, predicted) in x.iter().zip(predicted) {
        values.extend_from_slice(row);
        values.push(*predicted);
    }
    Features::new(values, Arc::new(schema))
}

fn with_prediction(inputs: &Schema) -> Schema {
    let mut fields = inputs.fields().to_vec();
    fields.push(Field { name: "(prediction)".into(), kind: Kind::Numeric });
    Schema::new(fields)
}
