//! Rows in files: raw little-endian `f64`, row after row; the first are learned from, the others are fresh.

use std::error::Error;
use std::fs;
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

fn numbers(file: &Path) -> Result<Vec<f64>, Box<dyn Error>> {
    let bytes = fs::read(file)?;
    let (chunks, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err("the file does not hold whole numbers".into());
    }
    Ok(chunks.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
}
