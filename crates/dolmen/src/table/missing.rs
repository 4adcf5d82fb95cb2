//! The words that mean a missing value.

use super::number;

/// A set of words, quick to deny that a cell is one of them.
#[derive(Debug)]
pub(super) struct Missing {
    words: Vec<Box<[u8]>>,
    /// Which bytes begin a word.
    begins: [bool; 256],
    has_empty: bool,
    /// The numbers among the words.
    numbers: Vec<f64>,
}

impl Missing {
    pub(super) fn new(words: &[String]) -> Self {
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
                .filter_map(|w| number::parse(w))
                .filter(|v| !v.is_nan())
                .collect(),
            begins,
            words,
        }
    }

    /// Whether the cell means a missing value.
    pub(super) fn contains(&self, cell: &[u8]) -> bool {
        let cell = number::trim(cell);
        match cell.first() {
            None => self.has_empty,
            Some(first) => self.begins[*first as usize] && self.words.iter().any(|w| **w == *cell),
        }
    }

    /// Whether a number that is not spelled out, but stored as such, means a missing value.
    pub(super) fn contains_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }

    /// Whether some number, such as -99, means a missing value.
    pub(super) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }
}
