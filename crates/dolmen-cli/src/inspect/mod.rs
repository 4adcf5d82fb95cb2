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
    /// Smallest and largest number, or the number of levels, in words.
    summary: String,
    /// The smallest number, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    /// The largest number, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
    /// The number of levels of categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    levels: Option<usize>,
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
        let (kind, range, levels) = match column {
            Column::Numeric(values) => ("numeric", range(values), None),
            Column::Categorical(c) => ("categorical", None, Some(c.levels.len())),
        };
        let summary = match (range, levels) {
            (Some((low, high)), _) => format!("{} to {}", number(low), number(high)),
            (None, Some(levels)) => format!("{levels} levels"),
            (None, None) => "none".into(),
        };
        let (min, max) = range.unzip();
        Described { name: name.into(), kind, missing: column.missing(), summary, min, max, levels }
    });
    Report { rows: table.rows(), columns: columns.collect() }
}

/// The smallest and the largest number.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let known = || values.iter().copied().filter(|v| !v.is_nan());
    let (low, high) =
        (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    (low <= high).then_some((low, high))
}
