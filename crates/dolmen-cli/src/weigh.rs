//! `dolmen weigh`: the best combination of predictions from anywhere.

use std::io::Write;
use std::path::Path;

use clap::{Args, ValueEnum};
use dolmen::combine::weigh::{Errors, WeighOptions, Weighing, weigh};
use dolmen::combine::{Method, Weighable, Weights};
use dolmen::error::{Error, Place, Result};
use dolmen::evaluate::Measure;
use dolmen::learner::Run;
use dolmen::oos::{self, OutOfSample};
use dolmen::table::{Column, Table};
use dolmen::task::{Classification, Density, Joint, Labels, Regression, Target, Task};

use crate::args::{Common, DataFile, Format, Reading};
use crate::output::{self, Done, columns, difference, maybe, number};

/// Find the best combination of predictions made by any tool.
///
/// PREDICTIONS has one row per case and one column per member: what the member said about a case it had not seen.
///
/// Without --target the columns are densities p(x), or probabilities p(true class). With --target and columns named
/// member:class they are class probabilities; with --log as well, ln p(x, class) of generative models. With a numeric --target they are predicted numbers. A matrix kept by
/// `dolmen fit --oos` needs no options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen weigh densities.csv                          one density column per member
  dolmen weigh logdensities.parquet --log             the same, as logarithms
  dolmen weigh probabilities.csv --target species     columns such as forest:setosa
  dolmen weigh joints.csv --target species --log      columns such as bayes:setosa with ln p(x, class)
  dolmen weigh forecasts.csv --target demand --format json
  dolmen weigh forecasts.csv --target demand --method non-negative")]
pub(crate) struct Weigh {
    /// CSV or Parquet by extension; `-` reads CSV from standard input.
    predictions: DataFile,
    /// The column with the truth: classes or numbers.
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,
    /// The column with row weights.
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// The columns hold logarithms: of densities, or with --target of joint probabilities p(x, class).
    #[arg(long)]
    log: bool,
    /// How weights are found: simplex, em, non-negative, uniform, best, greedy, pseudo-bma, pseudo-bma+.
    #[arg(long, default_value = "simplex")]
    method: Method,
    /// Dirichlet exponent of the weights for simplex and em: 1 is no prior, 2 pulls towards equal weights.
    #[arg(long, default_value_t = 1.0, value_name = "A")]
    prior: f64,
    /// What greedy measures: log, brier, error, squared, absolute. [default: log score, or squared error for numbers]
    #[arg(long)]
    measure: Option<Measure>,
    /// Rounds of greedy.
    #[arg(long, default_value_t = Weights::default().rounds)]
    rounds: usize,
    /// Standard errors of the weights; `none` also skips leave-one-out losses and cross-validation.
    #[arg(long, value_enum, default_value_t = ErrorKind::Auto)]
    errors: ErrorKind,
    /// Bootstrap draws.
    #[arg(long, default_value_t = WeighOptions::default().draws)]
    draws: usize,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ErrorKind {
    /// Bootstrap for small files, sandwich for large ones.
    Auto,
    /// Bayesian bootstrap of the rows.
    Bootstrap,
    /// One pass; no errors for weights of zero.
    Sandwich,
    /// Weights and scores only.
    None,
}

/// The matrix of any task.
enum Matrix {
    Density(OutOfSample<Density>),
    Classification(OutOfSample<Classification>),
    Joint(OutOfSample<Joint>),
    Regression(OutOfSample<Regression>),
}

pub(crate) fn run(weigh: &Weigh, common: &Common, out: &mut dyn Write) -> Done {
    let run = common.run()?;
    let weighing = match weigh.matrix(&run).map_err(|e| e.in_file(&weigh.predictions))? {
        Matrix::Density(matrix) => weigh.weigh(&matrix, &run)?,
        Matrix::Classification(matrix) => weigh.weigh(&matrix, &run)?,
        Matrix::Joint(matrix) => weigh.weigh(&matrix, &run)?,
        Matrix::Regression(matrix) => weigh.weigh(&matrix, &run)?,
    };
    drop(run);
    match common.format {
        Format::Json => output::json(&weighing, out),
        Format::Text => show(&weighing, out),
    }
}

impl Weigh {
    fn weigh<T: Weighable>(&self, matrix: &OutOfSample<T>, run: &Run) -> Result<Weighing> {
        let errors = match self.errors {
            ErrorKind::Auto => Errors::Auto,
            ErrorKind::Bootstrap => Errors::Bootstrap,
            ErrorKind::Sandwich => Errors::Sandwich,
            ErrorKind::None => Errors::None,
        };
        let weights = Weights {
            method: self.method,
            prior: self.prior,
            rounds: self.rounds,
            measure: self.measure,
            ..Weights::default()
        };
        weigh(matrix, &WeighOptions { weights, errors, draws: self.draws }, run)
    }

    /// Reads the predictions and finds out what they are.
    fn matrix(&self, run: &Run) -> Result<Matrix> {
        if let Some(task) = kept_task(&self.predictions)? {
            return read_kept(&task, &self.predictions, run);
        }
        let always: Vec<&str> =
            [&self.target, &self.weights].into_iter().flatten().map(String::as_str).collect();
        let mut table = self.reading.read(&self.predictions, &always, None, run)?;
        let weights = match &self.weights {
            Some(name) => Some(numbers(name, table.take(name)?)?),
            None => None,
        };
        let Some(target) = &self.target else {
            return self.densities(table, weights).map(Matrix::Density);
        };
        let truth = table.take(target)?;
        if table.names().iter().all(|name| name.contains(':')) && !table.names().is_empty() {
            let (members, labels) = classes(target, &truth, table, self.log)?;
            return if self.log {
                OutOfSample::from_columns(members, labels, weights).map(Matrix::Joint)
            } else {
                OutOfSample::from_columns(members, labels, weights).map(Matrix::Classification)
            };
        }
        if self.log {
            let problem = "with --target and --log the other columns must be named member:class";
            return Err(Error::data(Place::column(target), problem)
                .with_hint("they then hold ln p(x, class); predicted numbers need no --log"));
        }
        match truth {
            Column::Numeric(values) => {
                let values = numbers(target, Column::Numeric(values))?;
                let members = table
                    .into_columns()
                    .map(|(name, column)| numbers(&name, column).map(|values| (name, values)));
                let members = members.collect::<Result<Vec<_>>>()?;
                OutOfSample::from_columns(members, values, weights).map(Matrix::Regression)
            }
            Column::Categorical(_) => {
                let problem =
                    "the target holds classes, but the other columns are not named member:class";
                Err(Error::data(Place::column(target), problem).with_hint(
                    "name the columns like forest:yes, forest:no; or leave out --target and give p(true class) columns",
                ))
            }
        }
    }

    /// Columns of densities, or of probabilities of the true class.
    fn densities(&self, table: Table, weights: Option<Vec<f64>>) -> Result<OutOfSample<Density>> {
        let mut members = Vec::new();
        for (name, column) in table.into_columns() {
            let mut values = numbers(&name, column)?;
            if !self.log {
                if let Some(i) = values.iter().position(|v| *v < 0.0) {
                    let problem = format!("a density is {}, less than 0", values[i]);
                    let hint =
                        "add --log if the columns hold logarithms; --drop COLUMN leaves one out";
                    return Err(Error::data(Place::cell(i, &name), problem).with_hint(hint));
                }
                values.iter_mut().for_each(|v| *v = v.ln());
            }
            members.push((name, values));
        }
        OutOfSample::from_columns(members, (), weights)
    }
}

/// The task of a matrix that Dolmen kept itself.
fn kept_task(path: &Path) -> Result<Option<String>> {
    let is_parquet = path.extension().is_some_and(|e| e == "parquet" || e == "pq");
    if is_parquet { oos::task_of(path) } else { Ok(None) }
}

fn read_kept(task: &str, path: &Path, run: &Run) -> Result<Matrix> {
    match task {
        Density::NAME => OutOfSample::read(path, run).map(Matrix::Density),
        Classification::NAME => OutOfSample::read(path, run).map(Matrix::Classification),
        Joint::NAME => OutOfSample::read(path, run).map(Matrix::Joint),
        Regression::NAME => OutOfSample::read(path, run).map(Matrix::Regression),
        other => Err(Error::file(path, format!("a matrix of task {other} cannot be weighed"))),
    }
}

/// A column that must hold a number in every row.
fn numbers(name: &str, column: Column) -> Result<Vec<f64>> {
    let values = column.into_numbers(name)?;
    match values.iter().position(|v| v.is_nan()) {
        None => Ok(values),
        Some(i) => Err(Error::data(Place::cell(i, name), "the value is missing or not a number")
            .with_hint("every row needs a number here: mend the cell or remove the row")),
    }
}

/// Members with their columns, row after row.
type Columns = Vec<(String, Vec<f64>)>;

/// Columns `member:class`, brought together by member, in the order of the classes: class probabilities, or logarithms
/// of joint ones.
fn classes(target: &str, truth: &Column, table: Table, log: bool) -> Result<(Columns, Labels)> {
    let mut members: Vec<String> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for name in table.names() {
        let (member, class) = name.rsplit_once(':').unwrap_or((name, ""));
        if !members.iter().any(|m| m == member) {
            members.push(member.into());
        }
        if !names.iter().any(|c| c == class) {
            names.push(class.into());
        }
    }
    let missing = truth.first_missing();
    let labels = Labels::from_column(Some(truth.clone()), &names).ok_or_else(|| match missing {
        Some(i) => Error::data(Place::cell(i, target), "the target is missing"),
        None => unknown_class(target, truth, &names),
    })?;
    let mut table = table;
    let mut joined = Vec::new();
    for member in members {
        let mut column = vec![0.0; table.rows() * names.len()];
        for (k, class) in names.iter().enumerate() {
            let name = format!("{member}:{class}");
            for (i, p) in numbers(&name, table.take(&name)?)?.into_iter().enumerate() {
                if !log && !(0.0..=1.0 + 1e-9).contains(&p) {
                    let problem = format!("a probability is {p}, not between 0 and 1");
                    let hint = "add --log if the columns hold ln p(x, class)";
                    return Err(Error::data(Place::cell(i, &name), problem).with_hint(hint));
                }
                column[i * names.len() + k] = p;
            }
        }
        if !log {
            check_sums(&member, &column, names.len())?;
        }
        joined.push((member, column));
    }
    Ok((joined, labels))
}

/// A member's probabilities must sum to 1, up to the rounding of a printed file.
fn check_sums(member: &str, column: &[f64], width: usize) -> Result<()> {
    let sums = column.chunks(width).map(|row| row.iter().sum::<f64>());
    match sums.enumerate().find(|(_, sum)| (sum - 1.0).abs() > 0.01) {
        None => Ok(()),
        Some((i, sum)) => {
            let problem = format!("the probabilities of '{member}' sum to {sum:.4}, not 1");
            Err(Error::data(Place::row(i), problem))
        }
    }
}

fn unknown_class(target: &str, truth: &Column, classes: &[String]) -> Error {
    let spelled = |i: usize| match truth {
        Column::Numeric(values) => values[i].to_string(),
        Column::Categorical(c) => c.level(i).unwrap_or_default().to_string(),
    };
    let bad = (0..truth.len()).find(|&i| !classes.contains(&spelled(i))).unwrap_or(0);
    let problem = format!("the class '{}' has no column member:{0}", spelled(bad));
    Error::data(Place::cell(bad, target), problem)
        .with_hint(format!("the columns name the classes {}", classes.join(", ")))
}

/// Members shown before the rest is summed up in a line.
const MOST_SHOWN: usize = 40;

/// Writes a weighing as a table and a summary.
pub(crate) fn show(weighing: &Weighing, out: &mut dyn Write) -> Done {
    let mut order: Vec<usize> = (0..weighing.members.len()).collect();
    let members = &weighing.members;
    order.sort_by(|&a, &b| {
        members[b]
            .weight
            .total_cmp(&members[a].weight)
            .then(members[b].score.total_cmp(&members[a].score))
    });
    let interval = |m: usize| {
        let bounds = members[m].interval;
        bounds.map_or_else(|| "-".into(), |[low, high]| format!("{low:.3} - {high:.3}"))
    };
    let row = |&m: &usize| {
        vec![
            members[m].name.clone(),
            format!("{:.4}", members[m].weight),
            maybe(members[m].se),
            interval(m),
            number(members[m].score),
            maybe(members[m].loo_loss),
        ]
    };
    let header = ["member", "weight", "se", "90 %", "score alone", "loss without"];
    columns(&header, order.iter().take(MOST_SHOWN).map(row), out)?;
    if members.len() > MOST_SHOWN {
        let unused = members.iter().filter(|m| m.weight == 0.0).count();
        writeln!(out, "... {} members in all, {unused} of them without weight", members.len())?;
    }
    writeln!(out)?;
    summary(weighing, out)
}

fn summary(weighing: &Weighing, out: &mut dyn Write) -> Done {
    let score = if weighing.task == Regression::NAME { "minus squared error" } else { "log score" };
    writeln!(out, "task           {} ({} rows)", weighing.task, weighing.rows)?;
    let is_lmg = weighing.task == Joint::NAME && weighing.method == Method::Simplex;
    let name = if is_lmg { "lmg" } else { weighing.method.name() };
    write!(out, "method         {name}")?;
    if let (Some(residual), true) = (weighing.kkt_residual, is_lmg) {
        let steps = weighing.iterations;
        write!(out, ", KKT residual {residual:.1e} after {steps} steps from the best start")?;
    } else if weighing.iterations > 0 {
        write!(out, ", certified gap {:.1e} after {} passes", weighing.gap, weighing.iterations)?;
    }
    writeln!(out)?;
    writeln!(out, "score          {} ({score} per row, higher is better)", number(weighing.score))?;
    let best = format!("over '{}'", weighing.best);
    writeln!(out, "gain           {} {best}", difference(&weighing.gain_over_best))?;
    writeln!(out, "               {} over equal weights", difference(&weighing.gain_over_uniform))?;
    if let Some(honest) = &weighing.cross_validated {
        let folds = honest.folds;
        writeln!(
            out,
            "cross-checked  {} score with weights from other rows ({folds} folds)",
            number(honest.score)
        )?;
        writeln!(
            out,
            "               {} over the best member",
            difference(&honest.gain_over_best)
        )?;
        writeln!(
            out,
            "               {} over equal weights",
            difference(&honest.gain_over_uniform)
        )?;
    }
    for group in &weighing.interchangeable {
        writeln!(out, "alike          {} can stand in for one another", group.join(", "))?;
    }
    if weighing.uninformative_rows > 0 {
        let rows = weighing.uninformative_rows;
        writeln!(out, "note           {rows} rows get 0 from every member and are left out")?;
    }
    if !weighing.converged {
        writeln!(
            out,
            "note           the tolerance was not reached; the gap says what may be missing"
        )?;
    }
    Ok(())
}
