//! `dolmen score`: how good a model is on rows with known truth, beside its members.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::ensemble::{Coverage, Ensemble};
use dolmen::error::Result;
use dolmen::learner::predict;
use dolmen::math::first_largest;
use dolmen::run::Run;
use dolmen::score::Estimate;
use dolmen::table::Rows;
use dolmen::task::Task;
use serde::Serialize;

use crate::args::{Cells, Common, DataFile, Format};
use crate::fit::show_coverage;
use crate::model::{Model, Opened};
use crate::output::{self, Done, columns, difference, note, number};

/// Score a model on rows it has not seen: the ensemble, each member, equal weights and the best member.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dolmen score geyser.dolmen test.csv --format json")]
pub(crate) struct Score {
    /// A model file made by `dolmen fit`.
    model: PathBuf,
    /// The rows to score, with the target if the model has one.
    data: DataFile,
    #[command(flatten)]
    cells: Cells,
}

#[derive(Debug, Serialize)]
struct Report {
    task: &'static str,
    rows: usize,
    /// Mean score of the ensemble.
    score: f64,
    /// The usual figures of the ensemble: log loss, error, Brier and AUC; RMSE, MAE and R2.
    figures: Figures,
    members: Vec<ScoredMember>,
    /// The member that scores best on these rows.
    best: String,
    gain_over_best: Estimate,
    gain_over_uniform: Estimate,
    /// Of numbers: how often prediction intervals hold the truth.
    #[serde(skip_serializing_if = "Option::is_none")]
    intervals: Option<Vec<Coverage>>,
}

#[derive(Debug, Serialize)]
struct ScoredMember {
    name: String,
    weight: Option<f64>,
    score: f64,
    /// Score of the ensemble less the member's.
    gain: Estimate,
    figures: Figures,
}

type Figures = BTreeMap<&'static str, f64>;

pub(crate) fn run(arguments: &Score, common: &Common, out: &mut dyn Write) -> Done {
    let run = common.run()?;
    let opened = Opened::read(&arguments.model)?;
    let (features, table) = opened.read_rows(&arguments.data, true, &[], &arguments.cells, &run)?;
    opened.unseen(&table, common);
    let (features, mut table, unknown) = opened.with_truth(features, table)?;
    if unknown > 0 {
        note(common, &format!("{unknown} rows without a target are left out"));
    }
    let rows = features.rows();
    let path = &arguments.data;
    let report = match &opened.model {
        Model::Density(model) => score(model, &opened.truth(&mut table, path)?, rows, &run)?,
        Model::Classification(model) => score(model, &opened.truth(&mut table, path)?, rows, &run)?,
        Model::Joint(model) => score(model, &opened.truth(&mut table, path)?, rows, &run)?,
        Model::Regression(model) => {
            let truth: Vec<f64> = opened.truth(&mut table, path)?;
            let intervals = model.coverage(rows, &truth, &run)?;
            Report { intervals, ..score(model, &truth, rows, &run)? }
        }
    };
    drop(run);
    match common.format {
        Format::Json => output::json(&report, out),
        Format::Text => show(&report, out),
    }
}

fn score<T: Task>(
    model: &Ensemble<T>,
    truth: &T::Target,
    x: Rows<'_>,
    run: &Run,
) -> Result<Report> {
    let width = T::width(truth);
    let rows = x.rows();
    let shares = vec![1.0 / rows as f64; rows];
    let scores = |predicted: &[f64]| -> Vec<f64> {
        predicted.chunks_exact(width).enumerate().map(|(i, row)| T::score(row, truth, i)).collect()
    };
    let figures = |predicted: &[f64]| T::figures(predicted, truth).into_iter().collect();
    let predicted = predict(model, x, run)?;
    let together = scores(&predicted);
    let predictions =
        model.models().map(|member| predict(member, x, run)).collect::<Result<Vec<_>>>()?;
    let alone: Vec<Vec<f64>> = predictions.iter().map(|p| scores(p)).collect();
    let members = predictions.len();
    let mut uniform = vec![0.0; rows * width];
    for (i, row) in uniform.chunks_exact_mut(width).enumerate() {
        let equal = vec![1.0 / members as f64; members];
        T::mix(&equal, |m| &predictions[m][i * width..(i + 1) * width], row);
    }
    let mean = |scores: &[f64]| Estimate::of(scores, &shares).mean;
    let gain = |other: &[f64]| Estimate::of_difference(&together, other, &shares);
    let best = first_largest(&alone.iter().map(|scores| mean(scores)).collect::<Vec<f64>>());
    let weights = model.combination().weights();
    let scored = |(m, name): (usize, &str)| ScoredMember {
        name: name.into(),
        weight: weights.map(|weights| weights[m]),
        score: mean(&alone[m]),
        gain: gain(&alone[m]),
        figures: figures(&predictions[m]),
    };
    Ok(Report {
        task: T::NAME,
        rows,
        score: mean(&together),
        figures: figures(&predicted),
        members: model.names().enumerate().map(scored).collect(),
        best: model.names().nth(best).unwrap_or_default().into(),
        gain_over_best: gain(&alone[best]),
        gain_over_uniform: gain(&scores(&uniform)),
        intervals: None,
    })
}

fn show(report: &Report, out: &mut dyn Write) -> Done {
    // The mean score of a density is its only figure, and stands there already.
    let shown: Vec<&str> = report.figures.keys().copied().filter(|f| *f != "log_density").collect();
    let numbers = |figures: &Figures| shown.iter().map(|f| number(figures[f])).collect::<Vec<_>>();
    let row = |member: &ScoredMember| {
        let weight = member.weight.map_or_else(|| "-".into(), |w| format!("{w:.4}"));
        let mut row =
            vec![member.name.clone(), weight, number(member.score), difference(&member.gain)];
        row.extend(numbers(&member.figures));
        row
    };
    let mut together = vec!["(ensemble)".into(), "-".into(), number(report.score), "-".into()];
    together.extend(numbers(&report.figures));
    let titles: Vec<&str> = ["member", "weight", "score", "ensemble's gain"]
        .into_iter()
        .chain(shown.iter().copied())
        .collect();
    columns(&titles, report.members.iter().map(row).chain([together]), out)?;
    writeln!(out)?;
    if let Some(coverage) = &report.intervals {
        show_coverage("intervals", coverage, out)?;
    }
    writeln!(out, "task           {} ({})", report.task, output::counted(report.rows, "row"))?;
    writeln!(out, "score          {}", number(report.score))?;
    writeln!(out, "gain           {} over '{}'", difference(&report.gain_over_best), report.best)?;
    writeln!(out, "               {} over equal weights", difference(&report.gain_over_uniform))?;
    Ok(())
}
