//! One pass over the files of a table.

use std::collections::VecDeque;

use super::Blocks;
use super::columns::{Filling, Rows, Unfit};
use super::files::InputFile;
use super::layout::Layout;
use crate::error::{Error, Result};
use crate::run::Run;
use crate::table::missing::Missing;
use crate::table::pieces::{Parsed, Reading};
use crate::table::read::is_parquet;
use crate::table::{Table, csv, parquet};

/// Why a pass stopped.
pub(super) enum Stop {
    /// A text where plain numbers were declared: they may be written in some other form.
    Text,
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Makes blocks, one after the other.
pub(super) struct Reader<'a> {
    blocks: &'a Blocks,
    layout: &'a Layout,
    readings: Vec<Reading>,
    missing: Missing,
    run: &'a Run,
    /// The file that is read, and what follows.
    file: usize,
    source: Option<Source>,
    waiting: VecDeque<Parsed>,
    /// Rows of the file that were understood, and the last of them.
    rows_of_file: usize,
    rows: Option<Rows>,
    /// Rows that are in blocks.
    done: usize,
}

enum Source {
    Csv(csv::Stream),
    Parquet(parquet::Stream),
}

impl<'a> Reader<'a> {
    pub(super) fn new(blocks: &'a Blocks, layout: &'a Layout, run: &'a Run) -> Self {
        Self {
            blocks,
            layout,
            readings: layout.cells.iter().map(super::Cells::reading).collect(),
            missing: Missing::new(&blocks.options.missing),
            run,
            file: 0,
            source: None,
            waiting: VecDeque::new(),
            rows_of_file: 0,
            rows: None,
            done: 0,
        }
    }

    /// The next block, and how many rows are expected in all, if that can be told; `None` at the end.
    pub(super) fn next_block(&mut self) -> Result<Option<(Table, Option<usize>)>, Stop> {
        let Layout { names, cells, kept, written, notes, .. } = self.layout;
        let mut filling = Filling::new(cells, self.blocks.block);
        while filling.left() > 0 {
            if self.rows.as_ref().is_none_or(Rows::is_used_up) {
                self.rows = self.next_rows(filling.left())?;
            }
            let Some(rows) = &mut self.rows else { break };
            filling.take(rows);
        }
        let rows = filling.rows();
        if rows == 0 {
            return Ok(None);
        }
        let columns = filling
            .into_columns(names, cells)
            .map_err(|error| self.blocks.locate(error, self.done))?;
        self.done += rows;
        let (names, written, notes) = (kept.clone(), written.clone(), notes.clone());
        Ok(Some((Table { names, columns, rows, written, notes }, self.expected())))
    }

    /// Some further rows, as many as wanted where that is in our hands.
    fn next_rows(&mut self, wanted: usize) -> Result<Option<Rows>, Stop> {
        loop {
            if let Some(parsed) = self.waiting.pop_front() {
                return self.understand(parsed).map(Some);
            }
            let Some(file) = self.blocks.files.get(self.file) else { return Ok(None) };
            let source = match &mut self.source {
                Some(source) => source,
                none => none.insert(open(self.blocks, file, &self.readings)?),
            };
            let more = match source {
                Source::Csv(stream) => stream.next(&self.readings, &self.missing, self.run)?,
                Source::Parquet(stream) => {
                    stream.next(wanted, &self.missing, self.run)?.into_iter().collect()
                }
            };
            if more.is_empty() {
                self.end_file(file)?;
            }
            self.waiting.extend(more);
        }
    }

    /// Understands rows of the file that is read.
    fn understand(&mut self, parsed: Parsed) -> Result<Rows, Stop> {
        let Layout { names, cells, .. } = self.layout;
        let (before, rows) = (self.rows_of_file, parsed.rows);
        self.rows_of_file += rows;
        Rows::new(parsed, names, cells, &self.missing).map_err(|unfit| {
            let file = &self.blocks.files[self.file];
            match unfit {
                Unfit::Text => Stop::Text,
                Unfit::Unknown => Stop::Error(file.changed()),
                Unfit::Wrong(error) => Stop::Error(error.after_rows(before).in_file(file.name())),
            }
        })
    }

    /// Goes on to the next file.
    fn end_file(&mut self, file: &InputFile) -> Result<()> {
        if *file.rows.get_or_init(|| self.rows_of_file) != self.rows_of_file {
            return Err(file.changed());
        }
        self.file += 1;
        self.source = None;
        self.rows_of_file = 0;
        Ok(())
    }

    /// The rows of the whole table: those counted before, or as many as the bytes read so far let expect.
    fn expected(&self) -> Option<usize> {
        let known = self.blocks.rows();
        known.or_else(|| {
            let Some(Source::Csv(stream)) = &self.source else { return None };
            let length: u64 = self.blocks.files.iter().map(InputFile::length).sum();
            let before: u64 = self.blocks.files[..self.file].iter().map(InputFile::length).sum();
            let read = before + stream.bytes();
            // What is compressed holds more bytes than it has.
            let is_packed = self.blocks.files[self.file].is_packed();
            (!is_packed && read > 0)
                .then(|| (self.parsed() as f64 * length as f64 / read as f64) as usize)
        })
    }

    /// Rows that were parsed, in blocks or not.
    fn parsed(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|parsed| parsed.rows).sum();
        self.done + self.rows.as_ref().map_or(0, Rows::left) + waiting
    }
}

fn open(blocks: &Blocks, file: &InputFile, readings: &[Reading]) -> Result<Source> {
    file.check_same()?;
    if is_parquet(&file.path) {
        return parquet::Stream::open(&file.path, readings, blocks.block).map(Source::Parquet);
    }
    file.csv(&blocks.options).map(Source::Csv)
}
