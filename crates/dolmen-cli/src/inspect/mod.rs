//! `dolmen inspect`: what is in a table or a model file.

mod model;

use std::io::Write;

use clap::Args;
use dolmen::error::Error;
use dolmen::table::{Column, Look, Roles, Table, possible_classes};
use serde::Serialize;

use crate::args::{Common, DataFile, Format, Reading};
use crate::output::{self, Done, columns, counted, number};

/// Show a table's columns, their types and missing values; or a model's members, how their fits went and what they found.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen inspect sacramento.csv --schema beds=categorical
  dolmen inspect penguins.dolmen")]
pub(crate) struct Inspect {
    /// A table (CSV or Parquet by extension; `-` reads CSV from standard input), or a model (.dolmen).
    data: DataFile,
    /// Of a model: print the recipe that made it, as TOML that `fit --recipe` runs again.
    #[arg(long)]
    recipe: bool,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Serialize)]
struct Report {
    rows: usize,
    columns: Vec<Described>,
    /// What is to be known of how the table was read.
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Described {
    name: String,
    #[serde(rename = "type")]
    kind: &'static str,
    missing: usize,
    /// `input`, or why the column is left out unless it is asked for.
    role: String,
    /// How many distinct whole numbers there are, if so few that they may be classes.
    classes: Option<usize>,
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
        return model::run(&arguments.data, arguments.recipe, common, out);
    }
    let run = common.run()?;
    if arguments.recipe {
        return Err(Error::param("recipe", "asked of a model: a table has none", "--recipe").into());
    }
    let table = arguments.reading.recipe()?.read(&arguments.data, &[], None, &run)?;
    drop(run);
    let report = describe(&table, &arguments.reading.recipe()?.roles());
    if common.format == Format::Json {
        return output::json(&report, out);
    }
    let row = |c: &Described| {
        vec![c.name.clone(), c.kind.into(), c.missing.to_string(), c.summary.clone()]
    };
    columns(&["column", "type", "missing", "values"], report.columns.iter().map(row), out)?;
    writeln!(out, "\n{}", counted(report.rows, "row"))?;
    report.show_notes(out)
}

impl Report {
    /// What `fit` will do with some columns, and what one may want to say to it.
    fn show_notes(&self, out: &mut dyn Write) -> Done {
        self.notes.iter().try_for_each(|note| writeln!(out, "note: {note}"))?;
        for column in self.columns.iter().filter(|column| column.role != "input") {
            writeln!(out, "note: column '{}' is left out: {}", column.name, column.role)?;
        }
        let classes: Vec<&str> =
            self.columns.iter().filter(|c| c.classes.is_some()).map(|c| c.name.as_str()).collect();
        if !classes.is_empty() {
            let names = classes.join("', '");
            writeln!(
                out,
                "note: few distinct whole numbers in '{names}': as a target they are predicted as numbers, \
                 with --task classify as classes"
            )?;
        }
        Ok(())
    }
}

fn describe(table: &Table, roles: &Roles) -> Report {
    let columns = table.columns().map(|(name, column)| {
        let is_declared = roles.declared.iter().any(|declared| declared == name);
        let look = if is_declared { Look::Input } else { Look::of(name, column) };
        let is_kept = roles.keep_all || roles.inputs.iter().any(|input| input == name);
        let (kind, range, levels) = match (&look, column) {
            (Look::Dates(_), _) => ("date", None, None),
            (_, Column::Numeric(_)) => ("numeric", column.range(), None),
            (_, Column::Categorical(c)) => ("categorical", None, Some(c.levels.len())),
        };
        let summary = match (&look, range, levels) {
            (Look::Dates(dates), ..) => {
                let names: Vec<String> = dates.names().collect();
                match names[..] {
                    [] => format!("always {}", dates.first_day()),
                    _ => format!("from {}: {}", dates.first_day(), names.join(", ")),
                }
            }
            (_, Some((low, high)), _) => format!("{} to {}", number(low), number(high)),
            (_, None, Some(levels)) => format!("{levels} levels"),
            (_, None, None) => "none".into(),
        };
        let (min, max) = range.unzip();
        Described {
            name: name.into(),
            kind,
            missing: column.missing(),
            role: look.reason().filter(|_| !is_kept).unwrap_or_else(|| "input".into()),
            classes: possible_classes(column).filter(|_| !is_declared),
            summary,
            min,
            max,
            levels,
        }
    });
    Report { rows: table.rows(), columns: columns.collect(), notes: table.notes().to_vec() }
}
