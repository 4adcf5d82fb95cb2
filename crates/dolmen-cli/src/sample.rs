//! `dolmen sample`: rows drawn from a density.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::error::Error;
use dolmen::learner::Fitted;
use dolmen::memory;
use dolmen::table::{Column, Table};

use crate::args::Common;
use crate::model::{Model, Opened};
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
    let opened = Opened::read(&arguments.model)?;
    let Model::Density(model) = &opened.model else {
        let problem =
            format!("a model for {}: rows can be drawn from densities only", opened.file.task);
        return Err(Error::file(&arguments.model, problem).into());
    };
    let Some(density) = model.density() else {
        return Err(
            Error::file(&arguments.model, "a member of the stack cannot be drawn from").into()
        );
    };
    let mut rng = common.run()?.rng();
    let fields = opened.file.schema.fields();
    let needed = memory::size(&[arguments.rows, fields.len(), size_of::<f64>()]);
    memory::claim(needed, &format!("{} rows", arguments.rows))?;
    let mut columns: Vec<Vec<f64>> =
        fields.iter().map(|_| Vec::with_capacity(arguments.rows)).collect();
    let mut row = vec![0.0; fields.len()];
    for _ in 0..arguments.rows {
        density.sample_into(&mut rng, &mut row);
        columns.iter_mut().zip(&row).for_each(|(column, value)| column.push(*value));
    }
    let named = fields.iter().map(|field| field.name.clone());
    let table = Table::new(named.zip(columns.into_iter().map(Column::Numeric)).collect())?;
    output::rows(&table, output, common.format, out)
}
