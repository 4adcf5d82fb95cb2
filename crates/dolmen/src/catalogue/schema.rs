//! From the JSON schema of a parameter struct, which a derive makes of its fields, to its parameters.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
use serde_json::{Map, Value};

use super::parameter::{Bound, Choice, Kind, Parameter, Range};
use crate::spec::MODEL;

/// The parameters of a struct with these defaults.
pub(super) fn parameters<P: JsonSchema>(defaults: Map<String, Value>) -> Vec<Parameter> {
    // The form in which parameters are written is the one that shows all fields, also of a struct that is read in steps.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.contract = Contract::Serialize;
    });
    let schema = settings.into_generator().into_root_schema_for::<P>();
    let properties = properties(schema.as_value());
    let parameter = |(name, default): (String, Value)| {
        let schema =
            properties.and_then(|properties| properties.get(&name)).unwrap_or(&Value::Null);
        Parameter { default, required: false, ..described(&name, schema) }
    };
    defaults.into_iter().map(parameter).collect()
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn described(name: &str, schema: &Value) -> Parameter {
    Parameter {
        range: range(schema),
        ..Parameter::new(name, &about(schema), kind(schema).unwrap_or(Kind::Text))
    }
}

/// The doc comment as one line of plain text.
fn about(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let plain = text.replace("\\[", "[").replace("\\]", "]").replace("[`", "").replace("`]", "");
    plain.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a value can be; `None` for the null of an optional parameter.
fn kind(schema: &Value) -> Option<Kind> {
    if schema.get("format").and_then(Value::as_str) == Some(MODEL) {
        return Some(Kind::Model);
    }
    if let Some(name) = schema.get("const").and_then(Value::as_str) {
        return Some(Kind::OneOf(vec![Choice { name: name.into(), about: about(schema) }]));
    }
    if let Some(Value::Array(words)) = schema.get("enum") {
        let words = words.iter().filter_map(Value::as_str);
        let choice = |name: &str| Choice { name: name.into(), about: String::new() };
        return Some(Kind::OneOf(words.map(choice).collect()));
    }
    let several = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    if let Some(Value::Array(schemas)) = several {
        return either(schemas.iter().filter_map(kind));
    }
    match schema.get("type") {
        Some(Value::Array(types)) => {
            either(types.iter().filter_map(|of| of_type(of.as_str()?, schema)))
        }
        Some(Value::String(of)) => of_type(of, schema),
        _ => None,
    }
}

fn of_type(of: &str, schema: &Value) -> Option<Kind> {
    Some(match of {
        "integer" => Kind::Whole,
        "number" => Kind::Number,
        "boolean" => Kind::Flag,
        "array" => Kind::ListOf(Box::new(schema.get("items").and_then(kind).unwrap_or(Kind::Text))),
        "object" => {
            let parts = properties(schema).into_iter().flatten();
            Kind::Parts(parts.map(|(name, schema)| described(name, schema)).collect())
        }
        "null" => return None,
        _ => Kind::Text,
    })
}

/// One of several; words that stand side by side are one choice of words.
fn either(kinds: impl Iterator<Item = Kind>) -> Option<Kind> {
    let mut found: Vec<Kind> = Vec::new();
    for kind in kinds {
        match (found.last_mut(), kind) {
            (Some(Kind::OneOf(words)), Kind::OneOf(more)) => words.extend(more),
            (_, kind) => found.push(kind),
        }
    }
    if found.len() > 1 { Some(Kind::Either(found)) } else { found.pop() }
}

/// The bounds of a number, wherever they stand: beside the field, or at what it is one of or a list of.
fn range(schema: &Value) -> Option<Range> {
    let bound = |name: &str, included| {
        schema.get(name).and_then(Value::as_f64).map(|at| Bound { at, included })
    };
    let from = bound("minimum", true).or_else(|| bound("exclusiveMinimum", false));
    let to = bound("maximum", true).or_else(|| bound("exclusiveMaximum", false));
    if from.is_some() || to.is_some() {
        return Some(Range { from, to });
    }
    let several = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    several.into_iter().flatten().chain(schema.get("items")).find_map(range)
}
