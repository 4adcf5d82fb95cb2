//! How far a stack follows its inputs beyond those it has learned from.
//!
//! One cell far from all others (a typing error, another unit) is followed by linear members without end, and by Gaussian ones to certainty.
//! Columns of numbers are held within some widths of the range learned from, for all members alike, so that what they say there is
//! what they say at the end of what they can be asked about. Rows learned from are inside and see nothing of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::learner::density::DensityModel;
use crate::learner::{Diagnostics, Fitted, Routes, Sample};
use crate::store::{Parameters, Record};
use crate::table::{Field, Kind, Rows, Schema};
use crate::task::Task;

/// The least and the greatest value of each column that members are asked about; without ends where it has no numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reach {
    ends: Vec<[f64; 2]>,
}

impl Reach {
    /// The ranges of the columns among the rows that count, and so many widths of them on both sides.
    pub(super) fn of<T: Task>(sample: &Sample<'_, T>, widths: f64) -> Self {
        let x = sample.x();
        let end = |(j, field): (usize, &Field)| {
            let none = (f64::INFINITY, f64::NEG_INFINITY);
            let numbers =
                x.column(j).enumerate().filter(|(i, v)| !v.is_nan() && sample.weight(*i) > 0.0);
            let (low, high) = numbers.fold(none, |(low, high), (_, v)| (low.min(v), high.max(v)));
            let room = widths * (high - low);
            match field.kind {
                Kind::Numeric if room.is_finite() => [low - room, high + room],
                _ => [f64::NEG_INFINITY, f64::INFINITY],
            }
        };
        Self { ends: x.schema().fields().iter().enumerate().map(end).collect() }
    }

    /// The values of rows, row after row, with all that lies beyond moved to the nearest end; `None` where nothing does.
    fn hold(&self, x: Rows<'_>) -> Option<Vec<f64>> {
        let is_beyond = |(value, [low, high]): (&f64, &[f64; 2])| value < low || value > high;
        if !x.iter().any(|row| row.iter().zip(&self.ends).any(is_beyond)) {
            return None;
        }
        let mut values = x.values().into_owned();
        for row in values.chunks_exact_mut(self.ends.len()) {
            for (value, [low, high]) in row.iter_mut().zip(&self.ends) {
                // What is missing stays so.
                *value = value.clamp(*low, *high);
            }
        }
        Some(values)
    }

    /// Refuses ends of other columns, or none at all between them; read from a file, they might be so.
    pub(super) fn validate(&self, inputs: &Schema) -> Result<()> {
        if self.ends.len() == inputs.len() && self.ends.iter().all(|[low, high]| low <= high) {
            return Ok(());
        }
        Err(Error::param("model file", "of sound ends of its columns", "damaged"))
    }
}

/// A model that is asked about rows within reach only. It is stored as the model it holds: the reach belongs to the stack.
#[derive(Debug)]
pub(super) struct Held<T: Task> {
    pub(super) model: Arc<dyn Fitted<T>>,
    pub(super) reach: Arc<Reach>,
}

impl<T: Task> Fitted<T> for Held<T> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn block(&self) -> usize {
        self.model.block()
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        match self.reach.hold(x) {
            None => self.model.predict_into(x, out),
            Some(values) => self.model.predict_into(Rows::new(&values, x.schema())?, out),
        }
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        self.reach.validate(inputs)?;
        self.model.validate(inputs, width)
    }

    fn record(&self) -> Result<Record> {
        self.model.record()
    }

    fn parameters(&self) -> Parameters {
        self.model.parameters()
    }

    fn diagnostics(&self) -> Diagnostics {
        self.model.diagnostics()
    }

    fn free_parameters(&self) -> Option<usize> {
        self.model.free_parameters()
    }

    fn fold_fits(&self) -> Option<&[Box<dyn Fitted<T>>]> {
        self.model.fold_fits()
    }

    fn routes(&self, x: Rows<'_>) -> Result<Option<Routes>> {
        self.model.routes(x)
    }

    fn density(&self) -> Option<&dyn DensityModel> {
        self.model.density()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Features;
    use crate::task::Regression;

    #[test]
    fn numbers_are_held_and_categories_are_not() {
        let levels: Arc<[String]> = vec!["a".to_string(), "b".to_string()].into();
        let schema = Arc::new(Schema::new(vec![
            Field { name: "x".into(), kind: Kind::Numeric },
            Field { name: "c".into(), kind: Kind::Categorical { levels } },
        ]));
        let rows = |values: Vec<f64>| Features::new(values, Arc::clone(&schema)).unwrap();
        let learned = rows(vec![1.0, 0.0, 3.0, 0.0, f64::NAN, 0.0]);
        let target = vec![0.0; 3];
        let sample = Sample::<Regression>::new(learned.rows(), &target).unwrap();
        let reach = Reach::of(&sample, 1.0);
        assert_eq!(reach.hold(learned.rows()), None);
        let far = rows(vec![40.0, 2.0, -1e300, 1.0, f64::NAN, 0.0, 4.5, 0.0]);
        let held = reach.hold(far.rows()).unwrap();
        assert_eq!(held[..4], [5.0, 2.0, -1.0, 1.0]);
        assert!(held[4].is_nan());
        assert_eq!(held[5..], [0.0, 4.5, 0.0]);
        reach.validate(&schema).unwrap();
        assert!(reach.validate(&Schema::numeric(3)).is_err());
    }
}
