//! Writing a table to a file in the form that its name asks for.

use std::path::Path;

use super::{Table, write_csv, write_json, write_parquet};
use crate::error::Result;
use crate::store::write_file;

/// Writes a table as Parquet (`.parquet`, `.pq`), JSON (`.json`) or else CSV.
pub fn write(table: &Table, path: &Path) -> Result<()> {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str() {
        Some("parquet" | "pq") => write_parquet(path, table, &[]),
        Some("json") => write_file(path, |out| write_json(table, out)),
        _ => write_file(path, |out| write_csv(table, out)),
    }
}
