//! Numbers as people write them: with a decimal comma, marks between thousands, a currency or percent sign beside them.
//!
//! A column is one of such numbers if every text in it is a number of one and the same form. The form is kept with a model
//! (`conventions.rs`), so that new rows are read alike. `1,234` alone may be either 1.234 or 1234: where cells are parted by
//! semicolons or tabs, as where commas are decimal, it is the former, else the latter.

use serde::{Deserialize, Serialize};

use super::missing::Missing;
use super::number;
use super::read::{Wanted, not_a_number};
use super::{Categories, Column};
use crate::error::{Error, Place, Result};

/// A column, and the form its numbers were written in where that is not the usual one.
pub(super) type Formed = (Column, Option<NumberForm>);

/// How the numbers of a column are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumberForm {
    /// Whether decimals stand behind a comma; else behind a point.
    pub decimal_comma: bool,
    /// What stands between groups of three digits, if anything.
    pub grouping: Option<char>,
    /// What stands beside the number in some cells: a currency or `%`.
    pub unit: Option<String>,
}

/// A column of numbers that are not written plainly. Stored with a model, so that new rows are read the same way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenNumbers {
    /// The column's name.
    pub column: String,
    /// How its numbers are written.
    pub form: NumberForm,
}

/// What may stand beside a number. Of two that fit the longer comes first.
const UNITS: [&str; 18] = [
    "US$", "USD", "EUR", "GBP", "CHF", "JPY", "CAD", "AUD", "Rs.", "$", "€", "£", "¥", "₹", "₽",
    "₩", "₺", "%",
];

/// What a column of texts is.
pub(super) enum Reading {
    /// Texts.
    Texts,
    /// Numbers of this form, all of them.
    Numbers(NumberForm),
    /// Numbers of some form, but for a few texts, of which this row's is the first.
    Mostly(usize),
    /// Many numbers, but of several forms: the first row of the most frequent form, and the first that is not of it.
    Mixed([usize; 2]),
}

impl NumberForm {
    /// The number that a text writes in this form.
    pub(super) fn value(&self, text: &str) -> Option<f64> {
        let (sign, text) = signed(text.trim());
        let text = match &self.unit {
            None => text,
            Some(unit) => beside(text, unit).unwrap_or(text),
        };
        let (inner, text) = signed(text);
        if sign.is_some() && inner.is_some() {
            return None;
        }
        let plain = self.plain(text)?;
        let value = number::parse(plain.as_bytes())?;
        Some(if sign.or(inner) == Some('-') { -value } else { value })
    }

    /// Whether a number may also be written plainly: not where its point would stand between thousands.
    pub(super) fn may_be_plain(&self) -> bool {
        self.grouping != Some('.')
    }

    /// A number in this form, without marks between thousands.
    pub(super) fn text(&self, value: f64) -> String {
        let plain = format!("{value}");
        if self.decimal_comma { plain.replace('.', ",") } else { plain }
    }

    /// Digits in this form as a program writes them.
    fn plain(&self, text: &str) -> Option<String> {
        let (body, exponent) = match text.find(['e', 'E']) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let mark = if self.decimal_comma { ',' } else { '.' };
        let (whole, decimals) = body.split_once(mark).unwrap_or((body, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let whole = self.ungrouped(whole)?;
        if !digits(decimals) || whole.is_empty() && decimals.is_empty() {
            return None;
        }
        let power = exponent.trim_start_matches(['e', 'E']);
        let power = power.strip_prefix(['+', '-']).unwrap_or(power);
        if !exponent.is_empty() && (power.is_empty() || !digits(power)) {
            return None;
        }
        Some(format!("{whole}.{decimals}0{exponent}"))
    }

    /// The digits before the decimals: without marks, or with one before every three.
    fn ungrouped(&self, whole: &str) -> Option<String> {
        let is_mark = |c: char| match self.grouping {
            // Blanks between digits come in three kinds.
            Some(' ') => matches!(c, ' ' | '\u{a0}' | '\u{202f}'),
            mark => Some(c) == mark,
        };
        let mut groups = whole.split(is_mark);
        let mut digits = groups.next().unwrap_or_default().to_string();
        for group in groups {
            if group.len() != 3 || digits.is_empty() || digits == "0" {
                return None;
            }
            digits.push_str(group);
        }
        let leads = whole.split(is_mark).next().unwrap_or_default().len() <= 3;
        let is_grouped = digits.len() < whole.len();
        let sound = digits.bytes().all(|b| b.is_ascii_digit()) && (leads || !is_grouped);
        sound.then_some(digits)
    }

    /// What is told of the numbers, beside one of them.
    pub(super) fn in_words(&self) -> String {
        let mut marks = Vec::new();
        if self.decimal_comma {
            marks.push("a decimal comma".to_string());
        }
        match self.grouping {
            None => {}
            Some(' ') => marks.push("blanks between thousands".into()),
            Some(mark) => marks.push(format!("'{mark}' between thousands")),
        }
        if let Some(unit) = &self.unit {
            marks.push(format!("'{unit}' beside them"));
        }
        marks.join(" and ")
    }

    /// The forms that are tried, in this order: the plainer ones first.
    fn candidates(unit: Option<&str>, delimiter: Option<u8>) -> Vec<Self> {
        let form = |(decimal_comma, grouping): &(bool, Option<char>)| Self {
            decimal_comma: *decimal_comma,
            grouping: *grouping,
            unit: unit.map(String::from),
        };
        let (decimals, thousands) = ((true, None), (false, Some(',')));
        let in_doubt = match delimiter {
            Some(b';' | b'\t') => [decimals, thousands],
            _ => [thousands, decimals],
        };
        let marked = [
            (true, Some('.')),
            (false, Some(' ')),
            (true, Some(' ')),
            (false, Some('\'')),
            (true, Some('\'')),
        ];
        [(false, None)].iter().chain(&in_doubt).chain(&marked).map(form).collect()
    }

    /// What a column of texts is, of which some may be plain numbers.
    pub(super) fn recognise(
        column: &Categories,
        delimiter: Option<u8>,
        missing: &Missing,
    ) -> Reading {
        if !column.levels.iter().any(|level| may_be_number(level)) {
            return Reading::Texts;
        }
        let mut counts = column.counts();
        for (level, count) in column.levels.iter().zip(&mut counts) {
            // Words that mean a missing value are neither numbers nor strange.
            if missing.contains(level.as_bytes()) {
                *count = 0;
            }
        }
        let rows: usize = counts.iter().sum();
        let unit = column.levels.iter().find_map(|level| unit_of(level));
        let mut few = None;
        for form in Self::candidates(unit, delimiter) {
            let (mut strange, mut marked) = (0, false);
            for (level, count) in column.levels.iter().zip(&counts) {
                match form.value(level) {
                    Some(_) => marked |= *count > 0 && number::parse(level.as_bytes()).is_none(),
                    None => strange += count,
                }
                if strange > rows / MOST_STRANGE {
                    break;
                }
            }
            if marked && strange == 0 {
                return Reading::Numbers(form);
            }
            if marked && strange <= rows / MOST_STRANGE && few.is_none() {
                few = Some(form);
            }
        }
        let is_strange = |form: &Self, code: &u32| {
            let counted = counts.get(*code as usize).is_some_and(|count| *count > 0);
            counted && form.value(&column.levels[*code as usize]).is_none()
        };
        let row = few.and_then(|form| column.codes.iter().position(|code| is_strange(&form, code)));
        let of_rows = || Self::mixed(column, &counts, &Self::candidates(unit, delimiter));
        row.map(Reading::Mostly).or_else(of_rows).unwrap_or(Reading::Texts)
    }

    /// Whether a column holds many numbers, each of some form, but not all of one.
    fn mixed(column: &Categories, counts: &[usize], forms: &[Self]) -> Option<Reading> {
        let counted = |level: usize| counts.get(level).is_some_and(|count| *count > 0);
        let levels: Vec<usize> = (0..column.levels.len()).filter(|level| counted(*level)).collect();
        let is = |form: &Self, level: usize| form.value(&column.levels[level]).is_some();
        let is_number = |level: &usize| forms.iter().any(|form| is(form, *level));
        if levels.len() < MANY_NUMBERS || !levels.iter().all(is_number) {
            return None;
        }
        let rows = |form: &&Self| -> usize {
            levels.iter().filter(|level| is(form, **level)).map(|level| counts[*level]).sum()
        };
        // Of forms that fit as many rows the plainest, which stands first.
        let usual = forms.iter().rev().max_by_key(rows)?;
        let first = |wanted: bool| {
            let fits = |code: &u32| counted(*code as usize) && is(usual, *code as usize) == wanted;
            column.codes.iter().position(fits)
        };
        Some(Reading::Mixed([first(true)?, first(false)?]))
    }
}

/// One in so many cells may be a text by mistake.
const MOST_STRANGE: usize = 10;

/// A column of texts as the numbers it writes, and how; texts that are no numbers stay.
///
/// `form` is how a model knows its numbers are written. `must` says that only numbers will do: they are declared, or
/// nearly all cells are plain ones.
pub(super) fn convert(
    name: &str,
    column: Categories,
    form: Option<&NumberForm>,
    delimiter: Option<u8>,
    must: Option<Wanted>,
    missing: &Missing,
) -> Result<Formed> {
    let fault = |row: usize, wanted: Wanted| {
        let text = column.level(row).unwrap_or_default();
        Err(not_a_number(row, name, text.as_bytes(), wanted))
    };
    let strange = |value: &dyn Fn(&str) -> Option<f64>| {
        let is_known =
            |level: &String| missing.contains(level.as_bytes()) || value(level).is_some();
        let known: Vec<bool> = column.levels.iter().map(is_known).collect();
        column.codes.iter().position(|code| known.get(*code as usize) == Some(&false))
    };
    let plain = |text: &str| number::parse(text.as_bytes());
    let found = match form {
        Some(form) => form.clone(),
        None => match NumberForm::recognise(&column, delimiter, missing) {
            Reading::Numbers(form) => form,
            Reading::Mostly(row) => return fault(row, must.unwrap_or(Wanted::Inferred)),
            Reading::Mixed(rows) => {
                let [usual, other] = rows.map(|row| column.level(row).unwrap_or_default());
                return Err(written_in_two_ways(name, (rows[0], usual), (rows[1], other)));
            }
            Reading::Texts => match must.zip(strange(&plain)) {
                Some((wanted, row)) => match column.mostly_texts(name) {
                    Some(error) => return Err(error),
                    None => return fault(row, wanted),
                },
                None => match word_among_numbers(&column) {
                    Some(row) => return fault(row, Wanted::Inferred),
                    None => return Ok((Column::Categorical(column), None)),
                },
            },
        },
    };
    // New rows may also be written plainly, unless a point would stand between thousands.
    let may_be_plain = form.is_some() && found.may_be_plain();
    let value = |text: &str| found.value(text).or_else(|| plain(text).filter(|_| may_be_plain));
    if let Some(row) = strange(&value) {
        return fault(row, Wanted::Numeric);
    }
    let of_level = |level: &String| {
        let value = value(level).unwrap_or(f64::NAN);
        let is_missing = missing.contains(level.as_bytes()) || missing.contains_number(value);
        if is_missing { f64::NAN } else { value }
    };
    let values: Vec<f64> = column.levels.iter().map(of_level).collect();
    let number = |code: &u32| values.get(*code as usize).copied().unwrap_or(f64::NAN);
    Ok((Column::Numeric(column.codes.iter().map(number).collect()), Some(found)))
}

/// The error of a column of numbers of several forms, of which no one can be meant for all.
fn written_in_two_ways(name: &str, usual: (usize, &str), other: (usize, &str)) -> Error {
    let problem = format!(
        "the numbers of the column are written in two ways: '{}' here, '{}' in row {}",
        other.1,
        usual.1,
        usual.0 + 1
    );
    Error::data(Place::cell(other.0, name), problem).with_hint(format!(
        "write them all in one way, or read the column as categories (--schema '{name}=categorical')"
    ))
}

/// Different numbers from which on a column is hardly one of categories.
const MANY_NUMBERS: usize = 20;

/// Different words that may mean a missing value among them.
const FEW_WORDS: usize = 3;

/// The row of the first word in a column of many different numbers, which are most of its cells, and very few words.
fn word_among_numbers(column: &Categories) -> Option<usize> {
    let is_number = |level: &String| number::parse(level.as_bytes()).is_some();
    let numbers: Vec<bool> = column.levels.iter().map(is_number).collect();
    let counts = column.counts();
    let different = numbers.iter().filter(|is_number| **is_number).count();
    let of = |wanted: bool| -> usize {
        numbers.iter().zip(&counts).filter(|(own, _)| **own == wanted).map(|(_, count)| count).sum()
    };
    if different < MANY_NUMBERS || numbers.len() - different > FEW_WORDS || of(true) < of(false) {
        return None;
    }
    column.codes.iter().position(|code| numbers.get(*code as usize) == Some(&false))
}

/// Whether a text has a digit and nothing that no number has; most texts are told from numbers by that alone.
pub(super) fn may_be_number(text: &str) -> bool {
    let rest = unit_of(text).map_or_else(|| text.to_string(), |unit| text.replacen(unit, "", 1));
    let fits = |c: char| c.is_ascii_digit() || " ,.'+-−eE\u{a0}\u{202f}".contains(c);
    rest.contains(|c: char| c.is_ascii_digit()) && rest.chars().all(fits)
}

/// The sign before a text, and the rest.
fn signed(text: &str) -> (Option<char>, &str) {
    match text.strip_prefix(['-', '−']) {
        Some(rest) => (Some('-'), rest.trim_start()),
        None => match text.strip_prefix('+') {
            Some(rest) => (Some('+'), rest.trim_start()),
            None => (None, text),
        },
    }
}

/// A text without the unit before or behind it; `None` if it stands in neither place.
fn beside<'a>(text: &'a str, unit: &str) -> Option<&'a str> {
    let before = if unit == "%" { None } else { text.strip_prefix(unit) };
    before.or_else(|| text.strip_suffix(unit)).map(str::trim)
}

/// The unit that stands beside a number.
fn unit_of(text: &str) -> Option<&'static str> {
    let (_, text) = signed(text.trim());
    UNITS.into_iter().find(|unit| beside(text, unit).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(texts: &[&str]) -> Categories {
        Categories::new(texts.iter().map(|text| Some(*text)))
    }

    /// The numbers of a column of texts, or what it is instead.
    fn read(texts: &[&str], delimiter: u8) -> Result<Vec<f64>, String> {
        let missing = Missing::new(&["-999".into()]);
        match convert("x", column(texts), None, Some(delimiter), None, &missing) {
            Ok((Column::Numeric(values), Some(_))) => Ok(values),
            Ok(_) => Err("texts".into()),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn numbers_written_in_two_ways_are_told() {
        let number = |i: usize| format!("{}.{:02}", i, (7 * i) % 100);
        let both = |every: usize, count: usize| -> Vec<String> {
            let text =
                |i: usize| if i % every == 1 { number(i).replace('.', ",") } else { number(i) };
            (0..count).map(text).collect()
        };
        let found = |texts: &[String]| {
            read(&texts.iter().map(String::as_str).collect::<Vec<_>>(), b';').unwrap_err()
        };
        for every in [2, 3] {
            let said = found(&both(every, 40));
            assert!(said.contains("in two ways: '1,07' here, '0.00' in row 1"), "{said}");
            assert!(said.contains("row 2, column 'x'"), "{said}");
        }
        // Few different ones may be categories, and texts that are no numbers in any form are none.
        assert_eq!(found(&both(2, 10)), "texts");
        let mut texts = both(2, 40);
        texts.extend((0..20).map(|i| format!("v{i}")));
        assert_eq!(found(&texts), "texts");
    }

    #[test]
    fn forms_are_recognised_from_the_whole_column() {
        let cases: [(&[&str], u8, &[f64]); 12] = [
            (&["3,15", "-2,5", "7"], b';', &[3.15, -2.5, 7.0]),
            (&["1,5E+03", ",5", "2,"], b'\t', &[1500.0, 0.5, 2.0]),
            (&["1,043", "2,512"], b';', &[1.043, 2.512]),
            (&["1,043", "2,512"], b',', &[1043.0, 2512.0]),
            (&["1,043", "2,51"], b',', &[1.043, 2.51]),
            (&["1,043.65", "12", "1,000,000"], b',', &[1043.65, 12.0, 1e6]),
            (&["1.043,65", "12.345"], b';', &[1043.65, 12345.0]),
            (&["$10.5", "-$2", "$-3", "4"], b',', &[10.5, -2.0, -3.0, 4.0]),
            (&["10,5 €", "1.234,00 €"], b';', &[10.5, 1234.0]),
            (&["12 %", "0.5%"], b',', &[12.0, 0.5]),
            (&["12 345", "1\u{a0}000,5", "−7"], b';', &[12345.0, 1000.5, -7.0]),
            (&["1'000.5", "20"], b',', &[1000.5, 20.0]),
        ];
        for (texts, delimiter, expected) in cases {
            let found = read(texts, delimiter).unwrap();
            let same = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9);
            assert!(same && found.len() == expected.len(), "{texts:?}: {found:?}");
        }
    }

    #[test]
    fn texts_stay_texts() {
        let cases: [&[&str]; 7] = [
            &["red", "blue"],
            &["1", "2"],
            &["1,2,3", "2,3"],
            &["$5", "€7"],
            &["0,123,456", "1"],
            &["2021-01-01", "2021-01-02"],
            &["1-5", "6-10"],
        ];
        for texts in cases {
            assert_eq!(read(texts, b';').unwrap_err(), "texts", "{texts:?}");
        }
    }

    #[test]
    fn a_few_strange_cells_are_named() {
        let mut texts = vec!["1,5"; 19];
        texts.push("none");
        let error = read(&texts, b';').unwrap_err();
        assert_eq!(error, "row 20, column 'x': expected a number, found 'none'");
        // A third of them is no mistake.
        assert_eq!(read(&["1,5", "2,5", "none"], b';').unwrap_err(), "texts");
    }

    #[test]
    fn new_rows_are_read_in_the_form_of_the_model() {
        let form = NumberForm { decimal_comma: true, grouping: None, unit: None };
        let missing = Missing::new(&[]);
        let read = |texts: &[&str], form: &NumberForm| {
            let column = convert("x", column(texts), Some(form), Some(b','), None, &missing);
            column.map(|(column, _)| column)
        };
        let found = read(&["1,043", "2.5"], &form).unwrap();
        assert_eq!(found, Column::Numeric(vec![1.043, 2.5]));
        let grouped = NumberForm { grouping: Some('.'), ..form };
        assert_eq!(read(&["1.043"], &grouped).unwrap(), Column::Numeric(vec![1043.0]));
        assert!(read(&["2.5"], &grouped).is_err());
        assert!(read(&["soon"], &grouped).is_err());
    }

    #[test]
    fn words_for_missing_values_match_by_value() {
        let found = read(&["-999,0", "1,5"], b';').unwrap();
        assert!(found[0].is_nan() && found[1] == 1.5);
    }
}
