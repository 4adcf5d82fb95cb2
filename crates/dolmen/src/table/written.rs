//! Numbers as people write them: with a decimal comma, marks between thousands, a currency or percent sign beside them.
//!
//! A column is one of such numbers if every text in it is a number of one and the same form. The form is kept with a model
//! (`conventions.rs`), so that new rows are read alike. `1,234` alone may be either 1.234 or 1234: where cells are parted by
//! semicolons or tabs, as where commas are decimal, it is the former, else the latter.

use serde::{Deserialize, Serialize};

use super::levels::{Seen, Spellings};
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
enum Reading<'a> {
    /// Texts.
    Texts,
    /// Numbers of this form, all of them.
    Numbers(NumberForm),
    /// Numbers of some form, but for a few texts, of which this row's is the first.
    Mostly(usize, &'a str),
    /// Many numbers, but of several forms: the first of the most frequent form, and the first that is not of it, with their rows.
    Mixed([(usize, &'a str); 2]),
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
    fn in_words(&self) -> String {
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

    /// What is told of a column of such numbers.
    pub(super) fn note(&self, column: &str) -> String {
        format!(
            "column '{column}' holds numbers with {} and is read as numbers (--schema '{column}=categorical' reads texts)",
            self.in_words()
        )
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
    fn recognise<'a>(
        texts: &Spellings<'a>,
        delimiter: Option<u8>,
        missing: &Missing,
    ) -> Reading<'a> {
        if !texts.levels.iter().any(|level| may_be_number(level)) {
            return Reading::Texts;
        }
        // Words that mean a missing value are neither numbers nor strange.
        let known = texts.iter().filter(|(text, _)| !missing.contains(text.as_bytes()));
        let known: Vec<(&str, Seen)> = known.collect();
        let rows: usize = known.iter().map(|(_, seen)| seen.count).sum();
        let unit = texts.levels.iter().find_map(|level| unit_of(level));
        let mut few = None;
        for form in Self::candidates(unit, delimiter) {
            let (mut strange, mut marked) = (0, false);
            for (text, seen) in &known {
                match form.value(text) {
                    Some(_) => marked |= number::parse(text.as_bytes()).is_none(),
                    None => strange += seen.count,
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
        let first = few.and_then(|form| {
            let strange = known.iter().filter(|(text, _)| form.value(text).is_none());
            strange.min_by_key(|(_, seen)| seen.first_row)
        });
        let mostly = first.map(|(text, seen)| Reading::Mostly(seen.first_row, text));
        let mixed = || Self::mixed(&known, &Self::candidates(unit, delimiter));
        mostly.or_else(mixed).unwrap_or(Reading::Texts)
    }

    /// Whether texts are many numbers, each of some form, but not all of one.
    fn mixed<'a>(known: &[(&'a str, Seen)], forms: &[Self]) -> Option<Reading<'a>> {
        let is_number = |text: &str| forms.iter().any(|form| form.value(text).is_some());
        if known.len() < MANY_NUMBERS || !known.iter().all(|(text, _)| is_number(text)) {
            return None;
        }
        let rows = |form: &&Self| -> usize {
            let own = known.iter().filter(|(text, _)| form.value(text).is_some());
            own.map(|(_, seen)| seen.count).sum()
        };
        // Of forms that fit as many rows the plainest, which stands first.
        let usual = forms.iter().rev().max_by_key(rows)?;
        let first = |wanted: bool| {
            let fits = known.iter().filter(|(text, _)| usual.value(text).is_some() == wanted);
            fits.map(|(text, seen)| (seen.first_row, *text)).min()
        };
        Some(Reading::Mixed([first(true)?, first(false)?]))
    }
}

/// One in so many cells may be a text by mistake.
const MOST_STRANGE: usize = 10;

/// How the texts of a column are understood as numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NumberTexts {
    pub(super) form: NumberForm,
    /// Whether a text may also be a number as programs write it.
    may_be_plain: bool,
}

/// What is known of a column of texts before they are looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    /// How a model knows its numbers are written.
    pub(super) form: Option<&'a NumberForm>,
    /// Whether only numbers will do, because they are declared, or because nearly all cells are plain ones.
    pub(super) must: Option<Wanted>,
    /// The delimiter of CSV.
    pub(super) delimiter: Option<u8>,
    pub(super) missing: &'a Missing,
}

impl NumberTexts {
    /// Texts in a form that is known. New rows may also be written plainly, unless a point would stand between thousands.
    pub(super) fn known(form: &NumberForm) -> Self {
        Self { form: form.clone(), may_be_plain: form.may_be_plain() }
    }

    /// How texts write numbers; `None` if they are no numbers and need not be.
    pub(super) fn recognise(
        name: &str,
        texts: &Spellings<'_>,
        expected: Expected<'_>,
    ) -> Result<Option<Self>> {
        let Expected { form, must, delimiter, missing } = expected;
        let fault = |(row, text): (usize, &str), wanted: Wanted| {
            Err(not_a_number(row, name, text.as_bytes(), wanted))
        };
        let found = match form {
            Some(form) => Self::known(form),
            None => match NumberForm::recognise(texts, delimiter, missing) {
                Reading::Numbers(form) => Self { form, may_be_plain: false },
                Reading::Mostly(row, text) => {
                    return fault((row, text), must.unwrap_or(Wanted::Inferred));
                }
                Reading::Mixed([usual, other]) => {
                    return Err(written_in_two_ways(name, usual, other));
                }
                Reading::Texts => {
                    let is_strange = |text: &str| {
                        !missing.contains(text.as_bytes())
                            && number::parse(text.as_bytes()).is_none()
                    };
                    let first = must.and_then(|wanted| Some((wanted, texts.first(is_strange)?)));
                    return match first {
                        Some((wanted, first)) => match texts.mostly_texts(name) {
                            Some(error) => Err(error),
                            None => fault(first, wanted),
                        },
                        None => match word_among_numbers(texts) {
                            Some(first) => fault(first, Wanted::Inferred),
                            None => Ok(None),
                        },
                    };
                }
            },
        };
        match texts.first(|text| found.value(text, missing).is_none()) {
            Some(first) => fault(first, Wanted::Numeric),
            None => Ok(Some(found)),
        }
    }

    /// The number that a text writes, NaN if it means a missing value; `None` if it does neither.
    pub(super) fn value(&self, text: &str, missing: &Missing) -> Option<f64> {
        if missing.contains(text.as_bytes()) {
            return Some(f64::NAN);
        }
        let plain = || number::parse(text.as_bytes()).filter(|_| self.may_be_plain);
        self.form.value(text).or_else(plain).map(|value| missing.known(value))
    }
}

/// A column of texts as the numbers it writes, and how; texts that are no numbers stay.
pub(super) fn convert(name: &str, column: Categories, expected: Expected<'_>) -> Result<Formed> {
    let texts = Spellings::of(&column);
    let Some(found) = NumberTexts::recognise(name, &texts, expected)? else {
        return Ok((Column::Categorical(column), None));
    };
    let value = |level: &String| found.value(level, expected.missing).unwrap_or(f64::NAN);
    let values: Vec<f64> = column.levels.iter().map(value).collect();
    let number = |code: &u32| values.get(*code as usize).copied().unwrap_or(f64::NAN);
    Ok((Column::Numeric(column.codes.iter().map(number).collect()), Some(found.form)))
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

/// The first word, with its row, in a column of many different numbers, which are most of its cells, and very few words.
fn word_among_numbers<'a>(texts: &Spellings<'a>) -> Option<(usize, &'a str)> {
    let is_number = |text: &str| number::parse(text.as_bytes()).is_some();
    let (mut different, mut words, mut of_numbers, mut of_words) = (0, 0, 0, 0);
    for (text, seen) in texts.iter() {
        let (kinds, cells) = if is_number(text) {
            (&mut different, &mut of_numbers)
        } else {
            (&mut words, &mut of_words)
        };
        *kinds += 1;
        *cells += seen.count;
    }
    if different < MANY_NUMBERS || words > FEW_WORDS || of_numbers < of_words {
        return None;
    }
    texts.first(|text| !is_number(text))
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

    fn expected<'a>(
        form: Option<&'a NumberForm>,
        delimiter: u8,
        missing: &'a Missing,
    ) -> Expected<'a> {
        Expected { form, must: None, delimiter: Some(delimiter), missing }
    }

    /// The numbers of a column of texts, or what it is instead.
    fn read(texts: &[&str], delimiter: u8) -> Result<Vec<f64>, String> {
        let missing = Missing::new(&["-999".into()]);
        match convert("x", column(texts), expected(None, delimiter, &missing)) {
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
            let message = found(&both(every, 40));
            assert!(message.contains("in two ways: '1,07' here, '0.00' in row 1"), "{message}");
            assert!(message.contains("row 2, column 'x'"), "{message}");
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
            let column = convert("x", column(texts), expected(Some(form), b',', &missing));
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
