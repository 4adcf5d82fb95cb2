//! CSV: read in chunks of whole records, parsed in parallel, put together column by column.
//!
//! Types are not known before the last row. Each chunk therefore reads a column as numbers until it meets texts; a column
//! that turns out to hold categories is read again as text in those chunks that took it for numbers, which in most files
//! are none or the first few. The file is never held whole, and neither the table nor an error depends on the size of the
//! chunks or the number of threads.

mod chunks;
mod column;
mod parse;
mod scan;
mod sniff;
mod stream;
#[cfg(test)]
mod tests;
mod write;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use self::chunks::{Chunk, Chunks, Extent};
use self::column::Writing;
use self::parse::{Fault, Guess};
use self::scan::Scanner;
use super::Table;
use super::look::Names;
use super::missing::Missing;
use super::pieces::{Decision, Parsed, Piece, Reading};
use super::read::{ReadOptions, Wanted, not_utf8};
use super::written::Formed;
use crate::error::{Error, Place, Result};
use crate::memory;
use crate::run::Run;

pub(super) use chunks::Source;
pub(super) use stream::{Stream, Tallies};
pub use write::write_csv;
pub(super) use write::{write_header, write_rows};

/// Bytes read at a time: they stay in a core's own cache from reading to parsing.
const CHUNK: usize = 1 << 20;

/// What is read, and how its cells are told apart.
pub(super) struct Input<'a> {
    pub(super) source: &'a mut dyn Source,
    /// Names the source in errors.
    pub(super) file: &'a Path,
    pub(super) delimiters: Delimiters,
}

/// What is known of the byte between cells before the header is seen.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::table) struct Delimiters {
    /// The byte itself; `None`: what the header shows.
    pub(in crate::table) given: Option<u8>,
    /// The byte that is taken unless the header shows another.
    pub(in crate::table) usual: Option<u8>,
}

/// Reads a table.
pub(super) fn read(input: Input<'_>, options: &ReadOptions, run: &Run) -> Result<Table> {
    read_in_chunks(input, options, CHUNK, run)
}

/// The names of the columns; nothing but the start of the source is read.
pub(super) fn header(input: Input<'_>) -> Result<Vec<String>> {
    let Input { source, file, delimiters } = input;
    let (mut chunks, delimiter) = begin(source, file, delimiters, CHUNK)?;
    let (names, _) = read_header(&mut chunks, file, delimiter).map_err(|e| e.in_file(file))?;
    Ok(names.names)
}

/// The chunks of a source, and its delimiter: the one given, or the one that the source shows.
fn begin<S: Source>(
    mut source: S,
    file: &Path,
    delimiters: Delimiters,
    size: usize,
) -> Result<(Chunks<S>, u8)> {
    let Delimiters { given: delimiter, usual } = delimiters;
    let fail = |e| Error::io(file, e);
    let mut start = chunks::skip_mark(&mut source).map_err(fail)?;
    let mut text = chunks::peek(&mut source, start).map_err(fail)?;
    let declared = sniff::declaration(&text);
    if let Some((_, length)) = declared {
        start += length as u64;
        chunks::go_to(&mut source, start).map_err(fail)?;
        text.drain(..length);
    }
    let declared = declared.map(|(delimiter, _)| delimiter);
    let delimiter = delimiter.or(declared).unwrap_or_else(|| sniff::delimiter(&text, usual));
    Ok((Chunks::new(source, start, delimiter, size), delimiter))
}

/// Every record of a small text, cell by cell.
pub(super) fn records(text: &[u8], delimiter: u8) -> Result<Vec<Vec<String>>> {
    let mut scanner = Scanner::new(text, delimiter);
    let mut records = Vec::new();
    while scanner.next_record() {
        records.push(record(&mut scanner)?);
    }
    Ok(records)
}

/// The cells of the record at which the scanner stands.
fn record(scanner: &mut Scanner<'_>) -> Result<Vec<String>> {
    let mut cells = Vec::new();
    while !scanner.ended() {
        let cell = scanner.cell().map_err(|_| Error::data(Place::default(), OPEN_QUOTE))?;
        let cell = std::str::from_utf8(cell).map_err(|_| not_utf8(Place::default()))?;
        cells.push(cell.to_string());
    }
    Ok(cells)
}

const OPEN_QUOTE: &str = "a quoted cell does not end";

/// What is known from the header and the options.
struct Layout<'a> {
    file: &'a Path,
    names: Vec<String>,
    wanted: Vec<Wanted>,
    delimiter: u8,
    missing: Missing,
    /// What the reader has to tell of the table.
    notes: Vec<String>,
    /// Bytes of the whole text.
    length: u64,
}

/// A parsed chunk, and where it stands in the file.
struct Part {
    extent: Extent,
    parsed: Parsed,
}

/// Why reading a chunk stopped.
enum Stop {
    Fault(Fault),
    Error(Error),
}

/// [`read`] with chunks of this size: how the file is cut must not show in the table.
fn read_in_chunks(
    input: Input<'_>,
    options: &ReadOptions,
    size: usize,
    run: &Run,
) -> Result<Table> {
    let Input { source, file, delimiters } = input;
    let length = chunks::length(source).map_err(|e| Error::io(file, e))?;
    let (mut chunks, delimiter) = begin(&mut *source, file, delimiters, size)?;
    let in_file = |error: Error| error.in_file(file);
    let (names, first) = read_header(&mut chunks, file, delimiter).map_err(in_file)?;
    let Names { names, notes } = names;
    let wanted = options.choose(&names).map_err(in_file)?;
    let missing = Missing::new(&options.missing);
    let layout = Layout { file, names, wanted, delimiter, missing, notes, length };
    let parts = layout.first_pass(first, &mut chunks, run);
    layout.finish(parts, options, source, run).map_err(in_file)
}

/// The column names, and the rest of the chunk in which they stand.
fn read_header<S: Source>(
    chunks: &mut Chunks<S>,
    file: &Path,
    delimiter: u8,
) -> Result<(Names, Chunk)> {
    while let Some(mut chunk) = chunks.next_chunk().map_err(|e| Error::io(file, e))? {
        let mut scanner = Scanner::new(&chunk.text, delimiter);
        if scanner.next_record() {
            let names = Names::new(record(&mut scanner)?);
            let position = scanner.position();
            chunk.skip(position);
            return Ok((names, chunk));
        }
    }
    Err(Error::data(Place::default(), "the file is empty")
        .with_hint("the first line must name the columns"))
}

impl Layout<'_> {
    /// Parses every chunk, until the file ends or some chunk cannot be read.
    fn first_pass<S: Source>(
        &self,
        first: Chunk,
        chunks: &mut Chunks<S>,
        run: &Run,
    ) -> Vec<(usize, Result<Part, Stop>)> {
        let holds_text: Vec<AtomicBool> =
            self.names.iter().map(|_| AtomicBool::new(false)).collect();
        let stopped = AtomicBool::new(false);
        let rest = std::iter::from_fn(|| chunks.next_chunk().transpose());
        let all = std::iter::once(Ok(first)).chain(rest).enumerate();
        // Chunks are handed out in order, so that all chunks before one that fails are read, whoever is faster.
        let all = all.take_while(|_| !stopped.load(Ordering::Relaxed));
        let parse = |(i, chunk): (usize, std::io::Result<Chunk>)| {
            let chunk = run.check().and(chunk.map_err(|e| Error::io(self.file, e)));
            let part = chunk
                .map_err(Stop::Error)
                .and_then(|chunk| self.parse(&chunk, &holds_text).map_err(Stop::Fault))
                .and_then(|part| match i {
                    0 => self.claim(&part).map(|()| part).map_err(Stop::Error),
                    _ => Ok(part),
                });
            stopped.fetch_or(part.is_err(), Ordering::Relaxed);
            (i, part)
        };
        run.install(|| all.par_bridge().map(parse).collect())
    }

    /// Parses a chunk; columns in which other chunks found texts are read as texts at once.
    fn parse(&self, chunk: &Chunk, holds_text: &[AtomicBool]) -> Result<Part, Fault> {
        let how = Guess { wanted: &self.wanted, holds_text };
        let parsed = how.parse(&chunk.text, self.delimiter, &self.missing)?;
        Ok(Part { extent: chunk.extent, parsed })
    }

    /// Asks for the memory that the whole file will take, if the rest of it is like its first chunk.
    fn claim(&self, first: &Part) -> Result<()> {
        let cell = |piece: &Piece| match piece {
            Piece::Skipped => 0,
            Piece::Numbers(_) | Piece::Moments(_) => size_of::<f64>(),
            Piece::Texts(_) => size_of::<u32>(),
        };
        let row: usize = first.parsed.pieces.iter().map(cell).sum();
        let held = memory::size(&[first.parsed.rows, row]) as f64;
        let chunks = self.length as f64 / first.extent.length.max(1) as f64;
        memory::claim((held * chunks) as u64, "the table")
    }

    fn parse_as(&self, chunk: &Chunk, readings: &[Reading]) -> Result<Parsed, Fault> {
        parse::parse(&chunk.text, self.delimiter, &self.missing, readings)
    }

    /// Makes the table of what the first pass read.
    fn finish(
        self,
        parts: Vec<(usize, Result<Part, Stop>)>,
        options: &ReadOptions,
        source: &mut dyn Source,
        run: &Run,
    ) -> Result<Table> {
        let mut parts = self.in_row_order(parts)?;
        if parts.iter().all(|part| part.parsed.rows == 0) {
            return Err(Error::data(Place::default(), "there are no rows below the header"));
        }
        let decisions = self.decide(&parts)?;
        self.second_pass(&mut parts, &decisions, source, run)?;
        self.assemble(parts, &decisions, options, run)
    }

    /// The chunks in the order of their rows, or the fault that comes first in the file.
    fn in_row_order(&self, mut parts: Vec<(usize, Result<Part, Stop>)>) -> Result<Vec<Part>> {
        parts.sort_unstable_by_key(|(i, _)| *i);
        let mut rows = 0;
        let in_order = parts.into_iter().map(|(_, part)| match part {
            Ok(part) => {
                rows += part.parsed.rows;
                Ok(part)
            }
            Err(Stop::Error(error)) => Err(error),
            Err(Stop::Fault(fault)) => Err(fault.in_words(self.names.len()).after_rows(rows)),
        });
        in_order.collect()
    }

    /// Whether each column holds numbers or categories, from all of its cells.
    fn decide(&self, parts: &[Part]) -> Result<Vec<Decision>> {
        let columns = self.names.iter().zip(&self.wanted).enumerate();
        let decide = |(j, (name, wanted)): (usize, (&String, &Wanted))| {
            let pieces = parts.iter().map(|part| (part.parsed.rows, &part.parsed.pieces[j]));
            column::decide(name, *wanted, pieces)
        };
        columns.map(decide).collect()
    }

    /// Reads categories again as text where a chunk took them for numbers.
    fn second_pass(
        &self,
        parts: &mut [Part],
        decisions: &[Decision],
        source: &mut dyn Source,
        run: &Run,
    ) -> Result<()> {
        let readings = |part: &Part| -> Vec<Reading> {
            let again = |(decision, piece): (&Decision, &Piece)| match (decision, piece) {
                (decision, Piece::Numbers(_)) if decision.needs_texts() => Reading::Texts,
                _ => Reading::Skip,
            };
            decisions.iter().zip(&part.parsed.pieces).map(again).collect()
        };
        let reread = parts.iter_mut().filter_map(|part| {
            let readings = readings(part);
            let needed = readings.contains(&Reading::Texts);
            needed.then(|| (chunks::read_again(source, part.extent), readings, part))
        });
        run.install(|| {
            reread.par_bridge().try_for_each(|(chunk, readings, part)| {
                run.check()?;
                let changed =
                    || Error::data(Place::default(), "the file changed while it was read");
                let chunk = chunk.map_err(|e| Error::io(self.file, e))?;
                let texts = self.parse_as(&chunk, &readings).map_err(|_| changed())?;
                if texts.rows != part.parsed.rows {
                    return Err(changed());
                }
                part.parsed.replace(texts);
                Ok(())
            })
        })
    }

    /// Puts the pieces of each column together.
    fn assemble(
        mut self,
        parts: Vec<Part>,
        decisions: &[Decision],
        options: &ReadOptions,
        run: &Run,
    ) -> Result<Table> {
        let mut columns: Vec<Vec<(usize, Piece)>> = self.names.iter().map(|_| Vec::new()).collect();
        for part in parts {
            for (column, piece) in columns.iter_mut().zip(part.parsed.pieces) {
                column.push((part.parsed.rows, piece));
            }
        }
        let one = |name: &String, pieces, decision| {
            let form = options.written.get(name);
            let writing = Writing { form, delimiter: self.delimiter, missing: &self.missing };
            column::assemble(name, pieces, decision, &writing)
        };
        let columns: Vec<Result<Option<Formed>>> = run.install(|| {
            let named = self.names.par_iter().zip(columns).zip(decisions);
            named.map(|((name, pieces), decision)| one(name, pieces, *decision)).collect()
        });
        let mut kept = Vec::new();
        for (name, column) in self.names.into_iter().zip(columns) {
            kept.extend(column?.map(|(column, form)| (name, column, form)));
        }
        self.notes.extend(self.missing.words_in_vain());
        Table::as_read(kept, self.notes)
    }
}
