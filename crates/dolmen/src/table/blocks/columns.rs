//! How the cells of each column are understood, the same in every block, and the columns of a block.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Place, Result};
use crate::table::date_text::{Moment, moment};
use crate::table::dates::DateColumn;
use crate::table::levels::{Dictionary, Seen};
use crate::table::missing::Missing;
use crate::table::moments::{Moments, Timed};
use crate::table::pieces::{Parsed, Piece, Reading, Texts};
use crate::table::read::{Wanted, not_a_date, not_a_number, not_utf8};
use crate::table::written::NumberTexts;
use crate::table::{Categories, Column};

/// How the cells of a column are understood.
#[derive(Debug, Clone)]
pub(super) enum Cells {
    /// They are not read.
    Ignored,
    /// As numbers.
    Numbers,
    /// As texts that write numbers.
    Written(NumberTexts),
    /// As categories with the same levels in every block.
    Levels(Arc<Levels>),
    /// As categories with the levels of the block.
    Texts,
    /// As dates that become numbers, of a column whose type may say what it holds.
    Dates(DateColumn, Option<Timed>),
}

/// Levels that are known, and the codes of their texts.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "the levels are what it holds")]
pub(super) struct Levels {
    pub(super) levels: Arc<[String]>,
    dictionary: Dictionary,
    /// The code of each text of the dictionary.
    codes: Vec<u32>,
}

impl Levels {
    /// The texts of a column as its levels, in their order.
    pub(super) fn new(name: &str, dictionary: Dictionary) -> Result<Self> {
        let numbers = (0..dictionary.len() as u32).collect();
        let Categories { levels, codes } = dictionary.categories(name, numbers)?;
        Ok(Self { levels, dictionary, codes })
    }

    /// How often each level was seen, and where first.
    pub(super) fn seen(&self) -> Vec<Seen> {
        let mut seen = vec![Seen { first_row: 0, count: 0 }; self.codes.len()];
        for ((_, own), code) in self.dictionary.levels().zip(&self.codes) {
            seen[*code as usize] = own;
        }
        seen
    }

    fn code(&self, text: &[u8]) -> Option<u32> {
        self.dictionary.get(text).map(|number| self.codes[number as usize])
    }
}

impl Cells {
    /// How they are read.
    pub(super) fn reading(&self) -> Reading {
        match self {
            Self::Ignored => Reading::Skip,
            Self::Numbers => Reading::Numbers,
            Self::Dates(_, Some(timed)) => Reading::Moments(*timed),
            Self::Written(_) | Self::Levels(_) | Self::Texts | Self::Dates(_, None) => {
                Reading::Texts
            }
        }
    }

    /// The names of the columns that a column of this name becomes.
    pub(super) fn names(&self, name: &str) -> Vec<String> {
        match self {
            Self::Ignored => Vec::new(),
            Self::Dates(dates, _) => dates.names().collect(),
            _ => vec![name.to_string()],
        }
    }

    /// A piece of the column, understood.
    fn understand(&self, name: &str, piece: Piece, missing: &Missing) -> Result<Cut, Unfit> {
        match (self, piece) {
            (Self::Numbers, Piece::Numbers(numbers)) => match numbers.texts {
                0 => Ok(Cut::Numbers(numbers.values)),
                _ => Err(Unfit::Text),
            },
            (Self::Written(form), Piece::Texts(texts)) => {
                let value = |(text, seen): (&[u8], Seen)| {
                    let readable = std::str::from_utf8(text)
                        .map_err(|_| not_utf8(Place::cell(seen.first_row, name)))?;
                    let value = form.value(readable, missing);
                    value.ok_or_else(|| not_a_number(seen.first_row, name, text, Wanted::Numeric))
                };
                let values = texts.dictionary.levels().map(value).collect::<Result<Vec<f64>>>()?;
                let of_code = |code: &u32| values.get(*code as usize).copied().unwrap_or(f64::NAN);
                Ok(Cut::Numbers(texts.codes.iter().map(of_code).collect()))
            }
            (Self::Levels(levels), Piece::Texts(mut texts)) => {
                let known = texts.dictionary.levels().map(|(text, _)| levels.code(text));
                let known = known.collect::<Option<Vec<u32>>>().ok_or(Unfit::Unknown)?;
                for code in &mut texts.codes {
                    *code = known.get(*code as usize).copied().unwrap_or(Categories::MISSING);
                }
                Ok(Cut::Codes(texts.codes))
            }
            (Self::Texts, Piece::Texts(texts)) => Ok(Cut::Texts(texts)),
            (Self::Dates(dates, _), Piece::Texts(texts)) => {
                Ok(Cut::Moments(moments_of_texts(dates, &texts)?))
            }
            (Self::Dates(dates, _), Piece::Moments(moments)) => {
                Ok(Cut::Moments(moments_of(dates, &moments)?))
            }
            _ => Ok(Cut::Nothing),
        }
    }
}

/// The moment of each row, from its text.
fn moments_of_texts(dates: &DateColumn, texts: &Texts) -> Result<Vec<Moment>> {
    let of_text = |(text, seen): (&[u8], Seen)| {
        let found = moment(text, dates.order);
        found.ok_or_else(|| not_a_date(seen.first_row, &dates.column, text))
    };
    let known = texts.dictionary.levels().map(of_text).collect::<Result<Vec<Moment>>>()?;
    let of_code = |code: &u32| known.get(*code as usize).copied().unwrap_or(Moment::NONE);
    Ok(texts.codes.iter().map(of_code).collect())
}

/// The moment of each row of a typed column.
fn moments_of(dates: &DateColumn, moments: &Moments) -> Result<Vec<Moment>> {
    let of_row = |(row, &seconds): (usize, &f64)| {
        if seconds.is_nan() {
            return Ok(Moment::NONE);
        }
        let found = moments.timed.moment(seconds);
        found
            .filter(|_| moments.timed.order() == dates.order)
            .ok_or_else(|| not_a_date(row, &dates.column, moments.timed.text(seconds).as_bytes()))
    };
    moments.seconds.iter().enumerate().map(of_row).collect()
}

/// Why a piece cannot be understood as was decided.
pub(super) enum Unfit {
    /// A text where plain numbers are expected.
    Text,
    /// A text that was not there when the levels were gathered.
    Unknown,
    /// It is wrong.
    Wrong(Error),
}

impl From<Error> for Unfit {
    fn from(error: Error) -> Self {
        Self::Wrong(error)
    }
}

/// The cells of a column in some rows, which may be cut between blocks.
enum Cut {
    Nothing,
    Numbers(Vec<f64>),
    Codes(Vec<u32>),
    Texts(Texts),
    Moments(Vec<Moment>),
}

/// Some rows, understood.
#[expect(clippy::struct_field_names, reason = "their number is called so everywhere")]
pub(super) struct Rows {
    rows: usize,
    columns: Vec<Cut>,
    /// Rows of these that are in a block.
    taken: usize,
}

impl Rows {
    /// Understands some rows of a file.
    pub(super) fn new(
        parsed: Parsed,
        names: &[String],
        cells: &[Cells],
        missing: &Missing,
    ) -> Result<Self, Unfit> {
        let columns = cells.iter().zip(names).zip(parsed.pieces);
        let columns = columns
            .map(|((cells, name), piece)| cells.understand(name, piece, missing))
            .collect::<Result<_, Unfit>>()?;
        Ok(Self { rows: parsed.rows, columns, taken: 0 })
    }

    /// How many of them are in no block yet.
    pub(super) fn left(&self) -> usize {
        self.rows - self.taken
    }

    /// Whether all of them are in a block.
    pub(super) fn is_used_up(&self) -> bool {
        self.left() == 0
    }
}

/// A block that is being filled.
pub(super) struct Filling {
    rows: usize,
    room: usize,
    columns: Vec<Filled>,
}

enum Filled {
    Nothing,
    Numbers(Vec<f64>),
    Codes(Vec<u32>),
    Texts { dictionary: Dictionary, codes: Vec<u32> },
    Moments(Vec<Moment>),
}

impl Filling {
    /// An empty block with room for so many rows.
    pub(super) fn new(cells: &[Cells], room: usize) -> Self {
        let empty = |cells: &Cells| match cells {
            Cells::Ignored => Filled::Nothing,
            Cells::Numbers | Cells::Written(_) => Filled::Numbers(Vec::new()),
            Cells::Levels(_) => Filled::Codes(Vec::new()),
            Cells::Dates(..) => Filled::Moments(Vec::new()),
            Cells::Texts => Filled::Texts { dictionary: Dictionary::default(), codes: Vec::new() },
        };
        Self { rows: 0, room, columns: cells.iter().map(empty).collect() }
    }

    /// Rows in it.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Rows for which there is room.
    pub(super) fn left(&self) -> usize {
        self.room - self.rows
    }

    /// Takes as many rows as there is room for.
    pub(super) fn take(&mut self, rows: &mut Rows) {
        let count = self.left().min(rows.left());
        let range = rows.taken..rows.taken + count;
        // A piece that is a block needs no copy.
        let whole = self.rows == 0 && count == rows.rows;
        for (filled, cut) in self.columns.iter_mut().zip(&mut rows.columns) {
            match (filled, cut) {
                (Filled::Numbers(all), Cut::Numbers(some)) if whole => *all = std::mem::take(some),
                (Filled::Codes(all), Cut::Codes(some)) if whole => *all = std::mem::take(some),
                (Filled::Numbers(all), Cut::Numbers(some)) => {
                    all.reserve_exact(self.room - self.rows);
                    all.extend_from_slice(&some[range.clone()]);
                }
                (Filled::Codes(all), Cut::Codes(some)) => {
                    all.reserve_exact(self.room - self.rows);
                    all.extend_from_slice(&some[range.clone()]);
                }
                (Filled::Moments(all), Cut::Moments(some)) => {
                    all.reserve_exact(self.room - self.rows);
                    all.extend_from_slice(&some[range.clone()]);
                }
                (Filled::Texts { dictionary, codes }, Cut::Texts(some)) => {
                    recode(dictionary, codes, some, range.clone());
                }
                _ => {}
            }
        }
        rows.taken += count;
        self.rows += count;
    }

    /// The columns of the block, those that are read.
    pub(super) fn into_columns(self, names: &[String], cells: &[Cells]) -> Result<Vec<Column>> {
        let mut columns = Vec::with_capacity(self.columns.len());
        for ((filled, cells), name) in self.columns.into_iter().zip(cells).zip(names) {
            columns.push(match (filled, cells) {
                (Filled::Numbers(values), _) => Column::Numeric(values),
                (Filled::Codes(codes), Cells::Levels(known)) => {
                    let levels = Arc::clone(&known.levels);
                    Column::Categorical(Categories { levels, codes })
                }
                (Filled::Texts { dictionary, codes }, _) => {
                    Column::Categorical(dictionary.categories(name, codes)?)
                }
                (Filled::Moments(moments), Cells::Dates(dates, _)) => {
                    columns.extend(dates.numbers(&moments));
                    continue;
                }
                _ => continue,
            });
        }
        Ok(columns)
    }
}

/// Adds the texts of some rows to those of a block.
fn recode(dictionary: &mut Dictionary, codes: &mut Vec<u32>, some: &Texts, rows: Range<usize>) {
    let texts: Vec<&[u8]> = some.dictionary.levels().map(|(text, _)| text).collect();
    let mut known = vec![Categories::MISSING; texts.len()];
    codes.reserve(rows.len());
    for &code in &some.codes[rows] {
        let Some(known) = known.get_mut(code as usize) else {
            codes.push(Categories::MISSING);
            continue;
        };
        if *known == Categories::MISSING {
            let seen = Seen { first_row: codes.len(), count: 1 };
            let code = dictionary.code(texts[code as usize], seen);
            *known = code.expect("a block is far too short for so many levels");
        }
        codes.push(*known);
    }
}
