//! Results as JSON, with the numbers that JSON has no form for.
//!
//! `serde_json` writes infinite numbers as `null`, and then a density of nothing (`-inf`) cannot be told from a missing value.
//! So a result takes the way through MessagePack, which keeps every number, and is written from there: infinite numbers
//! as the texts `"inf"` and `"-inf"`, missing ones as `null`.

use std::fmt;
use std::io::{self, Write};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Writes a result as one document, on lines that people can read.
pub(crate) fn write(result: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let packed = rmp_serde::to_vec_named(result).map_err(io::Error::other)?;
    let document: Node = rmp_serde::from_slice(&packed).map_err(io::Error::other)?;
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// A part of a document; objects keep the order of their keys.
enum Node {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Signed(value) => to.serialize_i64(*value),
            Self::Unsigned(value) => to.serialize_u64(*value),
            Self::Float(value) if value.is_infinite() => to.collect_str(value),
            Self::Float(value) => to.serialize_f64(*value),
            Self::Text(text) => to.serialize_str(text),
            Self::List(nodes) => to.collect_seq(nodes),
            Self::Object(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, node) in entries {
                    map.serialize_entry(key, node)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part of a result")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Signed(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Unsigned(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.into()))
    }

    /// Long arrays of numbers are stored as their bytes (`dolmen::store::floats`).
    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Node, E> {
        let (values, _) = bytes.as_chunks::<8>();
        Ok(Node::List(values.iter().map(|v| Node::Float(f64::from_le_bytes(*v))).collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = list.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Object(entries))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(serde::Serialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        FirstOne,
        Other(f64),
    }

    #[derive(serde::Serialize)]
    struct Inner {
        scores: Vec<f64>,
        missing: Option<f64>,
    }

    #[derive(serde::Serialize)]
    struct Outer {
        zeta: u64,
        #[serde(flatten)]
        inner: Inner,
        kinds: [Kind; 2],
        figures: BTreeMap<&'static str, f64>,
        negative: i32,
        #[serde(with = "dolmen::store::floats")]
        long: Vec<f64>,
    }

    #[test]
    fn every_number_survives_and_keys_keep_their_order() {
        let outer = Outer {
            zeta: u64::MAX,
            inner: Inner {
                scores: vec![0.1, 2.0, f64::NEG_INFINITY, f64::INFINITY, f64::NAN],
                missing: None,
            },
            kinds: [Kind::FirstOne, Kind::Other(0.5)],
            figures: BTreeMap::from([("auc", 1.0)]),
            negative: -3,
            long: vec![1.5, f64::INFINITY],
        };
        let mut out = Vec::new();
        write(&outer, &mut out).unwrap();
        let text: String = String::from_utf8(out).unwrap().split_whitespace().collect();
        let expected = r#"{"zeta":18446744073709551615,"scores":[0.1,2.0,"-inf","inf",null],"missing":null,"kinds":["first-one",{"other":0.5}],"figures":{"auc":1.0},"negative":-3,"long":[1.5,"inf"]}"#;
        assert_eq!(text, expected);
    }
}
