//! `dolmen split`: a table in two files, one to learn from and one to test on.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use dolmen::error::{Error, Result};
use dolmen::plan::Portion;
use dolmen::recipe::Parting;
use dolmen::table;
use serde::Serialize;

use crate::args::{Common, DataFile, Format, Reading};
use crate::output::{self, Done};

/// Split a table into rows to learn from and rows to test on, and write both.
///
/// Rows keep their order and CSV cells their spelling.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen split iris.csv --test 0.25 --stratify Species
  dolmen split visits.csv --groups patient \\
      --train-output train.parquet --test-output test.parquet
  dolmen split visits.csv --time day --test 100")]
pub(crate) struct Split {
    /// CSV or Parquet by extension; `-` reads CSV from standard input.
    data: DataFile,
    /// How much is set aside: a share such as 0.25, or a number of rows.
    #[arg(long, default_value = "0.25", value_name = "PORTION")]
    test: Share,
    /// The column with groups of rows that stay together.
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["time", "stratify"])]
    groups: Option<String>,
    /// The column with the rows' times: the last rows are set aside. Numbers or dates.
    #[arg(long, value_name = "COLUMN", conflicts_with = "stratify")]
    time: Option<String>,
    /// The column with classes, of which both parts get their share.
    #[arg(long, value_name = "COLUMN")]
    stratify: Option<String>,
    /// Where the rows to learn from go: CSV, JSON or Parquet by extension. [default: DATA.train.csv beside DATA]
    #[arg(long, value_name = "FILE")]
    train_output: Option<PathBuf>,
    /// Where the rows to test on go. [default: DATA.test.csv beside DATA]
    #[arg(long, value_name = "FILE")]
    test_output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

/// A share of the rows, or a number of them.
#[derive(Debug, Clone, Copy)]
struct Share(Portion);

impl FromStr for Share {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let rows = text.parse().map(Portion::Rows).ok();
        let portion = rows.or_else(|| text.parse().map(Portion::Fraction).ok());
        let expected = "a share such as 0.25 or a number of rows";
        portion.map(Self).ok_or_else(|| Error::param("test", expected, text))
    }
}

#[derive(Debug, Serialize)]
struct Report {
    rows: usize,
    train: Part,
    test: Part,
}

#[derive(Debug, Serialize)]
struct Part {
    rows: usize,
    output: PathBuf,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", output::counted(self.rows, "row"), self.output.display())
    }
}

pub(crate) fn run(split: &Split, common: &Common, out: &mut dyn Write) -> Done {
    let (train, test) = (split.place("train"), split.place("test"));
    let written = [("--train-output", Some(train.as_path())), ("--test-output", Some(&test))];
    for (option, path) in &written {
        if path.is_some_and(output::is_standard) {
            return Err(Error::param(option, "the name of a file", "-").into());
        }
    }
    output::check_outputs(&[&split.data], &written)?;
    let run = common.run()?;
    let spelling = is_csv(&train) && is_csv(&test);
    let table = if spelling {
        split.reading.read_as_text(&split.data, &run)?
    } else {
        split.reading.recipe()?.read(&split.data, &[], None, &run)?
    };
    let parts = split.parting().part(&table, &run).map_err(|e| e.in_file(&split.data))?;
    parts.notes.iter().for_each(|text| output::note(common, text));
    drop(run);
    table::write(&table.select(&parts.train), &train)?;
    table::write(&table.select(&parts.test), &test)?;
    let report = Report {
        rows: table.rows(),
        train: Part { rows: parts.train.len(), output: train },
        test: Part { rows: parts.test.len(), output: test },
    };
    match common.format {
        Format::Json => output::json(&report, out),
        Format::Text => {
            writeln!(out, "train    {}", report.train)?;
            Ok(writeln!(out, "test     {}", report.test)?)
        }
    }
}

impl Split {
    fn parting(&self) -> Parting {
        let Share(test) = self.test;
        let [groups, time, stratify] = [&self.groups, &self.time, &self.stratify].map(Clone::clone);
        Parting { test, groups, time, stratify }
    }

    /// Where a part is written: what the user says, or a name made from that of the data.
    fn place(&self, part: &str) -> PathBuf {
        let given = if part == "train" { &self.train_output } else { &self.test_output };
        if let Some(path) = given {
            return path.clone();
        }
        if output::is_standard(&self.data) {
            return PathBuf::from(format!("{part}.csv"));
        }
        let name = self.data.file_name().unwrap_or_default().to_string_lossy();
        let extension = if is_parquet(&self.data) { "parquet" } else { "csv" };
        let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("data");
        self.data.with_file_name(format!("{stem}.{part}.{extension}"))
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "parquet" || e == "pq")
}

fn is_csv(path: &Path) -> bool {
    !is_parquet(path) && path.extension().is_none_or(|e| e != "json")
}
