//! What a look through a column tells of it: its texts, its numbers, and what it looks like.

use crate::error::{Place, Result};
use crate::table::dates::DateColumn;
use crate::table::levels::{Dictionary, Seen, Spellings};
use crate::table::look::{Look, NumbersSeen, are_long, is_unnamed};
use crate::table::pieces::{Decision, Piece};
use crate::table::read::not_utf8;
use crate::table::written::{Expected, NumberTexts};
use crate::table::{Categories, NumberForm};

use super::columns::{Cells, Levels};

/// Memory for the different texts of all columns together, and the most for those of one.
const ALL_TEXTS: usize = 512 << 20;
const TEXTS: usize = 128 << 20;

/// What a text takes beside its bytes.
const TEXT: usize = 100;

/// Different numbers of which it is found out whether they tell rows apart.
const MOST_NUMBERS: usize = 1 << 20;

/// What is known of a column when all of its rows have been seen.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSummary {
    /// The column's name.
    pub name: String,
    /// Rows without a value.
    pub missing: usize,
    /// What the column looks like. One with more different texts than are kept tells rows apart, unless they are dates.
    pub look: Look,
    /// How many rows have each level, of categories with the same levels in every block.
    pub counts: Vec<usize>,
}

/// What the rows seen so far tell of a column.
pub(super) struct Gathered {
    rows: usize,
    present: usize,
    numbers: NumbersSeen,
    texts: Dictionary,
    /// Memory that the texts take, and may take.
    bytes: usize,
    most: usize,
    /// Set when there were too many different texts: dates, if those kept are.
    #[expect(clippy::option_option, reason = "whether there were too many, and what they were")]
    overflow: Option<Option<DateColumn>>,
}

impl Gathered {
    /// Nothing yet of a column of this name, one of so many columns.
    pub(super) fn new(name: &str, columns: usize) -> Self {
        Self {
            rows: 0,
            present: 0,
            numbers: NumbersSeen::new(name, MOST_NUMBERS),
            texts: Dictionary::default(),
            bytes: 0,
            most: TEXTS.min(ALL_TEXTS / columns.max(1)),
            overflow: None,
        }
    }

    /// Adds some rows.
    pub(super) fn add(&mut self, name: &str, piece: &Piece) -> Result<()> {
        match piece {
            Piece::Skipped => {}
            Piece::Numbers(numbers) => self.numbers.add(&numbers.values),
            Piece::Texts(texts) => {
                for (text, seen) in texts.dictionary.levels() {
                    let seen = Seen { first_row: self.rows + seen.first_row, ..seen };
                    self.present += seen.count;
                    if std::str::from_utf8(text).is_err() {
                        return Err(not_utf8(Place::cell(seen.first_row, name)));
                    }
                    self.add_text(name, text, seen)?;
                }
                self.rows += texts.codes.len();
            }
        }
        Ok(())
    }

    fn add_text(&mut self, name: &str, text: &[u8], seen: Seen) -> Result<()> {
        if self.texts.get(text).is_some() {
            // Not new: the dictionary only counts it.
            self.texts.code(text, seen);
            return Ok(());
        }
        if self.overflow.is_none() && self.bytes + text.len() + TEXT > self.most {
            let Categories { levels, .. } = self.texts.categories(name, Vec::new())?;
            self.overflow = Some(DateColumn::recognise_texts(name, &levels));
        }
        match &mut self.overflow {
            None => {
                self.bytes += text.len() + TEXT;
                self.texts.code(text, seen).ok_or_else(|| Categories::too_many(name))?;
            }
            Some(dates) => {
                let known = self.texts.levels().next().map(|(text, _)| text);
                if let (Some(found), Some(known)) = (&mut *dates, known)
                    && !found.widen(known, text)
                {
                    *dates = None;
                }
            }
        }
        Ok(())
    }

    /// How the column's cells are to be understood, and what is known of it.
    pub(super) fn finish(
        self,
        name: &str,
        decision: Decision,
        expected: Expected<'_>,
    ) -> Result<(Cells, Option<NumberForm>, ColumnSummary)> {
        let summary =
            |missing, look, counts| ColumnSummary { name: name.into(), missing, look, counts };
        let must = match decision {
            Decision::Ignored => {
                return Ok((Cells::Ignored, None, summary(0, Look::Input, Vec::new())));
            }
            Decision::Numeric => {
                let look = self.numbers.look(name);
                return Ok((
                    Cells::Numbers,
                    None,
                    summary(self.numbers.missing(), look, Vec::new()),
                ));
            }
            Decision::Categorical => None,
            Decision::Written(must) => Some(must),
        };
        let missing = self.rows - self.present;
        let levels = Levels::new(name, self.texts)?;
        if let Some(must) = must {
            let texts = Spellings::new(&levels.levels, levels.seen());
            let expected = Expected { must, ..expected };
            if let Some(found) = NumberTexts::recognise(name, &texts, expected)? {
                let is_whole = self.overflow.is_none();
                let look = look_of_written(name, &texts, &found, self.rows, is_whole, expected);
                let form = found.form.clone();
                return Ok((Cells::Written(found), Some(form), summary(missing, look, Vec::new())));
            }
        }
        Ok(match self.overflow {
            None => {
                let look = Look::of_texts(name, &levels.levels, self.present);
                let counts = levels.seen().iter().map(|seen| seen.count).collect();
                (Cells::Levels(levels.into()), None, summary(missing, look, counts))
            }
            Some(dates) => {
                let look = match dates {
                    _ if is_unnamed(name) => Look::Unnamed,
                    Some(dates) => Look::Dates(dates),
                    None if are_long(&levels.levels) => Look::Text,
                    None => Look::Identifier,
                };
                (Cells::Texts, None, summary(missing, look, Vec::new()))
            }
        })
    }
}

/// What numbers look like that texts write.
fn look_of_written(
    name: &str,
    texts: &Spellings<'_>,
    form: &NumberTexts,
    rows: usize,
    is_whole: bool,
    expected: Expected<'_>,
) -> Look {
    let mut values: Vec<(usize, f64)> = texts
        .iter()
        .filter_map(|(text, seen)| Some((seen.first_row, form.value(text, expected.missing)?)))
        .collect();
    // Where all differ these are the rows; where not all do, those that are repeated tell as much.
    values.sort_unstable_by_key(|(row, _)| *row);
    let mut values: Vec<f64> = values.into_iter().map(|(_, value)| value).collect();
    if is_whole && values.len() < rows && !values.is_empty() {
        let repeated = values[0];
        values.extend(std::iter::repeat_n(repeated, rows - values.len()));
    }
    let mut seen = NumbersSeen::new(name, MOST_NUMBERS);
    seen.add(&values);
    seen.look(name)
}
