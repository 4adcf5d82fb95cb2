//! What the parameters of learners and combiners are, for lists and documentation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A parameter of a learner or a combiner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name in specs.
    pub name: String,
    /// Its value where the spec gives none.
    pub default: Value,
}

impl Parameter {
    /// The fields of a parameter struct.
    pub(super) fn of<P: Default + Serialize>() -> Vec<Self> {
        let fields = match serde_json::to_value(P::default()) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        fields.into_iter().map(|(name, default)| Self { name, default }).collect()
    }
}
