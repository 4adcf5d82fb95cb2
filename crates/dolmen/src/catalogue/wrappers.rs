//! Learners of every task that are made of others: behind an encoder, in a stack, tuned.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Catalogue, Catalogued, LearnerEntry};
use crate::combine::Method;
use crate::ensemble::{Ending, Folds, Stack, Tuned};
use crate::error::{Error, Result, within};
use crate::learner::encoded::Encoded;
use crate::learner::{Learner, MOST_FOLDS};
use crate::spec::Spec;
use crate::table::encode::EncoderSpec;

/// All of them, in the order they are shown.
pub(super) fn entries<T: Catalogued>() -> [LearnerEntry<T>; 3] {
    [encoded(), stack(), tuned()]
}

/// `encoded(of=SPEC, standardise=true, ..)`: inputs through an encoder that is fitted in the fold.
fn encoded<T: Catalogued>() -> LearnerEntry<T> {
    let about = "another learner behind an encoder (standardise, one-hot, impute, bins): of=SPEC";
    LearnerEntry::new::<EncoderSpec>("encoded", about, |spec, catalogue| {
        let (of, rest) = nested(spec, "of")?;
        Ok(Box::new(Encoded::new(rest.read()?, catalogue.learner::<T>(&of)?)))
    })
}

/// The parameters of a stack inside a stack, beside its members and its combiner.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StackParameters {
    folds: usize,
    ending: Ending,
}

impl Default for StackParameters {
    fn default() -> Self {
        Self { folds: 5, ending: Ending::Refit }
    }
}

/// Stacks nest: `stack(members=[SPEC, ..], combiner=SPEC)` is a learner of every task.
fn stack<T: Catalogued>() -> LearnerEntry<T> {
    let about = "a stack inside a stack: members=[SPEC, ..], combiner=SPEC";
    LearnerEntry::new::<StackParameters>("stack", about, |spec, catalogue| {
        let mut rest = spec.clone();
        let members = learners_of(&mut rest, "members", catalogue)?;
        let combiner = match rest.parameters.remove("combiner") {
            Some(value) => spec_of(value, "combiner in stack")?,
            None => Spec { kind: Method::default().name().into(), parameters: Map::new() },
        };
        let StackParameters { folds, ending } = rest.read()?;
        within("folds in stack", folds, 2..=MOST_FOLDS)?;
        let stack = Stack::choosing(vec![catalogue.combiner::<T>(&combiner)?]).members(members);
        Ok(Box::new(stack.folds(folds).ending(ending)))
    })
}

/// `tuned(of=SPEC)` or `tuned(of=[SPEC, ..])`: of several members, the one that inner folds find best.
fn tuned<T: Catalogued>() -> LearnerEntry<T> {
    let about = "the best member of a ladder or a list by inner folds: of=SPEC or of=[SPEC, ..]";
    LearnerEntry::new::<Folds>("tuned", about, |spec, catalogue| {
        let mut rest = spec.clone();
        let candidates = learners_of::<T>(&mut rest, "of", catalogue)?;
        let Folds { folds } = rest.read()?;
        within("folds in tuned", folds, 2..=MOST_FOLDS)?;
        Ok(Box::new(Tuned::among(candidates)?.folds(folds)))
    })
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
        Value::Object(object) => Spec::from_object(object),
        Value::String(kind) => Ok(Spec { kind, parameters: Map::new() }),
        other => {
            Err(Error::param(what, "a model such as gaussian or mixture(components=2)", other))
        }
    }
}
