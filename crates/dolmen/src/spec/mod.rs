//! Model specs: the short text that names a learner and its parameters, the same on the command line, in files and in
//! Python.
//!
//! ```text
//! kernel                                   all parameters at their defaults
//! mixture(components=[2,4,8], beta=0.01)   a list makes one member per value
//! averaged(of=mixture(components=4), fits=20)
//! ode(root='petal length')                 quotes around what is not one word; a quote within is written twice
//! kernel(bandwidth={absolute=[0.5, 2]})    braces around parts that have names
//! ```
//!
//! A member's name is such a text, too: its kind and what differs from the default ([`Spec::of`]).

mod form;
mod name;
mod parse;
mod write;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use form::MODEL;
pub(crate) use name::same;
pub use write::{number, value};

use crate::error::{Error, Result};
use parse::Parser;

/// A learner's kind and its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    /// The kind, e.g. `mixture`.
    pub kind: String,
    /// The parameters that are not left at their defaults.
    pub parameters: Map<String, Value>,
}

/// The key that holds the kind where a spec is written as an object (files, nested specs).
const KIND: &str = "kind";

impl Spec {
    /// Reads `kind` or `kind(name=value, ...)`.
    pub fn parse(text: &str) -> Result<Self> {
        Parser::new(text).whole()
    }

    /// Reads an object with the key `kind`.
    pub fn from_object(mut object: Map<String, Value>) -> Result<Self> {
        match object.shift_remove(KIND) {
            Some(Value::String(kind)) => Ok(Self { kind, parameters: object }),
            Some(other) => Err(Error::param("kind", "the name of a learner", other)),
            None => Err(Error::param("a model", "an object with the key 'kind'", "without one")),
        }
    }

    /// The object form.
    pub fn to_object(&self) -> Map<String, Value> {
        let mut object = self.parameters.clone();
        object.insert(KIND.into(), Value::String(self.kind.clone()));
        object
    }

    /// The parameters as a learner's own struct; unknown names are refused.
    pub fn read<P: DeserializeOwned>(&self) -> Result<P> {
        serde_json::from_value(Value::Object(self.parameters.clone())).map_err(|e| {
            self.misread::<P>().or_else(|| self.unknown(&e.to_string())).unwrap_or_else(|| {
                let what = format!("the spec of '{}'", self.kind);
                Error::param(&what, "its parameters", format!("not: {e}"))
            })
        })
    }

    /// Which parameter has a value that is none, if a known one has.
    fn misread<P: DeserializeOwned>(&self) -> Option<Error> {
        self.parameters.iter().find_map(|(name, value)| {
            let alone = Map::from_iter([(name.clone(), value.clone())]);
            let error = serde_json::from_value::<P>(Value::Object(alone)).err()?.to_string();
            // Values of several forms say only what they may be.
            let forms = || error.strip_prefix("expected ").map(|expected| ("", expected));
            let (found, expected) = error.split_once(", expected ").or_else(forms)?;
            let expected = match expected {
                "f64" => "a number",
                "usize" | "u64" | "u32" => "a whole number",
                "a sequence" => "a list",
                other => other,
            };
            let what = format!("{name} in {}", self.kind);
            (!found.starts_with("unknown field")).then(|| Error::param(&what, expected, value))
        })
    }
}

impl Spec {
    /// A parameter that there is not, from what serde says of it.
    fn unknown(&self, message: &str) -> Option<Error> {
        let (name, rest) = message.strip_prefix("unknown field `")?.split_once('`')?;
        Some(unknown_parameter(&self.kind, name, rest.split('`').skip(1).step_by(2).collect()))
    }
}

/// The error of a parameter that whatever has this name does not know.
pub(crate) fn unknown_parameter(kind: &str, name: &str, known: Vec<&str>) -> Error {
    let what = format!("a parameter of {kind}");
    if known.is_empty() {
        return Error::param(&what, "left out: it has none", name);
    }
    Error::param(&what, format!("one of {}", known.join(", ")), name).suggesting(name, known)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn specs_are_read_as_they_are_meant() {
        let spec =
            Spec::parse(" kernel( shape = triangular, bandwidth=[0.1, 4 ,1e-2,], exact=true )")
                .unwrap();
        assert_eq!(spec.kind, "kernel");
        let expected = json!({"shape": "triangular", "bandwidth": [0.1, 4, 0.01], "exact": true});
        assert_eq!(Value::Object(spec.parameters), expected);
        assert_eq!(Spec::parse("ridge").unwrap().parameters.len(), 0);
        let nested = Spec::parse("averaged(of=mixture(components=4), copies=20)").unwrap();
        assert_eq!(nested.parameters["of"], json!({"kind": "mixture", "components": 4}));
        assert_eq!(Spec::parse("a(b='x, y')").unwrap().parameters["b"], json!("x, y"));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        let message = |text: &str| Spec::parse(text).unwrap_err().to_string();
        assert!(message("kernel(shape triangular)").contains("'t' at character 14"));
        assert!(message("kernel(h=[1,2)").contains("',' or ']'"));
        assert!(message("kernel(h=1").contains("its end"));
        assert!(message("kernel(h=1, h=2)").contains("twice"));
        assert!(message("kernel(h='x").contains("closing quote"));
        assert!(message("").contains("name of a learner"));
        assert!(message("kernel) ").contains("end of the spec"));
        assert!(message(&format!("a(b={}", "[".repeat(100_000))).contains("nested"));
    }

    #[test]
    fn specs_are_written_as_they_are_read() {
        for text in [
            "kernel",
            "kernel(bandwidth=[0.1, 4, 1e-10], shape=triangular)",
            "averaged(of=mixture(components=4), fits=20)",
            "ode(root='petal length')",
            "ode(root=\"it's\")",
            "ode(root='both '' and \"')",
            "ode(root='12')",
            "kernel(bandwidth={absolute=[0.5, 2]})",
            "stack(members=[gaussian, kernel(bandwidth=cv)], combiner=pseudo-bma+)",
        ] {
            let spec = Spec::parse(text).unwrap();
            assert_eq!(spec.to_string(), text);
            let stored = serde_json::to_value(&spec).unwrap();
            assert_eq!(stored, json!(text));
            assert_eq!(serde_json::from_value::<Spec>(stored).unwrap(), spec);
            let object = Value::Object(spec.to_object());
            assert_eq!(serde_json::from_value::<Spec>(object).unwrap(), spec);
        }
        assert!(serde_json::from_value::<Spec>(json!({"components": 2})).is_err());
        assert!(serde_json::from_value::<Spec>(json!("mixture(")).is_err());
    }

    /// Whatever a parameter may be.
    fn any_value() -> impl Strategy<Value = Value> {
        let one = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            proptest::num::f64::NORMAL.prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            "[a-z0-9'\" ]{0,5}".prop_map(Value::from),
        ];
        one.prop_recursive(3, 24, 4, |inner| {
            let fields = proptest::collection::btree_map("[a-j]{1,3}", inner.clone(), 0..4);
            prop_oneof![
                proptest::collection::vec(inner, 0..4).prop_map(Value::from),
                fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_spec_comes_back_from_its_text(value in any_value()) {
            let mut spec = Spec::new("some-kind");
            spec.parameters.insert("a".into(), value.clone());
            let read = Spec::parse(&spec.to_string()).unwrap();
            prop_assert!(name::same(&read.parameters["a"], &value), "{spec}");
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = Spec::parse(&text);
        }
    }
}
