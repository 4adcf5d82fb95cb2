//! The names of members: a learner's kind and what differs from its default.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Spec;

impl Spec {
    /// A kind with all parameters at their defaults.
    pub fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), parameters: Map::new() }
    }

    /// The spec of a learner from its parameter struct: what differs from the default, in the order of the fields.
    ///
    /// ```
    /// use dolmen::learner::tree::Boost;
    /// use dolmen::spec::Spec;
    ///
    /// let slow = Boost { rate: 0.05, rounds: Some(500), ..Boost::default() };
    /// assert_eq!(Spec::of("boost", &slow).to_string(), "boost(rounds=500, rate=0.05)");
    /// ```
    pub fn of<P: Serialize + Default>(kind: &str, parameters: &P) -> Self {
        let defaults = fields(&P::default());
        let differs = |(name, value): &(String, Value)| {
            !value.is_null() && !defaults.get(name).is_some_and(|default| same(value, default))
        };
        let parameters = fields(parameters).into_iter().filter(differs).collect();
        Self { kind: kind.into(), parameters }
    }

    /// The same for one rung of a ladder: the ladder's parameter always stands in its name, so that a rung is called the
    /// same alone and among others.
    pub fn rung<P: Serialize + Default>(
        kind: &str,
        parameters: &P,
        ladder: &str,
        value: impl Into<Value>,
    ) -> Self {
        let mut differing = Self::of(kind, parameters).parameters;
        let mut value = Some(value.into());
        let mut in_order = Map::new();
        for (name, _) in fields(parameters) {
            let own = if name == ladder { value.take() } else { differing.remove(&name) };
            in_order.extend(own.map(|own| (name, own)));
        }
        Self { kind: kind.into(), parameters: in_order }
    }

    /// The same for a learner made of another, whose name (or those of several) is its first parameter.
    pub fn around<P: Serialize + Default>(
        kind: &str,
        parameters: &P,
        of: &str,
        inner: impl Into<Value>,
    ) -> Self {
        let mut all = Map::from_iter([(of.to_string(), inner.into())]);
        all.extend(Self::of(kind, parameters).parameters);
        Self { kind: kind.into(), parameters: all }
    }

    /// With one more parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// A member's name as the value of a parameter: the spec it is, or plain text if it is none.
    pub fn nested(name: &str) -> Value {
        match Self::parse(name) {
            Ok(spec) => spec.into(),
            Err(_) => name.into(),
        }
    }
}

/// A spec as the value of a parameter: its kind alone where it has no parameters.
impl From<Spec> for Value {
    fn from(spec: Spec) -> Self {
        if spec.parameters.is_empty() {
            return Self::String(spec.kind);
        }
        Self::Object(spec.to_object())
    }
}

/// The fields of a struct, in their order.
fn fields(parameters: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(parameters) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Whether two values are the same; 1 is the same as 1.0.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let other = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| same(a, b));
            a.len() == b.len() && a.iter().all(other)
        }
        _ => a == b,
    }
}
