//! Learners of every task that are made of others: averaged, behind an encoder, in a stack, tuned.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Catalogue, Catalogued, Kind, LearnerEntry, Parameter};
use crate::combine::Method;
use crate::ensemble::{Ending, Folds, Stack, Tuned};
use crate::error::{Error, Result, within};
use crate::learner::averaged::{Averaged, Averaging};
use crate::learner::encoded::Encoded;
use crate::learner::{Learner, MOST_FOLDS};
use crate::spec::Spec;
use crate::table::encode::EncoderSpec;

/// All of them, in the order they are shown, with examples made of two learners of the task.
pub(super) fn entries<T: Catalogued>([first, second]: [&str; 2]) -> [LearnerEntry<T>; 4] {
    [averaged(second), encoded(first), stack(first, second), tuned(first, second)]
}

/// `averaged(of=SPEC, fits=20)`: bagging of anything.
fn averaged<T: Catalogued>(of: &str) -> LearnerEntry<T> {
    let about = "the average of several fits of another learner, as in bagging: of=SPEC";
    LearnerEntry::new::<Averaging>("averaged", about, |spec, catalogue| {
        let (of, spec) = nested(spec, "of")?;
        Ok(Box::new(Averaged::of(catalogue.learner::<T>(&of)?.into(), spec.read()?)))
    })
    .of(Parameter::model(
        "of",
        "The learner whose fits are averaged; each rung of a ladder by itself.",
    ))
    .with_example(&format!("averaged(of={of}, fits=20)"))
}

/// `encoded(of=SPEC, standardise=true, ..)`: inputs through an encoder that is fitted in the fold.
fn encoded<T: Catalogued>(first: &str) -> LearnerEntry<T> {
    let about = "another learner behind an encoder of its inputs: of=SPEC";
    // Standardising would change the units of a density.
    let how = if T::LOG_SPACE { "impute={numbers=mean}" } else { "standardise=true" };
    let entry = LearnerEntry::new::<EncoderSpec>("encoded", about, |spec, catalogue| {
        let (of, rest) = nested(spec, "of")?;
        Ok(Box::new(Encoded::new(rest.read()?, catalogue.learner::<T>(&of)?)))
    });
    let foreign: &[&str] = if T::LOG_SPACE {
        &["standardise", "bins", "outliers", "crosses", "targets", "prior"]
    } else {
        &[]
    };
    entry
        .without(foreign)
        .of(Parameter::model("of", "The learner that sees the encoded inputs."))
        .with_example(&format!("encoded(of={first}, {how})"))
}

/// The parameters of a stack inside a stack, beside its members and its combiner.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct StackParameters {
    /// Folds of the matrix that the combiner learns from, 2 to 10 000.
    #[schemars(range(min = 2, max = MOST_FOLDS))]
    folds: usize,
    /// What members predict new rows: fitted once more on all rows, or the average of their fits on the folds.
    ending: Ending,
}

impl Default for StackParameters {
    fn default() -> Self {
        Self { folds: 5, ending: Ending::Refit }
    }
}

/// Stacks nest: `stack(members=[SPEC, ..], combiner=SPEC)` is a learner of every task.
fn stack<T: Catalogued>(first: &str, second: &str) -> LearnerEntry<T> {
    let about = "a stack inside a stack: members=[SPEC, ..], combiner=SPEC";
    LearnerEntry::new::<StackParameters>("stack", about, |spec, catalogue| {
        let mut rest = spec.clone();
        let members = learners_of(&mut rest, "members", catalogue)?;
        let combiner = match rest.parameters.remove("combiner") {
            Some(value) => spec_of(value, "combiner in stack")?,
            None => Spec::new(Method::default().name()),
        };
        let StackParameters { folds, ending } = rest.read()?;
        within("folds in stack", folds, 2..=MOST_FOLDS)?;
        let stack = Stack::choosing(vec![catalogue.combiner::<T>(&combiner)?]).members(members);
        let name = catalogue.canonical::<T>(spec).to_string();
        Ok(Box::new(stack.folds(folds).ending(ending).named(&name)))
    })
    .of(Parameter::model("combiner", "How the members are combined.").or(Method::default().name()))
    .of(Parameter::new("members", "What is stacked.", Kind::ListOf(Box::new(Kind::Model))))
    .with_example(&format!("stack(members=[{first}, {second}], combiner=uniform)"))
}

/// `tuned(of=SPEC)` or `tuned(of=[SPEC, ..])`: of several members, the one that inner folds find best.
fn tuned<T: Catalogued>(first: &str, second: &str) -> LearnerEntry<T> {
    let about = "the best member of a ladder or a list by inner folds: of=SPEC or of=[SPEC, ..]";
    LearnerEntry::new::<Folds>("tuned", about, |spec, catalogue| {
        let mut rest = spec.clone();
        let candidates = learners_of::<T>(&mut rest, "of", catalogue)?;
        let Folds { folds } = rest.read()?;
        within("folds in tuned", folds, 2..=MOST_FOLDS)?;
        let name = catalogue.canonical::<T>(spec).to_string();
        Ok(Box::new(Tuned::among(candidates)?.folds(folds).named(&name)))
    })
    .of(Parameter::new(
        "of",
        "What is chosen from: the rungs of a ladder, or the members of several learners.",
        Kind::Either(vec![Kind::Model, Kind::ListOf(Box::new(Kind::Model))]),
    ))
    .with_example(&format!("tuned(of=[{first}, {second}])"))
}

/// The learners given by a parameter: one spec or a list of them.
fn learners_of<T: Catalogued>(
    spec: &mut Spec,
    name: &str,
    catalogue: &Catalogue,
) -> Result<Vec<Box<dyn Learner<T>>>> {
    let what = format!("{name} in {}", spec.kind);
    let given = match spec.parameters.remove(name) {
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
        None => return Err(Error::param(&what, "a model or a list of models", "missing")),
    };
    given.into_iter().map(|value| catalogue.learner(&spec_of(value, &what)?)).collect()
}

/// Takes the spec that is the value of a parameter out of another.
pub(super) fn nested(spec: &Spec, name: &str) -> Result<(Spec, Spec)> {
    let mut outer = spec.clone();
    let what = format!("{name} in {}", spec.kind);
    let Some(inner) = outer.parameters.remove(name) else {
        let expected = format!("given, as in {}({name}=MODEL)", spec.kind);
        return Err(Error::param(&what, expected, "missing"));
    };
    Ok((spec_of(inner, &what)?, outer))
}

/// A parameter's value as a spec.
pub(super) fn spec_of(value: Value, what: &str) -> Result<Spec> {
    match value {
        value @ (Value::Object(_) | Value::String(_)) => Spec::try_from(value),
        other => {
            Err(Error::param(what, "a model such as gaussian or mixture(components=2)", other))
        }
    }
}
