//! `dolmen sample`: rows drawn from a density.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::recipe::Model;

use crate::args::Common;
use crate::output::{self, Done};

/// Draw rows from a density model.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen sample geyser.dolmen --rows 1000 --seed 7 > drawn.csv
  dolmen sample geyser.dolmen --rows 1000 -o drawn.parquet")]
pub(crate) struct Sample {
    /// A density model made by `dolmen fit`.
    model: PathBuf,
    /// How many rows.
    #[arg(long, default_value_t = 100)]
    rows: usize,
    /// Where they are written: CSV, JSON or Parquet by extension; `-` for stdout. [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Sample, common: &Common, out: &mut dyn Write) -> Done {
    let output = arguments.output.as_deref();
    output::check_outputs(&[&arguments.model], &[("--output", output)])?;
    let model = Model::read(&arguments.model)?;
    let table = model
        .sample(arguments.rows, &common.run()?)
        .map_err(|error| error.in_file(&arguments.model))?;
    output::rows(&table, output, common.format, out)
}
