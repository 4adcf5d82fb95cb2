//! What the parameters of learners and combiners are: for lists, documentation, and doors that show them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::schema;
use crate::error::{Error, Result};
use crate::spec;

/// A parameter of a learner or a combiner.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// The name in specs.
    pub name: String,
    /// What it means.
    pub about: String,
    /// What it can be.
    pub kind: Kind,
    /// The numbers that are allowed, in a list each of them.
    pub range: Option<Range>,
    /// Its value where the spec gives none; null if there is none or it must be given.
    pub default: Value,
    /// Whether it must be given.
    pub required: bool,
}

/// What a parameter can be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Flag,
    /// Any text.
    Text,
    /// One of these words.
    OneOf(Vec<Choice>),
    /// A list.
    ListOf(Box<Kind>),
    /// The spec of a learner or a combiner.
    Model,
    /// Parts with names.
    Parts(Vec<Parameter>),
    /// One of several of the above.
    Either(Vec<Kind>),
}

/// A word that a parameter can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The word in specs.
    pub name: String,
    /// What it means.
    pub about: String,
}

/// The numbers that are allowed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Where they begin.
    pub from: Option<Bound>,
    /// Where they end.
    pub to: Option<Bound>,
}

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The number.
    pub at: f64,
    /// Whether it is allowed itself.
    pub included: bool,
}

impl Parameter {
    /// The fields of a parameter struct: names and defaults by serde, the rest by the derive `JsonSchema`. A field's doc comment
    /// says what it means, `#[schemars(range(min = .., max = ..))]` what is allowed.
    pub fn of<P: Default + Serialize + JsonSchema>() -> Vec<Self> {
        let fields = match serde_json::to_value(P::default()) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        schema::parameters::<P>(fields)
    }

    /// A parameter by hand, one that must be given.
    pub fn new(name: &str, about: &str, kind: Kind) -> Self {
        let (name, about) = (name.into(), about.into());
        Self { name, about, kind, range: None, default: Value::Null, required: true }
    }

    /// The spec of a learner, one that must be given.
    pub fn model(name: &str, about: &str) -> Self {
        Self::new(name, about, Kind::Model)
    }

    /// With a default: it may be left out.
    #[must_use]
    pub fn or(mut self, default: impl Into<Value>) -> Self {
        self.default = default.into();
        self.required = false;
        self
    }

    /// With numbers that are allowed.
    #[must_use]
    pub fn within(mut self, range: Range) -> Self {
        self.range = Some(range);
        self
    }

    /// What it can be in words, with the numbers that are allowed: `whole number, 1 to 100000`.
    pub fn allowed(&self) -> String {
        match &self.range {
            Some(range) => format!("{}, {range}", self.kind),
            None => self.kind.to_string(),
        }
    }

    /// The words it can be, with their meaning.
    pub fn choices(&self) -> &[Choice] {
        self.kind.choices()
    }

    /// Refuses a word that it cannot be; other values are checked by whoever reads them.
    pub(super) fn check(&self, value: &Value, owner: &str) -> Result<()> {
        let names = || self.choices().iter().map(|choice| choice.name.as_str());
        match value.as_str() {
            Some(word) if self.kind.is_words_or_numbers() && !names().any(|name| name == word) => {
                let what = format!("{} in {owner}", self.name);
                Err(Error::param(&what, self.allowed(), word).suggesting(word, names()))
            }
            _ => Ok(()),
        }
    }
}

impl Kind {
    /// The words among what it can be.
    pub fn choices(&self) -> &[Choice] {
        match self {
            Self::OneOf(choices) => choices,
            Self::Either(kinds) => kinds
                .iter()
                .map(Self::choices)
                .find(|choices| !choices.is_empty())
                .unwrap_or_default(),
            _ => &[],
        }
    }

    /// Of the words, those that are named.
    pub(super) fn keep(&mut self, words: &[&str]) {
        match self {
            Self::OneOf(choices) => choices.retain(|choice| words.contains(&choice.name.as_str())),
            Self::Either(kinds) => kinds.iter_mut().for_each(|kind| kind.keep(words)),
            _ => {}
        }
    }

    /// Whether words are among what it can be, and other texts are not.
    fn is_words_or_numbers(&self) -> bool {
        match self {
            Self::OneOf(_) => true,
            Self::Either(kinds) => {
                let has_texts = |kind: &Self| matches!(kind, Self::Text | Self::Model);
                !self.choices().is_empty() && !kinds.iter().any(has_texts)
            }
            _ => false,
        }
    }

    fn plural(&self) -> String {
        match self {
            Self::Whole => "whole numbers".into(),
            Self::Number => "numbers".into(),
            Self::Text => "texts".into(),
            Self::Model => "models".into(),
            Self::ListOf(kind) => format!("lists of {}", kind.plural()),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("whole number"),
            Self::Number => f.write_str("number"),
            Self::Flag => f.write_str("true or false"),
            Self::Text => f.write_str("text"),
            Self::Model => f.write_str("model"),
            Self::OneOf(choices) => {
                let names: Vec<&str> = choices.iter().map(|choice| choice.name.as_str()).collect();
                match names.as_slice() {
                    [name] => write!(f, "{name}"),
                    names => write!(f, "one of {}", names.join(", ")),
                }
            }
            Self::ListOf(kind) => write!(f, "list of {}", kind.plural()),
            Self::Parts(parts) => {
                let part = |part: &Parameter| format!("{}=..", part.name);
                let parts: Vec<String> = parts.iter().map(part).collect();
                write!(f, "{{{}}}", parts.join(", "))
            }
            Self::Either(kinds) => {
                let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
                f.write_str(&kinds.join(" or "))
            }
        }
    }
}

impl Range {
    /// From this number on.
    pub fn at_least(at: f64) -> Self {
        Self { from: Some(Bound { at, included: true }), to: None }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.from.map(|bound| (bound.included, spec::number(bound.at)));
        let to = self.to.map(|bound| (bound.included, spec::number(bound.at)));
        match (from, to) {
            (Some((true, from)), Some((true, to))) => write!(f, "{from} to {to}"),
            (Some((false, from)), Some((false, to))) => write!(f, "between {from} and {to}"),
            (from, to) => {
                let from = from.map(|(included, at)| {
                    if included { format!("at least {at}") } else { format!("above {at}") }
                });
                let to =
                    to.map(
                        |(included, at)| {
                            if included { format!("at most {at}") } else { format!("below {at}") }
                        },
                    );
                f.write_str(&from.into_iter().chain(to).collect::<Vec<_>>().join(" and "))
            }
        }
    }
}
