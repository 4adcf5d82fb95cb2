//! The combiners by name.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::wrappers::nested;
use super::{Catalogue, Catalogued, CombinerEntry, Parameter};
use crate::combine::{Bma, Gate, Learned, LogPool, Method, Scale, Weights};
use crate::error::Result;
use crate::spec::Spec;

/// The penalties of a stacker if none are named; the stack chooses.
const LADDER: [f64; 7] = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3];

/// How a learner sees the members' predictions.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Seen {
    on: Scale,
    inputs: bool,
}

/// All combiners, in the order they are shown.
pub(super) fn entries<T: Catalogued>() -> Vec<CombinerEntry<T>> {
    let mut entries: Vec<CombinerEntry<T>> = Method::ALL.into_iter().map(weights).collect();
    entries.extend([
        stacker("ridge", "ridge regression on the members' predictions (numbers)"),
        stacker("logistic", "logistic regression on the members' predictions (classes)"),
        CombinerEntry::new::<Seen>(
            "learner",
            "any learner on the members' predictions: of=SPEC; inputs=true shows it the inputs too",
            |spec, catalogue| {
                let (of, rest) = nested(spec, "of")?;
                let Seen { on, inputs } = rest.read()?;
                Ok(Box::new(Learned::new(catalogue.learner::<T>(&of)?).on(on).with_inputs(inputs)))
            },
        ),
        CombinerEntry::new::<LogPool>(
            "log-pool",
            "product of the members' probabilities, each to a power (classes)",
            |spec, _| Ok(Box::new(spec.read::<LogPool>()?)),
        ),
        CombinerEntry::new::<Gate>("gate", "weights that depend on the inputs", |spec, _| {
            Ok(Box::new(spec.read::<Gate>()?))
        }),
        CombinerEntry::new::<Bma>(
            "bma",
            "Bayesian model averaging by BIC: selects rather than combines",
            |spec, _| Ok(Box::new(spec.read::<Bma>()?)),
        ),
    ]);
    entries
}

/// A method that gives each member a weight, with the parameters it looks at.
fn weights<T: Catalogued>(method: Method) -> CombinerEntry<T> {
    let own = |parameter: &Parameter| method.parameters().contains(&parameter.name.as_str());
    let parameters = Parameter::of::<Weights>().into_iter().filter(own).collect();
    CombinerEntry::new::<Weights>(method.name(), method.about(), move |spec, _| {
        Ok(Box::new(weights_of(spec)?.unwrap_or_else(|| method.into())))
    })
    .with_parameters(parameters)
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

/// The learner of this name on the members' predictions, with a ladder of penalties unless one is named.
fn stacker<T: Catalogued>(kind: &'static str, about: &'static str) -> CombinerEntry<T> {
    let mut parameters = Parameter::of::<Seen>();
    let default = Value::from(LADDER.to_vec());
    parameters.push(Parameter { name: "lambda".into(), default });
    CombinerEntry::new::<Seen>(kind, about, |spec, catalogue| {
        Ok(Box::new(stacked::<T>(spec, catalogue)?))
    })
    .with_parameters(parameters)
}

fn stacked<T: Catalogued>(spec: &Spec, catalogue: &Catalogue) -> Result<Learned<T>> {
    let mut of = spec.clone();
    let mut seen = Map::new();
    for name in ["on", "inputs"] {
        seen.extend(of.parameters.remove(name).map(|value| (name.to_string(), value)));
    }
    let Seen { on, inputs } = Spec { kind: spec.kind.clone(), parameters: seen }.read()?;
    of.parameters.entry("lambda").or_insert_with(|| Value::from(LADDER.to_vec()));
    Ok(Learned::new(catalogue.learner::<T>(&of)?).on(on).with_inputs(inputs))
}
