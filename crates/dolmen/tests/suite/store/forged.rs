//! Model files as trees of MessagePack values, so that one value can be changed and the file is otherwise whole.

use std::fmt;

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Magic, format version and checksum of a model file.
const HEADER: usize = 14;

/// A MessagePack value; the body of a record, which is stored as bytes, is a value again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Nil,
    Bool(bool),
    Whole(u64),
    Negative(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Body(Box<Value>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// The document in a model file.
    pub(crate) fn of_file(bytes: &[u8]) -> Self {
        rmp_serde::from_slice::<Self>(&bytes[HEADER..]).unwrap().opened()
    }

    /// A model file with this document, and the right checksum.
    pub(crate) fn to_file(&self) -> Vec<u8> {
        let body = rmp_serde::to_vec(self).unwrap();
        let mut bytes = b"DOLMEN\x02\0\0\0".to_vec();
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// With the bodies of records read.
    fn opened(self) -> Self {
        match self {
            Self::List(items) => Self::List(items.into_iter().map(Self::opened).collect()),
            Self::Map(entries) => {
                let open = |(key, value): (Self, Self)| match (&key, value) {
                    (Self::Text(name), Self::Bytes(bytes)) if name == "body" => {
                        let body: Self = rmp_serde::from_slice(&bytes).unwrap();
                        (key, Self::Body(Box::new(body.opened())))
                    }
                    (_, value) => (key, value.opened()),
                };
                Self::Map(entries.into_iter().map(open).collect())
            }
            other => other,
        }
    }

    /// Numbers of values in it.
    fn count(&self) -> usize {
        1 + match self {
            Self::Body(body) => body.count(),
            Self::List(items) => items.iter().map(Self::count).sum(),
            Self::Map(entries) => entries.iter().map(|(_, value)| value.count()).sum(),
            _ => 0,
        }
    }

    /// Changes one of its values.
    pub(crate) fn mutate(&mut self, rng: &mut ChaCha8Rng) {
        let at = rng.random_range(0..self.count());
        if let Some(value) = self.nth(at) {
            value.change(rng);
        }
    }

    fn nth(&mut self, mut at: usize) -> Option<&mut Self> {
        if at == 0 {
            return Some(self);
        }
        at -= 1;
        let children: Vec<&mut Self> = match self {
            Self::Body(body) => vec![body],
            Self::List(items) => items.iter_mut().collect(),
            Self::Map(entries) => entries.iter_mut().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        };
        for child in children {
            let count = child.count();
            if at < count {
                return child.nth(at);
            }
            at -= count;
        }
        None
    }

    fn change(&mut self, rng: &mut ChaCha8Rng) {
        match self {
            Self::Bool(yes) => *yes = !*yes,
            Self::Whole(_) | Self::Negative(_) => {
                let small = self.whole();
                let choices =
                    [0, 1, 2, 3, 255, 1 << 16, 1 << 32, 1 << 40, u64::MAX, small + 1, small / 2];
                *self = Self::Whole(*choices.choose(rng).unwrap());
            }
            Self::Float(value) => *value = odd_number(*value, rng),
            Self::Text(text) => text.push('x'),
            Self::Bytes(bytes) => change_bytes(bytes, rng),
            Self::Body(_) | Self::Nil => *self = Self::List(Vec::new()),
            Self::List(items) if items.is_empty() => *self = Self::Nil,
            Self::List(items) => {
                let at = rng.random_range(0..items.len());
                match rng.random_range(0..5) {
                    0 => drop(items.remove(at)),
                    1 => items.insert(at, items[at].clone()),
                    2 => items.clear(),
                    3 => items.reverse(),
                    _ => items.truncate(at),
                }
            }
            Self::Map(entries) => {
                if !entries.is_empty() {
                    entries.remove(rng.random_range(0..entries.len()));
                }
            }
        }
    }

    fn whole(&self) -> u64 {
        if let Self::Whole(value) = self { value.saturating_sub(1).min(1 << 20) } else { 0 }
    }
}

fn odd_number(value: f64, rng: &mut ChaCha8Rng) -> f64 {
    let choices = [
        0.0,
        -1.0,
        1e300,
        -1e300,
        5e-324,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -value,
        value * 1e10,
        value + 1.0,
    ];
    *choices.choose(rng).unwrap()
}

/// Bytes are arrays of numbers: shorter, longer, with other numbers in them.
fn change_bytes(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    let at = if bytes.is_empty() { 0 } else { rng.random_range(0..bytes.len()) };
    match rng.random_range(0..7) {
        0 => bytes.truncate(at / 8 * 8),
        1 => bytes.truncate(at),
        2 => bytes.extend([0; 8]),
        3 => bytes.extend(bytes.clone()),
        4 if !bytes.is_empty() => bytes[at] ^= 1 << rng.random_range(0..8),
        _ if bytes.len() >= 8 => {
            let place = at / 8 * 8;
            let number = bytes[place..].first_chunk::<8>().map(|b| f64::from_le_bytes(*b));
            if let Some(number) = number {
                let odd = odd_number(number, rng).to_le_bytes();
                bytes[place..place + 8].copy_from_slice(&odd);
            }
        }
        _ => bytes.clear(),
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Nil => serializer.serialize_unit(),
            Self::Bool(yes) => serializer.serialize_bool(*yes),
            Self::Whole(value) => serializer.serialize_u64(*value),
            Self::Negative(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_bytes(bytes),
            Self::Body(body) => serializer.serialize_bytes(&rmp_serde::to_vec(body).unwrap()),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
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
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<Value, E> {
        Ok(Value::Bool(yes))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Whole(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(u64::try_from(value).map_or(Value::Negative(value), Value::Whole))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Map(entries))
    }
}
