//! Numbers as the program's JSON spells them: `"inf"` and `"-inf"` for infinite ones, `null` for those that are not known.

use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Spelled {
    Number(f64),
    Text(String),
    Nothing,
}

impl Spelled {
    fn value<E: serde::de::Error>(self) -> Result<f64, E> {
        match self {
            Self::Number(value) => Ok(value),
            Self::Text(text) if text == "inf" => Ok(f64::INFINITY),
            Self::Text(text) if text == "-inf" => Ok(f64::NEG_INFINITY),
            Self::Text(text) => Err(E::custom(format!("expected a number, found '{text}'"))),
            Self::Nothing => Ok(f64::NAN),
        }
    }
}

pub(super) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Spelled::deserialize(from)?.value()
}

pub(super) fn numbers<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    Vec::<Spelled>::deserialize(from)?.into_iter().map(Spelled::value).collect()
}
