//! One chunk of records parsed into one piece per column.

use super::scan::{OpenQuote, Scanner};
use crate::table::levels::{Dictionary, Seen};
use crate::table::missing::Missing;
use crate::table::{Categories, number};

/// How the cells of a column are read in a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Not at all.
    Skip,
    /// As numbers; texts among them are counted.
    Numbers,
    /// As texts.
    Texts,
}

/// The cells of one column in one chunk.
#[derive(Debug, Default)]
pub(super) enum Piece {
    #[default]
    Skipped,
    Numbers(Numbers),
    Texts(Texts),
}

/// Cells read as numbers.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// NaN where the cell is missing or a text.
    pub(super) values: Vec<f64>,
    /// Number of texts.
    pub(super) texts: usize,
    /// The first text, with its row.
    pub(super) first_text: Option<(usize, Box<[u8]>)>,
}

/// Cells read as texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) dictionary: Dictionary,
    pub(super) codes: Vec<u32>,
}

/// The cells of a chunk. Rows are counted from 0 within it.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) rows: usize,
    pub(super) pieces: Vec<Piece>,
}

/// Why a record cannot be read; the row is counted from 0 within the chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It has another number of cells than the header.
    Width { row: usize, found: usize },
    /// A quoted cell does not end.
    OpenQuote { row: usize },
}

/// Parses whole records; `readings` has one entry per column of the file.
pub(super) fn parse(
    text: &[u8],
    delimiter: u8,
    missing: &Missing,
    readings: &[Reading],
) -> Result<Parsed, Fault> {
    // No row takes fewer bytes than columns; blank lines are no rows at all.
    let rows = (count_lines(text) + 1).min(text.len() / readings.len().max(1) + 1);
    let mut pieces: Vec<Piece> = readings.iter().map(|r| Piece::new(*r, rows)).collect();
    let mut scanner = Scanner::new(text, delimiter);
    let mut row = 0;
    while scanner.next_record() {
        let found = read_record(&mut scanner, missing, row, &mut pieces)
            .map_err(|OpenQuote| Fault::OpenQuote { row })?;
        if found != pieces.len() {
            return Err(Fault::Width { row, found });
        }
        row += 1;
    }
    Ok(Parsed { rows: row, pieces })
}

/// Number of line feeds: at least the number of records but one, in most files exactly that.
fn count_lines(text: &[u8]) -> usize {
    // Blocks so short that their counts fit a byte: that is how the compiler finds the wide instructions.
    let block = |block: &[u8]| block.iter().map(|b| u8::from(*b == b'\n')).sum::<u8>();
    text.chunks(usize::from(u8::MAX)).map(|b| usize::from(block(b))).sum()
}

/// Reads one record and says how many cells it has.
fn read_record(
    scanner: &mut Scanner<'_>,
    missing: &Missing,
    row: usize,
    pieces: &mut [Piece],
) -> Result<usize, OpenQuote> {
    let mut found = 0;
    for piece in pieces {
        found += 1;
        match piece {
            Piece::Skipped => _ = scanner.cell()?,
            Piece::Numbers(numbers) => numbers.read(scanner, missing, row)?,
            Piece::Texts(texts) => texts.read(scanner, missing, row)?,
        }
        if scanner.ended() {
            return Ok(found);
        }
    }
    while !scanner.ended() {
        found += 1;
        scanner.cell()?;
    }
    Ok(found)
}

impl Piece {
    fn new(reading: Reading, rows: usize) -> Self {
        match reading {
            Reading::Skip => Self::Skipped,
            Reading::Numbers => {
                Self::Numbers(Numbers { values: Vec::with_capacity(rows), ..Numbers::default() })
            }
            Reading::Texts => {
                Self::Texts(Texts { codes: Vec::with_capacity(rows), ..Texts::default() })
            }
        }
    }
}

impl Numbers {
    fn read(
        &mut self,
        scanner: &mut Scanner<'_>,
        missing: &Missing,
        row: usize,
    ) -> Result<(), OpenQuote> {
        let value = match scanner.number() {
            Some(value) if missing.contains_number(value) => f64::NAN,
            Some(value) => value,
            None => self.value(scanner.cell()?, missing, row),
        };
        self.values.push(value);
        Ok(())
    }

    fn value(&mut self, cell: &[u8], missing: &Missing, row: usize) -> f64 {
        if missing.contains(cell) {
            return f64::NAN;
        }
        match number::parse(cell) {
            Some(value) if missing.contains_number(value) => f64::NAN,
            Some(value) => value,
            None => {
                self.texts += 1;
                self.first_text.get_or_insert_with(|| (row, cell.into()));
                f64::NAN
            }
        }
    }
}

impl Texts {
    fn read(
        &mut self,
        scanner: &mut Scanner<'_>,
        missing: &Missing,
        row: usize,
    ) -> Result<(), OpenQuote> {
        let cell = scanner.cell()?;
        let code = if missing.contains(cell) {
            Categories::MISSING
        } else {
            let code = self.dictionary.code(cell, Seen { first_row: row, count: 1 });
            code.expect("a chunk is far too short for so many levels")
        };
        self.codes.push(code);
        Ok(())
    }
}
