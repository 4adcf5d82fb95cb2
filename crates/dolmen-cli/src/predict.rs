//! `dolmen predict`: what a model says about new rows.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::error::{Error, Result};
use dolmen::learner::{Run, predict};
use dolmen::math::first_largest;
use dolmen::table::{Categories, Column, Features, Table};
use dolmen::task::Joint;

use crate::args::{Common, DataFile};
use crate::model::{Model, Opened};
use crate::output::{self, Done};

/// Predict new rows: log_density; or class and p(class) columns; or mean.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen predict geyser.dolmen new.csv > densities.csv
  dolmen predict iris.dolmen new.parquet -o classes.parquet
  dolmen predict cars.dolmen new.csv --interval 0.9")]
pub(crate) struct Predict {
    /// A model file made by `dolmen fit`.
    model: PathBuf,
    /// The rows to predict: CSV or Parquet; `-` reads CSV from standard input.
    data: DataFile,
    /// Where predictions go: CSV or Parquet by extension; `-` for stdout. [default: CSV to stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Also the interval that holds the truth with about this probability, such as 0.9 (numbers).
    #[arg(long, value_name = "LEVEL")]
    interval: Option<f64>,
}

pub(crate) fn run(arguments: &Predict, common: &Common, out: &mut dyn Write) -> Done {
    let output = arguments.output.as_deref();
    output::check_outputs(&[&arguments.model, &arguments.data], &[("--output", output)])?;
    let run = common.run()?;
    let opened = Opened::read(&arguments.model)?;
    let (features, _) = opened.read_rows(&arguments.data, false, &run)?;
    let table = predictions(&opened, &features, arguments.interval, &run)?;
    drop(run);
    output::rows(&table, output, out)
}

fn predictions(
    opened: &Opened,
    features: &Features,
    interval: Option<f64>,
    run: &Run,
) -> Result<Table> {
    let rows = features.rows();
    if let (Some(level), false) = (interval, matches!(opened.model, Model::Regression(_))) {
        let expected = "left out: the model does not predict numbers";
        return Err(Error::param("interval", expected, level));
    }
    match &opened.model {
        Model::Density(model) => {
            let logs = predict(model, rows, run)?;
            Table::new(vec![("log_density".into(), Column::Numeric(logs))])
        }
        Model::Regression(model) => {
            let means = predict(model, rows, run)?;
            let mut columns = vec![("mean".into(), Column::Numeric(means))];
            if let Some(level) = interval {
                let intervals = model.intervals(rows, level, run)?.ok_or_else(|| {
                    Error::param(
                        "interval",
                        "left out: the model was fitted with --check none",
                        level,
                    )
                })?;
                let bound = |side: usize| intervals.iter().map(|bounds| bounds[side]).collect();
                columns.push(("lower".into(), Column::Numeric(bound(0))));
                columns.push(("upper".into(), Column::Numeric(bound(1))));
            }
            Table::new(columns)
        }
        Model::Joint(model) => {
            let classes = &opened.file.classes;
            let joints = predict(model, rows, run)?;
            Table::new(class_columns(classes, &Joint::posteriors(&joints, classes.len())))
        }
        Model::Classification(model) => {
            let probabilities = predict(model, rows, run)?;
            Table::new(class_columns(&opened.file.classes, &probabilities))
        }
    }
}

/// The most probable class, and a column `p(class)` for each.
fn class_columns(classes: &[String], probabilities: &[f64]) -> Vec<(String, Column)> {
    let width = classes.len();
    let codes = probabilities.chunks_exact(width).map(|row| first_largest(row) as u32).collect();
    let class = Column::Categorical(Categories { levels: classes.to_vec().into(), codes });
    let mut columns = vec![("class".to_string(), class)];
    for (c, name) in classes.iter().enumerate() {
        let values = probabilities.iter().skip(c).step_by(width).copied().collect();
        columns.push((format!("p({name})"), Column::Numeric(values)));
    }
    columns
}
