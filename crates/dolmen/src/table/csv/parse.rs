//! One chunk of records parsed into one piece per column.

use std::sync::atomic::{AtomicBool, Ordering};

use super::scan::{OpenQuote, Scanner};
use super::{OPEN_QUOTE, column};
use crate::error::{Error, Place};
use crate::table::levels::Seen;
use crate::table::missing::Missing;
use crate::table::pieces::{Numbers, Parsed, Piece, Reading, Texts};
use crate::table::read::Wanted;
use crate::table::{Categories, number};

/// Why a record cannot be read; the row is counted from 0 within the chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It has another number of cells than the header.
    Width { row: usize, found: usize },
    /// A quoted cell does not end.
    OpenQuote { row: usize },
}

impl Fault {
    /// The error, of a file with so many columns.
    pub(super) fn in_words(self, expected: usize) -> Error {
        let (row, found) = match self {
            Self::OpenQuote { row } => return Error::data(Place::row(row), OPEN_QUOTE),
            Self::Width { row, found } => (row, found),
        };
        let problem = format!("expected {expected} cells as in the header, found {found}");
        let error = Error::data(Place::row(row), problem);
        let quotes = "a cell that holds the delimiter must stand in quotes";
        if found > expected { error.with_hint(quotes) } else { error }
    }
}

/// How the columns of a file are read as long as it is not known what they hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guess<'a> {
    pub(super) wanted: &'a [Wanted],
    /// The columns in which texts were found.
    pub(super) holds_text: &'a [AtomicBool],
}

impl Guess<'_> {
    /// Parses whole records. Columns are read as numbers unless texts were found in them, here or by others.
    pub(super) fn parse(
        &self,
        text: &[u8],
        delimiter: u8,
        missing: &Missing,
    ) -> Result<Parsed, Fault> {
        let Self { wanted, holds_text } = *self;
        let reading = |(wanted, text): (&Wanted, &AtomicBool)| match wanted {
            Wanted::Ignored => Reading::Skip,
            Wanted::Categorical | Wanted::Written => Reading::Texts,
            Wanted::Inferred if text.load(Ordering::Relaxed) => Reading::Texts,
            Wanted::Inferred | Wanted::Numeric => Reading::Numbers,
        };
        let readings: Vec<Reading> = wanted.iter().zip(holds_text).map(reading).collect();
        let mut parsed = parse(text, delimiter, missing, &readings)?;
        let again = |(wanted, piece): (&Wanted, &Piece)| match wanted {
            Wanted::Inferred if column::is_mostly_text(piece) => Reading::Texts,
            _ => Reading::Skip,
        };
        let again: Vec<Reading> = wanted.iter().zip(&parsed.pieces).map(again).collect();
        if again.contains(&Reading::Texts) {
            for (text, reading) in holds_text.iter().zip(&again) {
                text.fetch_or(*reading == Reading::Texts, Ordering::Relaxed);
            }
            parsed.replace(parse(text, delimiter, missing, &again)?);
        }
        Ok(parsed)
    }
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
            Piece::Skipped | Piece::Moments(_) => _ = scanner.cell()?,
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

impl Numbers {
    fn read(
        &mut self,
        scanner: &mut Scanner<'_>,
        missing: &Missing,
        row: usize,
    ) -> Result<(), OpenQuote> {
        let value = match scanner.number() {
            Some(value) => missing.known(value),
            None => self.value(scanner.cell()?, missing, row),
        };
        self.values.push(value);
        Ok(())
    }

    fn value(&mut self, cell: &[u8], missing: &Missing, row: usize) -> f64 {
        if missing.contains(cell) {
            return f64::NAN;
        }
        if let Some(value) = number::parse(cell) {
            return missing.known(value);
        }
        self.texts += 1;
        self.first_text.get_or_insert_with(|| (row, cell.into()));
        f64::NAN
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
