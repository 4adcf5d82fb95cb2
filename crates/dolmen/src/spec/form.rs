//! Specs in files and in other specs: written as their short text, read from that or from an object with the key `kind`.

use std::borrow::Cow;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::Spec;
use crate::error::Error;

/// The format by which a schema says that a value is a spec.
pub(crate) const MODEL: &str = "model";

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl TryFrom<Value> for Spec {
    type Error = Error;

    fn try_from(value: Value) -> Result<Self, Error> {
        match value {
            Value::Object(object) => Self::from_object(object),
            Value::String(text) => Self::parse(&text),
            other => {
                let expected = "a model such as gaussian or mixture(components=2)";
                Err(Error::param("a spec", expected, other))
            }
        }
    }
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'d> Deserialize<'d> for Spec {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// So that parameter structs may hold specs of other learners.
impl JsonSchema for Spec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Spec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"], "format": MODEL })
    }
}
