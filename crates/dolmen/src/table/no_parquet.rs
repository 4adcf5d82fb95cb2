//! What the Parquet functions say in a program built without them.

use std::io::{self, Write};
use std::path::Path;

use super::missing::Missing;
use super::moments::Timed;
use super::pieces::{Decision, Parsed, Reading};
use super::{ReadOptions, Table};
use crate::error::{Error, Result};
use crate::run::Run;

fn absent<T>(path: &Path) -> Result<T> {
    Err(Error::file(path, "this program was built without Parquet (cargo feature `parquet`)"))
}

/// Reads a table.
pub(super) fn read(path: &Path, _options: &ReadOptions, _run: &Run) -> Result<Table> {
    absent(path)
}

/// Reads all columns of a Parquet file, on all cores.
pub fn read_parquet(path: &Path) -> Result<Table> {
    absent(path)
}

/// Writes a table as Parquet, with texts of one's own in the file's metadata.
pub fn write_parquet(path: &Path, _table: &Table, _metadata: &[(String, String)]) -> Result<()> {
    absent(path)
}

/// The texts that [`write_parquet`] put into a file's metadata.
pub fn read_parquet_metadata(path: &Path) -> Result<Vec<(String, String)>> {
    absent(path)
}

/// What a file says of itself.
#[derive(Debug)]
pub(super) struct Description {
    pub(super) rows: usize,
    pub(super) names: Vec<String>,
    pub(super) notes: Vec<String>,
    pub(super) decisions: Vec<Decision>,
    pub(super) timed: Vec<Option<Timed>>,
}

impl Description {
    pub(super) fn of(path: &Path, _options: &ReadOptions) -> Result<Self> {
        absent(path)
    }

    pub(super) fn check_like(&self, path: &Path, _first: &Self, _first_path: &Path) -> Result<()> {
        absent(path)
    }
}

/// The rows of a file, some at a time.
pub(super) struct Stream;

impl Stream {
    pub(super) fn open(path: &Path, _readings: &[Reading], _rows: usize) -> Result<Self> {
        absent(path)
    }

    pub(super) fn next(
        &mut self,
        _rows: usize,
        _missing: &Missing,
        _run: &Run,
    ) -> Result<Option<Parsed>> {
        Ok(None)
    }
}

/// Writes the rows of several tables with the same columns.
pub(super) struct BlockWriter;

impl BlockWriter {
    pub(super) fn begin(_like: &Table, _metadata: &[(String, String)]) -> io::Result<Self> {
        let problem = "this program was built without Parquet (cargo feature `parquet`)";
        Err(io::Error::new(io::ErrorKind::Unsupported, problem))
    }

    pub(super) fn write(&mut self, _table: &Table, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn finish(self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// How many rows and columns a file holds.
pub(crate) fn parquet_size(path: &Path) -> Result<(u64, u64)> {
    absent(path)
}
