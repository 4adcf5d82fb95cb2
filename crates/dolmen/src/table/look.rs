//! What a column looks like: an input, dates, an identifier, free text, nothing.

use std::collections::HashSet;

use super::dates::DateColumn;
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
            Column::Numeric(values) if is_identifier(name, values) => Self::Identifier,
            Column::Numeric(values) => {
                DateColumn::recognise_numbers(name, values).map_or(Self::Input, Self::Dates)
            }
            Column::Categorical(categories) => {
                if let Some(dates) = DateColumn::recognise(name, categories) {
                    return Self::Dates(dates);
                }
                text_look(categories, present)
            }
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

fn text_look(categories: &Categories, present: usize) -> Look {
    let distinct = categories.levels.len() as f64;
    if present < FEWEST_IDENTIFIERS {
        return Look::Input;
    }
    let characters: usize = categories.levels.iter().map(String::len).sum();
    let are_long = characters >= LONG * categories.levels.len();
    if are_long && distinct >= MANY * present as f64 {
        return Look::Text;
    }
    if distinct >= MANY * present as f64
        && let Some(example) = with_units(categories)
    {
        return Look::WithUnits(example);
    }
    if distinct >= NEARLY_ALL * present as f64 { Look::Identifier } else { Look::Input }
}

/// A text of a column whose texts are numbers with one and the same word behind nearly all of them.
fn with_units(categories: &Categories) -> Option<String> {
    let unit = |level: &str| {
        let (_, length) = number::parse_start(level.trim_start().as_bytes())?;
        let unit = level.trim_start().get(length..)?.trim();
        (!unit.is_empty() && unit.chars().all(|c| !c.is_ascii_digit())).then(|| unit.to_string())
    };
    let (example, first) = categories.levels.iter().find_map(|l| unit(l).map(|unit| (l, unit)))?;
    let same = categories.levels.iter().filter(|level| unit(level).as_ref() == Some(&first));
    (same.count() as f64 >= NEARLY_ALL * categories.levels.len() as f64).then(|| example.clone())
}

/// Whether numbers only tell rows apart: whole, all different, and either named so or counting the rows.
fn is_identifier(name: &str, values: &[f64]) -> bool {
    let whole = values.iter().all(|v| v.is_nan() || v.fract() == 0.0);
    if !whole || values.len() < FEWEST_IDENTIFIERS {
        return false;
    }
    let counts = |from: f64| values.iter().enumerate().all(|(i, v)| *v == from + i as f64);
    let is_running = values.len() >= FEWEST_RUNNING && (counts(0.0) || counts(1.0));
    if is_running && !is_named_time(name) {
        return true;
    }
    let distinct = || {
        let known = values.iter().filter(|v| !v.is_nan());
        known.map(|v| v.to_bits()).collect::<HashSet<u64>>().len()
    };
    if is_named_identifier(name) {
        return distinct() as f64 >= NEARLY_ALL * values.len() as f64;
    }
    // A number or code may be a measurement; one that is never the same in many rows, or that counts, is not.
    is_named_number(name) && {
        let many = values.len() >= FEWEST_RUNNING;
        let range = |fold: fn(f64, f64) -> f64, from| values.iter().copied().fold(from, fold);
        let span = range(f64::max, f64::NEG_INFINITY) - range(f64::min, f64::INFINITY);
        let all_differ = distinct() == values.len();
        all_differ && (many || span + 1.0 == values.len() as f64)
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
    const NAMES: [&str; 12] = [
        "t", "time", "year", "month", "week", "day", "hour", "minute", "second", "period", "step",
        "age",
    ];
    NAMES.contains(&name.trim().to_lowercase().as_str())
}
