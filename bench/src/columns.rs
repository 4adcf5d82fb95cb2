//! Matrices in files: raw little-endian `f64`, column after column.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// A file of columns, read one at a time so that no second copy of the matrix is ever held.
pub(crate) struct Columns {
    file: BufReader<File>,
    rows: usize,
}

impl Columns {
    /// Opens a file whose columns have this many rows.
    pub(crate) fn open(path: &Path, rows: usize) -> io::Result<Self> {
        let file = BufReader::with_capacity(1 << 18, File::open(path)?);
        Ok(Self { file, rows })
    }

    /// The next column.
    pub(crate) fn next_column(&mut self) -> io::Result<Vec<f64>> {
        let mut column = Vec::with_capacity(self.rows);
        let mut bytes = [0; 8];
        for _ in 0..self.rows {
            self.file.read_exact(&mut bytes)?;
            column.push(f64::from_le_bytes(bytes));
        }
        Ok(column)
    }
}
