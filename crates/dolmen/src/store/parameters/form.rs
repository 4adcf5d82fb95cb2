//! The written form: a map of the entries with the kind first. Numbers that JSON has no words for are kept as texts: those of
//! arrays in their place, others as `{"number": "-inf"}`, so that no name is taken for a number.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::{Parameters, Value};

pub(super) const KIND: &str = "kind";
const SHAPE: &str = "shape";
const VALUES: &str = "values";
const NUMBER: &str = "number";

impl Serialize for Parameters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.entries.len() + 1))?;
        map.serialize_entry(KIND, &self.kind)?;
        for (name, value) in &self.entries {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Self::Number(number) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry(NUMBER, &Cell(*number))?;
                map.end()
            }
            Self::Whole(whole) => serializer.serialize_u64(*whole),
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Array { shape, values } => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry(SHAPE, shape)?;
                map.serialize_entry(VALUES, &Cells(values))?;
                map.end()
            }
            Self::List(values) => serializer.collect_seq(values),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

/// The numbers of an array.
struct Cells<'a>(&'a [f64]);

impl Serialize for Cells<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|number| Cell(*number)))
    }
}

/// A number, or a text where it is not finite.
struct Cell(f64);

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Parameters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Parts(parts) => Ok(parts),
            _ => Err(de::Error::missing_field(KIND)),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text, a list or a map")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_u64<E>(self, whole: u64) -> Result<Value, E> {
        Ok(Value::Whole(whole))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(u64::try_from(number).map_or(Value::Number(number as f64), Value::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(String, Value)> = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        let mut take = |name: &str| {
            let place = entries.iter().position(|(own, _)| own == name)?;
            Some(entries.remove(place).1)
        };
        if let Some(kind) = take(KIND) {
            let Value::Text(kind) = kind else { return Err(de::Error::missing_field(KIND)) };
            return Ok(Value::Parts(Parameters { kind, entries }));
        }
        if let Some(Value::Text(number)) = take(NUMBER) {
            return number.parse().map(Value::Number).map_err(de::Error::custom);
        }
        let (Some(Value::List(shape)), Some(Value::List(values))) = (take(SHAPE), take(VALUES))
        else {
            return Err(de::Error::missing_field(KIND));
        };
        let whole = |value: &Value| match value {
            Value::Whole(whole) => usize::try_from(*whole).ok(),
            _ => None,
        };
        let shape: Option<Vec<usize>> = shape.iter().map(whole).collect();
        let values: Option<Vec<f64>> = values.iter().map(cell).collect();
        let sized = |shape: &Vec<usize>| shape.iter().try_fold(1, |n: usize, k| n.checked_mul(*k));
        match (shape, values) {
            (Some(shape), Some(values)) if sized(&shape) == Some(values.len()) => {
                Ok(Value::Array { shape, values })
            }
            _ => Err(de::Error::custom("an array whose numbers do not fill its shape")),
        }
    }
}

fn cell(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Whole(whole) => Some(*whole as f64),
        Value::Text(text) => text.parse().ok(),
        _ => None,
    }
}
