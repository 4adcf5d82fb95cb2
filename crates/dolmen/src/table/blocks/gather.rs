//! What a look through a column tells of it: its texts, its numbers, and what it looks like.

use crate::error::{Place, Result};
use crate::table::levels::{Dictionary, Seen, Spellings};
use crate::table::look::{Look, NumbersSeen};
use crate::table::moments::TimedSeen;
use crate::table::pieces::{Decision, Piece};
use crate::table::read::not_utf8;
use crate::table::written::{Expected, NumberTexts};
use crate::table::{Categories, NumberForm};

use super::columns::{Cells, Levels};
use super::many::ManyTexts;

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
    /// What the cells of a typed column of dates tell.
    timed: Option<TimedSeen>,
    /// Memory that the texts take, and may take.
    bytes: usize,
    room: Room,
    /// Set when there were too many different texts.
    overflow: Option<ManyTexts>,
}

/// Memory for the different texts of a column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// As long as they may turn out to tell rows apart, or to be dates.
    pub(super) spared: usize,
    /// In any case.
    pub(super) most: usize,
}

impl Room {
    /// That of one of so many columns of texts, which together may take so much while they may turn out not to be needed.
    pub(super) fn new(spared: usize, columns: usize) -> Self {
        let most = TEXTS.min(ALL_TEXTS / columns.max(1));
        Self { spared: most.min(spared / columns.max(1)), most }
    }

    /// The same where all texts are needed, whatever they are.
    pub(super) fn for_all(self) -> Self {
        Self { spared: self.most, ..self }
    }
}

impl Gathered {
    /// Nothing yet of a column of this name.
    pub(super) fn new(name: &str, room: Room) -> Self {
        Self {
            rows: 0,
            present: 0,
            numbers: NumbersSeen::new(name, MOST_NUMBERS),
            texts: Dictionary::default(),
            timed: None,
            bytes: 0,
            room,
            overflow: None,
        }
    }

    /// Adds some rows.
    pub(super) fn add(&mut self, name: &str, piece: &Piece) -> Result<()> {
        match piece {
            Piece::Skipped => {}
            Piece::Numbers(numbers) => self.numbers.add(&numbers.values),
            Piece::Moments(moments) => {
                self.rows += moments.seconds.len();
                let seen = self.timed.get_or_insert_with(|| TimedSeen::new(name, moments.timed));
                seen.add(moments);
            }
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
        if self.overflow.is_none() && self.bytes + text.len() + TEXT > self.room.spared {
            let many = ManyTexts::new(name, &self.texts);
            if many.may_be_numbers() && self.room.spared < self.room.most {
                // How they are written is a matter of as many as can be kept.
                self.room = self.room.for_all();
            } else {
                self.overflow = Some(many);
            }
        }
        if let Some(many) = &mut self.overflow {
            many.add(text);
            return Ok(());
        }
        self.bytes += text.len() + TEXT;
        self.texts.code(text, seen).map(|_| ()).ok_or_else(|| Categories::too_many(name))
    }

    /// Whether its cells were read as moments.
    pub(super) fn is_timed(&self) -> bool {
        self.timed.is_some()
    }

    /// Whether the column is to be read again in another way than so: its texts are needed after all, or its moments as texts.
    pub(super) fn is_unsettled(&self) -> bool {
        let is_needed = |many: &ManyTexts| !many.are_spared(self.present);
        self.timed.as_ref().is_some_and(|seen| seen.is_strange)
            || self.room.spared < self.room.most && self.overflow.as_ref().is_some_and(is_needed)
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
        if let Some(seen) = self.timed {
            let (missing, look) = (seen.missing, seen.look(name));
            return Ok((Cells::Texts, None, summary(missing, look, Vec::new())));
        }
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
            Some(many) => {
                (Cells::Texts, None, summary(missing, many.look(&levels.levels), Vec::new()))
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
