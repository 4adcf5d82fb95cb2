//! `dolmen inspect`: what is in a table or a model file.

mod model;

use std::io::Write;

use clap::Args;
use dolmen::table::{Column, Table};
use serde::Serialize;

use crate::args::{Common, DataFile, Format, Reading};
use crate::output::{self, Done, columns, number};

/// Show a table's columns, their types and missing values; or a model's members, how their fits went and what they found.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen inspect penguins.csv --schema year=categorical
  dolmen inspect penguins.dolmen")]
pub(crate) struct Inspect {
    /// A table (CSV or Parquet by extension; `-` reads CSV from standard input), or a model (.dolmen).
    data: DataFile,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Serialize)]
struct Report {
    rows: usize,
    columns: Vec<Described>,
}

#[derive(Debug, Serialize)]
struct Described {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    missing: usize,
    /// Smallest and largest number, or the number of levels.
    summary: String,
}

pub(crate) fn run(arguments: &Inspect, common: &Common, out: &mut dyn Write) -> Done {
    if arguments.data.extension().is_some_and(|extension| extension == "dolmen") {
        return model::run(&arguments.data, common, out);
    }
    let run = common.run()?;
    let table = arguments.reading.read(&arguments.data, &[], None, &run)?;
    drop(run);
    let report = describe(&table);
    if common.format == Format::Json {
        return output::json(&report, out);
    }
    let row = |c: &Described| {
        vec![c.name.clone(), c.kind.into(), c.missing.to_string(), c.summary.clone()]
    };
    columns(&["column", "type", "missing", "values"], report.columns.iter().map(row), out)?;
    Ok(writeln!(out, "\n{} rows", report.rows)?)
}

fn describe(table: &Table) -> Report {
    let columns = table.columns().map(|(name, column)| {
        let (kind, summary) = match column {
            Column::Numeric(values) => ("numeric", range(values)),
            Column::Categorical(c) => ("categorical", format!("{} levels", c.levels.len())),
        };
        Described { name: name.into(), kind, missing: column.missing(), summary }
    });
    Report { rows: table.rows(), columns: columns.collect() }
}

fn range(values: &[f64]) -> String {
    let known = || values.iter().copied().filter(|v| !v.is_nan());
    let (low, high) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    if low <= high { format!("{} to {}", number(low), number(high)) } else { "none".into() }
}
