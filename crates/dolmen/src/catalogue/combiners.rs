//! The combiners by name.

use serde_json::{Map, Value};

use super::wrappers::nested;
use super::{Catalogue, Catalogued, CombinerEntry, Parameter, Parameters};
use crate::combine::{Bma, Gate, Learned, LogPool, Method, Seen, Weights};
use crate::error::{Error, Result};
use crate::learner::linear::{Logistic, Ridge};
use crate::spec::Spec;

/// The penalties of a stacker if none are named; the stack chooses.
const LADDER: [f64; 7] = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3];

/// Learners that are combiners by their own names.
const STACKERS: [&str; 2] = ["ridge", "logistic"];

/// All combiners, in the order they are shown; `first` is a learner of the task, for an example.
pub(super) fn entries<T: Catalogued>(first: &str) -> Vec<CombinerEntry<T>> {
    let mut entries: Vec<CombinerEntry<T>> = Method::ALL.into_iter().map(weights).collect();
    entries.extend([
        stacker::<T, Ridge>(STACKERS[0], "ridge regression on the members' predictions (numbers)"),
        stacker::<T, Logistic>(
            STACKERS[1],
            "logistic regression on the members' predictions (classes)",
        ),
        CombinerEntry::new::<Seen>(
            "learner",
            "any learner on the members' predictions: of=SPEC; inputs=true shows it the inputs too",
            |spec, catalogue| {
                let (of, rest) = nested(spec, "of")?;
                let Seen { on, inputs } = rest.read()?;
                Ok(Box::new(Learned::new(catalogue.learner::<T>(&of)?).on(on).with_inputs(inputs)))
            },
        )
        .of(Parameter::model("of", "The learner; each rung of a ladder by itself."))
        .with_example(&format!("learner(of={first}, inputs=true)")),
        CombinerEntry::new::<LogPool>(
            "log-pool",
            "product of the members' probabilities, each to a power (classes)",
            |spec, _| Ok(Box::new(spec.read::<LogPool>()?)),
        )
        .with_example("log-pool(lambda=0.01)"),
        CombinerEntry::new::<Gate>("gate", "weights that depend on the inputs", |spec, _| {
            Ok(Box::new(spec.read::<Gate>()?))
        })
        .with_example("gate(lambda=[1, 0.1])"),
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
    let example = match method {
        Method::Simplex | Method::Em => format!("{method}(prior=2)"),
        Method::Greedy => format!("{method}(rounds=100)"),
        Method::PseudoBmaPlus => format!("{method}(draws=2000)"),
        other => other.name().into(),
    };
    CombinerEntry::by_hand(method.name(), method.about(), parameters, move |spec, _| {
        Ok(Box::new(weights_of(spec)?.unwrap_or_else(|| method.into())))
    })
    .with_example(&example)
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
fn stacker<T: Catalogued, P: Parameters>(
    kind: &'static str,
    about: &'static str,
) -> CombinerEntry<T> {
    let mut parameters = Parameter::of::<P>();
    let lambda = parameters.iter_mut().filter(|parameter| parameter.name == "lambda");
    lambda.for_each(|lambda| lambda.default = LADDER.to_vec().into());
    parameters.extend(Parameter::of::<Seen>());
    CombinerEntry::by_hand(kind, about, parameters, |spec, catalogue| {
        Ok(Box::new(stacked::<T>(spec, catalogue)?))
    })
    .with_example(&format!("{kind}(lambda=[0.1, 1, 10])"))
}

fn stacked<T: Catalogued>(spec: &Spec, catalogue: &Catalogue) -> Result<Learned<T>> {
    let mut of = spec.clone();
    let mut seen = Map::new();
    for name in ["on", "inputs"] {
        seen.extend(of.parameters.remove(name).map(|value| (name.to_string(), value)));
    }
    let Seen { on, inputs } = Spec { kind: spec.kind.clone(), parameters: seen }.read()?;
    let is_known = |kind: &str| catalogue.learners::<T>().iter().any(|entry| entry.kind() == kind);
    if !is_known(&spec.kind) {
        let error = Error::param("combiner", format!("one for {}", T::NAME), &spec.kind);
        return Err(match STACKERS.into_iter().find(|kind| is_known(kind)) {
            Some(other) => error.with_hint(format!("for {} there is {other}", T::NAME)),
            None => error.with_hint("simplex finds weights for every task"),
        });
    }
    of.parameters.entry("lambda").or_insert_with(|| Value::from(LADDER.to_vec()));
    Ok(Learned::new(catalogue.learner::<T>(&of)?).on(on).with_inputs(inputs))
}
