//! Small tables and fits.

use std::sync::Arc;

use dolmen::catalogue::Catalogued;
use dolmen::learner::{Fitted, Learner, Parameters, Sample, predict};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Features, Field, Kind, Rows, Schema};
use dolmen::target::Labels;

pub(crate) const ROWS: usize = 60;

/// Three overlapping groups of rows in the plane.
pub(crate) fn plane() -> Features {
    let value = |at: usize| (at as f64 * 2.399).sin() + 1.5 * ((at / 2 + at % 2) % 3) as f64;
    Features::numeric((0..2 * ROWS).map(value).collect(), 2).unwrap()
}

/// Two numbers and a category of five levels, with holes in the first and the last column.
pub(crate) fn mixed() -> Features {
    let levels: Arc<[String]> = ["a", "b", "c", "d", "e"].map(String::from).into();
    let field = |name: &str, kind| Field { name: name.into(), kind };
    let schema = Schema::new(vec![
        field("x", Kind::Numeric),
        field("y", Kind::Numeric),
        field("colour", Kind::Categorical { levels }),
    ]);
    let row = |i: usize| {
        let x = if i % 11 == 3 { f64::NAN } else { (i as f64 * 2.399).sin() };
        let colour = if i % 13 == 5 { f64::NAN } else { (i * 7 % 5) as f64 };
        [x, (i as f64 * 1.7).cos() * 3.0, colour]
    };
    Features::new((0..ROWS).flat_map(row).collect::<Vec<f64>>(), Arc::new(schema)).unwrap()
}

/// Three classes that the rows of the plane tell apart with some mistakes.
pub(crate) fn classes() -> Labels {
    let codes = (0..ROWS as u32).map(|i| if i % 7 == 0 { (i + 1) % 3 } else { i % 3 });
    Labels::new(["a", "b", "c"].map(String::from), codes.collect()).unwrap()
}

/// Two classes.
pub(crate) fn two_classes() -> Labels {
    let codes = (0..ROWS as u32).map(|i| u32::from(i * 7 % 5 < 2) ^ u32::from(i % 9 == 0));
    Labels::new(["no", "yes"].map(String::from), codes.collect()).unwrap()
}

/// Numbers that depend on all columns of rows.
pub(crate) fn numbers(x: Rows<'_>) -> Vec<f64> {
    let known = |value: &f64| if value.is_nan() { 1.0 } else { *value };
    let sum = |row: &[f64]| row.iter().map(known).fold(0.0, |sum, v| 1.5 * sum + (v + sum).sin());
    x.iter().enumerate().map(|(i, row)| 5.0 + sum(row) + 0.1 * (i as f64).cos()).collect()
}

/// The models of a learner.
pub(crate) fn fit<T: Catalogued>(
    learner: &dyn Learner<T>,
    x: Rows<'_>,
    target: &T::Target,
) -> Vec<Box<dyn Fitted<T>>> {
    let run = Run::with_threads(3, 1).unwrap();
    learner.fit(&Sample::<T>::new(x, target).unwrap(), &run).unwrap()
}

/// The parameters of the first model of a spec, and what it predicts for the rows it learned from.
pub(crate) fn named<T: Catalogued>(
    spec: &str,
    x: Rows<'_>,
    target: &T::Target,
) -> (Parameters, Vec<f64>) {
    let learner = T::learner(&Spec::parse(spec).unwrap()).unwrap();
    let model = fit(learner.as_ref(), x, target).remove(0);
    let said = predict(model.as_ref(), x, &Run::with_threads(3, 1).unwrap()).unwrap();
    (model.parameters(), said)
}

/// The same of a model that stands behind an encoder which leaves complete numbers as they are.
pub(crate) fn bare<T: Catalogued>(
    spec: &str,
    x: Rows<'_>,
    target: &T::Target,
) -> (Parameters, Vec<f64>) {
    let (found, said) = named::<T>(spec, x, target);
    assert_eq!(found.kind(), "encoded");
    (found.part("model").unwrap().clone(), said)
}

/// The numbers of an array.
pub(crate) fn array<'a>(parameters: &'a Parameters, name: &str) -> &'a [f64] {
    parameters.array(name).unwrap_or_else(|| panic!("no array '{name}'")).1
}

pub(crate) fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "{i}: {a} is not {b}");
    }
}

/// Shares that sum to 1 from scores.
pub(crate) fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let raised: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let total: f64 = raised.iter().sum();
    raised.iter().map(|share| share / total).collect()
}
