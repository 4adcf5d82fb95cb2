//! Parquet: columns read in parallel, a batch of rows at a time.
//!
//! Whole numbers and floating-point numbers become numeric columns (whole numbers beyond 2^53 are rounded); texts, truth
//! values and everything dictionary-encoded become categories; nulls are missing values. Numbers are written with missing
//! values as nulls, so that `-inf` and missing both survive.

mod column;
mod read;
mod write;

pub(super) use read::read;
pub use read::read_parquet_metadata;
pub use write::write_parquet;

use std::path::Path;

use ::parquet::errors::ParquetError;

use crate::error::Error;

/// The error of a file that the Parquet reader refuses.
fn unreadable(path: &Path, error: &ParquetError) -> Error {
    let reason = error.to_string();
    let reason = reason.lines().next().unwrap_or_default();
    Error::file(path, format!("not readable as Parquet: {reason}"))
}
