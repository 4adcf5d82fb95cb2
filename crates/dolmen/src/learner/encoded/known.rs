//! The target of a sample as numbers that an encoder can average.

use crate::error::Result;
use crate::learner::Sample;
use crate::plan::moments;
use crate::run::Run;
use crate::table::Features;
use crate::table::encode::{Encoder, EncoderSpec, Known};
use crate::target::{Labels, Target};
use crate::task::Task;

/// Classes at most that have a share of their own: of more, those with the most rows.
const MOST_CLASSES: usize = 10;

/// Learns an encoding that asks for the target, and encodes the sample.
pub(super) fn fit<T: Task>(
    spec: &EncoderSpec,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Result<(Encoder, Features)> {
    let target = sample.target();
    let (names, values) = match (target.labels(), target.numbers()) {
        (Some(labels), _) => shares(labels),
        (None, numbers) => (vec!["mean".to_string()], numbers.unwrap_or_default().to_vec()),
    };
    let moments = sample.times().map(moments).transpose()?.map(|(moments, _)| moments);
    let known = Known {
        names: &names,
        values: &values,
        weights: sample.weights(),
        groups: sample.groups(),
        moments: moments.as_deref(),
        gap: sample.keys().gap,
    };
    spec.fit_known(sample.x(), &known, &run.stream("order of statistics"))
}

/// Whether each row is of the second of two classes, or of each of more.
fn shares(labels: &Labels) -> (Vec<String>, Vec<f64>) {
    let classes = match labels.classes().len() {
        2 => vec![1],
        _ => labels.frequent(MOST_CLASSES),
    };
    let names = classes.iter().map(|&class| format!("p({})", labels.classes()[class])).collect();
    let is_of = |code: &u32| {
        classes.iter().map(|&class| f64::from(class == *code as usize)).collect::<Vec<f64>>()
    };
    (names, labels.codes().iter().flat_map(is_of).collect())
}
