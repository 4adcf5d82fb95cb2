//! Plans as text: `time(column=when, kind=expanding, folds=5, gap=7)`.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Plan, PlanSpec, Repeated, RowKeys};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::spec::Spec;

/// A plan as it is asked for in a text: the scheme, and the names of the columns that it takes its keys from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanRequest {
    /// The scheme.
    pub spec: PlanSpec,
    /// The column of the rows' times, if one is named.
    pub time: Option<String>,
    /// The column of the rows' groups, if one is named.
    pub groups: Option<String>,
    /// The column of the rows' folds, for a plan that is given.
    pub folds: Option<String>,
    /// Parameters that the text calls by another name, which errors use: their own name and that one.
    renamed: Vec<(&'static str, &'static str)>,
}

impl PlanRequest {
    /// A scheme that no text asks for; errors use the names that texts have for its parameters.
    pub fn of(spec: PlanSpec) -> Self {
        let renamed = if spec.kind() == "time-ordered" { OF_TIME.to_vec() } else { Vec::new() };
        Self { spec, renamed, ..Self::default() }
    }

    /// The plan for so many rows ([`PlanSpec::build`]).
    pub fn build(&self, rows: usize, keys: &RowKeys<'_>, run: &Run) -> Result<Plan> {
        self.spec.build(rows, keys, run).map_err(|error| in_words_of(&self.renamed, error))
    }
}

/// An error about parameters, by the names that the text has for them.
fn in_words_of(renamed: &[(&str, &str)], error: Error) -> Error {
    let Error::Param { name, expected, got, hint } = error else { return error };
    let worded = |text: String| {
        let word = |word: &str| {
            let bare = word.trim_end_matches(',');
            let other = renamed.iter().find(|(own, _)| *own == bare);
            other.map_or_else(|| word.to_string(), |(_, other)| word.replace(bare, other))
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    Error::Param { name: worded(name), expected: worded(expected), got, hint }
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
const SCHEMES: [(&str, &[&str], Key); 12] = [
    ("k-fold", &["kfold"], Key::None),
    ("hashed", &[], Key::Groups),
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
        let mut renamed = Vec::new();
        if name == "repeated" {
            let of = match own.parameters.remove("of") {
                Some(of) => Self::from_spec(&nested(of)?)?,
                None => PlanRequest::default(),
            };
            (time, groups, folds, renamed) = (of.time, of.groups, of.folds, of.renamed);
            own.parameters.insert("of".into(), object(&of.spec)?);
        }
        renamed.extend(take_own_names(&mut own)?);
        let spec = read(&own).map_err(|error| in_words_of(&renamed, error))?;
        Ok(PlanRequest { spec, time, groups, folds, renamed })
    }
}

/// Parameters of time-ordered plans that texts usually call by another name: their own name and that one.
const OF_TIME: [(&str, &str); 2] = [("splits", "folds"), ("window", "kind")];

/// The name that texts have for a scheme's parameter.
pub(crate) fn usual_name<'a>(kind: &str, own: &'a str) -> &'a str {
    let renamed = OF_TIME.iter().find(|(name, _)| kind == "time-ordered" && *name == own);
    renamed.map_or(own, |(_, usual)| usual)
}

/// What a scheme's column tells of the rows, and whether it must be named there: times and groups may be named elsewhere.
pub(crate) fn column_of(kind: &str) -> Option<(&'static str, bool)> {
    match scheme(kind).ok()?.1 {
        Key::None => None,
        Key::Time => Some(("times", false)),
        Key::Groups => Some(("groups", false)),
        Key::Folds => Some(("folds", true)),
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

/// Gives parameters that have two names their own, and says which were called by the other.
fn take_own_names(spec: &mut Spec) -> Result<Vec<(&'static str, &'static str)>> {
    let two_names: &[(&str, &str)] = match spec.kind.as_str() {
        "time-ordered" => &OF_TIME,
        _ => &[("folds", "splits")],
    };
    let mut renamed = Vec::new();
    for &(own, other) in two_names {
        // Of plans in order of time the text's names are the usual ones.
        let is_usual = spec.kind == "time-ordered" && !spec.parameters.contains_key(own);
        if rename(spec, other, own)? || is_usual {
            renamed.push((own, other));
        }
    }
    Ok(renamed)
}

/// The scheme with its parameters.
fn read(spec: &Spec) -> Result<PlanSpec> {
    match spec.kind.as_str() {
        "k-fold" => own(spec, PlanSpec::KFold),
        "hashed" => own(spec, PlanSpec::Hashed),
        "stratified" => own(spec, PlanSpec::Stratified),
        "grouped" => own(spec, PlanSpec::Grouped),
        "stratified-grouped" => own(spec, PlanSpec::StratifiedGrouped),
        "leave-one-out" => own(spec, PlanSpec::LeaveOneOut),
        "repeated" => own::<Repeated>(spec, PlanSpec::Repeated),
        "time-ordered" => own(spec, PlanSpec::TimeOrdered),
        "hold-out" => own(spec, PlanSpec::HoldOut),
        "subsample" => own(spec, PlanSpec::Subsample),
        "bootstrap" => own(spec, PlanSpec::Bootstrap),
        _ => own(spec, PlanSpec::Given),
    }
}

/// A scheme's own parameters.
fn own<P: DeserializeOwned>(spec: &Spec, plan: impl Fn(P) -> PlanSpec) -> Result<PlanSpec> {
    spec.read().map(plan)
}

/// Takes another name of a parameter for its own; whether it was called so.
fn rename(spec: &mut Spec, other: &str, name: &str) -> Result<bool> {
    let Some(value) = spec.parameters.shift_remove(other) else { return Ok(false) };
    if spec.parameters.insert(name.into(), value).is_some() {
        return Err(Error::param(name, "given once", format!("given twice, also as '{other}'")));
    }
    Ok(true)
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
