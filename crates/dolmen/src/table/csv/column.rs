//! A column from its pieces: numbers or categories, and the column itself.

use crate::error::Result;
use crate::table::levels::{Dictionary, Seen};
use crate::table::missing::Missing;
use crate::table::pieces::{Decision, Numbers, Piece, Texts};
use crate::table::read::{Wanted, mostly_texts, not_a_number};
use crate::table::written::{self, Expected, Formed, NumberForm, may_be_number};
use crate::table::{Categories, Column, number};

/// How many cells of a column are numbers and how many are not, missing ones aside.
#[derive(Debug, Default)]
pub(super) struct Tally {
    numbers: usize,
    texts: usize,
    /// The first cell that is not a number, with its row.
    first_text: Option<(usize, Box<[u8]>)>,
}

impl Tally {
    /// Adds a piece whose first row is `row`.
    pub(super) fn add(&mut self, row: usize, piece: &Piece) {
        match piece {
            Piece::Skipped | Piece::Moments(_) => {}
            Piece::Numbers(Numbers { values, texts, first_text }) => {
                self.numbers += values.iter().filter(|v| !v.is_nan()).count();
                self.add_texts(*texts, first_text.as_ref().map(|(r, text)| (row + r, &**text)));
            }
            Piece::Texts(Texts { dictionary, .. }) => {
                for (text, seen) in dictionary.levels() {
                    match number::parse(text) {
                        None => self.add_texts(seen.count, Some((row + seen.first_row, text))),
                        Some(value) if value.is_nan() => {}
                        Some(_) => self.numbers += seen.count,
                    }
                }
            }
        }
    }

    fn add_texts(&mut self, count: usize, first: Option<(usize, &[u8])>) {
        self.texts += count;
        if let Some((row, text)) = first
            && self.first_text.as_ref().is_none_or(|(earliest, _)| row < *earliest)
        {
            self.first_text = Some((row, text.into()));
        }
    }

    /// Whether a column with these cells holds numbers or categories.
    pub(super) fn decide(&self, name: &str, wanted: Wanted) -> Result<Decision> {
        match wanted {
            Wanted::Ignored => return Ok(Decision::Ignored),
            Wanted::Categorical => return Ok(Decision::Categorical),
            Wanted::Written => return Ok(Decision::Written(Some(Wanted::Numeric))),
            Wanted::Numeric | Wanted::Inferred => {}
        }
        let must = wanted == Wanted::Numeric || self.is_mostly_numbers();
        match &self.first_text {
            None => Ok(Decision::Numeric),
            Some((_, text)) if std::str::from_utf8(text).is_ok_and(may_be_number) => {
                Ok(Decision::Written(must.then_some(wanted)))
            }
            Some((row, text)) if must => Err(if self.is_mostly_texts() {
                mostly_texts(*row, name, text, self.texts, self.texts + self.numbers)
            } else {
                not_a_number(*row, name, text, wanted)
            }),
            // Further down, most of them may be numbers of some form.
            Some(_) => Ok(Decision::Written(None)),
        }
    }

    /// Whether more cells are texts than numbers.
    fn is_mostly_texts(&self) -> bool {
        self.texts > self.numbers
    }

    /// Whether the texts are few enough to be mistakes: a tenth or less.
    fn is_mostly_numbers(&self) -> bool {
        self.numbers >= 9 * self.texts
    }
}

/// Whether the cells of a piece read as numbers had better be read as texts.
pub(super) fn is_mostly_text(piece: &Piece) -> bool {
    let Piece::Numbers(Numbers { texts: 1.., .. }) = piece else {
        return false;
    };
    let mut tally = Tally::default();
    tally.add(0, piece);
    !tally.is_mostly_numbers()
}

/// Whether a column holds numbers or categories; `pieces` come with their number of rows.
pub(super) fn decide<'a>(
    name: &str,
    wanted: Wanted,
    pieces: impl Iterator<Item = (usize, &'a Piece)> + Clone,
) -> Result<Decision> {
    let all_numbers = |piece: &Piece| matches!(piece, Piece::Numbers(Numbers { texts: 0, .. }));
    let mut tally = Tally::default();
    if !pieces.clone().all(|(_, piece)| all_numbers(piece)) {
        let mut first_row = 0;
        for (rows, piece) in pieces {
            tally.add(first_row, piece);
            first_row += rows;
        }
    }
    tally.decide(name, wanted)
}

/// How texts may write numbers.
pub(super) struct Writing<'a> {
    /// The form that a model knows.
    pub(super) form: Option<&'a NumberForm>,
    pub(super) delimiter: u8,
    pub(super) missing: &'a Missing,
}

/// The column, and how its numbers are written if not plainly; `pieces` come with their number of rows.
pub(super) fn assemble(
    name: &str,
    pieces: Vec<(usize, Piece)>,
    decision: Decision,
    writing: &Writing<'_>,
) -> Result<Option<Formed>> {
    let column = match decision {
        Decision::Ignored => return Ok(None),
        Decision::Numeric => (Column::Numeric(join_numbers(pieces)), None),
        Decision::Categorical => (Column::Categorical(join_texts(name, pieces)?), None),
        Decision::Written(must) => {
            let Writing { form, delimiter, missing } = *writing;
            let expected = Expected { form, must, delimiter: Some(delimiter), missing };
            written::convert(name, join_texts(name, pieces)?, expected)?
        }
    };
    Ok(Some(column))
}

fn join_numbers(pieces: Vec<(usize, Piece)>) -> Vec<f64> {
    let mut values = Vec::with_capacity(pieces.iter().map(|(rows, _)| rows).sum());
    for (_, piece) in pieces {
        if let Piece::Numbers(numbers) = piece {
            values.extend_from_slice(&numbers.values);
        }
    }
    values
}

fn join_texts(name: &str, pieces: Vec<(usize, Piece)>) -> Result<Categories> {
    let mut codes = Vec::with_capacity(pieces.iter().map(|(rows, _)| rows).sum());
    let mut dictionary = Dictionary::default();
    for (_, piece) in pieces {
        let Piece::Texts(texts) = piece else { continue };
        let first_row = codes.len();
        let recode = |(text, seen): (&[u8], Seen)| {
            dictionary.code(text, Seen { first_row: first_row + seen.first_row, ..seen })
        };
        let recoded: Option<Vec<u32>> = texts.dictionary.levels().map(recode).collect();
        let recoded = recoded.ok_or_else(|| Categories::too_many(name))?;
        let code = |c: &u32| recoded.get(*c as usize).copied().unwrap_or(Categories::MISSING);
        codes.extend(texts.codes.iter().map(code));
    }
    dictionary.categories(name, codes)
}
