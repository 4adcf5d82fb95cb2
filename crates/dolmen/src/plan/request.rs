//! Plans as text: `time(column=when, kind=expanding, folds=5, gap=7)`.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{PlanSpec, Repeated};
use crate::error::{Error, Result};
use crate::spec::Spec;

/// A plan as it is asked for in a text: the scheme, and the names of the columns that it takes its keys from.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// The scheme.
    pub spec: PlanSpec,
    /// The column of the rows' times, if one is named.
    pub time: Option<String>,
    /// The column of the rows' groups, if one is named.
    pub groups: Option<String>,
    /// The column of the rows' folds, for a plan that is given.
    pub folds: Option<String>,
}

/// Which key a scheme's `column` names.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    None,
    Time,
    Groups,
    Folds,
}

/// Every scheme by its name: other names for it, and the key that its column names.
const SCHEMES: [(&str, &[&str], Key); 11] = [
    ("k-fold", &["kfold"], Key::None),
    ("stratified", &[], Key::None),
    ("grouped", &["groups"], Key::Groups),
    ("stratified-grouped", &[], Key::Groups),
    ("leave-one-out", &["loo"], Key::None),
    ("repeated", &[], Key::None),
    ("time-ordered", &["time"], Key::Time),
    ("hold-out", &["holdout"], Key::None),
    ("subsample", &[], Key::None),
    ("bootstrap", &[], Key::None),
    ("given", &[], Key::Folds),
];

impl PlanSpec {
    /// The plan that a text such as `k-fold(folds=10)` or `repeated(of=stratified(folds=5), repeats=3)` asks for. `folds`
    /// and `splits` are the same, and so are `kind` and `window` of a time-ordered plan; `column` names the column of
    /// times, groups or folds.
    ///
    /// ```
    /// use dolmen::plan::{PlanSpec, TimeOrdered};
    /// use dolmen::spec::Spec;
    ///
    /// let text = "time(column=when, kind=expanding, folds=5, gap=7)";
    /// let request = PlanSpec::from_spec(&Spec::parse(text)?)?;
    /// let scheme = TimeOrdered { splits: 5, gap: 7, ..TimeOrdered::default() };
    /// assert_eq!(request.spec, PlanSpec::TimeOrdered(scheme));
    /// assert_eq!(request.time.as_deref(), Some("when"));
    /// # Ok::<(), dolmen::Error>(())
    /// ```
    pub fn from_spec(spec: &Spec) -> Result<PlanRequest> {
        let (name, key) = scheme(&spec.kind)?;
        let mut own = Spec { kind: name.into(), parameters: spec.parameters.clone() };
        let (mut time, mut groups, mut folds) = (None, None, None);
        let column = match key {
            Key::None => None,
            _ => own.parameters.remove("column").map(|value| text("column", value)).transpose()?,
        };
        match key {
            Key::None => {}
            Key::Time => time = column,
            Key::Groups => groups = column,
            Key::Folds => folds = column,
        }
        if name == "repeated" {
            let of = match own.parameters.remove("of") {
                Some(of) => Self::from_spec(&nested(of)?)?,
                None => {
                    PlanRequest { spec: Self::default(), time: None, groups: None, folds: None }
                }
            };
            (time, groups, folds) = (of.time, of.groups, of.folds);
            own.parameters.insert("of".into(), object(&of.spec)?);
        }
        Ok(PlanRequest { spec: read(own)?, time, groups, folds })
    }
}

/// The scheme's own name and key.
fn scheme(kind: &str) -> Result<(&'static str, Key)> {
    let is_named =
        |(name, others, _): &&(&str, &[&str], Key)| *name == kind || others.contains(&kind);
    if let Some((name, _, key)) = SCHEMES.iter().find(is_named) {
        return Ok((name, *key));
    }
    let names: Vec<&str> = SCHEMES.iter().map(|(name, _, _)| *name).collect();
    let error = Error::param("plan", format!("one of {}", names.join(", ")), kind);
    Err(error.suggesting(kind, names))
}

/// The scheme with its parameters.
fn read(mut spec: Spec) -> Result<PlanSpec> {
    let (folds, splits) =
        if spec.kind == "time-ordered" { ("splits", "folds") } else { ("folds", "splits") };
    rename(&mut spec, splits, folds)?;
    if spec.kind == "time-ordered" {
        rename(&mut spec, "kind", "window")?;
    }
    match spec.kind.as_str() {
        "k-fold" => own(&spec, PlanSpec::KFold),
        "stratified" => own(&spec, PlanSpec::Stratified),
        "grouped" => own(&spec, PlanSpec::Grouped),
        "stratified-grouped" => own(&spec, PlanSpec::StratifiedGrouped),
        "leave-one-out" => own(&spec, PlanSpec::LeaveOneOut),
        "repeated" => own::<Repeated>(&spec, PlanSpec::Repeated),
        "time-ordered" => own(&spec, PlanSpec::TimeOrdered),
        "hold-out" => own(&spec, PlanSpec::HoldOut),
        "subsample" => own(&spec, PlanSpec::Subsample),
        "bootstrap" => own(&spec, PlanSpec::Bootstrap),
        _ => own(&spec, PlanSpec::Given),
    }
}

/// A scheme's own parameters.
fn own<P: DeserializeOwned>(spec: &Spec, plan: impl Fn(P) -> PlanSpec) -> Result<PlanSpec> {
    spec.read().map(plan)
}

/// Takes another name of a parameter for its own.
fn rename(spec: &mut Spec, other: &str, name: &str) -> Result<()> {
    if let Some(value) = spec.parameters.shift_remove(other)
        && spec.parameters.insert(name.into(), value).is_some()
    {
        return Err(Error::param(name, "given once", format!("given twice, also as '{other}'")));
    }
    Ok(())
}

fn text(name: &str, value: Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text),
        // A column may be named by a number.
        Value::Number(number) => Ok(number.to_string()),
        other => Err(Error::param(name, "the name of a column", other)),
    }
}

/// The scheme inside another: a name, or a name with parameters.
fn nested(value: Value) -> Result<Spec> {
    match value {
        Value::String(text) => Spec::parse(&text),
        Value::Object(object) => Spec::from_object(object),
        other => Err(Error::param("of", "a plan", other)),
    }
}

fn object(spec: &PlanSpec) -> Result<Value> {
    serde_json::to_value(spec).map_err(|e| Error::param("of", "a plan", e))
}
