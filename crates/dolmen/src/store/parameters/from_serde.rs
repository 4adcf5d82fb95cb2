//! Parameters of whatever serde can write: for models that do not say themselves what they consist of.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Parameters, Value};

impl Parameters {
    /// The fields of a value, by their names; a value without fields is the one entry `value`. Lists of numbers and those
    /// stored as [`floats`](crate::store::floats) are arrays; what is absent is left out.
    pub fn of(kind: &str, value: &impl Serialize) -> Self {
        let read = |bytes: Vec<u8>| rmp_serde::from_slice::<Read>(&bytes).ok();
        // What serde cannot write has nothing to show either: such a model cannot be stored.
        let read = rmp_serde::to_vec_named(value).ok().and_then(read);
        let found = match read.and_then(|read| read.0) {
            None => Vec::new(),
            Some(Value::Parts(parts)) => parts.entries,
            Some(value) => vec![("value".into(), value)],
        };
        Self { kind: kind.into(), entries: found }
    }
}

/// A value as it was written, if it is not absent.
struct Read(Option<Value>);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Anything).map(Self)
    }
}

struct Anything;

impl<'de> Visitor<'de> for Anything {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Option<Value>, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Option<Value>, E> {
        Ok(Some(Value::Flag(flag)))
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Option<Value>, E> {
        Ok(Some(Value::Whole(whole)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Option<Value>, E> {
        Ok(Some(Value::Number(number as f64)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Option<Value>, E> {
        Ok(Some(Value::Number(number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Option<Value>, E> {
        Ok(Some(Value::Text(text.into())))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Option<Value>, E> {
        let (floats, rest) = bytes.as_chunks::<8>();
        let values: Vec<f64> = if rest.is_empty() {
            floats.iter().map(|float| f64::from_le_bytes(*float)).collect()
        } else {
            bytes.iter().copied().map(f64::from).collect()
        };
        Ok(Some(values.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Option<Value>, A::Error> {
        let mut values = Vec::new();
        while let Some(Read(value)) = seq.next_element()? {
            values.extend(value);
        }
        let number = |value: &Value| match value {
            Value::Number(number) => Some(*number),
            Value::Whole(whole) => Some(*whole as f64),
            _ => None,
        };
        let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
        Ok(Some(numbers.map_or(Value::List(values), Value::from)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<Value>, A::Error> {
        let mut entries = Vec::new();
        while let Some((name, Read(value))) = map.next_entry::<String, Read>()? {
            entries.extend(value.map(|value| (name, value)));
        }
        Ok(Some(Value::Parts(Parameters { kind: String::new(), entries })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Model {
        #[serde(with = "crate::store::floats")]
        long: Vec<f64>,
        short: Vec<f64>,
        absent: Option<f64>,
        name: &'static str,
        count: usize,
        inner: Inner,
    }

    #[derive(Serialize)]
    enum Inner {
        Steps { at: f64 },
    }

    #[test]
    fn fields_are_entries() {
        let (long, short) = (vec![f64::NEG_INFINITY, 2.0], vec![1.5]);
        let inner = Inner::Steps { at: 0.25 };
        let model = Model { long, short, absent: None, name: "a", count: 3, inner };
        let found = Parameters::of("mine", &model);
        assert_eq!(found.array("long"), Some((&[2][..], &[f64::NEG_INFINITY, 2.0][..])));
        assert_eq!(found.array("short"), Some((&[1][..], &[1.5][..])));
        assert_eq!((found.get("absent"), found.number("count")), (None, Some(3.0)));
        assert_eq!(found.text("name"), Some("a"));
        let steps = found.part("inner").and_then(|inner| inner.part("Steps")).unwrap();
        assert_eq!(steps.number("at"), Some(0.25));
        assert_eq!(Parameters::of("bare", &2.5).number("value"), Some(2.5));
    }

    #[test]
    fn the_written_form_is_read_back_with_every_number() {
        let inner = Parameters::new("inner").with("name", "-inf").with("yes", true);
        let bound = [f64::INFINITY, -1.0, 0.1, f64::NEG_INFINITY];
        let written = Parameters::new("outer")
            .with("log", f64::NEG_INFINITY)
            .with("count", 7_usize)
            .with_array("bounds", &[2, 2], bound)
            .with("parts", vec![inner.clone(), inner])
            .with("names", &vec!["inf".to_string(), String::new()])
            .with_some("none", None::<f64>);
        let json = serde_json::to_string(&written).unwrap();
        assert_eq!(serde_json::from_str::<Parameters>(&json).unwrap(), written, "{json}");
        let packed = rmp_serde::to_vec_named(&written).unwrap();
        assert_eq!(rmp_serde::from_slice::<Parameters>(&packed).unwrap(), written);
        assert!(serde_json::from_str::<Value>(r#"{"shape":[3],"values":[1]}"#).is_err());
        assert!(serde_json::from_str::<Parameters>(r#"{"slope":1}"#).is_err());
    }
}
