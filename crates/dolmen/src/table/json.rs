//! Writing a table as JSON.

use std::io::{self, Write};

use super::number::Spelled;
use super::{Column, Table};

/// Writes a table as a JSON array of one object per row. A missing value is `null`; what JSON has no number for is a text:
/// `"inf"` and `"-inf"`.
pub fn write_json(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    begin(out)?;
    write_objects(table, true, out)?;
    end(out)
}

/// What stands before the first row.
pub(super) fn begin(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")
}

/// What stands behind the last row.
pub(super) fn end(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\n]\n")
}

/// Writes the rows of a table, which are the first of all or follow others.
pub(super) fn write_objects(table: &Table, are_first: bool, out: &mut dyn Write) -> io::Result<()> {
    let keys = table.names().iter().map(serde_json::to_string).collect::<Result<Vec<_>, _>>()?;
    let levels = |column: &Column| match column {
        Column::Numeric(_) => Ok(Vec::new()),
        Column::Categorical(c) => c.levels.iter().map(serde_json::to_string).collect(),
    };
    let levels: Vec<Vec<String>> =
        table.columns().map(|(_, column)| levels(column)).collect::<Result<_, _>>()?;
    for i in 0..table.rows() {
        out.write_all(if are_first && i == 0 { b"\n  {" } else { b",\n  {" })?;
        for (j, ((_, column), levels)) in table.columns().zip(&levels).enumerate() {
            let separator = if j == 0 { "" } else { ", " };
            write!(out, "{separator}{}: ", keys[j])?;
            match column {
                Column::Numeric(values) if values[i].is_nan() => out.write_all(b"null")?,
                Column::Numeric(values) if values[i].is_infinite() => {
                    write!(out, "\"{}\"", values[i])?;
                }
                Column::Numeric(values) => write!(out, "{}", Spelled(values[i]))?,
                Column::Categorical(c) => {
                    let text = levels.get(c.codes[i] as usize).map_or("null", String::as_str);
                    out.write_all(text.as_bytes())?;
                }
            }
        }
        out.write_all(b"}")?;
    }
    Ok(())
}
