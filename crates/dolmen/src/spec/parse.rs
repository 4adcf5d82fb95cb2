//! Reading the short text of a spec.

use serde_json::{Map, Number, Value};

use super::Spec;
use crate::error::{Error, Result};

/// Specs nest, but not deeper than anyone writes: the parser must not run out of stack on hostile input.
const DEEPEST: usize = 16;

/// A text and how far it is read.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The spec that the whole text is.
    pub(super) fn whole(mut self) -> Result<Spec> {
        let spec = self.spec(0)?;
        self.skip_space();
        if self.at < self.text.len() {
            return Err(self.unexpected("the end of the spec"));
        }
        Ok(spec)
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes the next character if it is this one.
    fn take(&mut self, expected: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(expected);
        self.at += if found { expected.len_utf8() } else { 0 };
        found
    }

    fn unexpected(&self, expected: &str) -> Error {
        let found = match self.rest().chars().next() {
            Some(c) => format!("'{c}' at character {}", self.text[..self.at].chars().count() + 1),
            None => "its end".into(),
        };
        Error::param(
            &format!("the spec '{}'", self.text),
            format!("continued by {expected}"),
            found,
        )
    }

    /// The next word.
    fn word(&mut self, expected: &str) -> Result<String> {
        self.skip_space();
        let length = self.rest().find(|c| !is_part_of_word(c)).unwrap_or(self.rest().len());
        if length == 0 {
            return Err(self.unexpected(expected));
        }
        let word = self.rest()[..length].to_string();
        self.at += length;
        Ok(word)
    }

    fn spec(&mut self, depth: usize) -> Result<Spec> {
        let kind = self.word("the name of a learner")?;
        let parameters = if self.take('(') { self.parameters(')', depth)? } else { Map::new() };
        Ok(Spec { kind, parameters })
    }

    /// `name=value, ...` up to the closing mark; the opening one is taken.
    fn parameters(&mut self, close: char, depth: usize) -> Result<Map<String, Value>> {
        let mut parameters = Map::new();
        while !self.take(close) {
            let name = self.word(&format!("a parameter's name or '{close}'"))?;
            if !self.take('=') {
                return Err(self.unexpected("'='"));
            }
            let value = self.value(depth + 1)?;
            if parameters.insert(name.clone(), value).is_some() {
                return Err(Error::param(&name, "given once", "given twice"));
            }
            if !self.take(',') && !self.rest().starts_with(close) {
                return Err(self.unexpected(&format!("',' or '{close}'")));
            }
        }
        Ok(parameters)
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > DEEPEST {
            return Err(self.unexpected("fewer nested parts"));
        }
        if self.take('[') {
            let mut list = Vec::new();
            while !self.take(']') {
                list.push(self.value(depth + 1)?);
                if !self.take(',') && !self.rest().starts_with(']') {
                    return Err(self.unexpected("',' or ']'"));
                }
            }
            return Ok(Value::Array(list));
        }
        if self.take('{') {
            return Ok(Value::Object(self.parameters('}', depth + 1)?));
        }
        for quote in ['"', '\''] {
            if self.take(quote) {
                return self.quoted(quote);
            }
        }
        let word = self.word("a value")?;
        if self.take('(') {
            let parameters = self.parameters(')', depth + 1)?;
            return Ok(Value::Object(Spec { kind: word, parameters }.to_object()));
        }
        Ok(plain(word))
    }

    /// Text up to the closing quote; a quote within is written twice.
    fn quoted(&mut self, quote: char) -> Result<Value> {
        let mut text = String::new();
        loop {
            let Some(length) = self.rest().find(quote) else {
                self.at = self.text.len();
                return Err(self.unexpected("a closing quote"));
            };
            text.push_str(&self.rest()[..length]);
            self.at += length + quote.len_utf8();
            if !self.rest().starts_with(quote) {
                return Ok(Value::String(text));
            }
            text.push(quote);
            self.at += quote.len_utf8();
        }
    }
}

/// What names, numbers and plain words are made of.
pub(super) fn is_part_of_word(c: char) -> bool {
    c.is_alphanumeric() || "_-+.".contains(c)
}

/// A word as what it looks like: true, false, a number, or text.
pub(super) fn plain(word: String) -> Value {
    if let Ok(whole) = word.parse::<i64>() {
        return Value::Number(whole.into());
    }
    if let Ok(whole) = word.parse::<u64>() {
        return Value::Number(whole.into());
    }
    match (word.as_str(), word.parse::<f64>().ok().and_then(Number::from_f64)) {
        ("true", _) => Value::Bool(true),
        ("false", _) => Value::Bool(false),
        (_, Some(number)) => Value::Number(number),
        _ => Value::String(word),
    }
}
