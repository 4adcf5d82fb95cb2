//! What the Parquet functions say in a program built without them.

use std::path::Path;

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
