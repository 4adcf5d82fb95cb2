//! The words that mean a missing value.

use super::number;

/// A set of words, quick to deny that a cell is one of them.
#[derive(Debug)]
pub(super) struct Missing {
    words: Vec<Box<[u8]>>,
    /// Which bytes begin a word.
    begins: [bool; 256],
    has_empty: bool,
    has_numbers: bool,
}

impl Missing {
    pub(super) fn new(words: &[String]) -> Self {
        let words: Vec<Box<[u8]>> =
            words.iter().map(|word| number::trim(word.as_bytes()).into()).collect();
        let mut begins = [false; 256];
        for first in words.iter().filter_map(|word| word.first()) {
            begins[*first as usize] = true;
        }
        let is_number = |word: &[u8]| number::parse(word).is_some_and(|v| !v.is_nan());
        Self {
            has_empty: words.iter().any(|word| word.is_empty()),
            has_numbers: words.iter().any(|word| is_number(word)),
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

    /// Whether some number, such as -99, means a missing value.
    pub(super) fn has_numbers(&self) -> bool {
        self.has_numbers
    }
}
