//! Rows in files: raw little-endian `f64`, row after row; the first are learned from, the others are fresh.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use dolmen::table::Features;

/// The rows of one file.
pub(crate) struct Rows {
    pub(crate) known: Features,
    pub(crate) fresh: Features,
}

impl Rows {
    /// Reads the file that the words `FILE ROWS FRESH COLUMNS` tell of.
    pub(crate) fn read([file, rows, fresh, columns]: [&str; 4]) -> Result<Self, Box<dyn Error>> {
        let (rows, fresh, columns): (usize, usize, usize) =
            (rows.parse()?, fresh.parse()?, columns.parse()?);
        let mut values = numbers(file.as_ref())?;
        if values.len() != (rows + fresh) * columns {
            return Err(format!("the file holds {} numbers", values.len()).into());
        }
        let rest = values.split_off(rows * columns);
        Ok(Self {
            known: Features::numeric(values, columns)?,
            fresh: Features::numeric(rest, columns)?,
        })
    }
}

/// Reads piece by piece, so that the peak memory reported is not that of a second copy.
fn numbers(file: &Path) -> io::Result<Vec<f64>> {
    let file = File::open(file)?;
    let count = file.metadata()?.len() as usize / 8;
    let mut numbers = Vec::with_capacity(count);
    let mut file = BufReader::with_capacity(1 << 18, file);
    let mut bytes = [0; 8];
    for _ in 0..count {
        file.read_exact(&mut bytes)?;
        numbers.push(f64::from_le_bytes(bytes));
    }
    Ok(numbers)
}
