//! CSV a few chunks at a time, for tables that are never whole in memory.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::chunks::{Chunk, Chunks, Source};
use super::column::Tally;
use super::parse::{self, Guess};
use super::{CHUNK, Delimiters, begin, read_header};
use crate::error::{Error, Result};
use crate::run::Run;
use crate::table::look::Names;
use crate::table::missing::Missing;
use crate::table::pieces::{Decision, Parsed, Piece, Reading};
use crate::table::read::Wanted;

/// The rows of a file, some chunks at a time.
pub(in crate::table) struct Stream {
    file: PathBuf,
    chunks: Chunks<Box<dyn Source>>,
    /// What stands behind the header in its chunk.
    first: Option<Chunk>,
    delimiter: u8,
    names: Names,
    /// Rows that were read.
    rows: usize,
    bytes: u64,
}

impl Stream {
    /// Reads the header.
    pub(in crate::table) fn open(
        source: Box<dyn Source>,
        file: &Path,
        delimiters: Delimiters,
    ) -> Result<Self> {
        let (mut chunks, delimiter) = begin(source, file, delimiters, CHUNK)?;
        let (names, first) =
            read_header(&mut chunks, file, delimiter).map_err(|e| e.in_file(file))?;
        let (file, first) = (file.to_path_buf(), Some(first));
        Ok(Self { file, chunks, first, delimiter, names, rows: 0, bytes: 0 })
    }

    /// The columns' names, and what is to be told of them.
    pub(in crate::table) fn names(&self) -> &Names {
        &self.names
    }

    /// What stands between cells.
    pub(in crate::table) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Bytes of text that were read.
    pub(in crate::table) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next rows with their columns read so; nothing at the end.
    pub(in crate::table) fn next(
        &mut self,
        readings: &[Reading],
        missing: &Missing,
        run: &Run,
    ) -> Result<Vec<Parsed>> {
        let delimiter = self.delimiter;
        self.parse(run, |text| parse::parse(text, delimiter, missing, readings))
    }

    /// The next rows, and what they tell of their columns; nothing at the end. So many rows stand in earlier files.
    pub(in crate::table) fn next_guessed(
        &mut self,
        tallies: &mut Tallies,
        before: usize,
        missing: &Missing,
        run: &Run,
    ) -> Result<Vec<Parsed>> {
        let (delimiter, mut row) = (self.delimiter, before + self.rows);
        let guess = Guess { wanted: &tallies.wanted, holds_text: &tallies.holds_text };
        let parsed = self.parse(run, |text| guess.parse(text, delimiter, missing))?;
        for parsed in &parsed {
            tallies.add(row, parsed);
            row += parsed.rows;
        }
        Ok(parsed)
    }

    fn parse(
        &mut self,
        run: &Run,
        parse: impl Fn(&[u8]) -> Result<Parsed, parse::Fault> + Sync,
    ) -> Result<Vec<Parsed>> {
        run.check()?;
        // Twice as many chunks as threads, so that none waits for the slowest.
        let at_once = 2 * run.threads();
        let Self { file, chunks, first, names, .. } = self;
        let rest = std::iter::from_fn(|| chunks.next_chunk().transpose());
        let some = first.take().map(Ok).into_iter().chain(rest).take(at_once).enumerate();
        let columns = names.names.len();
        let one = |(i, chunk): (usize, io::Result<Chunk>)| {
            let parsed = match chunk {
                Ok(chunk) => {
                    let parsed = parse(&chunk.text).map_err(|fault| fault.in_words(columns));
                    parsed.map(|parsed| (chunk.extent.length, parsed))
                }
                Err(error) => Err(Error::io(file, error)),
            };
            (i, parsed)
        };
        let mut parts: Vec<_> = run.install(|| some.par_bridge().map(one).collect());
        parts.sort_unstable_by_key(|(i, _)| *i);
        let mut all = Vec::with_capacity(parts.len());
        for (_, part) in parts {
            let (length, parsed) = part.map_err(|e| e.after_rows(self.rows).in_file(&self.file))?;
            self.rows += parsed.rows;
            self.bytes += length as u64;
            all.push(parsed);
        }
        Ok(all)
    }
}

/// What the cells of a file tell of its columns, as far as it was read.
#[expect(clippy::struct_field_names, reason = "the tallies are what it holds")]
pub(in crate::table) struct Tallies {
    wanted: Vec<Wanted>,
    holds_text: Vec<AtomicBool>,
    tallies: Vec<Tally>,
    /// Columns that were read as numbers somewhere.
    read_as_numbers: Vec<bool>,
}

impl Tallies {
    pub(in crate::table) fn new(wanted: &[Wanted]) -> Self {
        Self {
            wanted: wanted.to_vec(),
            holds_text: wanted.iter().map(|_| AtomicBool::new(false)).collect(),
            tallies: wanted.iter().map(|_| Tally::default()).collect(),
            read_as_numbers: vec![false; wanted.len()],
        }
    }

    fn add(&mut self, row: usize, parsed: &Parsed) {
        for (j, piece) in parsed.pieces.iter().enumerate() {
            self.read_as_numbers[j] |= matches!(piece, Piece::Numbers(_)) && parsed.rows > 0;
            // Declared texts need not be told from numbers.
            if !matches!(self.wanted[j], Wanted::Categorical | Wanted::Written) {
                self.tallies[j].add(row, piece);
            }
        }
    }

    /// What each column holds.
    pub(in crate::table) fn decide(&self, names: &[String]) -> Result<Vec<Decision>> {
        let columns = names.iter().zip(&self.wanted).zip(&self.tallies);
        columns.map(|((name, wanted), tally)| tally.decide(name, *wanted)).collect()
    }

    /// Whether a column that is to be read as texts was read as numbers somewhere.
    pub(in crate::table) fn must_read_again(&self, column: usize, decision: Decision) -> bool {
        decision.needs_texts() && self.read_as_numbers[column]
    }
}
