//! The combiners by name: from a [`Spec`] to a combiner.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Bma, Combiner, Gate, Learned, LogPool, Method, Scale, Weights};
use crate::error::{Error, Result};
use crate::learner::library::{Library, nested};
use crate::learner::spec::Spec;

/// A combiner as it is listed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Listed {
    /// The name in specs.
    pub kind: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Its parameters with their defaults.
    pub defaults: Map<String, Value>,
}

/// The stackers that are learners with a usual ladder of penalties.
const STACKERS: [&str; 2] = ["ridge", "logistic"];
/// Their penalties if none are named; the stack chooses.
const LADDER: [f64; 7] = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3];

/// How a learner sees the members' predictions.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Seen {
    on: Scale,
    inputs: bool,
}

/// All combiners, in the order they are shown.
pub fn entries() -> Vec<Listed> {
    let mut entries: Vec<Listed> = Method::ALL
        .into_iter()
        .map(|method| Listed {
            kind: method.name(),
            about: method.about(),
            defaults: only(&Weights::from(method), method.parameters()),
        })
        .collect();
    let mut stacker = only(&Seen::default(), &["on", "inputs"]);
    stacker.insert("lambda".into(), Value::from(LADDER.to_vec()));
    let listed = |kind, about, defaults| Listed { kind, about, defaults };
    entries.extend([
        listed("ridge", "ridge regression on the members' predictions (numbers)", stacker.clone()),
        listed("logistic", "logistic regression on the members' predictions (classes)", stacker),
        listed(
            "learner",
            "any learner on the members' predictions: of=SPEC; inputs=true shows it the inputs too",
            only(&Seen::default(), &["on", "inputs"]),
        ),
        listed(
            "log-pool",
            "product of the members' probabilities, each to a power (classes)",
            only(&LogPool::default(), &["lambda", "tolerance"]),
        ),
        listed(
            "gate",
            "weights that depend on the inputs",
            only(&Gate::default(), &["lambda", "iterations", "tolerance"]),
        ),
        listed("bma", "Bayesian model averaging by BIC: selects rather than combines", Map::new()),
    ]);
    entries
}

/// The combiner of a spec.
pub fn combiner<T: Library>(spec: &Spec) -> Result<Box<dyn Combiner<T>>> {
    if let Some(weights) = weights_of(spec)? {
        return Ok(Box::new(weights));
    }
    Ok(match spec.kind.as_str() {
        kind if STACKERS.contains(&kind) => Box::new(stacker::<T>(spec)?),
        "learner" => {
            let (of, rest) = nested(spec, "of")?;
            let Seen { on, inputs } = rest.read()?;
            Box::new(Learned::new(T::learner(&of)?).on(on).with_inputs(inputs))
        }
        "log-pool" => Box::new(spec.read::<LogPool>()?),
        "gate" => Box::new(spec.read::<Gate>()?),
        "bma" => Box::new(spec.read::<Bma>()?),
        other => {
            let kinds: Vec<&str> = entries().iter().map(|entry| entry.kind).collect();
            let expected = format!("one of {}", kinds.join(", "));
            return Err(Error::param("combiner", expected, other).suggesting(other, kinds));
        }
    })
}

/// The options of a spec that names a method of weighing; `None` of another combiner's.
pub fn weights_of(spec: &Spec) -> Result<Option<Weights>> {
    if !Method::ALL.iter().any(|method| method.name() == spec.kind) {
        return Ok(None);
    }
    let mut with_method = spec.clone();
    with_method.parameters.insert("method".into(), spec.kind.as_str().into());
    with_method.read().map(Some)
}

/// A learner of that name on the members' predictions, with a ladder of penalties unless one is named.
fn stacker<T: Library>(spec: &Spec) -> Result<Learned<T>> {
    let mut of = spec.clone();
    let mut seen = Map::new();
    for name in ["on", "inputs"] {
        seen.extend(of.parameters.remove(name).map(|value| (name.to_string(), value)));
    }
    let Seen { on, inputs } = Spec { kind: spec.kind.clone(), parameters: seen }.read()?;
    of.parameters.entry("lambda").or_insert_with(|| Value::from(LADDER.to_vec()));
    Ok(Learned::new(T::learner(&of)?).on(on).with_inputs(inputs))
}

/// Some parameters of a struct, as they are by default.
fn only(defaults: &impl Serialize, names: &[&str]) -> Map<String, Value> {
    match serde_json::to_value(defaults) {
        Ok(Value::Object(mut all)) => {
            all.retain(|name, _| names.contains(&name.as_str()));
            all
        }
        _ => Map::new(),
    }
}
