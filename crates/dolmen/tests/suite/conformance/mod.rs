//! Every learner that can be named passes the conformance suite, and the suite notices learners that are wrong.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod learners;
mod limits;
mod units;
mod weights;
mod wrong;

use dolmen::Result;
use dolmen::catalogue::Catalogued;
use dolmen::learner::{Learner, Sample};
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Features, Rows};
use dolmen::target::Labels;

const ROWS: usize = 45;

/// Three overlapping groups of rows in the plane.
fn rows() -> Features {
    let value = |at: usize| {
        let (i, j) = (at / 2, at % 2);
        (at as f64 * 2.399).sin() + 1.5 * ((i + j) % 3) as f64
    };
    Features::numeric((0..2 * ROWS).map(value).collect(), 2).unwrap()
}

/// What a stricter check says of each spec.
fn complaints_of<T: Catalogued>(
    specs: &[&str],
    target: &T::Target,
    check: fn(&dyn Learner<T>, &Sample<'_, T>) -> Option<String>,
) -> Vec<String> {
    let x = rows();
    let sample = Sample::<T>::new(x.rows(), target).unwrap();
    let complaint = |text: &&str| {
        let learner = T::learner(&Spec::parse(text).unwrap()).unwrap();
        check(learner.as_ref(), &sample).map(|complaint| format!("{text}: {complaint}"))
    };
    specs.iter().filter_map(complaint).collect()
}

fn three_classes() -> Labels {
    let classes = ["a", "b", "c"].map(String::from);
    Labels::new(classes, (0..ROWS as u32).map(|i| i % 3).collect()).unwrap()
}

/// What the members of a spec say of the rows they learned from.
fn said<T: Catalogued>(text: &str, x: Rows<'_>, target: &T::Target) -> Result<Vec<f64>> {
    let learner = T::learner(&Spec::parse(text).unwrap()).unwrap();
    let run = Run::with_threads(1, 1).unwrap();
    let models = learner.fit(&Sample::<T>::new(x, target)?, &run)?;
    let said = models.iter().map(|model| dolmen::learner::predict(model.as_ref(), x, &run));
    Ok(said.collect::<Result<Vec<_>>>()?.concat())
}

/// Whether two predictions differ, or one of them is no number.
fn far_apart(a: f64, b: f64) -> bool {
    let apart = (a - b).abs();
    apart.is_nan() || apart >= 1e-4
}
