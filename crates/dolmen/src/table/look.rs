//! What a column looks like: an input, dates, an identifier, free text, nothing.

use std::collections::HashSet;

use super::dates::DateColumn;
use super::{Categories, Column, number};

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
    /// Numbers with a comma where we expect a point.
    DecimalCommas,
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
            Column::Numeric(_) => Self::Input,
            Column::Categorical(categories) => {
                if let Some(dates) = DateColumn::recognise(name, categories) {
                    return Self::Dates(dates);
                }
                text_look(categories, present)
            }
        }
    }

    /// Why a column that looks so is left out; `None` if it is not.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Input | Self::Dates(_) => None,
            Self::Unnamed => Some("it has no name, like a row index"),
            Self::Empty => Some("it has no values"),
            Self::Identifier => Some("it looks like an identifier: (nearly) all values differ"),
            Self::Text => Some("it looks like free text: most values are long and differ"),
            Self::DecimalCommas => {
                Some("its numbers have a decimal comma: write them with a decimal point")
            }
        }
    }
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

/// A file's column names; one without a name gets `Unnamed: ` and its position, as in other programs.
pub(super) fn named(names: Vec<String>) -> Vec<String> {
    let named = |(j, name): (usize, String)| {
        if name.is_empty() { format!("Unnamed: {j}") } else { name }
    };
    names.into_iter().enumerate().map(named).collect()
}

/// Whether a column has a name that stands for none, as of a row index that was written with the table.
pub fn is_unnamed(name: &str) -> bool {
    name.strip_prefix("Unnamed: ").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

fn text_look(categories: &Categories, present: usize) -> Look {
    let distinct = categories.levels.len() as f64;
    if has_decimal_commas(categories) {
        return Look::DecimalCommas;
    }
    if present < FEWEST_IDENTIFIERS {
        return Look::Input;
    }
    let characters: usize = categories.levels.iter().map(String::len).sum();
    let are_long = characters >= LONG * categories.levels.len();
    if are_long && distinct >= MANY * present as f64 {
        return Look::Text;
    }
    if distinct >= NEARLY_ALL * present as f64 { Look::Identifier } else { Look::Input }
}

/// Whether all texts would be numbers if a comma were a point.
fn has_decimal_commas(categories: &Categories) -> bool {
    let is_number = |level: &String| {
        let pointed = level.replacen(',', ".", 1);
        number::parse(pointed.as_bytes()).is_some()
    };
    categories.levels.iter().any(|level| level.contains(','))
        && categories.levels.iter().all(is_number)
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
    is_named_identifier(name) && {
        let distinct: HashSet<u64> =
            values.iter().filter(|v| !v.is_nan()).map(|v| v.to_bits()).collect();
        distinct.len() as f64 >= NEARLY_ALL * values.len() as f64
    }
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
