//! What a column looks like: an input, dates, an identifier, free text, nothing.

use std::collections::HashSet;

use super::dates::{DATES_AS_NUMBERS, DateColumn};
use super::{Categories, Column, number};
use crate::error::{Error, Place};

/// Rows below which nothing is taken for an identifier by its values being different.
const FEWEST_IDENTIFIERS: usize = 10;
/// Rows below which a running number may be anything.
const FEWEST_RUNNING: usize = 20;
/// The share of different texts from which a column holds identifiers or names.
const NEARLY_ALL: f64 = 0.9;
/// The share of different texts from which long texts are free text.
const MANY: f64 = 0.5;
/// Mean length in characters from which texts are long.
const LONG: usize = 40;
/// Most distinct whole numbers that may well be classes.
const MOST_CLASSES: usize = 10;

/// What a column looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Numbers or categories to learn from.
    Input,
    /// It has no name in the file.
    Unnamed,
    /// It has no values.
    Empty,
    /// Its values tell rows apart and say nothing else: identifiers, names, running numbers.
    Identifier,
    /// Sentences.
    Text,
    /// Numbers with the same word behind them, such as this text.
    WithUnits(String),
    /// Dates.
    Dates(DateColumn),
    /// Dates but for a few texts, such as this one.
    NearlyDates(String),
}

impl Look {
    /// What a column of a table looks like.
    pub fn of(name: &str, column: &Column) -> Self {
        let present = column.len() - column.missing();
        if is_unnamed(name) {
            return Self::Unnamed;
        }
        if present == 0 {
            return Self::Empty;
        }
        match column {
            Column::Numeric(values) => {
                let mut seen = NumbersSeen::new(name, usize::MAX);
                seen.add(values);
                seen.look(name)
            }
            Column::Categorical(categories) => Self::of_texts(name, &categories.levels, present),
        }
    }

    /// What a column of these different texts in so many cells looks like.
    pub(crate) fn of_texts(name: &str, levels: &[String], present: usize) -> Self {
        if is_unnamed(name) {
            return Self::Unnamed;
        }
        if present == 0 {
            return Self::Empty;
        }
        match DateColumn::recognise_texts(name, levels) {
            Some(dates) => Self::Dates(dates),
            None => match DateColumn::no_date_among_dates(levels) {
                Some(text) => Self::NearlyDates(text.clone()),
                None => text_look(levels, present),
            },
        }
    }

    /// Why a column that looks so is left out; `None` if it is not.
    pub fn reason(&self) -> Option<String> {
        let reason = match self {
            Self::Input | Self::Dates(_) => return None,
            Self::Unnamed => "it has no name, like a row index",
            Self::Empty => "it has no values",
            Self::Identifier => "it looks like an identifier: (nearly) all values differ",
            Self::Text => "it looks like free text: most values are long and differ",
            Self::NearlyDates(text) => {
                return Some(format!(
                    "it holds dates, but '{text}' is none: mend it, or write --missing '{text}' if that stands for a missing date"
                ));
            }
            Self::WithUnits(example) => {
                return Some(format!(
                    "its numbers have words beside them, such as '{example}': write the numbers alone"
                ));
            }
        };
        Some(reason.into())
    }
}

/// Why texts had better not be taken for the classes of a target: they are dates, or there are nearly as many of them as rows.
pub(super) fn doubtful_classes(name: &str, column: &Categories) -> Option<Error> {
    let present = column.codes.iter().filter(|&&code| code != Categories::MISSING).count();
    let distinct = column.counts().iter().filter(|count| **count > 0).count();
    let look = Look::of(name, &Column::Categorical(column.clone()));
    let is_date = matches!(look, Look::Dates(_));
    if !is_date && (present < FEWEST_IDENTIFIERS || distinct as f64 <= MANY * present as f64) {
        return None;
    }
    let (what, cure) = match look {
        Look::Dates(dates) if dates.is_time_of_day() => {
            ("times of day".into(), "to predict a time, write it as a number of hours")
        }
        Look::Dates(_) => (
            "dates".into(),
            "to predict a time, write it as a number, such as days since the first",
        ),
        Look::Text => ("free text".into(), "name another target"),
        Look::WithUnits(example) => {
            let what = format!("numbers with words beside them, such as '{example}'");
            (what, "write the numbers alone")
        }
        _ => ("names or identifiers".into(), "name another target"),
    };
    let why = if is_date { "" } else { ", too many for classes" };
    let problem = format!(
        "the target looks like {what}: there are {distinct} different texts in {present} rows{why}"
    );
    let hint = format!("{cure}; if they are classes all the same, add --task classify");
    Some(Error::data(Place::column(name), problem).with_hint(hint))
}

/// How many distinct whole numbers a column holds, if they are so few that they may well be classes.
pub fn possible_classes(column: &Column) -> Option<usize> {
    let Column::Numeric(values) = column else {
        return None;
    };
    let mut distinct: Vec<f64> = Vec::new();
    let mut present = 0;
    for &value in values.iter().filter(|v| !v.is_nan()) {
        present += 1;
        if !distinct.contains(&value) {
            distinct.push(value);
        }
        if value.fract() != 0.0 || distinct.len() > MOST_CLASSES {
            return None;
        }
    }
    (distinct.len() > 1 && 2 * distinct.len() <= present).then_some(distinct.len())
}

/// A file's column names, all different.
pub(super) struct Names {
    pub(super) names: Vec<String>,
    /// What to tell of names that were changed.
    pub(super) notes: Vec<String>,
}

impl Names {
    /// Names as they stand in the file. A column without one gets `Unnamed: ` and its position, as in other programs; the
    /// second of a name gets `.2`, the third `.3`.
    pub(super) fn new(given: Vec<String>) -> Self {
        let mut taken: HashSet<String> = given.iter().cloned().collect();
        let mut seen: HashSet<String> = HashSet::new();
        let (mut names, mut notes) = (Vec::with_capacity(given.len()), Vec::new());
        for (j, name) in given.into_iter().enumerate() {
            if name.is_empty() {
                names.push(format!("Unnamed: {j}"));
            } else if seen.insert(name.clone()) {
                names.push(name);
            } else {
                let mut number = 2;
                while taken.contains(&format!("{name}.{number}")) {
                    number += 1;
                }
                let free = format!("{name}.{number}");
                notes.push(format!("two columns are named '{name}'; one is called '{free}' here"));
                taken.insert(free.clone());
                names.push(free);
            }
        }
        Self { names, notes }
    }
}

/// Whether a column has a name that stands for none, as of a row index that was written with the table.
pub fn is_unnamed(name: &str) -> bool {
    let is_numbered = |number: &str| number.bytes().all(|b| b.is_ascii_digit());
    // What pandas writes to CSV and to Parquet.
    let index = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
    name.strip_prefix("Unnamed: ").or(index).is_some_and(is_numbered)
}

pub(super) fn text_look(levels: &[String], present: usize) -> Look {
    let distinct = levels.len() as f64;
    if present < FEWEST_IDENTIFIERS {
        return Look::Input;
    }
    let bytes = levels.iter().map(String::len).sum();
    if are_long(bytes, levels.len()) && distinct >= MANY * present as f64 {
        return Look::Text;
    }
    if distinct >= MANY * present as f64
        && let Some(example) = with_units(levels)
    {
        return Look::WithUnits(example);
    }
    if distinct >= NEARLY_ALL * present as f64 { Look::Identifier } else { Look::Input }
}

/// Whether so many texts of so many bytes are long, on average.
pub(super) fn are_long(bytes: usize, texts: usize) -> bool {
    bytes >= LONG * texts
}

/// A text of a column whose texts are numbers with one and the same word behind nearly all of them.
fn with_units(levels: &[String]) -> Option<String> {
    let unit = |level: &str| {
        let (_, length) = number::parse_start(level.trim_start().as_bytes())?;
        let unit = level.trim_start().get(length..)?.trim();
        (!unit.is_empty() && unit.chars().all(|c| !c.is_ascii_digit())).then(|| unit.to_string())
    };
    let (example, first) = levels.iter().find_map(|l| unit(l).map(|unit| (l, unit)))?;
    let same = levels.iter().filter(|level| unit(level).as_ref() == Some(&first));
    (same.count() as f64 >= NEARLY_ALL * levels.len() as f64).then(|| example.clone())
}

/// What the numbers of a column tell of it, gathered row after row.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that all numbers so far are")]
pub(super) struct NumbersSeen {
    rows: usize,
    missing: usize,
    /// Whether all are whole.
    whole: bool,
    /// Whether the rows are counted, from 0 or from 1.
    from_zero: bool,
    from_one: bool,
    least: f64,
    most: f64,
    /// Whether all may be dates such as 20240131.
    may_be_dates: bool,
    /// Whether the column's name makes the number of different ones of interest.
    named: bool,
    /// Those, as long as they are of interest and not too many.
    distinct: HashSet<u64>,
    most_distinct: usize,
    /// The rows in which there were too many of them.
    counted_in: Option<usize>,
}

impl NumbersSeen {
    /// Nothing yet of a column of this name, of which at most so many different numbers are kept. If there are more, the
    /// rows up to the last of them decide whether numbers tell rows apart.
    pub(super) fn new(name: &str, most_distinct: usize) -> Self {
        Self {
            rows: 0,
            missing: 0,
            whole: true,
            from_zero: true,
            from_one: true,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            may_be_dates: true,
            named: is_named_identifier(name) || is_named_number(name),
            distinct: HashSet::new(),
            most_distinct,
            counted_in: None,
        }
    }

    /// Adds the next rows.
    pub(super) fn add(&mut self, values: &[f64]) {
        let known = || values.iter().filter(|v| !v.is_nan());
        self.missing += values.len() - known().count();
        let first = self.rows;
        self.rows += values.len();
        self.whole = self.whole && known().all(|v| v.fract() == 0.0);
        if !self.whole {
            self.distinct = HashSet::new();
            return;
        }
        let counts =
            |from: f64| values.iter().enumerate().all(|(i, v)| *v == from + (first + i) as f64);
        self.from_zero = self.from_zero && counts(0.0);
        self.from_one = self.from_one && counts(1.0);
        self.least = known().copied().fold(self.least, f64::min);
        self.most = known().copied().fold(self.most, f64::max);
        self.may_be_dates = self.may_be_dates && known().all(|v| DATES_AS_NUMBERS.contains(v));
        if !(self.named || self.may_be_dates) {
            self.distinct = HashSet::new();
        } else if self.counted_in.is_none() {
            for (i, value) in values.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
                self.distinct.insert(value.to_bits());
                if self.distinct.len() >= self.most_distinct {
                    self.counted_in = Some(first + i + 1);
                    self.may_be_dates = false;
                    return;
                }
            }
        }
    }

    /// Rows without a number.
    pub(super) fn missing(&self) -> usize {
        self.missing
    }

    /// What the column looks like.
    pub(super) fn look(&self, name: &str) -> Look {
        if is_unnamed(name) {
            return Look::Unnamed;
        }
        if self.missing == self.rows {
            return Look::Empty;
        }
        if self.is_identifier(name) {
            return Look::Identifier;
        }
        if !(self.whole && self.may_be_dates) || self.rows - self.missing < 2 {
            return Look::Input;
        }
        let mut values: Vec<f64> = self.distinct.iter().map(|bits| f64::from_bits(*bits)).collect();
        values.sort_by(f64::total_cmp);
        if values.len() == 1 {
            // One date in many rows.
            values.push(values[0]);
        }
        DateColumn::recognise_numbers(name, &values).map_or(Look::Input, Look::Dates)
    }

    /// Whether the numbers only tell rows apart: whole, all different, and either named so or counting the rows.
    fn is_identifier(&self, name: &str) -> bool {
        if !self.whole || self.rows < FEWEST_IDENTIFIERS {
            return false;
        }
        let is_running = self.rows >= FEWEST_RUNNING && (self.from_zero || self.from_one);
        if is_running && !is_named_time(name) {
            return true;
        }
        let rows = self.counted_in.unwrap_or(self.rows);
        if is_named_identifier(name) {
            return self.distinct.len() as f64 >= NEARLY_ALL * rows as f64;
        }
        // A number or code may be a measurement; one that is never the same in many rows, or that counts, is not.
        is_named_number(name) && {
            let many = self.rows >= FEWEST_RUNNING;
            let all_differ = self.distinct.len() == rows;
            all_differ && (many || self.most - self.least + 1.0 == self.rows as f64)
        }
    }
}

/// Whether the last word of a name says that its numbers tell rows apart, or may do so.
fn is_named_number(name: &str) -> bool {
    const WORDS: [&str; 10] =
        ["no", "nr", "num", "number", "code", "key", "serial", "seq", "record", "ref"];
    let plain = name.trim().to_lowercase();
    let last = plain.rsplit(['_', ' ', '-', '.']).find(|word| !word.is_empty());
    last.is_some_and(|word| WORDS.contains(&word) || word == "#" || word == "№")
}

fn is_named_identifier(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "id", "ids", "index", "idx", "key", "uuid", "rowid", "rownames", "row", "no", "nr", "seq",
        "seqn", "serial",
    ];
    let plain = name.trim().to_lowercase();
    if NAMES.contains(&plain.as_str()) {
        return true;
    }
    // `customer_id`, `customer id`, `customerId`, `customerID`; not `acid`.
    let separated =
        plain.strip_suffix("id").is_some_and(|rest| rest.ends_with(['_', ' ', '-', '.']));
    let camel = ["Id", "ID"].iter().any(|end| {
        let rest = name.trim().strip_suffix(end);
        rest.is_some_and(|rest| rest.ends_with(|c: char| c.is_lowercase()))
    });
    let leading = ["id_", "id "].iter().any(|start| plain.starts_with(start));
    separated || camel || leading
}

/// Whether a column that counts the rows counts time.
fn is_named_time(name: &str) -> bool {
    const NAMES: [&str; 13] = [
        "t", "time", "year", "month", "week", "day", "hour", "minute", "second", "period", "step",
        "age", "trend",
    ];
    NAMES.contains(&name.trim().to_lowercase().as_str())
}
