//! The conformance suite of combiners: what every combiner must satisfy, ours and yours.
//!
//! ```
//! use dolmen::combine::{Weights, check};
//! use dolmen::{catalogue::Catalogue, oos::OutOfSample, task::Regression};
//!
//! let members = vec![("a".to_string(), vec![1.0, 2.0, 4.0]), ("b".to_string(), vec![0.0, 2.5, 3.0])];
//! let oos = OutOfSample::<Regression>::from_columns(members, vec![0.8, 2.2, 3.5], None)?;
//! let registry = Catalogue::standard().registry();
//! assert_eq!(check::combiner(&Weights::default(), &(&oos).into(), registry), Vec::<String>::new());
//! # Ok::<(), dolmen::Error>(())
//! ```

use super::{Combination, Combiner, Evidence};
use crate::error::{Error, Result};
use crate::learner::check::is_sound;
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::store::Registry;
use crate::table::Features;
use crate::task::Task;

type Combinations<T> = Vec<Box<dyn Combination<T>>>;

/// Tries a combiner on evidence it should be able to learn from, and returns what it does wrong: nothing, if it conforms.
///
/// Checked: names and number of rungs; weights are finite and combined rows sound; same seed, same bits, on one thread
/// and two; a combination read back from its record combines to the same bits; members in another order have the same
/// weights; where weights sum to 1, members that all say the same are combined to what they say; a cancelled run says
/// nothing but that it was cancelled.
#[expect(clippy::missing_panics_doc, reason = "one and two threads can always be had")]
pub fn combiner<T: Task>(
    combiner: &dyn Combiner<T>,
    evidence: &Evidence<'_, T>,
    registry: &Registry,
) -> Vec<String> {
    let one = Run::with_threads(1, 1).expect("one thread can be had");
    let two = Run::with_threads(1, 2).expect("two threads can be had");
    let made = match combiner.fit(evidence, &one) {
        Ok(made) => made,
        Err(error) => return vec![format!("does not learn from the evidence: {error}")],
    };
    let rungs = combiner.rungs();
    let mut complaints = names(&rungs, made.len());
    match combiner.fit(evidence, &two) {
        Ok(again) if bits(&again, evidence).ok() == bits(&made, evidence).ok() => {}
        Ok(_) => complaints.push("the same seed gives other predictions on two threads".into()),
        Err(error) => complaints.push(format!("learns on one thread but not on two: {error}")),
    }
    for (rung, combination) in rungs.iter().zip(&made) {
        let found = combination_complaints(combination.as_ref(), evidence, registry);
        complaints.extend(found.into_iter().map(|c| format!("{rung}: {c}")));
    }
    complaints.extend(other_order(combiner, &made, evidence, &one));
    complaints.extend(copies(combiner, evidence, &one));
    one.cancel();
    match combiner.fit(evidence, &one) {
        Ok(_) | Err(Error::Cancelled) => {}
        Err(other) => complaints.push(format!("a cancelled run says: {other}")),
    }
    complaints
}

fn names(rungs: &[String], made: usize) -> Vec<String> {
    let mut complaints = Vec::new();
    if rungs.len() != made {
        complaints.push(format!("names {} rungs but makes {made} combinations", rungs.len()));
    }
    for (i, name) in rungs.iter().enumerate() {
        if name.trim().is_empty() || rungs[..i].contains(name) {
            complaints.push(format!("the rung '{name}' is empty or used twice"));
        }
    }
    complaints
}

/// What a combination makes of the rows it was learned from.
fn combined<T: Task>(
    combination: &dyn Combination<T>,
    evidence: &Evidence<'_, T>,
) -> Result<Vec<f64>> {
    let oos = evidence.oos;
    let columns: Vec<&[f64]> = (0..oos.members().len()).map(|m| oos.column(m)).collect();
    let nothing = Features::none(oos.rows());
    let x = evidence.x.unwrap_or_else(|| nothing.rows());
    let mut out = vec![0.0; oos.rows() * oos.width()];
    combination.combine_into(&columns, oos.width(), x, &mut out)?;
    Ok(out)
}

fn bits<T: Task>(made: &Combinations<T>, evidence: &Evidence<'_, T>) -> Result<Vec<Vec<u64>>> {
    let bits = |predicted: Vec<f64>| predicted.iter().map(|value| value.to_bits()).collect();
    made.iter().map(|one| Ok(bits(combined(one.as_ref(), evidence)?))).collect()
}

fn combination_complaints<T: Task>(
    combination: &dyn Combination<T>,
    evidence: &Evidence<'_, T>,
    registry: &Registry,
) -> Vec<String> {
    let mut complaints = Vec::new();
    let members = evidence.oos.members().len();
    if let Some(weights) = combination.weights() {
        if weights.len() != members {
            complaints.push(format!("has {} weights for {members} members", weights.len()));
        }
        if let Some(bad) = weights.iter().find(|weight| !weight.is_finite()) {
            complaints.push(format!("has the weight {bad}"));
        }
    }
    let Ok(predicted) = combined(combination, evidence) else {
        complaints.push("cannot combine the rows it was learned from".into());
        return complaints;
    };
    if let Some(row) = predicted.chunks(evidence.oos.width()).find(|row| !is_sound::<T>(row)) {
        complaints.push(format!("combines to the row {row:?}"));
    }
    match combination.record().and_then(|record| registry.combination::<T>(&record)) {
        Err(error) => complaints.push(format!("cannot be stored and read back: {error}")),
        Ok(restored) => {
            let again = combined(restored.as_ref(), evidence).unwrap_or_default();
            let bits =
                |predicted: &[f64]| predicted.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            if bits(&again) != bits(&predicted) {
                complaints.push("combines otherwise after being stored and read back".into());
            }
        }
    }
    complaints
}

/// The matrix of these members of another, each under a name of its own.
fn selected<T: Task>(oos: &OutOfSample<T>, members: &[usize]) -> Result<OutOfSample<T>> {
    let member = |(i, &m): (usize, &usize)| (format!("member {i}"), oos.column(m).to_vec());
    let columns = members.iter().enumerate().map(member).collect();
    OutOfSample::from_columns(columns, oos.target().clone(), oos.weights().map(<[f64]>::to_vec))
}

/// Whether numbers are the same but for what a solver leaves.
fn alike(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-5 * (1.0 + a.abs())
}

/// Weights must follow their members.
fn other_order<T: Task>(
    combiner: &dyn Combiner<T>,
    made: &Combinations<T>,
    evidence: &Evidence<'_, T>,
    run: &Run,
) -> Option<String> {
    let members = evidence.oos.members().len();
    let backwards: Vec<usize> = (0..members).rev().collect();
    let oos = selected(evidence.oos, &backwards).ok()?;
    let turned_evidence: Option<Vec<f64>> =
        evidence.log_evidence.map(|logs| backwards.iter().map(|&m| logs[m]).collect());
    let turned = Evidence { oos: &oos, x: evidence.x, log_evidence: turned_evidence.as_deref() };
    let again = match combiner.fit(&turned, run) {
        Ok(again) => again,
        Err(error) => {
            return Some(format!("does not learn from members in another order: {error}"));
        }
    };
    let follow = |a: &dyn Combination<T>, b: &dyn Combination<T>| {
        let (Some(a), Some(b)) = (a.weights(), b.weights()) else { return true };
        a.iter().zip(b.iter().rev()).all(|(a, b)| alike(*a, *b))
    };
    let other = !made.iter().zip(&again).all(|(a, b)| follow(a.as_ref(), b.as_ref()));
    other.then(|| "members in another order get other weights".into())
}

/// Members that all say the same leave nothing to combine where weights sum to 1.
fn copies<T: Task>(
    combiner: &dyn Combiner<T>,
    evidence: &Evidence<'_, T>,
    run: &Run,
) -> Option<String> {
    let members = evidence.oos.members().len();
    let oos = selected(evidence.oos, &vec![0; members]).ok()?;
    let logs = evidence.log_evidence.map(|logs| vec![logs[0]; members]);
    let same = Evidence { oos: &oos, x: evidence.x, log_evidence: logs.as_deref() };
    let made = match combiner.fit(&same, run) {
        Ok(made) => made,
        Err(error) => return Some(format!("does not learn from copies of a member: {error}")),
    };
    let is_share = |combination: &&dyn Combination<T>| {
        combination.weights().is_some_and(|w| (w.iter().sum::<f64>() - 1.0).abs() < 1e-9)
    };
    let other = made.iter().map(AsRef::as_ref).filter(is_share).any(|combination| {
        let predicted = combined(combination, &same).unwrap_or_default();
        predicted.len() != oos.column(0).len()
            || !predicted.iter().zip(oos.column(0)).all(|(a, b)| alike(*b, *a))
    });
    other.then(|| "copies of a member are combined to something else".into())
}
