//! The arguments every verb shares.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dolmen::ensemble::CalibrationKind;
use dolmen::error::Result;
use dolmen::recipe;
use dolmen::run::Run;
use dolmen::table::{self, ColumnKind, ReadOptions, Table};

use crate::advise::Advise;
use crate::compare::Compare;
use crate::demo::Demo;
use crate::fit::Fit;
use crate::generate::Generate;
use crate::inspect::Inspect;
use crate::interrupt;
use crate::learners::Learners;
use crate::plot::Plot;
use crate::predict::Predict;
use crate::progress::Bar;
use crate::report::Report;
use crate::reproduce::Reproduce;
use crate::sample::Sample;
use crate::score::Score;
use crate::split::Split;
use crate::weigh::Weigh;

/// Combines models: exact, certified weights for densities, classes and numbers.
#[derive(Debug, Parser)]
#[command(
    name = "dolmen",
    version,
    propagate_version = true,
    after_help = "Start with:
  dolmen demo
  dolmen generate example iris -o iris.csv
  dolmen fit iris.csv --target Species -o iris.dolmen
  dolmen predict iris.dolmen iris.csv"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(Demo),
    Inspect(Inspect),
    Fit(Box<Fit>),
    Predict(Predict),
    Score(Score),
    Sample(Sample),
    Split(Split),
    Weigh(Box<Weigh>),
    Compare(Box<Compare>),
    Plot(Plot),
    Report(Report),
    Advise(Box<Advise>),
    Generate(Generate),
    Learners(Learners),
    Reproduce(Reproduce),
}

/// How results are shown and work is done.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// How results are written to stdout.
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    pub(crate) format: Format,
    /// Seed of everything random: same seed, same result. [default: 0, or that of the recipe]
    #[arg(long, global = true)]
    pub(crate) seed: Option<u64>,
    /// Threads to use, at least 1; all cores if not given. More than four for each core (and 16) are not started. Results do not
    /// depend on it.
    #[arg(long, global = true)]
    pub(crate) threads: Option<usize>,
    /// Say nothing on stderr but errors.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// What the program was called with, its own name left out.
    #[arg(skip)]
    pub(crate) words: Vec<String>,
}

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables to read.
    Text,
    /// One JSON document; infinite numbers are "inf" and "-inf", missing ones null.
    Json,
}

/// How class probabilities are calibrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Calibrate {
    /// One power for all probabilities.
    Temperature,
    /// A monotone function for each class.
    Isotonic,
}

impl From<Calibrate> for CalibrationKind {
    fn from(calibrate: Calibrate) -> Self {
        match calibrate {
            Calibrate::Temperature => Self::Temperature,
            Calibrate::Isotonic => Self::Isotonic,
        }
    }
}

impl Common {
    /// The run these arguments ask for, with a progress bar if stderr is a terminal; Ctrl-C cancels it.
    pub(crate) fn run(&self) -> Result<Run> {
        let run = match self.threads {
            Some(threads) => Run::with_threads(self.seed.unwrap_or_default(), threads)?,
            None => Run::new(self.seed.unwrap_or_default()),
        };
        let run = run.cancelled_by(interrupt::asked());
        Ok(if self.quiet { run } else { run.reporting(Bar::shared()) })
    }

    /// The same for work that has a result at any time: Ctrl-C asks for it.
    pub(crate) fn patient_run(&self) -> Result<Run> {
        interrupt::be_patient();
        Ok(self.run()?.cancelled_by(Arc::default()).satisfied_by(interrupt::asked()))
    }
}

/// Which columns of a data file are read, and how.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Reading {
    /// Types of columns: `age=numeric,zip=categorical`, or a file of them (CSV `column,type` or JSON).
    #[arg(long, value_name = "TYPES")]
    pub(crate) schema: Option<String>,
    /// A column to leave out; may be given several times.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) drop: Vec<String>,
    /// A column to use, if not all; may be given several times.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) keep: Vec<String>,
    /// Use also columns that look like identifiers or free text, which otherwise are left out with a note.
    #[arg(long)]
    pub(crate) all_columns: bool,
    #[command(flatten)]
    pub(crate) cells: Cells,
}

/// How the cells of a data file are told apart and understood.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct Cells {
    /// A further word that means a missing value, such as -999, which in columns of numbers means -999.0, too; may be given
    /// several times. Empty cells, NA, NaN, nan, N/A, null, NULL and ? always do.
    #[arg(long, value_name = "WORD", allow_hyphen_values = true)]
    pub(crate) missing: Vec<String>,
    /// The character between the cells of a CSV file, '\t' for a tab. [default: tab for .tsv; else the one of comma,
    /// semicolon, tab and bar that the header shows]
    #[arg(long, value_name = "CHARACTER", allow_hyphen_values = true)]
    pub(crate) delimiter: Option<String>,
}

impl Cells {
    /// Adds what is said here to options.
    pub(crate) fn add_to(&self, options: &mut ReadOptions) -> Result<()> {
        options.missing.extend(self.missing.iter().cloned());
        if let Some(word) = &self.delimiter {
            options.delimiter = Some(ReadOptions::parse_delimiter(word)?);
        }
        Ok(())
    }
}

impl Reading {
    /// What is said here.
    pub(crate) fn recipe(&self) -> Result<recipe::Reading> {
        let mut reading = recipe::Reading::default();
        self.add_to(&mut reading)?;
        Ok(reading)
    }

    /// Adds what is said here to what a file says.
    pub(crate) fn add_to(&self, reading: &mut recipe::Reading) -> Result<()> {
        if let Some(schema) = &self.schema {
            reading.types.extend(ReadOptions::parse_schema(schema)?);
        }
        reading.drop.extend(self.drop.iter().cloned());
        reading.keep.extend(self.keep.iter().cloned());
        reading.all_columns |= self.all_columns;
        reading.missing.extend(self.cells.missing.iter().cloned());
        reading.delimiter = self.cells.delimiter.clone().or(reading.delimiter.take());
        Ok(())
    }

    /// Reads a table of CSV with every cell as it is spelled; other files as they are.
    pub(crate) fn read_as_text(&self, path: &Path, run: &Run) -> Result<Table> {
        let is_parquet = path.extension().is_some_and(|e| e == "parquet" || e == "pq");
        let reading = self.recipe()?;
        if is_parquet || path.as_os_str() == "-" {
            return reading.read(path, &[], None, run);
        }
        let mut options = reading.options()?;
        options.keep.clone_from(&self.keep);
        let names = table::column_names(path, &options, run)?;
        options.schema = names.into_iter().map(|n| (n, ColumnKind::Categorical)).collect();
        options.missing = vec![String::new()];
        table::read(path, &options, run)
    }

    /// The name of a file's last column that is not left out.
    pub(crate) fn last_column(&self, path: &Path, run: &Run) -> Result<String> {
        let names = table::column_names(path, &self.recipe()?.options()?, run)?;
        let last = names.into_iter().rfind(|name| !self.drop.contains(name));
        last.ok_or_else(|| dolmen::Error::file(path, "no column is left to read"))
    }
}

/// A data file: CSV or Parquet by its extension, `-` for CSV from standard input.
pub(crate) type DataFile = PathBuf;
