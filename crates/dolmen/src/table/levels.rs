//! From the texts of a column to numbered levels in an order that does not depend on the rows.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use rayon::prelude::*;

use super::read::{mostly_texts, not_utf8};
use super::{Categories, number};
use crate::error::{Error, Place, Result};
use crate::run::mix;

/// The distinct texts of a column, numbered as they were first seen.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    codes: HashMap<Arc<[u8]>, u32, BuildHasherDefault<TextHasher>>,
    levels: Vec<(Arc<[u8]>, Seen)>,
}

/// Where a text was first seen, and how often.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    pub(super) first_row: usize,
    pub(super) count: usize,
}

impl Dictionary {
    /// The number of a text, which is seen here; `None` if it is new and there are no numbers left.
    pub(super) fn code(&mut self, text: &[u8], seen: Seen) -> Option<u32> {
        if let Some(&code) = self.codes.get(text) {
            let known = &mut self.levels[code as usize].1;
            known.count += seen.count;
            known.first_row = known.first_row.min(seen.first_row);
            return Some(code);
        }
        let code = u32::try_from(self.levels.len()).ok().filter(|c| *c != Categories::MISSING)?;
        let text: Arc<[u8]> = text.into();
        self.codes.insert(Arc::clone(&text), code);
        self.levels.push((text, seen));
        Some(code)
    }

    /// The number of a text that was seen before.
    pub(super) fn get(&self, text: &[u8]) -> Option<u32> {
        self.codes.get(text).copied()
    }

    /// Number of texts.
    pub(super) fn len(&self) -> usize {
        self.levels.len()
    }

    /// The texts in the order of their numbers.
    pub(super) fn levels(&self) -> impl ExactSizeIterator<Item = (&[u8], Seen)> {
        self.levels.iter().map(|(text, seen)| (&**text, *seen))
    }

    /// The column `name` whose rows have these numbers.
    pub(super) fn categories(&self, name: &str, codes: Vec<u32>) -> Result<Categories> {
        // Levels are numbered as they were first seen, so the first that is not UTF-8 is the first in the file.
        let level = |(text, seen): (&[u8], Seen)| match std::str::from_utf8(text) {
            Ok(text) => Ok(text.to_string()),
            Err(_) => Err(not_utf8(Place::cell(seen.first_row, name))),
        };
        let levels: Result<Vec<String>> = self.levels().map(level).collect();
        Ok(Categories::in_order(levels?, codes))
    }
}

/// A number for a text that does not depend on any others: equal texts, equal numbers; two others share one by accident only
/// (one pair in 2^64).
pub(crate) fn number_of_text(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
    words.fold(text.len() as u64, |number, word| mix(number ^ word))
}

/// Rotate, add, multiply, eight bytes at a time. The standard hasher withstands chosen collisions; millions of short texts
/// need speed more.
#[derive(Default)]
struct TextHasher(u64);

impl Hasher for TextHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.write_u64(u64::from_le_bytes(last));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        // The multiplication leaves the low bits, by which the table looks first, nearly unmixed.
        self.0 ^ (self.0 >> 32)
    }
}

impl Categories {
    /// Categories from the rows' texts, `None` where a value is missing.
    pub fn new<'a>(texts: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut levels = Vec::new();
        let mut code_of = |text: &'a str| {
            *numbers.entry(text).or_insert_with(|| {
                levels.push(text.to_string());
                levels.len() as u32 - 1
            })
        };
        let codes = texts.into_iter().map(|t| t.map_or(Self::MISSING, &mut code_of)).collect();
        Self::in_order(levels, codes)
    }

    /// The same rows with the levels that occur only.
    #[must_use]
    pub(crate) fn without_unused(&self) -> Self {
        let counts = self.counts();
        let mut codes = vec![Self::MISSING; counts.len()];
        let mut levels = Vec::new();
        for (code, level) in self.levels.iter().enumerate().filter(|(code, _)| counts[*code] > 0) {
            codes[code] = levels.len() as u32;
            levels.push(level.clone());
        }
        let code = |code: &u32| codes.get(*code as usize).copied().unwrap_or(Self::MISSING);
        Self { codes: self.codes.iter().map(code).collect(), levels: levels.into() }
    }

    /// Columns one after the other, whose levels may differ: then in one order for all.
    pub(super) fn stacked(parts: Vec<Self>) -> Self {
        let first = parts.first().map_or_else(|| [].into(), |part| Arc::clone(&part.levels));
        let is_like = |part: &Self| Arc::ptr_eq(&part.levels, &first) || part.levels == first;
        if parts.iter().all(is_like) {
            let codes = parts.into_iter().flat_map(|part| part.codes).collect();
            return Self { levels: first, codes };
        }
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut levels = Vec::new();
        let mut codes = Vec::with_capacity(parts.iter().map(|part| part.codes.len()).sum());
        for part in &parts {
            let known: Vec<u32> = part
                .levels
                .iter()
                .map(|level| {
                    *numbers.entry(level).or_insert_with(|| {
                        levels.push(level.clone());
                        levels.len() as u32 - 1
                    })
                })
                .collect();
            let code = |code: &u32| known.get(*code as usize).copied().unwrap_or(Self::MISSING);
            codes.extend(part.codes.iter().map(code));
        }
        Self::in_order(levels, codes)
    }

    /// How many rows have each level.
    pub(super) fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.levels.len()];
        for &code in &self.codes {
            if let Some(count) = counts.get_mut(code as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// The error of a column with more levels than codes.
    pub(super) fn too_many(name: &str) -> Error {
        Error::data(Place::column(name), "there are more levels than can be numbered")
    }

    /// Categories from distinct levels in any order: brings them into the order of values or spellings.
    pub(super) fn in_order(levels: Vec<String>, mut codes: Vec<u32>) -> Self {
        let order = level_order(&levels);
        let mut places = vec![0; levels.len()];
        for (place, &level) in order.iter().enumerate() {
            places[level] = place as u32;
        }
        for code in codes.iter_mut().filter(|c| **c != Self::MISSING) {
            *code = places[*code as usize];
        }
        let mut levels: Vec<Option<String>> = levels.into_iter().map(Some).collect();
        let levels: Arc<[String]> =
            order.iter().filter_map(|&level| levels[level].take()).collect();
        Self { levels, codes }
    }
}

/// The different texts of a column, how often each stands there and where first.
#[derive(Debug)]
pub(super) struct Spellings<'a> {
    pub(super) levels: &'a [String],
    seen: Vec<Seen>,
}

impl<'a> Spellings<'a> {
    /// Those of a column; levels that do not occur are counted 0 times.
    pub(super) fn of(column: &'a Categories) -> Self {
        let mut seen = vec![Seen { first_row: 0, count: 0 }; column.levels.len()];
        for (row, &code) in column.codes.iter().enumerate() {
            if let Some(seen) = seen.get_mut(code as usize) {
                if seen.count == 0 {
                    seen.first_row = row;
                }
                seen.count += 1;
            }
        }
        Self { levels: &column.levels, seen }
    }

    /// Those of levels that were seen so.
    pub(super) fn new(levels: &'a [String], seen: Vec<Seen>) -> Self {
        Self { levels, seen }
    }

    /// The texts that occur.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, Seen)> + Clone {
        let texts = self.levels.iter().map(String::as_str).zip(self.seen.iter().copied());
        texts.filter(|(_, seen)| seen.count > 0)
    }

    /// The first row whose text is so, and the text.
    pub(super) fn first(&self, is_so: impl Fn(&str) -> bool) -> Option<(usize, &'a str)> {
        let rows = self.iter().filter(|(text, _)| is_so(text));
        rows.map(|(text, seen)| (seen.first_row, text)).min_by_key(|(row, _)| *row)
    }

    /// The error of a column of which numbers were expected, if more of its cells are texts than numbers.
    pub(super) fn mostly_texts(&self, name: &str) -> Option<Error> {
        let is_text = |text: &str| number::parse(text.as_bytes()).is_none();
        let cells: usize = self.iter().map(|(_, seen)| seen.count).sum();
        let texts: usize =
            self.iter().filter(|(text, _)| is_text(text)).map(|(_, seen)| seen.count).sum();
        let (row, text) = self.first(is_text)?;
        (2 * texts > cells).then(|| mostly_texts(row, name, text.as_bytes(), texts, cells))
    }
}

/// The levels' indices, by value if all levels are numbers, else by spelling.
fn level_order(levels: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..levels.len()).collect();
    let values: Option<Vec<f64>> = levels.iter().map(|l| number::parse(l.as_bytes())).collect();
    if let Some(values) = values {
        let by_value = |a: usize, b: usize| values[a].total_cmp(&values[b]);
        order.par_sort_unstable_by(|&a, &b| by_value(a, b).then_with(|| levels[a].cmp(&levels[b])));
        return order;
    }
    // The first bytes decide most comparisons without a look at the text itself.
    let begin = |level: &String| {
        let mut first = [0; 8];
        first.iter_mut().zip(level.bytes()).for_each(|(to, byte)| *to = byte);
        u64::from_be_bytes(first)
    };
    let begins: Vec<u64> = levels.iter().map(begin).collect();
    order.par_sort_unstable_by(|&a, &b| {
        begins[a].cmp(&begins[b]).then_with(|| levels[a].cmp(&levels[b]))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_by_value_if_all_are_numbers_else_by_spelling() {
        let numbers = Categories::new([Some("10"), None, Some("9"), Some("-inf"), Some("10.0")]);
        assert_eq!(*numbers.levels, ["-inf", "9", "10", "10.0"]);
        assert_eq!(numbers.codes, [2, Categories::MISSING, 1, 0, 3]);
        let words = Categories::new([Some("9"), Some("10"), Some("x"), Some("9")]);
        assert_eq!(*words.levels, ["10", "9", "x"]);
        assert_eq!(words.codes, [1, 0, 2, 1]);
    }
}
