//! The learners by name: from a [`Spec`] to a learner, and from a stored record to a model.

mod classification;
mod density;
mod generative;
mod joint;
mod regression;
mod supervised;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::encoded::Encoded;
use super::spec::Spec;
use super::{Learner, MOST_FOLDS};
use crate::combine::library::combiner as combiner_of;
use crate::combine::{Method, Weighable};
use crate::ensemble::{Ending, Folds, Stack, Tuned};
use crate::error::{Error, Result, within};
use crate::store::Registry;
use crate::table::encode::EncoderSpec;
use crate::table::{Kind, Rows};
use crate::task::Task;

/// One learner of the library.
pub struct Entry<T: Task> {
    /// The name in specs.
    pub kind: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its parameters with their defaults.
    pub defaults: Map<String, Value>,
    build: fn(&Spec) -> Result<Box<dyn Learner<T>>>,
}

/// A task with learners that can be named.
pub trait Library: Weighable {
    /// The learners, in the order they are shown.
    fn entries() -> Vec<Entry<Self>>;

    /// The models that can be read back from a file.
    fn registry() -> Registry<Self>;

    /// The members used when the user names none, for rows like these.
    fn usual_members(x: Rows<'_>) -> Vec<Spec>;

    /// The learner of a spec for rows of these columns: `ode` without roots has one member per column.
    fn learner_for(spec: &Spec, x: Rows<'_>) -> Result<Box<dyn Learner<Self>>> {
        Self::learner(&generative::for_columns(spec, x.schema()))
    }

    /// The combiners tried when the user names none, for rows like these; the one that does best on rows held out is used.
    fn usual_combiners(_x: Rows<'_>) -> Vec<Spec> {
        specs(&[Method::default().name()])
    }

    /// The learner of a spec.
    fn learner(spec: &Spec) -> Result<Box<dyn Learner<Self>>> {
        let entries = Self::entries();
        if let Some(entry) = entries.iter().find(|entry| entry.kind == spec.kind) {
            return (entry.build)(spec);
        }
        let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind).collect();
        let expected = format!("a learner of {}: {}", Self::NAME, kinds.join(", "));
        Err(Error::param("model", expected, &spec.kind).suggesting(&spec.kind, kinds))
    }
}

/// The learners given by a parameter: one spec or a list of them.
fn learners_of<T: Library>(spec: &mut Spec, name: &str) -> Result<Vec<Box<dyn Learner<T>>>> {
    let what = format!("{name} in {}", spec.kind);
    let given = match spec.parameters.remove(name) {
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
        None => return Err(Error::param(&what, "a model or a list of models", "missing")),
    };
    given.into_iter().map(|value| T::learner(&spec_of(value, &what)?)).collect()
}

/// For learners whose only parameters are other learners.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

/// An entry of a learner that is its own parameter struct.
fn plain<T: Task, P: Learner<T> + Default + Serialize + DeserializeOwned + 'static>(
    kind: &'static str,
    about: &'static str,
) -> Entry<T> {
    entry::<T, P>(kind, about, |spec| Ok(Box::new(spec.read::<P>()?)))
}

/// An entry whose parameters are a struct of their own.
fn entry<T: Task, P: Default + Serialize + DeserializeOwned>(
    kind: &'static str,
    about: &'static str,
    build: fn(&Spec) -> Result<Box<dyn Learner<T>>>,
) -> Entry<T> {
    Entry { kind, about, defaults: defaults::<P>(), build }
}

fn defaults<P: Default + Serialize>() -> Map<String, Value> {
    match serde_json::to_value(P::default()) {
        Ok(Value::Object(defaults)) => defaults,
        _ => Map::new(),
    }
}

/// Takes the spec that is the value of a parameter out of another.
pub(crate) fn nested(spec: &Spec, name: &str) -> Result<(Spec, Spec)> {
    let mut outer = spec.clone();
    let what = format!("{name} in {}", spec.kind);
    let Some(inner) = outer.parameters.remove(name) else {
        let expected = format!("given, as in {}({name}=MODEL)", spec.kind);
        return Err(Error::param(&what, expected, "missing"));
    };
    Ok((spec_of(inner, &what)?, outer))
}

/// A parameter's value as a spec.
fn spec_of(value: Value, what: &str) -> Result<Spec> {
    match value {
        Value::Object(object) => Spec::from_object(object),
        Value::String(kind) => Ok(Spec { kind, parameters: Map::new() }),
        other => {
            Err(Error::param(what, "a model such as gaussian or mixture(components=2)", other))
        }
    }
}

/// `encoded(of=SPEC, standardise=true, ..)`: inputs through an encoder that is fitted in the fold.
fn encoded_entry<T: Library>() -> Entry<T> {
    Entry {
        kind: "encoded",
        about: "another learner behind an encoder (standardise, one-hot, impute, bins): of=SPEC",
        defaults: defaults::<EncoderSpec>(),
        build: |spec| {
            let (of, rest) = nested(spec, "of")?;
            Ok(Box::new(Encoded::new(rest.read()?, T::learner(&of)?)))
        },
    }
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
fn stack_entry<T: Library>() -> Entry<T> {
    entry::<T, StackParameters>(
        "stack",
        "a stack inside a stack: members=[SPEC, ..], combiner=SPEC",
        |spec| {
            let mut rest = spec.clone();
            let members = learners_of(&mut rest, "members")?;
            let combiner = match rest.parameters.remove("combiner") {
                Some(value) => spec_of(value, "combiner in stack")?,
                None => Spec { kind: Method::default().name().into(), parameters: Map::new() },
            };
            let StackParameters { folds, ending } = rest.read()?;
            within("folds in stack", folds, 2..=MOST_FOLDS)?;
            let stack = Stack::choosing(vec![combiner_of::<T>(&combiner)?]).members(members);
            Ok(Box::new(stack.folds(folds).ending(ending)))
        },
    )
}

/// `tuned(of=SPEC)` or `tuned(of=[SPEC, ..])`: of several members, the one that inner folds find best.
fn tuned_entry<T: Library>() -> Entry<T> {
    entry::<T, Folds>(
        "tuned",
        "the best member of a ladder or a list by inner folds: of=SPEC or of=[SPEC, ..]",
        |spec| {
            let mut rest = spec.clone();
            let candidates = learners_of(&mut rest, "of")?;
            let Folds { folds } = rest.read()?;
            within("folds in tuned", folds, 2..=MOST_FOLDS)?;
            Ok(Box::new(Tuned::among(candidates)?.folds(folds)))
        },
    )
}

/// Specs written in the program itself.
fn specs<S: AsRef<str>>(texts: &[S]) -> Vec<Spec> {
    let parse = |text: &S| Spec::parse(text.as_ref()).expect("the library's own specs are right");
    texts.iter().map(parse).collect()
}

/// An entry of a learner that works on complete numbers: its inputs go through an encoder that makes indicators of
/// categories and fills in missing values, learned in the fold.
fn on_numbers<T: Task, P: Learner<T> + Default + Serialize + DeserializeOwned + 'static>(
    kind: &'static str,
    about: &'static str,
) -> Entry<T> {
    entry::<T, P>(kind, about, |spec| {
        let learner: Box<dyn Learner<T>> = Box::new(spec.read::<P>()?);
        Ok(Box::new(Encoded::new(EncoderSpec::complete(), learner)))
    })
}

/// Rows up to which members are used whose cost grows with the square of the rows.
const FEW_ROWS: usize = 5000;

/// Columns beyond which members whose cost grows with their cube (full covariances) or square (pairs of attributes) are
/// simplified or left out.
const WIDE: usize = 64;
/// Columns beyond which trees look at some of them only.
const VERY_WIDE: usize = 256;

/// Whether the rows are complete numbers.
fn complete_numbers(x: Rows<'_>) -> bool {
    let numeric = x.schema().fields().iter().all(|field| field.kind == Kind::Numeric);
    numeric && !has_missing(x)
}

/// Whether a value is missing.
fn has_missing(x: Rows<'_>) -> bool {
    x.values().iter().any(|value| value.is_nan())
}
