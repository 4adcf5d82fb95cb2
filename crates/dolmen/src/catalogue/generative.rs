//! The learners that model p(x, c), for both tasks they serve: joint probabilities, and the posterior that follows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wrappers::{nested, spec_of};
use super::{LearnerEntry, Parameter, Parameters};
use crate::error::Error;
use crate::learner::Learner;
use crate::learner::bayes::BayesClassifier;
use crate::learner::bayes::one_dependence::{
    A2de, Aode, BmaAode, LmgOde, NaiveBayes, Ode, OneDependence, USUAL_MOST,
};
use crate::spec::Spec;
use crate::table::Schema;
use crate::task::{Density, Task};

/// The learners, in the order they are shown.
pub(super) fn entries<T: Task>() -> Vec<LearnerEntry<T>>
where
    BayesClassifier: Learner<T>,
    OneDependence: Learner<T>,
{
    vec![
        LearnerEntry::new::<NoParameters>(
            "bayes",
            "Bayes classifier: one density per class, density=SPEC",
            |spec, catalogue| {
                let (density, rest) = nested(spec, "density")?;
                rest.read::<NoParameters>()?;
                Ok(Box::new(BayesClassifier::new(catalogue.learner::<Density>(&density)?)))
            },
        )
        .of(Parameter::model("density", "The density that each class has one of."))
        .with_example("bayes(density=mixture(components=2))"),
        one_dependence::<_, NaiveBayes>("naive-bayes", "attributes independent given the class"),
        LearnerEntry::new::<Ode>(
            ODE,
            "one-dependence estimators, one member per root: all columns, or root=[COLUMN, ..]",
            |spec, _| {
                let ode = spec.read::<Ode>()?;
                if ode.root.is_empty() {
                    let expected = "a list of input columns where they cannot be told";
                    return Err(Error::param("root in ode", expected, "missing"));
                }
                if ode.root.len() > USUAL_MOST {
                    let expected = format!(
                        "at most {USUAL_MOST} input columns (name them with root=[..], or use aode, which chooses)"
                    );
                    return Err(Error::param("root in ode", expected, ode.root.len()));
                }
                Ok(Box::new(OneDependence::from(ode)))
            },
        )
        .with_example("ode(root=[x1, x2])"),
        one_dependence::<_, Aode>("aode", "the average of one-dependence estimators")
            .with_example("aode(threshold=30)"),
        one_dependence::<_, A2de>("a2de", "the average of two-dependence estimators"),
        one_dependence::<_, BmaAode>(
            "bma-aode",
            "Bayesian average of one-dependence estimators, exact",
        ),
        one_dependence::<_, LmgOde>("lmg-ode", "MAP mixture of one-dependence joint probabilities"),
    ]
}

/// For learners whose only parameters are other learners.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

/// An entry of the one-dependence family.
pub(super) fn one_dependence<T: Task, P>(kind: &'static str, about: &'static str) -> LearnerEntry<T>
where
    P: Parameters + Into<OneDependence>,
    OneDependence: Learner<T>,
{
    LearnerEntry::new::<P>(kind, about, |spec, _| Ok(Box::new(spec.read::<P>()?.into())))
}

const ODE: &str = "ode";

/// A spec with what it leaves to the columns: `ode` without roots has all of them, also inside a stack or among those to
/// be tuned.
pub(super) fn for_columns(spec: &Spec, schema: &Schema) -> Spec {
    let mut spec = spec.clone();
    if spec.kind == ODE && !spec.parameters.contains_key("root") {
        let names = schema.fields().iter().map(|field| field.name.as_str()).collect();
        spec.parameters.insert("root".into(), names);
    }
    let inner = match spec.kind.as_str() {
        "stack" => spec.parameters.get_mut("members"),
        "tuned" => spec.parameters.get_mut("of"),
        _ => None,
    };
    match inner {
        Some(Value::Array(list)) => list.iter_mut().for_each(|value| complete(value, schema)),
        Some(one) => complete(one, schema),
        None => {}
    }
    spec
}

/// The same for the value of a parameter; what is no spec is left for others to refuse.
fn complete(value: &mut Value, schema: &Schema) {
    if let Ok(spec) = spec_of(value.clone(), "a model") {
        *value = Value::Object(for_columns(&spec, schema).to_object());
    }
}
