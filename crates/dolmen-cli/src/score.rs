//! `dolmen score`: how good a model is on rows with known truth, beside its members.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::recipe::{Model, ScoreReport, ScoredMember};
use dolmen::score::figures::Figures;

use crate::args::{Cells, Common, DataFile, Format};
use crate::fit::show_coverage;
use crate::output::{self, Done, columns, difference, note, number};
use crate::predict::tell_unseen;

/// Score a model on rows it has not seen: the ensemble, each member, equal weights and the best member.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  dolmen score geyser.dolmen test.csv --format json")]
pub(crate) struct Score {
    /// A model file made by `dolmen fit`.
    model: PathBuf,
    /// The rows to score, with the target if the model has one: CSV or Parquet, a folder of Parquet files or a pattern such
    /// as 'test/*.parquet'. Files larger than memory will do.
    data: DataFile,
    /// How much memory the rows and their predictions may take, such as 2G or 800M: they are read block by block, and the AUC is
    /// left out where this does not hold the predictions that it ranks. [default: half of what can be had]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    #[command(flatten)]
    cells: Cells,
}

pub(crate) fn run(arguments: &Score, common: &Common, out: &mut dyn Write) -> Done {
    let run = common.run()?;
    let model = Model::read(&arguments.model)?;
    let mut options = model.read_options(true, &[]);
    arguments.cells.add_to(&mut options)?;
    let memory = arguments.memory.as_deref();
    let blocks = model.open_rows(&arguments.data, &options, memory, &run)?;
    blocks.passed_over().into_iter().for_each(|text| note(common, text));
    let (report, unseen) = model.score_blocks(&blocks, memory, &run)?;
    tell_unseen(&unseen, common);
    if report.without_truth > 0 {
        note(common, &format!("{} rows without a target are left out", report.without_truth));
    }
    if !report.unknown.is_empty() {
        let unknown = report.unknown.join(", ");
        note(
            common,
            &format!(
                "{unknown} ranks all rows, and memory does not hold their predictions: left out"
            ),
        );
    }
    drop(run);
    match common.format {
        Format::Json => output::json(&report, out),
        Format::Text => output::report(out, |out| show(&report, out)),
    }
}

fn show(report: &ScoreReport, out: &mut dyn Write) -> Done {
    // The mean score of a density is its only figure, and stands there already.
    let shown: Vec<&str> =
        report.figures.keys().map(String::as_str).filter(|f| *f != "log_density").collect();
    let numbers = |figures: &Figures| shown.iter().map(|f| number(figures[*f])).collect::<Vec<_>>();
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
    // Of one member there is nothing to gain over.
    if report.members.len() > 1 {
        let (best, uniform) = (&report.gain_over_best, &report.gain_over_uniform);
        writeln!(out, "gain           {} over '{}'", difference(best), report.best)?;
        // An average is equal weights itself.
        if uniform.mean != 0.0 || uniform.se.is_some_and(|se| se != 0.0) {
            writeln!(out, "               {} over equal weights", difference(uniform))?;
        }
    }
    Ok(())
}
