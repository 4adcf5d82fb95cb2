//! `dolmen predict`: what a model says about new rows.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::recipe::{Model, PredictOptions, PredictPlan, PredictedRows};
use dolmen::table::{TableForm, Unseen};
use serde::Serialize;

use crate::args::{Cells, Common, DataFile, Format};
use crate::output::{self, Done, note};

/// Predict new rows: log_density; or class and p(class) columns; or mean.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen predict geyser.dolmen new.csv > predicted.csv
  dolmen predict iris.dolmen flowers.csv -o classes.parquet
  dolmen predict iris.dolmen flowers.csv --with name --members -o classes.json
  dolmen predict sacramento.dolmen sold.csv --interval 0.9")]
pub(crate) struct Predict {
    /// A model file made by `dolmen fit`.
    model: PathBuf,
    /// The rows to predict: CSV or Parquet, a folder of Parquet files or a pattern such as 'new/*.parquet'; `-` reads CSV
    /// from standard input. Files may be larger than memory.
    data: DataFile,
    /// Where predictions go: CSV, JSON or Parquet by extension; `-` for stdout. [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also the interval that holds the truth with about this probability, such as 0.9 (numbers).
    #[arg(long, value_name = "LEVEL")]
    interval: Option<f64>,
    /// A column of the data to carry into the result, as it is; may be given several times. A prediction of the same name is
    /// then called predicted_NAME.
    #[arg(long = "with", value_name = "COLUMN")]
    carried: Vec<String>,
    /// Also what each member predicts: columns MEMBER, or MEMBER:CLASS, as `dolmen weigh` reads them.
    #[arg(long)]
    members: bool,
    /// How much memory the rows that are read may take, such as 800M: they are read block by block. [default: 64 MB a block]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    #[command(flatten)]
    cells: Cells,
}

/// What is printed where the rows went to a file.
#[derive(Debug, Serialize)]
struct Report {
    rows: usize,
    columns: Vec<String>,
    output: PathBuf,
    unseen: Vec<Unseen>,
}

pub(crate) fn run(arguments: &Predict, common: &Common, out: &mut dyn Write) -> Done {
    let output = arguments.output.as_deref();
    let written = [("--output", output)];
    output::check_outputs(&[&arguments.model, &arguments.data], &written)?;
    let run = common.run()?;
    let model = Model::read(&arguments.model)?;
    let mut options = model.read_options(false, &arguments.carried);
    arguments.cells.add_to(&mut options)?;
    let blocks = model.open_rows(&arguments.data, &options, arguments.memory.as_deref(), &run)?;
    blocks.passed_over().into_iter().for_each(|text| note(common, text));
    output::check_outputs(&blocks.paths().collect::<Vec<_>>(), &written)?;
    let plan = PredictPlan {
        options: PredictOptions { interval: arguments.interval, members: arguments.members },
        carried: arguments.carried.clone(),
        typed: output::form(output, common.format) != TableForm::Csv,
    };
    let predicted = output::row_blocks(output, common.format, out, |put| {
        model.predict_blocks(&blocks, &plan, &run, put)
    })?;
    drop(run);
    let PredictedRows { rows, columns, unseen } = predicted;
    tell_unseen(&unseen, common);
    match (output.filter(|path| !output::is_standard(path)), common.format) {
        (Some(path), Format::Json) => {
            output::json(&Report { rows, columns, output: path.into(), unseen }, out)
        }
        _ => Ok(()),
    }
}

/// Unseen categories of a column that are named.
const SHOWN_LEVELS: usize = 5;

/// Tells of categories in new rows that the model has not seen.
pub(crate) fn tell_unseen(unseen: &[Unseen], common: &Common) {
    for Unseen { column, rows, levels } in unseen {
        let shown: Vec<String> =
            levels.iter().take(SHOWN_LEVELS).map(|level| format!("'{level}'")).collect();
        let more = if levels.len() > SHOWN_LEVELS { ", .." } else { "" };
        let (rows, noun) = (*rows, if *rows == 1 { "row holds" } else { "rows hold" });
        note(
            common,
            &format!(
                "column '{column}': {rows} {noun} a category the model has not seen: {}{more}",
                shown.join(", ")
            ),
        );
    }
}
