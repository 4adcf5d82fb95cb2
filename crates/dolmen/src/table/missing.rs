//! The words that mean a missing value.

use std::sync::atomic::{AtomicBool, Ordering};

use super::number;
use super::read::MISSING;

/// A set of words, quick to deny that a cell is one of them.
#[derive(Debug)]
pub(super) struct Missing {
    words: Vec<Box<[u8]>>,
    /// Which bytes begin a word.
    begins: [bool; 256],
    has_empty: bool,
    /// How many words stand before those that somebody named.
    usual: usize,
    /// The numbers among the words, each with the word's place.
    numbers: Vec<(f64, usize)>,
    /// Which words have been met.
    met: Vec<AtomicBool>,
}

impl Missing {
    pub(super) fn new(words: &[String]) -> Self {
        let usual = if words.starts_with(&MISSING.map(String::from)) { MISSING.len() } else { 0 };
        let words: Vec<Box<[u8]>> =
            words.iter().map(|word| number::trim(word.as_bytes()).into()).collect();
        let mut begins = [false; 256];
        for first in words.iter().filter_map(|word| word.first()) {
            begins[*first as usize] = true;
        }
        Self {
            has_empty: words.iter().any(|word| word.is_empty()),
            numbers: words
                .iter()
                .enumerate()
                .filter_map(|(i, word)| number::parse(word).map(|value| (value, i)))
                .filter(|(value, _)| !value.is_nan())
                .collect(),
            met: words.iter().map(|_| AtomicBool::new(false)).collect(),
            begins,
            usual,
            words,
        }
    }

    /// Whether the cell means a missing value.
    pub(super) fn contains(&self, cell: &[u8]) -> bool {
        let cell = number::trim(cell);
        match cell.first() {
            None => self.has_empty,
            Some(first) => {
                let word = if self.begins[*first as usize] {
                    self.words.iter().position(|word| **word == *cell)
                } else {
                    None
                };
                self.meet(word)
            }
        }
    }

    /// Whether the cell is a word that somebody named: where missing values have a form of their own, the usual words are texts.
    pub(super) fn contains_named(&self, cell: &[u8]) -> bool {
        let cell = number::trim(cell);
        let found = self.words[self.usual..].iter().position(|word| **word == *cell);
        self.meet(found.map(|word| self.usual + word))
    }

    /// The number, or NaN if it means a missing value, however it is spelled or stored: the word -99 means -99.0 too.
    pub(super) fn known(&self, value: f64) -> f64 {
        let word = self.numbers.iter().find(|(number, _)| *number == value);
        let is_missing = value.is_nan() || self.meet(word.map(|(_, word)| *word));
        if is_missing { f64::NAN } else { value }
    }

    /// What to tell of words that were said to mean a missing value, but that no cell is.
    pub(super) fn words_in_vain(&self) -> Vec<String> {
        let word = |word: &[u8]| {
            let word = String::from_utf8_lossy(word);
            format!("no cell is '{word}', which was said to mean a missing value (--missing)")
        };
        self.never_met().filter(|word| !word.is_empty()).map(word).collect()
    }

    /// The words that somebody named and no cell was.
    fn never_met(&self) -> impl Iterator<Item = &[u8]> {
        let words = self.words.iter().zip(&self.met).skip(self.usual);
        words.filter(|(_, met)| !met.load(Ordering::Relaxed)).map(|(word, _)| &**word)
    }

    /// Remembers that a word was met, if one was.
    fn meet(&self, word: Option<usize>) -> bool {
        let Some(word) = word else { return false };
        // A store for every cell would have the threads fight for the line it is in.
        if !self.met[word].load(Ordering::Relaxed) {
            self.met[word].store(true, Ordering::Relaxed);
        }
        true
    }
}
