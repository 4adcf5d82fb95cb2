//! Serde for long arrays of numbers: their eight bytes each, little-endian, in one piece.
//!
//! Use as `#[serde(with = "dolmen::store::floats")]` on a `Vec<f64>`. Every bit survives, those of NaN and `-inf` too, and
//! reading is a copy instead of a parse.

use serde::{Deserializer, Serializer};

/// Writes the array as bytes.
pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    serializer.serialize_bytes(&bytes)
}

/// Reads the array back.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let bytes: serde_bytes::ByteBuf = serde::Deserialize::deserialize(deserializer)?;
    let (values, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(serde::de::Error::invalid_length(bytes.len(), &"a multiple of 8 bytes"));
    }
    Ok(values.iter().map(|v| f64::from_le_bytes(*v)).collect())
}
