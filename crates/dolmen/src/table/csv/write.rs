//! Writing a table as CSV.

use std::io::{self, Write};

use crate::table::number::{self, Spelled};
use crate::table::{Column, Table};

/// Writes a table as CSV: every number in the shortest form that reads back as itself, a missing value as an empty cell.
pub fn write_csv(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    write_header(table.names(), out)?;
    write_rows(table, out)
}

/// Writes the names of columns.
pub(in crate::table) fn write_header(names: &[String], out: &mut dyn Write) -> io::Result<()> {
    for (j, name) in names.iter().enumerate() {
        write_text(name, out)?;
        out.write_all(if j + 1 == names.len() { b"\n" } else { b"," })?;
    }
    Ok(())
}

/// Writes the rows of a table, without the names of its columns.
pub(in crate::table) fn write_rows(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let last = table.names().len().saturating_sub(1);
    let end = |j| if j == last { "\n" } else { "," };
    for i in 0..table.rows() {
        for (j, (_, column)) in table.columns().enumerate() {
            match column {
                Column::Numeric(values) if values[i].is_nan() => write_missing(last, out)?,
                Column::Numeric(values) => write!(out, "{}", Spelled(values[i]))?,
                Column::Categorical(categories) => match categories.level(i) {
                    Some(level) => write_text(level, out)?,
                    None => write_missing(last, out)?,
                },
            }
            out.write_all(end(j).as_bytes())?;
        }
    }
    Ok(())
}

/// An empty cell; in a table of one column it needs quotes, or its row would be a blank line.
fn write_missing(last: usize, out: &mut dyn Write) -> io::Result<()> {
    if last == 0 { out.write_all(b"\"\"") } else { Ok(()) }
}

/// A text, in quotes where it must.
fn write_text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let bytes = text.as_bytes();
    let special = bytes.iter().any(|b| matches!(b, b',' | b'"' | b'\n' | b'\r'));
    if !special && !bytes.is_empty() && number::trim(bytes).len() == bytes.len() {
        return out.write_all(bytes);
    }
    write!(out, "\"{}\"", text.replace('"', "\"\""))
}
