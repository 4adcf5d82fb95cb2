//! Lengths of time as people write them: `10m`, `1h30m`, `90s`, `1ms`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::error::{Error, Result};

/// A length of time above 0. A number alone is seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(Duration);

/// The units, longest first, with their nanoseconds.
const UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

/// The longest: a hundred years.
const LONGEST: f64 = 3.2e9;

impl TimeSpan {
    /// So many seconds, above 0.
    pub fn from_seconds(seconds: f64) -> Result<Self> {
        let span = (seconds > 0.0 && seconds <= LONGEST)
            .then(|| Duration::from_secs_f64(seconds))
            .filter(|span| !span.is_zero());
        span.map(Self).ok_or_else(|| refused(&seconds.to_string()))
    }

    /// Its length.
    pub fn duration(self) -> Duration {
        self.0
    }
}

fn refused(got: &str) -> Error {
    Error::param("time", "a length of time above 0, such as 10m, 1h30m, 90s or 1ms", got)
}

impl FromStr for TimeSpan {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut rest = text.trim();
        if let Ok(seconds) = rest.parse::<f64>() {
            return Self::from_seconds(seconds);
        }
        let mut seconds = 0.0;
        while !rest.is_empty() {
            let is_part = |c: char| c.is_ascii_digit() || c == '.';
            let (number, tail) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
            let (unit, tail) =
                tail.split_at(tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len()));
            let known = UNITS.iter().find(|(name, _)| *name == unit);
            let (Ok(number), Some((_, nanoseconds))) = (number.parse::<f64>(), known) else {
                return Err(refused(text));
            };
            seconds += number * *nanoseconds as f64 / 1e9;
            rest = tail.trim_start();
        }
        Self::from_seconds(seconds).map_err(|_| refused(text))
    }
}

impl fmt::Display for TimeSpan {
    /// In whole units, so that it is read back the same: `1h30m`, `1ms`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_nanos();
        for (name, nanoseconds) in UNITS {
            let count = rest / u128::from(nanoseconds);
            rest %= u128::from(nanoseconds);
            if count > 0 {
                write!(f, "{count}{name}")?;
            }
        }
        Ok(())
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Text(String),
            Seconds(f64),
        }
        let span = match Written::deserialize(deserializer)? {
            Written::Text(text) => text.parse(),
            Written::Seconds(seconds) => Self::from_seconds(seconds),
        };
        span.map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_and_written() {
        let written = |text: &str| text.parse::<TimeSpan>().map(|span| span.to_string()).ok();
        for (text, same) in [
            ("10m", "10m"),
            ("90s", "1m30s"),
            ("1h 30m", "1h30m"),
            ("0.5h", "30m"),
            ("1ms", "1ms"),
            ("250us", "250us"),
            ("2.5", "2s500ms"),
            ("1d", "1d"),
        ] {
            assert_eq!(written(text).as_deref(), Some(same), "{text}");
            assert_eq!(written(same).as_deref(), Some(same));
        }
        for text in ["", "0", "-1s", "10", "10 parsecs", "m", "1e300h", "inf", "NaN", "1.2.3s"] {
            let is_number = text == "10";
            assert_eq!(written(text).is_some(), is_number, "{text}");
        }
    }

    #[test]
    fn a_recipe_holds_one_as_text_or_in_seconds() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Holder {
            budget: TimeSpan,
        }
        let read = |text: &str| toml::from_str::<Holder>(text);
        let ten = read("budget = '10m'").unwrap();
        assert_eq!(ten, read("budget = 600").unwrap());
        assert_eq!(toml::to_string(&ten).unwrap(), "budget = \"10m\"\n");
        assert!(read("budget = 'soon'").unwrap_err().to_string().contains("10m"));
    }
}
