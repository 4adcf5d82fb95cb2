//! Parquet: columns read in parallel, a batch of rows at a time.
//!
//! Whole numbers, floating-point numbers and decimals become numeric columns (whole numbers beyond 2^53 are rounded),
//! durations seconds; texts, truth values, dates and times of day as they are spelled, and everything dictionary-encoded become categories; nulls
//! are missing values. Numbers are written with missing
//! values as nulls, so that `-inf` and missing both survive.

mod batches;
mod column;
mod guard;
mod read;
mod stream;
mod write;

pub(crate) use read::parquet_size;
pub(super) use read::read;
pub use read::{read_parquet, read_parquet_metadata};
pub(super) use stream::{Description, Stream};
pub(super) use write::BlockWriter;
pub use write::write_parquet;

use std::fmt::Display;
use std::path::Path;

use ::parquet::errors::ParquetError;

use crate::error::Error;

/// What cures a file that is not as it was written.
const WHOLE: &str =
    "it may have been copied or written in part: make it again, or take it out of the folder";

/// The error of a file that is no Parquet.
fn unreadable(path: &Path, error: &ParquetError) -> Error {
    Error::file(path, format!("not readable as Parquet: {}", first_line(error))).with_hint(WHOLE)
}

/// The error of a file that began well.
fn damaged(path: &Path, error: &dyn Display) -> Error {
    let problem = first_line(error);
    // A compression or an encoding that is not built in is no damage.
    let unknown = ["NYI", "not yet implemented", "Disabled feature"];
    if unknown.iter().any(|word| problem.contains(word)) {
        return Error::file(path, format!("the file uses what cannot be read here: {problem}"));
    }
    Error::file(path, format!("the file is damaged: {problem}")).with_hint(WHOLE)
}

fn first_line(error: &dyn Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_string()
}
