//! A model file's contents: what it predicts from what, its members and what they tell of themselves.

use std::io::Write;
use std::path::Path;

use dolmen::ensemble::{Calibration, Ensemble};
use dolmen::error::Error;
use dolmen::learner::{Diagnostics, Fitted, Series};
use dolmen::recipe::{AnyModel, FitReport, Model, Recipe};
use dolmen::task::{Task, TaskKind};
use serde::Serialize;

use crate::args::{Common, Format};
use crate::output::{self, Done, columns, number};

/// Rows of a series shown as text; JSON has them all.
const SHOWN: usize = 20;

#[derive(Debug, Serialize)]
struct Contents {
    task: TaskKind,
    target: Option<String>,
    classes: Vec<String>,
    columns: Vec<String>,
    members: Vec<Described>,
    /// What the combination tells of itself, if it is more than weights.
    combination: Vec<Series>,
    /// How class probabilities are calibrated, if they are.
    calibration: Option<Calibration>,
    /// The version that wrote it; empty if the file does not say.
    writer: String,
    /// What decided the fit, if the file says it.
    recipe: Option<Recipe>,
    /// What the fit said of itself, if the file says it.
    report: Option<FitReport>,
}

#[derive(Debug, Serialize)]
struct Described {
    name: String,
    weight: Option<f64>,
    converged: Option<bool>,
    iterations: Option<usize>,
    objective: Option<f64>,
    notes: Vec<String>,
    series: Vec<Series>,
}

pub(super) fn run(path: &Path, recipe: bool, common: &Common, out: &mut dyn Write) -> Done {
    let opened = Model::read(path)?;
    if recipe {
        return show_recipe(&opened, path, common, out);
    }
    let columns: Vec<String> =
        opened.schema().fields().iter().map(|field| field.name.clone()).collect();
    let (members, combination, calibration) = match opened.any() {
        AnyModel::Density(model) => describe(model, &columns),
        AnyModel::Classification(model) => describe(model, &columns),
        AnyModel::Joint(model) => describe(model, &columns),
        AnyModel::Regression(model) => describe(model, &columns),
    };
    let report = Contents {
        task: opened.task(),
        target: opened.target().map(Into::into),
        classes: opened.classes().to_vec(),
        columns,
        members,
        combination,
        calibration,
        writer: opened.writer().into(),
        recipe: opened.recipe().cloned(),
        report: opened.report().cloned(),
    };
    match common.format {
        Format::Json => output::json(&report, out),
        Format::Text => output::report(out, |out| show(&report, out)),
    }
}

type Description = (Vec<Described>, Vec<Series>, Option<Calibration>);

fn describe<T: Task>(model: &Ensemble<T>, columns: &[String]) -> Description {
    let weights = model.combination().weights();
    let member = |(m, (name, model)): (usize, (&str, &dyn Fitted<T>))| {
        let Diagnostics { converged, iterations, objective, notes, series } = model.diagnostics();
        let series = series.into_iter().map(|series| with_names(series, columns)).collect();
        let weight = weights.map(|weights| weights[m]);
        Described { name: name.into(), weight, converged, iterations, objective, notes, series }
    };
    let members = model.names().zip(model.models()).enumerate().map(member).collect();
    let combination = model.combination().diagnostics().series;
    (members, combination, model.calibration().cloned())
}

/// Models on numbers know their columns by number only: `column 2` is shown by the name it has in the table, unless
/// an encoder made other columns of these.
fn with_names(mut series: Series, columns: &[String]) -> Series {
    let number = |label: &str| -> Option<usize> {
        label.strip_prefix("column ")?.split(' ').next()?.parse().ok()
    };
    let last = series.labels.iter().filter_map(|label| number(label)).max();
    if last == Some(columns.len()) {
        for label in &mut series.labels {
            if let Some(name) = number(label).and_then(|j| columns.get(j.checked_sub(1)?)) {
                let rest = label.splitn(3, ' ').nth(2).map_or(String::new(), |r| format!(" {r}"));
                *label = format!("{name}{rest}");
            }
        }
    }
    series
}

/// The recipe as a file that runs again.
fn show_recipe(model: &Model, path: &Path, common: &Common, out: &mut dyn Write) -> Done {
    let Some(recipe) = model.recipe() else {
        let problem = "the model does not carry its recipe: it was written by an earlier version";
        return Err(Error::file(path, problem).into());
    };
    match common.format {
        Format::Json => output::json(recipe, out),
        Format::Text => Ok(write!(out, "{}", recipe.to_toml()?)?),
    }
}

fn show(report: &Contents, out: &mut dyn Write) -> Done {
    let dash = || "-".to_string();
    let row = |member: &Described| {
        vec![
            member.name.clone(),
            member.weight.map_or_else(dash, |weight| format!("{weight:.4}")),
            member.converged.map_or_else(dash, |yes| if yes { "yes" } else { "no" }.into()),
            member.iterations.map_or_else(dash, |count| count.to_string()),
            output::maybe(member.objective),
        ]
    };
    let titles = ["member", "weight", "converged", "iterations", "objective"];
    columns(&titles, report.members.iter().map(row), out)?;
    for member in &report.members {
        for note in &member.notes {
            writeln!(out, "\n{}: {note}", member.name)?;
        }
        member.series.iter().try_for_each(|series| show_series(&member.name, series, out))?;
    }
    report.combination.iter().try_for_each(|series| show_series("combination", series, out))?;
    writeln!(out, "\ntask           {}", report.task)?;
    match &report.calibration {
        None => {}
        Some(Calibration::Temperature(temperature)) => {
            writeln!(out, "calibration    temperature {temperature:.4}")?;
        }
        Some(Calibration::Isotonic(_)) => writeln!(out, "calibration    isotonic")?,
    }
    if let Some(target) = &report.target {
        writeln!(out, "target         {target}")?;
    }
    if !report.classes.is_empty() {
        writeln!(out, "classes        {}", report.classes.join(", "))?;
    }
    writeln!(out, "columns        {}", report.columns.join(", "))?;
    if let Some(FitReport::Stack(stack)) = &report.report {
        writeln!(out, "kept           {} (--format json has the report of the fit)", stack.kept)?;
    }
    if !report.writer.is_empty() {
        writeln!(
            out,
            "written by     dolmen {} (--recipe shows how to make it again)",
            report.writer
        )?;
    }
    Ok(())
}

fn show_series(member: &str, series: &Series, out: &mut dyn Write) -> Done {
    writeln!(out)?;
    let rows = series.labels.iter().zip(&series.values).take(SHOWN);
    let row = |(label, value): (&String, &f64)| vec![label.clone(), number(*value)];
    columns(&[member, &series.name], rows.map(row), out)?;
    if series.values.len() > SHOWN {
        writeln!(out, "... and {} more (--format json has all)", series.values.len() - SHOWN)?;
    }
    Ok(())
}
