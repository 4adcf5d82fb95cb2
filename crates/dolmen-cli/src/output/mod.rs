//! What goes out: results as tables or JSON, rows to files, failures as two lines.
//!
//! | file | holds |
//! | --- | --- |
//! | `columns` | tables of aligned columns, and lines broken to the terminal's width |
//! | `numbers` | numbers, errors and counts as people read them |

mod columns;
mod numbers;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use dolmen::Error;
use dolmen::store::{check_output, same_file};
use dolmen::table::{self, BlockWriter, Put, TableForm, write_csv, write_json};
use serde::Serialize;

use crate::args::{Common, Format};
pub(crate) use crate::bars::weight_bar;
use crate::examples::Example;
use crate::json;
pub(crate) use columns::{columns, columns_with_remarks, left_columns, report};
pub(crate) use numbers::{TINY, counted, difference, error, maybe, number};

/// Why a verb did not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The work could not be done.
    Work(Error),
    /// The result could not be written to stdout.
    Output(io::Error),
    /// The result was written and is a negative one, such as weights that missed their tolerance.
    Negative,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Work(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

pub(crate) type Done = Result<(), Failure>;

impl Failure {
    /// Writes `error:` and, where the cure is known, `hint:`.
    pub(crate) fn explain(&self, out: &mut dyn Write) {
        let (problem, hint) = match self {
            Self::Work(error) => {
                (error.to_string(), error.hint().or_else(|| Example::that_is_missing(error)))
            }
            Self::Output(error) => (format!("the result cannot be written: {error}"), None),
            Self::Negative => return,
        };
        // If stderr is closed too there is nobody left to tell.
        let _ = writeln!(out, "error: {problem}");
        if let Some(hint) = hint {
            let _ = writeln!(out, "hint: {hint}");
        }
    }
}

/// Writes a result as one JSON document; infinite numbers are the texts `"inf"` and `"-inf"`.
pub(crate) fn json(result: &impl Serialize, out: &mut dyn Write) -> Done {
    Ok(json::write(result, out)?)
}

/// Tells machines of a file that was written; people know.
pub(crate) fn written(path: &Path, format: Format, out: &mut dyn Write) -> Done {
    #[derive(Serialize)]
    struct Written<'a> {
        output: &'a Path,
    }
    match format {
        Format::Json => json(&Written { output: path }, out),
        Format::Text => Ok(()),
    }
}

/// Refuses JSON where stdout is to have something else.
pub(crate) fn not_json(format: Format, what: &str) -> Result<(), Error> {
    if format == Format::Text {
        return Ok(());
    }
    let error = Error::param("--format", format!("text where stdout is the {what}"), "json");
    Err(error.with_hint("-o FILE writes it to a file, and stdout says so in JSON"))
}

/// Refuses to write what nobody reads to a terminal; `-o -` does it all the same.
pub(crate) fn not_on_screen(what: &str, files: &str) -> Result<(), Error> {
    if !io::stdout().is_terminal() {
        return Ok(());
    }
    let expected = format!("the name of a file: {what} is nothing to read on a terminal");
    let error = Error::param("--output", expected, "left out");
    Err(error.with_hint(format!("-o {files}, or > FILE")))
}

/// Whether a file's name means standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Writes rows where the user wants them: to stdout without a name and for `-`, as CSV or as `--format` says, else as CSV,
/// JSON or Parquet by extension.
pub(crate) fn rows(
    rows: &table::Table,
    to: Option<&Path>,
    format: Format,
    out: &mut dyn Write,
) -> Done {
    match (to.filter(|path| !is_standard(path)), format) {
        (Some(path), _) => table::write(rows, path)?,
        (None, Format::Text) => write_csv(rows, out)?,
        (None, Format::Json) => write_json(rows, out)?,
    }
    Ok(())
}

/// The form in which [`row_blocks`] writes rows.
pub(crate) fn form(to: Option<&Path>, format: Format) -> TableForm {
    match (to.filter(|path| !is_standard(path)), format) {
        (Some(path), _) => TableForm::of(path),
        (None, Format::Text) => TableForm::Csv,
        (None, Format::Json) => TableForm::Json,
    }
}

/// The same as [`rows`] for rows that are made block by block. A file is written whole or not at all.
pub(crate) fn row_blocks<R>(
    to: Option<&Path>,
    format: Format,
    out: &mut dyn Write,
    make: impl FnOnce(&mut Put<'_>) -> dolmen::Result<R>,
) -> Result<R, Failure> {
    if let Some(path) = to.filter(|path| !is_standard(path)) {
        return Ok(table::write_blocks(path, make)?);
    }
    let mut writer = BlockWriter::new(form(to, format), out);
    let mut failed = None;
    let made = make(&mut |block| {
        writer.write(block).map_err(|error| {
            failed = Some(error);
            Error::Cancelled
        })
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    let made = made?;
    writer.finish()?;
    Ok(made)
}

/// Refuses, before any work, outputs that cannot be written, that are read too, or that are one file for two options.
pub(crate) fn check_outputs(
    read: &[&Path],
    written: &[(&'static str, Option<&Path>)],
) -> dolmen::Result<()> {
    let named = |&(option, path): &(&'static str, Option<&'_ Path>)| {
        path.filter(|path| !is_standard(path)).map(|path| (option, path.to_path_buf()))
    };
    let written: Vec<_> = written.iter().filter_map(named).collect();
    for (i, (option, path)) in written.iter().enumerate() {
        check_output(path)?;
        table::check_name(path)?;
        if read.iter().any(|input| same_file(input, path)) {
            return Err(Error::file(path, format!("{option} would overwrite what is read")));
        }
        if let Some((other, _)) = written[..i].iter().find(|(_, other)| same_file(other, path)) {
            return Err(Error::file(path, format!("{option} and {other} are the same file")));
        }
    }
    Ok(())
}

/// Tells the user something on stderr that is no result.
pub(crate) fn note(common: &Common, text: &str) {
    if !common.quiet {
        // If stderr is closed there is nobody to tell.
        let _ = writeln!(io::stderr().lock(), "note: {text}");
    }
}
