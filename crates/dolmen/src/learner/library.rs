//! The learners by name: from a [`Spec`] to a learner, and from a stored record to a model.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::baseline::{ClassFrequencies, FittedFrequencies, FittedMean, Mean};
use super::bayes::{BayesClassifier, FittedBayes};
use super::density::averaged::{Averaged, Averaging, FittedAverage};
use super::density::gaussian::{FittedGaussian, Gaussian};
use super::density::kernel::{FittedKernel, KernelDensity};
use super::density::mixture::{FittedMixture, GaussianMixture};
use super::encoded::{Encoded, FittedEncoded};
use super::spec::Spec;
use super::{Learner, Simple};
use crate::combine::Weighable;
use crate::ensemble::{Ensemble, Stack};
use crate::error::{Error, Result};
use crate::store::Registry;
use crate::table::encode::EncoderSpec;
use crate::task::{Classification, Density, Regression, Task};

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

    /// The members used when the user names none, for a table of this size.
    fn usual_members(rows: usize, columns: usize) -> Vec<Spec>;

    /// The learner of a spec.
    fn learner(spec: &Spec) -> Result<Box<dyn Learner<Self>>> {
        let entries = Self::entries();
        if let Some(entry) = entries.iter().find(|entry| entry.kind == spec.kind) {
            return (entry.build)(spec);
        }
        let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind).collect();
        let expected = format!("a learner of {}: {}", Self::NAME, kinds.join(", "));
        Err(Error::param("model", expected, &spec.kind))
    }
}

impl Library for Density {
    fn entries() -> Vec<Entry<Self>> {
        vec![
            entry::<_, Gaussian>("gaussian", "one Gaussian", |spec| {
                Ok(Box::new(spec.read::<Gaussian>()?))
            }),
            entry::<_, KernelDensity>(
                "kernel",
                "product-kernel density; a list of bandwidths is a ladder",
                |spec| Ok(Box::new(spec.read::<KernelDensity>()?)),
            ),
            entry::<_, GaussianMixture>(
                "mixture",
                "Gaussian mixture by MAP-EM; a list of components is a ladder",
                |spec| Ok(Box::new(spec.read::<GaussianMixture>()?)),
            ),
            Entry {
                kind: "averaged",
                about: "the average of several fits of another density: of=SPEC",
                defaults: defaults::<Averaging>(),
                build: |spec| {
                    let (of, spec) = nested(spec, "of")?;
                    let of: Arc<dyn Learner<Density>> = Density::learner(&of)?.into();
                    Ok(Box::new(Averaged::of(of, spec.read()?)))
                },
            },
            encoded_entry(),
            stack_entry(),
        ]
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<FittedGaussian>()
            .with::<FittedKernel>()
            .with::<FittedMixture>()
            .with::<FittedAverage>()
            .with::<FittedEncoded<Density>>()
            .with::<Ensemble<Density>>()
    }

    /// A ladder of kernels (their matrix costs the square of the rows: not for many), mixtures of growing size as far as
    /// the rows feed them, full and diagonal, and an averaged mixture.
    fn usual_members(rows: usize, columns: usize) -> Vec<Spec> {
        let fed = |k: &usize| *k == 1 || k * 5 * (columns + 1) <= rows;
        let full: Vec<usize> = [1, 2, 4, 8].into_iter().filter(fed).collect();
        let diagonal: Vec<usize> = [2, 4, 8, 16].into_iter().filter(fed).collect();
        let mut members = Vec::new();
        if rows <= 30_000 {
            members.push("kernel(bandwidth=[0.1, 0.2, 0.4, 0.8])".to_string());
        }
        members.push(format!("mixture(components={full:?})"));
        if !diagonal.is_empty() {
            members.push(format!("mixture(components={diagonal:?}, covariance=diagonal)"));
            let k = full.last().copied().unwrap_or(1).min(4);
            members.push(format!("averaged(of=mixture(components={k}), fits=10)"));
        }
        members
            .iter()
            .map(|text| Spec::parse(text).expect("the library's own specs are right"))
            .collect()
    }
}

impl Library for Classification {
    fn entries() -> Vec<Entry<Self>> {
        vec![
            entry::<_, ClassFrequencies>(
                "class-frequencies",
                "the classes' frequencies, whatever the inputs",
                |spec| Ok(Box::new(Simple(spec.read::<ClassFrequencies>()?))),
            ),
            Entry {
                kind: "bayes",
                about: "Bayes classifier: one density per class, density=SPEC",
                defaults: Map::new(),
                build: |spec| {
                    let (density, rest) = nested(spec, "density")?;
                    rest.read::<NoParameters>()?;
                    Ok(Box::new(BayesClassifier::new(Density::learner(&density)?)))
                },
            },
            encoded_entry(),
            stack_entry(),
        ]
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<Simple<FittedFrequencies>>()
            .with::<FittedBayes>()
            .with::<FittedEncoded<Classification>>()
            .with::<Ensemble<Classification>>()
    }

    fn usual_members(_rows: usize, _columns: usize) -> Vec<Spec> {
        let members = [
            "class-frequencies",
            "bayes(density=gaussian)",
            "bayes(density=mixture(components=2))",
        ];
        members
            .iter()
            .map(|text| Spec::parse(text).expect("the library's own specs are right"))
            .collect()
    }
}

impl Library for Regression {
    fn entries() -> Vec<Entry<Self>> {
        vec![
            entry::<_, Mean>("mean", "the mean of the target, whatever the inputs", |spec| {
                Ok(Box::new(Simple(spec.read::<Mean>()?)))
            }),
            encoded_entry(),
            stack_entry(),
        ]
    }

    fn registry() -> Registry<Self> {
        Registry::default()
            .with::<Simple<FittedMean>>()
            .with::<FittedEncoded<Regression>>()
            .with::<Ensemble<Regression>>()
    }

    fn usual_members(_rows: usize, _columns: usize) -> Vec<Spec> {
        vec![Spec { kind: "mean".into(), parameters: Map::new() }]
    }
}

/// For learners whose only parameters are other learners.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParameters {}

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
fn nested(spec: &Spec, name: &str) -> Result<(Spec, Spec)> {
    let mut outer = spec.clone();
    let inner = outer.parameters.remove(name);
    let what = format!("{name} in {}", spec.kind);
    match inner {
        Some(Value::Object(object)) => Ok((Spec::from_object(object)?, outer)),
        Some(Value::String(kind)) => Ok((Spec { kind, parameters: Map::new() }, outer)),
        Some(other) => {
            Err(Error::param(&what, "a model such as gaussian or mixture(components=2)", other))
        }
        None => Err(Error::param(&what, "given", "missing")),
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

/// Stacks nest: `stack(members=[SPEC, ..])` is a learner of every task.
fn stack_entry<T: Library>() -> Entry<T> {
    Entry {
        kind: "stack",
        about: "a stack inside a stack: members=[SPEC, ..]",
        defaults: Map::new(),
        build: |spec| {
            let mut rest = spec.clone();
            let Some(Value::Array(members)) = rest.parameters.remove("members") else {
                return Err(Error::param("members in stack", "a list of models", "missing"));
            };
            rest.read::<NoParameters>()?;
            let member = |value: Value| {
                let carrier = Map::from_iter([("member".to_string(), value)]);
                T::learner(
                    &nested(&Spec { kind: "stack".into(), parameters: carrier }, "member")?.0,
                )
            };
            let members = members.into_iter().map(member).collect::<Result<Vec<_>>>()?;
            Ok(Box::new(Stack::default().members(members)))
        },
    }
}
