//! One spec of all that mean the same: what differs from the defaults, in the order in which parameters are shown.

use serde_json::{Map, Value};

use super::{Catalogue, Catalogued, Entry, Parameter};
use crate::spec::{Spec, same};
use crate::task::Density;

impl Catalogue {
    /// The spec without what is left at its default, its parameters in the order they are shown, and so within: the name of a
    /// learner that is made of others. What the catalogue does not know stays as it is.
    pub fn canonical<T: Catalogued>(&self, spec: &Spec) -> Spec {
        let Some(parameters) = self.parameters_of::<T>(&spec.kind) else {
            return spec.clone();
        };
        let mut given = spec.parameters.clone();
        let mut kept = Map::new();
        for Parameter { name, default, required, .. } in parameters {
            let Some(value) = given.shift_remove(name) else { continue };
            let value = self.canonical_value::<T>(value);
            if *required || !same(&value, &self.canonical_value::<T>(default.clone())) {
                kept.insert(name.clone(), value);
            }
        }
        kept.extend(given);
        Spec { kind: spec.kind.clone(), parameters: kept }
    }

    /// The same for what a parameter holds: a spec, a list of them, or anything else.
    fn canonical_value<T: Catalogued>(&self, value: Value) -> Value {
        match value {
            Value::Array(list) => {
                list.into_iter().map(|value| self.canonical_value::<T>(value)).collect()
            }
            Value::Object(object) => match Spec::from_object(object.clone()) {
                Ok(spec) => self.canonical::<T>(&spec).into(),
                Err(_) => Value::Object(object),
            },
            Value::String(text) if text.contains('(') => Spec::nested(&text),
            other => other,
        }
    }

    /// The parameters of whatever has this name: a learner of the task, a density within one, or a combiner.
    fn parameters_of<T: Catalogued>(&self, kind: &str) -> Option<&[Parameter]> {
        of_kind(self.learners::<T>(), kind)
            .or_else(|| of_kind(self.learners::<Density>(), kind))
            .or_else(|| of_kind(self.combiners::<T>(), kind))
    }
}

fn of_kind<'a, W: ?Sized>(entries: &'a [Entry<W>], kind: &str) -> Option<&'a [Parameter]> {
    entries.iter().find(|entry| entry.kind() == kind).map(Entry::parameters)
}
