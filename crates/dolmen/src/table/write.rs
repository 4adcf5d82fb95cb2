//! Writing a table to a file in the form that its name asks for.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Table, csv, json, parquet};
use crate::error::{Error, Result};
use crate::store::write_file;

/// A form in which tables are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableForm {
    /// Rows of cells with commas between them.
    Csv,
    /// An array of one object per row.
    Json,
    /// Columns with types.
    Parquet,
}

impl TableForm {
    /// The form that a name asks for: Parquet (`.parquet`, `.pq`), JSON (`.json`) or else CSV; the last two may be
    /// compressed.
    pub fn of(path: &Path) -> Self {
        let last = extension(path);
        let is_packed = matches!(last.as_str(), "gz" | "zst");
        let stem = Path::new(path.file_stem().unwrap_or_default());
        match if is_packed { extension(stem) } else { last }.as_str() {
            "parquet" | "pq" => Self::Parquet,
            "json" => Self::Json,
            _ => Self::Csv,
        }
    }
}

/// Writes a table as Parquet (`.parquet`, `.pq`), JSON (`.json`) or else CSV; the last two compressed by gzip (`.gz`) or
/// Zstandard (`.zst`) if the name ends so.
pub fn write(table: &Table, path: &Path) -> Result<()> {
    write_blocks(path, |put| put(table))
}

/// Takes the next block of a table that is written.
pub type Put<'a> = dyn FnMut(&Table) -> Result<()> + 'a;

/// Writes a table that is made block by block, in the form that [`write()`] chooses: whole, or not at all if making it fails.
pub fn write_blocks<R>(path: &Path, make: impl FnOnce(&mut Put<'_>) -> Result<R>) -> Result<R> {
    write_described_blocks(path, Vec::new(), make)
}

/// The same, with texts of one's own in the metadata of a Parquet file.
pub(crate) fn write_described_blocks<R>(
    path: &Path,
    metadata: Vec<(String, String)>,
    make: impl FnOnce(&mut Put<'_>) -> Result<R>,
) -> Result<R> {
    check_name(path)?;
    let mut made = None;
    let written = write_file(path, |out| {
        pack(&extension(path), out, |out| {
            let mut writer = BlockWriter { metadata, ..BlockWriter::new(TableForm::of(path), out) };
            let mut failed = None;
            let mut put = |block: &Table| {
                writer.write(block).map_err(|error| {
                    failed = Some(error);
                    // The system's own words are told in its place.
                    Error::file(path, "cannot be written")
                })
            };
            let result = make(&mut put);
            let ended = match failed {
                Some(error) => return Err(error),
                None if result.is_ok() => writer.finish(),
                // Whatever is written so far is dropped.
                None => Err(io::Error::other("not all of it could be made")),
            };
            made = Some(result);
            ended
        })
    });
    match made {
        Some(Err(error)) => Err(error),
        Some(Ok(result)) => written.map(|()| result),
        None => Err(written.err().unwrap_or_else(|| Error::file(path, "cannot be written"))),
    }
}

/// Writes the blocks of a table, one after the other.
pub struct BlockWriter<'a> {
    form: TableForm,
    out: &'a mut dyn Write,
    blocks: usize,
    parquet: Option<parquet::BlockWriter>,
    /// What a Parquet file says beside its rows.
    metadata: Vec<(String, String)>,
}

impl<'a> BlockWriter<'a> {
    /// Begins a table in this form.
    pub fn new(form: TableForm, out: &'a mut dyn Write) -> Self {
        Self { form, out, blocks: 0, parquet: None, metadata: Vec::new() }
    }

    /// Writes a block; all have the same columns.
    pub fn write(&mut self, block: &Table) -> io::Result<()> {
        let is_first = self.blocks == 0;
        self.blocks += 1;
        match self.form {
            TableForm::Csv => {
                if is_first {
                    csv::write_header(block.names(), self.out)?;
                }
                csv::write_rows(block, self.out)
            }
            TableForm::Json => {
                if is_first {
                    json::begin(self.out)?;
                }
                json::write_objects(block, is_first, self.out)
            }
            TableForm::Parquet => {
                let writer = match &mut self.parquet {
                    Some(writer) => writer,
                    none => none.insert(parquet::BlockWriter::begin(block, &self.metadata)?),
                };
                writer.write(block, self.out)
            }
        }
    }

    /// Writes what stands behind the last block.
    pub fn finish(self) -> io::Result<()> {
        match (self.form, self.parquet) {
            (TableForm::Csv, _) | (TableForm::Parquet, None) => Ok(()),
            (TableForm::Json, _) => {
                if self.blocks == 0 {
                    json::begin(self.out)?;
                }
                json::end(self.out)
            }
            (TableForm::Parquet, Some(writer)) => writer.finish(self.out),
        }
    }
}

/// Refuses names that promise a form in which no table is written.
pub fn check_name(path: &Path) -> Result<()> {
    const FOREIGN: [&str; 11] =
        ["xlsx", "xls", "ods", "bz2", "xz", "zip", "7z", "feather", "arrow", "orc", "sqlite"];
    let extension = extension(path);
    let stem = Path::new(path.file_stem().unwrap_or_default());
    let packed_parquet = matches!(extension.as_str(), "gz" | "zst")
        && stem.extension().is_some_and(|e| e == "parquet" || e == "pq");
    if packed_parquet {
        return Err(Error::file(
            path,
            "Parquet is compressed by itself: leave the last extension out",
        ));
    }
    if FOREIGN.contains(&extension.as_str()) {
        let problem = format!(
            "files of the kind .{extension} are not written: use .csv, .csv.gz, .csv.zst, .json or .parquet"
        );
        return Err(Error::file(path, problem));
    }
    Ok(())
}

/// The end of a name in small letters.
fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Writes a text, compressed as the extension says.
fn pack(
    extension: &str,
    out: &mut dyn Write,
    text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match extension {
        "gz" => {
            let mut packer = GzEncoder::new(out, Compression::default());
            text(&mut packer)?;
            packer.finish().map(|_| ())
        }
        "zst" => {
            let mut packer = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            text(&mut packer)?;
            packer.finish().map(|_| ())
        }
        _ => text(out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Run;
    use crate::table::{Column, ReadOptions, read};

    #[test]
    fn names_say_how_a_table_is_packed() {
        let folder = tempfile::tempdir().unwrap();
        let table = Table::new(vec![("x".into(), Column::Numeric(vec![1.5, -2.0]))]).unwrap();
        let starts: [(&str, &[u8]); 3] =
            [("t.csv", b"x\n"), ("t.csv.gz", &[0x1f, 0x8b]), ("t.csv.zst", &[0x28, 0xb5])];
        for (name, start) in starts {
            let path = folder.path().join(name);
            write(&table, &path).unwrap();
            assert!(std::fs::read(&path).unwrap().starts_with(start), "{name}");
            let again = read(&path, &ReadOptions::default(), &Run::with_threads(0, 1).unwrap());
            assert_eq!(again.unwrap(), table, "{name}");
        }
        for name in ["t.xlsx", "t.csv.bz2", "t.parquet.gz"] {
            assert!(write(&table, &folder.path().join(name)).is_err(), "{name}");
        }
    }
}
