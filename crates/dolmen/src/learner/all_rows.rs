//! A learner's members fitted on all rows, each by itself where they fail together.

use super::{Fitted, Learner, Sample, is_unusable, prediction_is};
use crate::error::{Error, Place, Result};
use crate::run::Run;
use crate::task::Task;

/// Rows that a member as it is is asked about, so that none is kept that predicts no numbers: others are found out by the rows
/// that were held out from them.
const ASKED: usize = 256;

/// A member and its model, or why it has none.
pub(crate) type Attempt<T> = (String, Result<Box<dyn Fitted<T>>>);

/// The wanted members of a learner fitted on all rows of a sample. Of a ladder that cannot be fitted as a whole, the wanted
/// rungs one by one.
pub(crate) fn fit_members<T: Task>(
    learner: &dyn Learner<T>,
    wanted: &[String],
    sample: &Sample<'_, T>,
    run: &Run,
) -> Vec<Attempt<T>> {
    let is_wanted = |name: &String| wanted.contains(name);
    let fitted = run.check().and_then(|()| learner.fit(sample, run));
    match fitted {
        Ok(models) => {
            let named = learner.members().into_iter().zip(models.into_iter().map(Ok));
            named.filter(|(name, _)| is_wanted(name)).collect()
        }
        Err(Error::Cancelled) => vec![(String::new(), Err(Error::Cancelled))],
        Err(error) if learner.rungs().is_empty() => {
            // All of them fail alike; an error cannot be copied, but what it says can.
            let message = error.to_string();
            let mut first = Some(error);
            let failed = |name: String| {
                let again = || Error::data(Place::default(), message.clone());
                let error = of_member(&name, first.take().unwrap_or_else(again));
                (name, Err(error))
            };
            learner.members().into_iter().filter(is_wanted).map(failed).collect()
        }
        Err(_) => {
            let rungs = learner.rungs().iter().filter(|rung| rung.members().iter().any(is_wanted));
            rungs.flat_map(|rung| fit_members(rung.as_ref(), wanted, sample, run)).collect()
        }
    }
}

fn of_member(name: &str, source: Error) -> Error {
    match source {
        Error::Cancelled => Error::Cancelled,
        source => Error::Member { member: name.into(), split: None, source: Box::new(source) },
    }
}

/// Refuses a member that predicts no numbers for some of the rows it has learned from.
pub(crate) fn check_numbers<T: Task>(
    name: &str,
    model: &dyn Fitted<T>,
    sample: &Sample<'_, T>,
) -> Result<()> {
    let step = sample.rows().div_ceil(ASKED).max(1);
    let rows: Vec<usize> = (0..sample.rows()).step_by(step).collect();
    let (x, width) = (sample.x().select(&rows), model.width());
    let mut out = vec![0.0; rows.len() * width];
    model.predict_into(x.rows(), &mut out)?;
    match out.iter().position(|value| is_unusable::<T>(*value)) {
        None => Ok(()),
        Some(at) => {
            let problem = prediction_is(out[at], rows[at / width]);
            let hint = "mend the data or the member's parameters";
            Err(of_member(name, Error::data(Place::default(), problem).with_hint(hint)))
        }
    }
}
