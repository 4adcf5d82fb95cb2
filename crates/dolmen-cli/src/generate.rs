//! `dolmen generate`: data sets drawn from known distributions.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use dolmen::error::Error;
use dolmen::generate::RandomNetwork;
use serde::Serialize;

use crate::args::{Common, Format};
use crate::examples::Example;
use crate::output::{self, Done};

/// Write a data set: one that the program carries, or one drawn from a known distribution.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen generate example iris -o iris.csv
  dolmen generate network --attributes 10 --values 5 --rows 1000 -o data.csv")]
pub(crate) struct Generate {
    #[command(subcommand)]
    from: Source,
}

#[derive(Debug, Subcommand)]
enum Source {
    Example(Carried),
    Network(Network),
}

/// A data set that the program carries, as CSV.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dolmen generate example penguins -o penguins.csv")]
struct Carried {
    /// Which one.
    #[arg(value_enum)]
    name: Example,
    /// Where it is written: CSV, JSON or Parquet by extension; `-` for stdout. [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Carried {
    fn write(&self, common: &Common, out: &mut dyn Write) -> Done {
        let output = self.output.as_deref();
        output::check_outputs(&[], &[("--output", output)])?;
        let run = common.run()?;
        output::rows(&self.name.table(&run)?, output, common.format, out)?;
        let file = output.filter(|path| !output::is_standard(path));
        file.map_or(Ok(()), |path| output::written(path, common.format, out))
    }
}

/// Rows of a random Bayesian network: attributes a1, a2, .. and a class, all categories.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dolmen generate network --attributes 20 --width 2 --rows 1600 \\
      -o train.csv --test-rows 500 --test-output test.csv")]
struct Network {
    /// Attributes, beside the class.
    #[arg(long, default_value_t = RandomNetwork::default().attributes)]
    attributes: usize,
    /// The most values a variable has; each has between 2 and this many.
    #[arg(long, default_value_t = RandomNetwork::default().values)]
    values: usize,
    /// The largest induced width of the graph.
    #[arg(long, default_value_t = RandomNetwork::default().width)]
    width: usize,
    /// Concentration of the Dirichlet distribution of table rows: 1 is uniform, less is nearer to rules.
    #[arg(long, allow_negative_numbers = true, default_value_t = RandomNetwork::default().concentration)]
    concentration: f64,
    /// Rows to draw.
    #[arg(long, default_value_t = 1000)]
    rows: usize,
    /// Where they are written: CSV, JSON or Parquet by extension; `-` for stdout. [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Further rows of the same network.
    #[arg(long, default_value_t = 500, requires = "test_output")]
    test_rows: usize,
    /// Where the further rows are written.
    #[arg(long, value_name = "FILE", requires = "output")]
    test_output: Option<PathBuf>,
}

/// What was drawn, where the rows went to files.
#[derive(Debug, Serialize)]
struct Report {
    variables: Vec<String>,
    values: Vec<usize>,
    arcs: Vec<[String; 2]>,
    induced_width: usize,
    rows: usize,
    output: PathBuf,
}

pub(crate) fn run(arguments: &Generate, common: &Common, out: &mut dyn Write) -> Done {
    match &arguments.from {
        Source::Example(carried) => carried.write(common, out),
        Source::Network(network) => network.generate(common, out),
    }
}

impl Network {
    fn generate(&self, common: &Common, out: &mut dyn Write) -> Done {
        let (output, test_output) = (self.output.as_deref(), self.test_output.as_deref());
        let written = [("--output", output), ("--test-output", test_output)];
        output::check_outputs(&[], &written)?;
        let run = common.run()?;
        for (name, rows) in [("rows", self.rows), ("test-rows", self.test_rows)] {
            if rows == 0 {
                return Err(Error::param(name, "at least 1", rows).into());
            }
        }
        let recipe = RandomNetwork {
            attributes: self.attributes,
            values: self.values,
            width: self.width,
            concentration: self.concentration,
        };
        // Numbers instead of names, which would give other rows for the seeds of today.
        let network = recipe.draw(&run.child(0))?;
        let table = network.sample(self.rows, &run.child(1))?;
        output::rows(&table, output, common.format, out)?;
        if test_output.is_some() {
            output::rows(
                &network.sample(self.test_rows, &run.child(2))?,
                test_output,
                common.format,
                out,
            )?;
        }
        let Some(path) = output.filter(|path| !output::is_standard(path)) else { return Ok(()) };
        let names = network.names();
        let arc = |(from, to): (usize, usize)| [names[from].clone(), names[to].clone()];
        let report = Report {
            values: network.values().to_vec(),
            arcs: network.arcs().into_iter().map(arc).collect(),
            induced_width: network.induced_width(),
            rows: self.rows,
            output: path.into(),
            variables: names.clone(),
        };
        drop(run);
        match common.format {
            Format::Json => output::json(&report, out),
            Format::Text => show(&report, out),
        }
    }
}

fn show(report: &Report, out: &mut dyn Write) -> Done {
    let Report { variables, arcs, induced_width, rows, output, .. } = report;
    let (attributes, arcs) = (variables.len() - 1, arcs.len());
    writeln!(
        out,
        "network  {attributes} attributes and the class, {arcs} arcs, induced width {induced_width}"
    )?;
    writeln!(out, "rows     {rows} in {}", output.display())?;
    Ok(())
}
