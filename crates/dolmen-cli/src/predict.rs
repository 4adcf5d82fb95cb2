//! `dolmen predict`: what a model says about new rows.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::ensemble::Ensemble;
use dolmen::error::{Error, Result};
use dolmen::learner::predict;
use dolmen::math::first_largest;
use dolmen::run::Run;
use dolmen::table::{Categories, Column, Features, Rows, Table, Unseen};
use dolmen::task::{Joint, Task};
use serde::Serialize;

use crate::args::{Cells, Common, DataFile, Format};
use crate::model::{Model, Opened};
use crate::output::{self, Done};

/// Predict new rows: log_density; or class and p(class) columns; or mean.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen predict geyser.dolmen new.csv > predicted.csv
  dolmen predict iris.dolmen flowers.csv -o classes.parquet
  dolmen predict iris.dolmen flowers.csv --with name --members -o classes.json
  dolmen predict ozone.dolmen days.csv --interval 0.9")]
pub(crate) struct Predict {
    /// A model file made by `dolmen fit`.
    model: PathBuf,
    /// The rows to predict: CSV or Parquet; `-` reads CSV from standard input.
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
    #[command(flatten)]
    cells: Cells,
}

/// What is told where the rows went to a file.
#[derive(Debug, Serialize)]
struct Report {
    rows: usize,
    columns: Vec<String>,
    output: PathBuf,
    unseen: Vec<Unseen>,
}

type Columns = Vec<(String, Column)>;

pub(crate) fn run(arguments: &Predict, common: &Common, out: &mut dyn Write) -> Done {
    let output = arguments.output.as_deref();
    output::check_outputs(&[&arguments.model, &arguments.data], &[("--output", output)])?;
    let run = common.run()?;
    let opened = Opened::read(&arguments.model)?;
    let (features, mut table) =
        opened.read_rows(&arguments.data, false, &arguments.carried, &arguments.cells, &run)?;
    let unseen = opened.unseen(&table, common);
    let mut columns: Columns = Vec::new();
    for name in &arguments.carried {
        // The same name twice is the column once.
        if columns.iter().all(|(taken, _)| taken != name) {
            let column = table.take(name).map_err(|e| e.in_file(&arguments.data))?;
            columns.push((name.clone(), column.numbers_if_plain()));
        }
    }
    for (name, column) in arguments.predictions(&opened, &features, &run)? {
        let is_taken = columns.iter().any(|(taken, _)| *taken == name);
        columns.push((if is_taken { format!("predicted_{name}") } else { name }, column));
    }
    let table = Table::new(columns)?;
    drop(run);
    output::rows(&table, output, common.format, out)?;
    match (output.filter(|path| !output::is_standard(path)), common.format) {
        (Some(path), Format::Json) => {
            let (rows, columns) = (table.rows(), table.names().to_vec());
            output::json(&Report { rows, columns, output: path.into(), unseen }, out)
        }
        _ => Ok(()),
    }
}

impl Predict {
    fn predictions(&self, opened: &Opened, features: &Features, run: &Run) -> Result<Columns> {
        let x = features.rows();
        if let (Some(level), false) = (self.interval, matches!(opened.model, Model::Regression(_)))
        {
            let expected = "left out: the model does not predict numbers";
            return Err(Error::param("interval", expected, level));
        }
        let classes = &opened.file.classes;
        match &opened.model {
            Model::Density(model) => {
                let mut columns = vec![number("log_density", predict(model, x, run)?)];
                columns.extend(self.members(model, x, run, |name, logs| vec![number(name, logs)])?);
                Ok(columns)
            }
            Model::Regression(model) => {
                let mut columns = vec![number("mean", predict(model, x, run)?)];
                if let Some(level) = self.interval {
                    let intervals = model.intervals(x, level, run)?.ok_or_else(|| {
                        let expected = "left out: the model was fitted without rows held out (--alone, --check none or too few rows)";
                        Error::param("interval", expected, level)
                    })?;
                    let bound = |side: usize| intervals.iter().map(|bounds| bounds[side]).collect();
                    columns.extend([number("lower", bound(0)), number("upper", bound(1))]);
                }
                let one = |name: &str, means| vec![number(name, means)];
                columns.extend(self.members(model, x, run, one)?);
                Ok(columns)
            }
            Model::Joint(model) => {
                let posteriors = |joints: &[f64]| Joint::posteriors(joints, classes.len());
                let mut columns = class_columns(classes, &posteriors(&predict(model, x, run)?));
                let each = |name: &str, joints: Vec<f64>| {
                    member_classes(name, classes, &posteriors(&joints))
                };
                columns.extend(self.members(model, x, run, each)?);
                Ok(columns)
            }
            Model::Classification(model) => {
                let mut columns = class_columns(classes, &predict(model, x, run)?);
                let each = |name: &str, p: Vec<f64>| member_classes(name, classes, &p);
                columns.extend(self.members(model, x, run, each)?);
                Ok(columns)
            }
        }
    }

    /// Each member's predictions as columns, if they are wanted.
    fn members<T: Task>(
        &self,
        ensemble: &Ensemble<T>,
        x: Rows<'_>,
        run: &Run,
        columns: impl Fn(&str, Vec<f64>) -> Columns,
    ) -> Result<Columns> {
        let mut all = Vec::new();
        for (name, model) in ensemble.names().zip(ensemble.models()).filter(|_| self.members) {
            all.extend(columns(name, predict(model, x, run)?));
        }
        Ok(all)
    }
}

fn number(name: &str, values: Vec<f64>) -> (String, Column) {
    (name.to_string(), Column::Numeric(values))
}

/// The most probable class, and a column `p(class)` for each.
pub(crate) fn class_columns(classes: &[String], probabilities: &[f64]) -> Columns {
    let width = classes.len();
    let codes = probabilities.chunks_exact(width).map(|row| first_largest(row) as u32).collect();
    let class = Column::Categorical(Categories { levels: classes.to_vec().into(), codes });
    let mut columns = vec![("class".to_string(), class)];
    for (c, name) in classes.iter().enumerate() {
        columns.push(number(&format!("p({name})"), every(probabilities, c, width)));
    }
    columns
}

/// A member's class probabilities, a column for each.
fn member_classes(member: &str, classes: &[String], probabilities: &[f64]) -> Columns {
    let column = |(c, class): (usize, &String)| {
        number(&format!("{member}:{class}"), every(probabilities, c, classes.len()))
    };
    classes.iter().enumerate().map(column).collect()
}

fn every(values: &[f64], first: usize, step: usize) -> Vec<f64> {
    values.iter().skip(first).step_by(step).copied().collect()
}
