//! `dolmen advise`: which ensemble, from a look at the data.

use std::io::Write;

use clap::Args;
use dolmen::error::Result;
use dolmen::evaluate::advise::{Advice, Clipped};
use dolmen::recipe::Recipe;
use serde::Serialize;

use crate::args::{Cells, Common, DataFile, Format, Reading};
use crate::output::{self, Done, columns, maybe, note, number};
use crate::recipe::{Columns, Members};

/// Say which ensemble suits the data, and why, from a probe of a few seconds.
///
/// A few fast learners predict rows they have not seen, on at most 2000 rows: a baseline, a linear model, a tree, a forest,
/// boosting and neighbours; for densities a Gaussian, mixtures and a kernel. Shown is what to use, the numbers it rests on,
/// and the command that comes next.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen advise geyser.csv
  dolmen advise iris.csv --target Species
  dolmen advise houses.csv --target price --drop id --format json")]
pub(crate) struct Advise {
    /// CSV or Parquet by extension; `-` reads CSV from standard input.
    data: DataFile,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    reading: Reading,
}

/// What is printed.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    advice: Advice,
    /// What to run next.
    command: String,
}

pub(crate) fn run(arguments: &Advise, common: &Common, out: &mut dyn Write) -> Done {
    let run = common.run()?;
    let recipe = arguments.recipe(common)?;
    let data = recipe.read_data(&arguments.data, &run)?;
    data.notes.iter().for_each(|text| note(common, text));
    let advice = recipe.advise(&data, &run).map_err(|error| error.in_file(&arguments.data))?;
    drop(run);
    let report = Report { command: arguments.command(&advice, common.seed), advice };
    match common.format {
        Format::Json => output::json(&report, out),
        Format::Text => {
            output::report(out, |out| show(&report.advice, out))?;
            // Not broken to fit the terminal: it is there to be copied.
            Ok(writeln!(out, "next           {}", report.command)?)
        }
    }
}

impl Advise {
    fn recipe(&self, common: &Common) -> Result<Recipe> {
        Members::default().recipe(&self.columns, &self.reading, common)
    }

    /// The same reading of the data, with the models advised.
    fn command(&self, advice: &Advice, seed: Option<u64>) -> String {
        let mut words = vec!["dolmen".into(), "fit".into(), quoted(&self.data.to_string_lossy())];
        let mut option = |name: &str, value: &str| words.extend([name.into(), quoted(value)]);
        let Columns { target, task, weights, groups, time } = &self.columns;
        let task = task.map(|task| format!("{task:?}").to_lowercase());
        let given = [("--target", target), ("--task", &task), ("--weights", weights)];
        for (name, value) in given.into_iter().chain([
            ("--groups", groups),
            ("--time", time),
            ("--schema", &self.reading.schema),
        ]) {
            value.iter().for_each(|value| option(name, value));
        }
        seed.iter().for_each(|seed| option("--seed", &seed.to_string()));
        let Reading { schema: _, drop, keep, all_columns, cells: Cells { missing, delimiter } } =
            &self.reading;
        for (name, values) in [("--drop", drop), ("--keep", keep), ("--model", &advice.models)] {
            values.iter().for_each(|value| option(name, value));
        }
        delimiter.iter().for_each(|delimiter| option("--delimiter", delimiter));
        missing.iter().for_each(|word| option("--missing", word));
        option("-o", "model.dolmen");
        if *all_columns {
            words.push("--all-columns".into());
        }
        words.join(" ")
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn show(advice: &Advice, out: &mut dyn Write) -> Done {
    writeln!(out, "{}\n", advice.recommendation)?;
    for reason in &advice.reasons {
        writeln!(out, "- {}", reason.answer)?;
    }
    writeln!(out)?;
    let row = |member: &dolmen::evaluate::advise::Probed| {
        let (gain, se) = (number(member.gain.mean), maybe(member.gain.se));
        vec![member.name.clone(), gain, se, number(member.weight)]
    };
    columns(&["member", "gain", "se", "weight"], advice.probe.members.iter().map(row), out)?;
    let unit = if advice.facts.task.has_target() { "shares of its loss" } else { "nats a row" };
    let probe = &advice.probe;
    writeln!(
        out,
        "\ngain over the first, in {unit}; {} folds of {} rows out of {}",
        probe.folds, probe.rows, advice.facts.rows
    )?;
    for Clipped { member, rows } in &probe.clipped {
        writeln!(
            out,
            "note           {member} gave what came up no probability in {rows} rows, which counts as 1e-15: \
             how much worse than that it is cannot be known"
        )?;
    }
    for failure in &probe.failures {
        writeln!(out, "failed         {failure}")?;
    }
    Ok(())
}
