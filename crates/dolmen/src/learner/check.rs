//! The conformance suite: what every learner must satisfy, ours and yours.
//!
//! ```
//! use dolmen::learner::{Sample, Simple, baseline::{FittedMean, Mean}, check};
//! use dolmen::{store::Registry, table::Features, task::Regression};
//!
//! let x = Features::numeric(vec![0.0, 1.0, 2.0, 3.0, 5.0, 8.0], 1)?;
//! let y = vec![1.0, 2.0, 2.5, 4.0, 5.5, 9.0];
//! let sample = Sample::<Regression>::new(x.rows(), &y)?;
//! let registry = Registry::default().with_model::<Regression, Simple<FittedMean>>();
//! assert_eq!(check::learner(&Simple(Mean {}), &sample, &registry), Vec::<String>::new());
//! # Ok::<(), dolmen::Error>(())
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Block, Fitted, Learner, Sample, Weights, predict, refit};
use crate::error::{Error, Result};
use crate::plan::{Plan, Split};
use crate::run::Run;
use crate::store::Registry;
use crate::table::Features;
use crate::task::Task;

/// Tries a learner on a sample it should be able to learn from, and returns what it does wrong: nothing, if it conforms.
///
/// Checked: names and number of members; same seed, same bits, on one thread and two; rows predicted one by one or in
/// another order come out the same; a model read back from its record predicts the same bits; densities are not NaN
/// and probabilities sum to 1; the out-of-sample block has its shape and covers the plan's rows; no panic on one
/// row, no rows, equal rows or missing values; all row weights times a constant change nothing; what the learner shares
/// between splits gives what plain refitting gives; a cancelled run says nothing but that it was cancelled.
#[expect(clippy::missing_panics_doc, reason = "one and two threads can always be had")]
pub fn learner<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    registry: &Registry,
) -> Vec<String> {
    let mut complaints = Complaints::default();
    let one = Run::with_threads(1, 1).expect("one thread can be had");
    let two = Run::with_threads(1, 2).expect("two threads can be had");
    match learner.fit(sample, &one) {
        Err(error) => complaints.push(format!("does not fit the sample: {error}")),
        Ok(models) => {
            complaints.names(&learner.members(), models.len());
            complaints.extend(reproducible(learner, &models, sample, &one, &two));
            for (name, model) in learner.members().iter().zip(&models) {
                let found = model_complaints(model.as_ref(), sample, registry, &one);
                complaints.extend(found.into_iter().map(|c| format!("{name}: {c}")));
            }
            complaints.extend(out_of_sample(learner, sample, &two));
            complaints.extend(shortcut(learner, sample, &one));
            complaints.extend(bears_cancelling(learner, sample));
            complaints.extend(scale_of_weights(learner, sample, &one));
        }
    }
    complaints.extend(hard_samples(learner, sample, &one));
    complaints.0
}

#[derive(Default)]
struct Complaints(Vec<String>);

impl Complaints {
    fn push(&mut self, complaint: String) {
        self.0.push(complaint);
    }

    fn extend(&mut self, complaints: impl IntoIterator<Item = String>) {
        self.0.extend(complaints);
    }

    fn names(&mut self, names: &[String], models: usize) {
        if names.len() != models {
            self.push(format!("names {} members but fits {models}", names.len()));
        }
        for (i, name) in names.iter().enumerate() {
            if name.trim().is_empty() || names[..i].contains(name) {
                self.push(format!("member name '{name}' is empty or used twice"));
            }
        }
    }
}

/// The same seed must give the same bits, on any number of threads.
fn reproducible<T: Task>(
    learner: &dyn Learner<T>,
    models: &[Box<dyn Fitted<T>>],
    sample: &Sample<'_, T>,
    one: &Run,
    two: &Run,
) -> Option<String> {
    let again = match learner.fit(sample, two) {
        Ok(again) => again,
        Err(error) => return Some(format!("fits on one thread but not on two: {error}")),
    };
    let bits = |models: &[Box<dyn Fitted<T>>], run: &Run| -> Result<Vec<Vec<u64>>> {
        models.iter().map(|m| Ok(to_bits(&predict(m.as_ref(), sample.x(), run)?))).collect()
    };
    match (bits(models, one), bits(&again, two)) {
        (Ok(a), Ok(b)) if a == b => None,
        (Ok(_), Ok(_)) => Some("the same seed gives other predictions on two threads".into()),
        (Err(error), _) | (_, Err(error)) => Some(format!("cannot predict its own rows: {error}")),
    }
}

fn model_complaints<T: Task>(
    model: &dyn Fitted<T>,
    sample: &Sample<'_, T>,
    registry: &Registry,
    run: &Run,
) -> Vec<String> {
    let mut complaints = Vec::new();
    let width = T::width(sample.target());
    if model.width() != width {
        complaints.push(format!("predicts {} values a row, not {width}", model.width()));
        return complaints;
    }
    let Ok(all) = predict(model, sample.x(), run) else {
        return vec!["cannot predict its own rows".into()];
    };
    if let Some(row) = all.chunks(width).find(|row| !is_sound::<T>(row)) {
        complaints.push(format!("predicts the row {row:?}"));
    }
    let backwards: Vec<usize> = (0..sample.rows()).rev().collect();
    let turned = predict(model, sample.x().view(&backwards).rows(), run).unwrap_or_default();
    let expected: Vec<f64> =
        backwards.iter().flat_map(|&i| &all[i * width..(i + 1) * width]).copied().collect();
    let single = predict(model, sample.x().slice(0..1), run).unwrap_or_default();
    if to_bits(&turned) != to_bits(&expected) || to_bits(&single) != to_bits(&all[..width]) {
        complaints.push("a row's prediction depends on the rows around it".into());
    }
    match model.record().and_then(|record| registry.model::<T>(&record)) {
        Err(error) => complaints.push(format!("cannot be stored and read back: {error}")),
        Ok(restored) => {
            let same = predict(restored.as_ref(), sample.x(), run).unwrap_or_default();
            if to_bits(&same) != to_bits(&all) {
                complaints.push("predicts otherwise after being stored and read back".into());
            }
        }
    }
    complaints
}

/// Whether a prediction row can be what its task says it is.
pub(crate) fn is_sound<T: Task>(row: &[f64]) -> bool {
    let no_nonsense = row.iter().all(|v| !v.is_nan() && *v != f64::INFINITY);
    if T::LOG_SPACE || row.len() == 1 {
        return no_nonsense && (T::LOG_SPACE || row[0].is_finite());
    }
    let total: f64 = row.iter().sum();
    row.iter().all(|p| *p >= 0.0) && (total - 1.0).abs() < 1e-9
}

fn out_of_sample<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Option<String> {
    let plan = Plan::in_turn(sample.rows(), 3.min(sample.rows()));
    let block = match learner.out_of_sample(sample, &plan, run) {
        Ok(block) => block,
        Err(error) => return Some(format!("gives no out-of-sample block: {error}")),
    };
    let width = T::width(sample.target());
    let fits = |(split, columns): (&Split, &Vec<Vec<f64>>)| {
        let cells = split.test().len() * width;
        columns.len() == learner.members().len()
            && columns.iter().all(|c| c.len() == cells || !block.failures.is_empty())
    };
    if block.splits.len() != plan.splits().len()
        || !plan.splits().iter().zip(&block.splits).all(fits)
    {
        return Some("the out-of-sample block has the wrong shape".into());
    }
    let uncovered = block.splits.iter().flatten().any(|c| c.iter().any(|v| v.is_nan()));
    (uncovered && block.failures.is_empty())
        .then(|| "the out-of-sample block misses rows without naming a failure".into())
}

/// What a learner shares between splits must give what refitting split by split gives; rounding apart.
fn shortcut<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Option<String> {
    let plan = Plan::k_fold(sample.rows(), 4.min(sample.rows()), run).ok()?;
    let shared = learner.out_of_sample(sample, &plan, run);
    let refitted = refit(learner, sample, &plan, run);
    let agree = |shared: &Block, refitted: &Block| {
        let (a, b) = (shared.splits.concat().concat(), refitted.splits.concat().concat());
        let failed = |block: &Block| block.failures.iter().map(|f| (f.member, f.split)).collect();
        let (a_failed, b_failed): (Vec<_>, Vec<_>) = (failed(shared), failed(refitted));
        a_failed == b_failed && all_alike(&a, &b)
    };
    match (shared, refitted) {
        (Ok(shared), Ok(refitted)) if agree(&shared, &refitted) => None,
        (Err(_), Err(_)) => None,
        _ => Some("what it shares between splits is not what refitting gives".into()),
    }
}

/// A run that was cancelled may end at once or, where there is little to do, be done; out-of-sample predictions are always
/// work to be stopped.
fn bears_cancelling<T: Task>(learner: &dyn Learner<T>, sample: &Sample<'_, T>) -> Option<String> {
    let run = cancelled_run();
    match learner.fit(sample, &run) {
        Ok(_) | Err(Error::Cancelled) => {}
        Err(other) => return Some(format!("a cancelled run says: {other}")),
    }
    let plan = Plan::in_turn(sample.rows(), 3.min(sample.rows()));
    match learner.out_of_sample(sample, &plan, &run) {
        Err(Error::Cancelled) => None,
        Err(other) => Some(format!("a cancelled run says: {other}")),
        Ok(_) => Some("a cancelled run goes on through all splits".into()),
    }
}

/// The stricter form, for learners whose fits take long: one in a cancelled run must not be made. Says what is wrong.
pub fn stops<T: Task>(learner: &dyn Learner<T>, sample: &Sample<'_, T>) -> Option<String> {
    match learner.fit(sample, &cancelled_run()) {
        Err(Error::Cancelled) => None,
        Err(other) => Some(format!("a cancelled run says: {other}")),
        Ok(_) => Some("a cancelled run fits all the same".into()),
    }
}

fn cancelled_run() -> Run {
    let run = Run::with_threads(1, 1).expect("one thread can be had");
    run.cancel();
    run
}

/// For learners that draw nothing row by row: a row counted twice must be the same as that row twice. Says what is wrong.
#[expect(clippy::missing_panics_doc, reason = "one thread can always be had")]
pub fn counted<T: Task>(learner: &dyn Learner<T>, sample: &Sample<'_, T>) -> Option<String> {
    let run = Run::with_threads(1, 1).expect("one thread can be had");
    let counts: Vec<f64> = (0..sample.rows()).map(|i| (1 + i % 2) as f64).collect();
    let repeated: Vec<usize> =
        (0..sample.rows()).flat_map(|i| std::iter::repeat_n(i, 1 + i % 2)).collect();
    let predictions = |sample_of: &Sample<'_, T>| -> Result<Vec<f64>> {
        let models = learner.fit(sample_of, &run)?;
        let models = models.iter().map(|model| predict(model.as_ref(), sample.x(), &run));
        Ok(models.collect::<Result<Vec<_>>>()?.concat())
    };
    let twice = sample.select(&repeated);
    match (sample.counted(&counts).and_then(|s| predictions(&s)), predictions(&twice.borrow())) {
        (Ok(counted), Ok(twice)) if all_alike(&counted, &twice) => None,
        (Ok(_), Ok(_)) => Some("a row counted twice is not the same as that row twice".into()),
        (Err(error), _) | (_, Err(error)) => Some(format!("does not fit counted rows: {error}")),
    }
}

/// Equal but for rounding, which iterations may carry further.
fn all_alike(a: &[f64], b: &[f64]) -> bool {
    let alike = |(a, b): (&f64, &f64)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-6 * (1.0 + a.abs())
    };
    a.len() == b.len() && a.iter().zip(b).all(alike)
}

/// Only the ratios of row weights may matter; rounding apart, which iterations may carry further.
fn scale_of_weights<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Option<String> {
    let predictions = |scale: f64| -> Result<Vec<f64>> {
        let weights = (0..sample.rows()).map(|i| scale * (1 + i % 3) as f64).collect();
        let weights = Weights::new(weights)?;
        let models = learner.fit(&sample.weighted(&weights)?, run)?;
        let models = models.iter().map(|model| predict(model.as_ref(), sample.x(), run));
        Ok(models.collect::<Result<Vec<_>>>()?.concat())
    };
    let usual = predictions(1.0);
    [1e-6, 1e-3, 1e6].into_iter().find_map(|scale| match (&usual, predictions(scale)) {
        (Ok(usual), Ok(scaled)) if all_alike(usual, &scaled) => None,
        (Err(_), Err(_)) => None,
        _ => Some(format!("row weights times {scale:e} give other predictions")),
    })
}

/// Samples that cannot always be learned from: an error is fine, a panic is not.
fn hard_samples<T: Task>(
    learner: &dyn Learner<T>,
    sample: &Sample<'_, T>,
    run: &Run,
) -> Vec<String> {
    let equal = vec![0; sample.rows()];
    let hard: [(&str, &[usize]); 3] = [("no rows", &[]), ("one row", &[0]), ("equal rows", &equal)];
    let mut complaints = Vec::new();
    for (what, rows) in hard {
        let chosen = sample.select(rows);
        complaints.extend(panics(what, || try_sample(learner, &chosen.borrow(), run)));
    }
    let mut values = sample.x().values().into_owned();
    values.iter_mut().step_by(3).for_each(|v| *v = f64::NAN);
    if let Ok(features) = Features::new(values, sample.x().schema().clone())
        && let Ok(missing) = Sample::new(features.rows(), sample.target())
    {
        complaints.extend(panics("missing values", || try_sample(learner, &missing, run)));
    }
    complaints
}

fn try_sample<T: Task>(learner: &dyn Learner<T>, sample: &Sample<'_, T>, run: &Run) -> Result<()> {
    for model in learner.fit(sample, run)? {
        predict(model.as_ref(), sample.x(), run)?;
    }
    Ok(())
}

fn panics(what: &str, work: impl FnOnce() -> Result<(), Error>) -> Option<String> {
    catch_unwind(AssertUnwindSafe(work)).is_err().then(|| format!("panics on {what}"))
}

fn to_bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|v| v.to_bits()).collect()
}
