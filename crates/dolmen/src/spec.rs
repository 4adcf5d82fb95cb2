//! Model specs: the short text that names a learner and its parameters, the same on the command line, in files and in
//! Python.
//!
//! ```text
//! kernel                                   all parameters at their defaults
//! mixture(components=[2,4,8], beta=0.01)   a list makes one member per value
//! averaged(of=mixture(components=4), copies=20)
//! ```

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use crate::error::{Error, Result};

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
/// Specs nest, but not deeper than anyone writes: the parser must not run out of stack on hostile input.
const DEEPEST: usize = 16;

impl Spec {
    /// Reads `kind` or `kind(name=value, ...)`.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = Parser { text, at: 0 };
        let spec = parser.spec(0)?;
        parser.skip_space();
        if parser.at < text.len() {
            return Err(parser.unexpected("the end of the spec"));
        }
        Ok(spec)
    }

    /// Reads an object with the key `kind`.
    pub fn from_object(mut object: Map<String, Value>) -> Result<Self> {
        match object.remove(KIND) {
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
            let (found, expected) = error.split_once(", expected ")?;
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
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let what = format!("a parameter of {}", self.kind);
        if known.is_empty() {
            return Some(Error::param(&what, "left out: it has none", name));
        }
        let expected = format!("one of {}", known.join(", "));
        Some(Error::param(&what, expected, name).suggesting(name, known))
    }
}

/// The short text: `kind` or `kind(name=value, ...)`, which [`Spec::parse`] reads back.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if self.parameters.is_empty() {
            return Ok(());
        }
        let shown: Vec<String> = self
            .parameters
            .iter()
            .map(|(name, value)| format!("{name}={}", shown(value)))
            .collect();
        write!(f, "({})", shown.join(", "))
    }
}

/// A value as it stands in the short text.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if is_word(text) => text.clone(),
        Value::String(text) if text.contains('\'') => format!("\"{text}\""),
        Value::String(text) => format!("'{text}'"),
        Value::Array(list) => {
            format!("[{}]", list.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        Value::Object(object) => match Spec::from_object(object.clone()) {
            Ok(spec) if spec.parameters.is_empty() => spec.kind,
            Ok(spec) => spec.to_string(),
            Err(_) => value.to_string(),
        },
        other => other.to_string(),
    }
}

/// Whether a text is read back as itself without quotes.
fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| c.is_alphanumeric() || "_-+.".contains(c))
        && plain(text.into()) == Value::String(text.into())
}

/// As the short text.
impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// From the short text, or from an object with the key `kind`.
impl<'de> Deserialize<'de> for Spec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match Value::deserialize(deserializer)? {
            Value::String(text) => Self::parse(&text),
            Value::Object(object) => Self::from_object(object),
            other => Err(Error::param("a model", "a text such as ridge(lambda=1)", other)),
        };
        read.map_err(serde::de::Error::custom)
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes the next character if it is this one.
    fn take(&mut self, expected: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(expected);
        self.at += if found { expected.len_utf8() } else { 0 };
        found
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found = match self.rest().chars().next() {
            Some(c) => format!("'{c}' at character {}", self.text[..self.at].chars().count() + 1),
            None => "its end".into(),
        };
        Error::param(
            &format!("the spec '{}'", self.text),
            format!("continued by {expected}"),
            found,
        )
    }

    /// Letters, digits and the marks that names, numbers and plain words are made of.
    fn word(&mut self, expected: &str) -> Result<String> {
        self.skip_space();
        let is_part = |c: char| c.is_alphanumeric() || "_-+.".contains(c);
        let length = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.unexpected(expected));
        }
        let word = self.rest()[..length].to_string();
        self.at += length;
        Ok(word)
    }

    fn spec(&mut self, depth: usize) -> Result<Spec> {
        let kind = self.word("the name of a learner")?;
        let mut parameters = Map::new();
        if self.take('(') {
            self.parameters(&mut parameters, depth)?;
        }
        Ok(Spec { kind, parameters })
    }

    /// `name=value, ...)`; the opening parenthesis is taken.
    fn parameters(&mut self, parameters: &mut Map<String, Value>, depth: usize) -> Result<()> {
        while !self.take(')') {
            let name = self.word("a parameter's name or ')'")?;
            if !self.take('=') {
                return Err(self.unexpected("'='"));
            }
            let value = self.value(depth + 1)?;
            if parameters.insert(name.clone(), value).is_some() {
                return Err(Error::param(&name, "given once", "given twice"));
            }
            if !self.take(',') && !self.rest().starts_with(')') {
                return Err(self.unexpected("',' or ')'"));
            }
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > DEEPEST {
            return Err(self.unexpected("fewer nested parts"));
        }
        if self.take('[') {
            let mut list = Vec::new();
            while !self.take(']') {
                list.push(self.value(depth + 1)?);
                if !self.take(',') && !self.rest().starts_with(']') {
                    return Err(self.unexpected("',' or ']'"));
                }
            }
            return Ok(Value::Array(list));
        }
        for quote in ['"', '\''] {
            if self.take(quote) {
                return self.quoted(quote);
            }
        }
        let word = self.word("a value")?;
        if self.take('(') {
            let mut parameters = Map::new();
            self.parameters(&mut parameters, depth + 1)?;
            return Ok(Value::Object(Spec { kind: word, parameters }.to_object()));
        }
        Ok(plain(word))
    }

    fn quoted(&mut self, quote: char) -> Result<Value> {
        let Some(length) = self.rest().find(quote) else {
            self.at = self.text.len();
            return Err(self.unexpected("a closing quote"));
        };
        let text = self.rest()[..length].to_string();
        self.at += length + quote.len_utf8();
        Ok(Value::String(text))
    }
}

/// A word as what it looks like: true, false, a number, or text.
fn plain(word: String) -> Value {
    if let Ok(whole) = word.parse::<i64>() {
        return Value::Number(whole.into());
    }
    match (word.as_str(), word.parse::<f64>().ok().and_then(Number::from_f64)) {
        ("true", _) => Value::Bool(true),
        ("false", _) => Value::Bool(false),
        (_, Some(number)) => Value::Number(number),
        _ => Value::String(word),
    }
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

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
            let _ = Spec::parse(&text);
        }
    }
}
