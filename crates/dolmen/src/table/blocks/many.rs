//! What texts of a column tell that are too many to be kept.

use std::collections::BTreeSet;

use crate::run::mix;
use crate::table::date_text::{DateOrder, ORDERS, moment};
use crate::table::dates::DateColumn;
use crate::table::levels::Dictionary;
use crate::table::look::{Look, are_long, is_unnamed, text_look};
use crate::table::moments::MomentsSeen;
use crate::table::number_of_text;

/// The share of texts that are dates from which the others are taken for errors.
const NEARLY_ALL: f64 = 0.9;

/// The share of different texts from which they surely are nine in ten, and from which they surely are half, as far as an
/// estimate can tell.
const SURELY_NEARLY_ALL: f64 = 0.93;
const SURELY_HALF: f64 = 0.53;

/// The texts of a column, of which some are known and no more are kept.
#[derive(Debug)]
pub(super) struct ManyTexts {
    name: String,
    dates: DatesAmong,
    different: Different,
    are_long: bool,
    may_be_numbers: bool,
}

impl ManyTexts {
    /// What those known tell.
    pub(super) fn new(name: &str, known: &Dictionary) -> Self {
        let texts = || known.levels().map(|(text, _)| text);
        let (count, bytes) = (known.len(), texts().map(<[u8]>::len).sum::<usize>());
        let without_words = texts().filter(|text| is_without_words(text)).count();
        let mut many = Self {
            name: name.into(),
            dates: DatesAmong::new(name, known),
            different: Different::default(),
            are_long: are_long(bytes, count),
            may_be_numbers: false,
        };
        many.may_be_numbers = 2 * without_words >= count.max(1) && !many.dates.are_all();
        texts().for_each(|text| many.different.add(text));
        many
    }

    /// Whether so many of those known may write numbers that all that can be kept should be looked at.
    pub(super) fn may_be_numbers(&self) -> bool {
        self.may_be_numbers
    }

    /// Adds one that is not known.
    pub(super) fn add(&mut self, text: &[u8]) {
        self.dates.add(text);
        self.different.add(text);
    }

    /// Whether no fit asks for the texts, of which there are so many: they are dates, or tell rows apart.
    pub(super) fn are_spared(&self, present: usize) -> bool {
        let share = self.different.estimate() / present.max(1) as f64;
        self.dates.are_all() || share >= SURELY_NEARLY_ALL || self.are_long && share >= SURELY_HALF
    }

    /// What the column looks like; these are the texts that are kept.
    pub(super) fn look(self, kept: &[String]) -> Look {
        if is_unnamed(&self.name) {
            return Look::Unnamed;
        }
        self.dates.look().unwrap_or_else(|| match text_look(kept, kept.len()) {
            Look::Input => Look::Identifier,
            look => look,
        })
    }
}

/// Whether a text has nothing that numbers have not, such as words.
fn is_without_words(text: &[u8]) -> bool {
    let is_of_number =
        |byte: &u8| !byte.is_ascii_alphabetic() && *byte != b':' || matches!(byte, b'e' | b'E');
    text.iter().any(u8::is_ascii_digit) && text.iter().all(is_of_number)
}

/// The orders in which texts are dates, all of them or nearly all.
#[derive(Debug)]
struct DatesAmong {
    orders: Vec<OneOrder>,
    texts: usize,
    /// The first of the texts by their spelling.
    least: Vec<u8>,
}

#[derive(Debug)]
struct OneOrder {
    order: DateOrder,
    seen: MomentsSeen,
    dates: usize,
    /// The first text that is no date.
    other: Option<Vec<u8>>,
}

impl DatesAmong {
    fn new(name: &str, known: &Dictionary) -> Self {
        let order = |order: DateOrder| {
            let seen = MomentsSeen::new(name, order);
            OneOrder { order, seen, dates: 0, other: None }
        };
        let mut among = Self { orders: ORDERS.map(order).into(), texts: 0, least: Vec::new() };
        known.levels().for_each(|(text, _)| among.add(text));
        let texts = among.texts as f64;
        among.orders.retain(|own| own.dates as f64 >= NEARLY_ALL * texts);
        among
    }

    fn add(&mut self, text: &[u8]) {
        if self.texts == 0 || text < &*self.least {
            self.least = text.to_vec();
        }
        self.texts += 1;
        for own in &mut self.orders {
            match moment(text, own.order) {
                Some(moment) => {
                    own.dates += 1;
                    own.seen.add(moment);
                }
                None if own.other.is_none() => own.other = Some(text.to_vec()),
                None => {}
            }
        }
    }

    fn are_all(&self) -> bool {
        self.orders.iter().any(|own| own.other.is_none())
    }

    fn look(self) -> Option<Look> {
        let Self { orders, texts, least } = self;
        let day_first =
            orders.iter().any(|own| own.order == DateOrder::DayFirst && own.other.is_none());
        let mut other = None;
        for own in orders {
            let Some(text) = own.other else {
                let in_doubt = own.order == DateOrder::MonthFirst && day_first;
                let example = in_doubt.then(|| String::from_utf8_lossy(&least).into_owned());
                let dates = own.seen.finish()?;
                return Some(Look::Dates(DateColumn { in_doubt: example, ..dates }));
            };
            if own.dates as f64 >= NEARLY_ALL * texts as f64 {
                other.get_or_insert(Look::NearlyDates(String::from_utf8_lossy(&text).into_owned()));
            }
        }
        other
    }
}

/// About how many different texts there are: from the least of their hashes, which lie the closer together the more there are.
#[derive(Debug, Default)]
struct Different {
    least: BTreeSet<u64>,
}

impl Different {
    /// Hashes that are kept: the error is one part in their root.
    const KEPT: usize = 1 << 13;

    fn add(&mut self, text: &[u8]) {
        let hash = mix(number_of_text(text));
        let is_full = self.least.len() == Self::KEPT;
        if is_full && self.least.last().is_some_and(|last| hash >= *last) {
            return;
        }
        if self.least.insert(hash) && is_full {
            self.least.pop_last();
        }
    }

    fn estimate(&self) -> f64 {
        match self.least.last() {
            Some(last) if self.least.len() == Self::KEPT => {
                (Self::KEPT - 1) as f64 / (*last as f64 / 2f64.powi(64))
            }
            _ => self.least.len() as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::levels::Seen;

    fn many(texts: impl Iterator<Item = String>, known: usize) -> ManyTexts {
        let (mut dictionary, mut found) = (Dictionary::default(), None);
        for (i, text) in texts.enumerate() {
            if i < known {
                dictionary.code(text.as_bytes(), Seen { first_row: i, count: 1 });
            } else {
                found.get_or_insert_with(|| ManyTexts::new("c", &dictionary)).add(text.as_bytes());
            }
        }
        found.unwrap()
    }

    #[test]
    fn different_texts_are_counted_in_little_memory() {
        for count in [5000_usize, 40_000, 300_000] {
            let mut different = Different::default();
            (0..2 * count).for_each(|i| different.add(format!("u{}", i % count).as_bytes()));
            let estimate = different.estimate();
            assert!((estimate / count as f64 - 1.0).abs() < 0.04, "{count}: {estimate}");
        }
    }

    /// Days above 12 come last: only then is it sure which order it is.
    #[test]
    fn dates_behind_those_known_decide() {
        let texts = |last: &str| {
            let days = (0..3000)
                .map(|i| format!("{:02}/{:02}/{}", i / 300 + 1, i % 12 + 1, 1990 + i % 40));
            days.chain([last.to_string()]).collect::<Vec<_>>()
        };
        let look = |last: &str| many(texts(last).into_iter(), 1000).look(&[]);
        let order = |look: Look| match look {
            Look::Dates(dates) => Some((dates.order, dates.in_doubt.is_some())),
            _ => None,
        };
        assert_eq!(order(look("13/02/1999")), Some((DateOrder::DayFirst, false)));
        assert_eq!(order(look("02/13/1999")), Some((DateOrder::MonthFirst, false)));
        assert_eq!(order(look("02/12/1999")), Some((DateOrder::MonthFirst, true)));
        assert_eq!(look("soon"), Look::NearlyDates("soon".into()));
    }

    #[test]
    fn texts_that_repeat_are_needed() {
        let repeated = many((0..90_000).map(|i| format!("u{}", i % 30_000)), 1000);
        assert!(!repeated.are_spared(90_000) && !repeated.may_be_numbers());
        let different = many((0..90_000).map(|i| format!("u{i}")), 1000);
        assert!(different.are_spared(90_000));
        assert!(many((0..2000).map(|i| format!("{i},5")), 1000).may_be_numbers());
    }
}
