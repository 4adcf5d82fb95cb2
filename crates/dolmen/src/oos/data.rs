//! The fingerprint of the rows that a matrix is about.

use crate::learner::Sample;
use crate::plan::Digest;
use crate::table::{Kind, Rows, Schema};
use crate::target::Target;
use crate::task::Task;

/// 16 hexadecimal digits that identify the rows of a sample: the names and kinds of the inputs with their levels, the bits
/// of every input, the target with the names of its classes, weights, groups and times, in that order. The same on every
/// platform and in every version. All missing values are alike; everything else that differs in one bit gives other digits,
/// but for accidents.
pub fn data_fingerprint<T: Task>(sample: &Sample<'_, T>) -> String {
    let mut digest = Digest::new();
    digest.text(T::NAME);
    schema(&mut digest, sample.x().schema());
    inputs(&mut digest, sample.x());
    match (sample.target().labels(), sample.target().numbers()) {
        (Some(labels), _) => {
            digest.word(labels.classes().len() as u64);
            labels.classes().iter().for_each(|class| digest.text(class));
            codes(&mut digest, Some(labels.codes()));
        }
        (None, target) => numbers(&mut digest, target),
    }
    numbers(&mut digest, sample.weights());
    codes(&mut digest, sample.groups());
    numbers(&mut digest, sample.times());
    digest.finish()
}

fn schema(digest: &mut Digest, schema: &Schema) {
    digest.word(schema.len() as u64);
    for field in schema.fields() {
        digest.text(&field.name);
        match &field.kind {
            Kind::Numeric => digest.word(ABSENT),
            Kind::Categorical { levels } => {
                digest.word(levels.len() as u64);
                levels.iter().for_each(|level| digest.text(level));
            }
        }
    }
}

/// Stands where a length would stand; no list is that long.
const ABSENT: u64 = u64::MAX;

fn inputs(digest: &mut Digest, x: Rows<'_>) {
    digest.word((x.rows() * x.width()) as u64);
    x.iter().flatten().for_each(|value| number(digest, *value));
}

fn numbers(digest: &mut Digest, values: Option<&[f64]>) {
    digest.word(values.map_or(ABSENT, |values| values.len() as u64));
    values.unwrap_or_default().iter().for_each(|value| number(digest, *value));
}

fn number(digest: &mut Digest, value: f64) {
    digest.word(if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() });
}

fn codes(digest: &mut Digest, values: Option<&[u32]>) {
    digest.word(values.map_or(ABSENT, |values| values.len() as u64));
    values.unwrap_or_default().iter().for_each(|&code| digest.word(u64::from(code)));
}
