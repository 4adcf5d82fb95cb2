//! Writing a table to a file in the form that its name asks for.

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Table, write_csv, write_json, write_parquet};
use crate::error::{Error, Result};
use crate::store::write_file;

/// Writes a table as Parquet (`.parquet`, `.pq`), JSON (`.json`) or else CSV; the last two compressed by gzip (`.gz`) or
/// Zstandard (`.zst`) if the name ends so.
pub fn write(table: &Table, path: &Path) -> Result<()> {
    check_name(path)?;
    let packing = extension(path);
    let is_packed = matches!(packing.as_str(), "gz" | "zst");
    let inner = if is_packed {
        extension(Path::new(path.file_stem().unwrap_or_default()))
    } else {
        packing.clone()
    };
    if matches!(inner.as_str(), "parquet" | "pq") {
        return write_parquet(path, table, &[]);
    }
    let text = |out: &mut dyn Write| match inner.as_str() {
        "json" => write_json(table, out),
        _ => write_csv(table, out),
    };
    write_file(path, |out| pack(&packing, out, text))
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
