//! Writing the short text of a spec, so that reading it gives the same spec.

use std::fmt::{self, Write};

use serde_json::{Number, Value};

use super::parse::{is_part_of_word, plain};
use super::{KIND, Spec};

/// The canonical text: `kind`, or `kind(name=value, ..)` with the parameters in their order.
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.kind.clone();
        // A parameter may be called `kind` too, as that of a plan in order of time.
        enclosed(&mut text, self.parameters.iter(), ['(', ')']);
        f.pad(&text)
    }
}

/// A parameter's value as specs write it.
///
/// ```
/// use serde_json::json;
///
/// let written = dolmen::spec::value(&json!([1.0, 1e-10, "two words", {"kind": "mixture", "components": 2}]));
/// assert_eq!(written, "[1, 1e-10, 'two words', mixture(components=2)]");
/// ```
pub fn value(value: &Value) -> String {
    let mut text = String::new();
    put(&mut text, value);
    text
}

/// A number in its shortest form that people read at sight: `4`, `0.05`, `1e-10`.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-4..1e7).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

fn put(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("none"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(given) => put_number(text, given),
        Value::String(given) => put_text(text, given),
        Value::Array(list) => {
            text.push('[');
            for (i, value) in list.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { ", " });
                put(text, value);
            }
            text.push(']');
        }
        Value::Object(fields) => match fields.get(KIND) {
            Some(Value::String(kind)) if is_word(kind) => {
                text.push_str(kind);
                enclosed(text, fields.iter().filter(|(name, _)| *name != KIND), ['(', ')']);
            }
            _ if fields.is_empty() => text.push_str("{}"),
            _ => enclosed(text, fields.iter(), ['{', '}']),
        },
    }
}

fn put_number(text: &mut String, given: &Number) {
    match given.as_f64() {
        Some(value) if given.is_f64() => text.push_str(&number(value)),
        _ => write!(text, "{given}").expect("a String takes all text"),
    }
}

/// A word as it is, unless it would be read as something else; other text in quotes.
fn put_text(text: &mut String, given: &str) {
    if is_word(given) && plain(given.into()).is_string() {
        text.push_str(given);
        return;
    }
    let quote = if given.contains('\'') && !given.contains('"') { '"' } else { '\'' };
    text.push(quote);
    for c in given.chars() {
        text.push(c);
        if c == quote {
            text.push(c);
        }
    }
    text.push(quote);
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_part_of_word)
}

/// `(name=value, ..)`, nothing if there is none.
fn enclosed<'a>(
    text: &mut String,
    parameters: impl Iterator<Item = (&'a String, &'a Value)>,
    [open, close]: [char; 2],
) {
    let mut separator = None;
    for (name, value) in parameters {
        match separator {
            None => text.push(open),
            Some(separator) => text.push_str(separator),
        }
        separator = Some(", ");
        text.push_str(name);
        text.push('=');
        put(text, value);
    }
    if separator.is_some() {
        text.push(close);
    }
}
