//! `dolmen fit`: the whole way from a table to a model file.

mod evidence;
mod show;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dolmen::catalogue::Catalogue;
use dolmen::ensemble::{Ending, IntervalKind};
use dolmen::error::{Error, Result};
use dolmen::recipe::stream::Opened;
use dolmen::recipe::{CheckPolicy, Effort, FitReport, Matrix, Recipe, TimeSpan};
use dolmen::run::Run;
use dolmen_report::Subject;
use serde::Serialize;

use crate::args::{Calibrate, Common, DataFile, Format, Reading};
use crate::output::{self, Done, Failure, note};
use crate::picture::Shows;
use crate::recipe::{Columns, Members, Stacking};
pub(crate) use evidence::show_coverage;
pub(crate) use show::{show_calibration, show_other};

/// Fit a stack: members, what each says about rows it has not seen, the weights, one model.
///
/// Without --target the model is a density of the numeric columns; with it, a classifier or a regression.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen fit geyser.csv -o geyser.dolmen
  dolmen fit iris.csv --drop Species --model 'mixture(components=[2,4,8])' \\
      --model 'kernel(shape=triangular, bandwidth=[0.1,0.4,1.5])'
  dolmen fit iris.csv --target Species -o iris.dolmen
  dolmen fit iris.csv --target Species --calibrate temperature \\
      --combiner simplex --combiner 'logistic(on=logits)'
  dolmen fit iris.csv --target Species --model aode --alone -o aode.dolmen
  dolmen fit iris.csv --target Species --model logistic --model tree \\
      --plot weights.svg --report iris.html
  dolmen fit sacramento.csv --target price --combiner ridge --final average \\
      -o sacramento.dolmen
  dolmen fit geyser.csv --oos matrix.parquet && \\
      dolmen weigh matrix.parquet --method em
  dolmen fit iris.csv --target Species --effort quick --max-members 2
  dolmen fit sacramento.csv --target price --budget 10s --predict-under 5ms
  dolmen fit visits.csv --target ill --groups patient --drop day
  dolmen fit visits.csv --target ill --time day --drop patient \\
      -o visits.dolmen")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Fit {
    /// CSV or Parquet by extension; `-` reads CSV from standard input; a folder of Parquet files, or a pattern such as
    /// 'data/*.parquet', is one table.
    data: DataFile,
    #[command(flatten)]
    columns: Columns,
    #[command(flatten)]
    members: Members,
    #[command(flatten)]
    stacking: Stacking,
    /// One model as it is, fitted on all rows: no folds, no combiner, no check.
    #[arg(
        long,
        requires = "Members",
        conflicts_with_all = ["combiners", "folds", "plan", "check", "ending", "calibrate", "intervals", "margin", "reach", "doubt", "keep_stack", "keep_all", "keep_matrix", "drop_failed", "oos", "effort", "budget", "max_members", "predict_under"]
    )]
    alone: bool,
    /// How much work the fit may take, where members, folds or check are not named. [default: usual]
    #[arg(long, value_enum)]
    effort: Option<EffortKind>,
    /// How long the fit may take, such as 90s or 10m: members are asked one after another, those of most use first, and those that
    /// would not be done in time are left out. Ctrl-C then ends with the members that are done.
    #[arg(long, value_name = "TIME")]
    budget: Option<TimeSpan>,
    /// Members at most that the stack gives weight to: the best set of so many.
    #[arg(long, value_name = "N", conflicts_with = "combiners")]
    max_members: Option<usize>,
    /// How long the members may take together to predict one row, such as 1ms, measured here: the best set within that.
    #[arg(long, value_name = "TIME", conflicts_with = "combiners")]
    predict_under: Option<TimeSpan>,
    /// How the stack is compared with its best member. [default: auto]
    #[arg(long, value_enum)]
    check: Option<CheckKind>,
    /// What predicts new rows: every member fitted again on all rows, or the average of its fits on the folds. [default:
    /// refit]
    #[arg(long = "final", value_enum)]
    ending: Option<Final>,
    /// Calibrate class probabilities on rows the stack has not seen.
    #[arg(long, value_enum)]
    calibrate: Option<Calibrate>,
    /// How wide prediction intervals of numbers are: everywhere the same, or in proportion to the error expected at the row.
    /// [default: constant]
    #[arg(long, value_enum)]
    intervals: Option<Intervals>,
    /// How far predictions of numbers may lie beyond the range of those learned from, in widths of that range. [default: 0.5 with
    /// the usual members, no bound with named ones]
    #[arg(long, value_name = "WIDTHS", allow_negative_numbers = true)]
    margin: Option<f64>,
    /// How far numeric inputs may lie beyond the range of those learned from, in widths of that range: members are asked about the
    /// nearest row within. [default: 0.5 with the usual members, no end with named ones]
    #[arg(long, value_name = "WIDTHS", allow_negative_numbers = true)]
    reach: Option<f64>,
    /// The share of the class frequencies that is mixed into predicted probabilities, so that no class is impossible. [default: n^-1.5
    /// for n rows with the usual members, 0 with named ones]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    doubt: Option<f64>,
    /// Exit with 0 even if the search for the combination missed its tolerance.
    #[arg(long)]
    allow_unconverged: bool,
    /// Keep the stack even if the check finds its best member, or equal weights, better.
    #[arg(long)]
    keep_stack: bool,
    /// Fit and store also members without weight.
    #[arg(long)]
    keep_all: bool,
    /// Go on without named members that cannot be fitted, instead of stopping; the usual ones always leave with a note.
    #[arg(long)]
    drop_failed: bool,
    /// Where the model is written.
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// Where the out-of-sample matrix is kept, as Parquet; `dolmen weigh` reads it. If the file is there, from the same data and
    /// plan, only members that are new to it are fitted on the folds.
    #[arg(long, value_name = "PARQUET")]
    oos: Option<PathBuf>,
    /// Keep the out-of-sample matrix in the model file.
    #[arg(long)]
    keep_matrix: bool,
    /// Measure how much each input matters to the stack, and how predictions move with the most important ones: kept members are
    /// fitted on the folds once more for it. --report does so, too.
    #[arg(long)]
    explain: bool,
    /// How much memory the fit may take, such as 2G or 800M; a table that needs more is read block by block. [default: half of
    /// what can be had]
    #[arg(long, value_name = "SIZE")]
    memory: Option<String>,
    #[command(flatten)]
    shows: Shows,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EffortKind {
    /// Some quick members, checked on the matrix: about a fifth of the usual work.
    Quick,
    /// The usual members and folds.
    Usual,
    /// More members, several of one kind among them, and more folds: up to ten times the usual work.
    Best,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckKind {
    /// Nested with a target and up to 5000 rows, else matrix.
    Auto,
    /// Rows held out from members and combiner alike: V(V-1)/2 more fits per member.
    Nested,
    /// Rows of the out-of-sample matrix held out from the combiner: no more fits, a little flattering.
    Matrix,
    /// No check, unless there is something to choose.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Final {
    /// Fit every member once more, on all rows.
    Refit,
    /// Average every member's fits on the folds; gives CV+ intervals for numbers.
    Average,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Intervals {
    /// The quantiles of all errors.
    Constant,
    /// The quantiles of errors divided by what a small forest expects them to be.
    Local,
}

/// The report, and where the model went.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    report: &'a FitReport,
    model: Option<&'a Path>,
}

pub(crate) fn run(fit: &Fit, common: &Common, out: &mut dyn Write) -> Done {
    fit.check_outputs()?;
    let recipe = fit.recipe(common)?;
    let run = if recipe.budget.is_some() { common.patient_run()? } else { common.run()? };
    if fit.shows.report.is_some() && !fit.explain && recipe.target.is_some() && !recipe.alone {
        let text = "for --report kept members are fitted on the folds once more, to measure how much each input matters";
        note(common, text);
    }
    let (mut kept, mut shown, mut is_kept) = (None, 0, false);
    let fitted = match recipe.open(&fit.data, &run)? {
        Opened::Whole(data) => {
            data.notes.iter().for_each(|text| note(common, text));
            shown = data.notes.len();
            let earlier = fit.earlier_matrix(&run)?;
            kept = earlier.as_ref().map(|matrix| matrix.members().len());
            recipe.fit_with(Catalogue::standard(), &data, earlier, &run)
        }
        Opened::Blocks(blocks) => {
            fit.check_new_matrix()?;
            is_kept = true;
            let (catalogue, oos) = (Catalogue::standard(), fit.oos.as_deref());
            recipe.fit_blocks_with(catalogue, blocks.as_ref(), oos, &run)
        }
    };
    let fitted = fitted.map_err(|error| error.in_file(&fit.data))?;
    drop(run);
    if let Some(kept) = kept {
        let kept = output::counted(kept, "member");
        note(
            common,
            &format!("the matrix had {kept} already: only others were fitted on the folds"),
        );
    }
    let report = &fitted.report;
    for text in &report.data_notes()[shown..] {
        note(common, text);
    }
    let mut written = Ok(());
    if let Some(path) = &fit.output {
        written = fitted.model.write(path);
    }
    let model = fit.output.as_deref().filter(|_| written.is_ok());
    if let (Some(path), Some(matrix), false) = (&fit.oos, &fitted.matrix, is_kept) {
        written = written.and(matrix.write(path));
    }
    written = written.and_then(|()| fit.shows.write(&Subject::of(&fitted.model), None, common));
    match common.format {
        Format::Json => output::json(&Shown { report, model }, out)?,
        Format::Text => output::report(out, |out| show::report(report, model, out))?,
    }
    if fit.output.is_none() {
        note(common, "the model is not kept: -o FILE.dolmen writes it");
    }
    written?;
    if report.converged() || fit.allow_unconverged { Ok(()) } else { Err(Failure::Negative) }
}

impl Fit {
    /// Everything that decides the fit.
    fn recipe(&self, common: &Common) -> Result<Recipe> {
        let mut recipe = self.members.recipe(&self.columns, &self.reading, common)?;
        self.stacking.add_to(&mut recipe)?;
        recipe.effort = self.effort.map_or(recipe.effort, Into::into);
        recipe.budget = self.budget.or(recipe.budget);
        recipe.max_members = self.max_members.or(recipe.max_members);
        recipe.predict_under = self.predict_under.or(recipe.predict_under);
        recipe.check = self.check.map_or(recipe.check, Into::into);
        recipe.ending = self.ending.map_or(recipe.ending, Into::into);
        recipe.margin = self.margin.or(recipe.margin);
        recipe.reach = self.reach.or(recipe.reach);
        recipe.doubt = self.doubt.or(recipe.doubt);
        recipe.intervals = self.intervals.map_or(recipe.intervals, Into::into);
        recipe.calibration = self.calibrate.map(Into::into).or(recipe.calibration);
        recipe.alone |= self.alone;
        recipe.keep_stack |= self.keep_stack;
        recipe.keep_all |= self.keep_all;
        recipe.drop_failed |= self.drop_failed;
        recipe.keep_matrix |= self.keep_matrix;
        recipe.explain |= self.explain || self.shows.report.is_some();
        recipe.memory = self.memory.clone().or(recipe.memory);
        Ok(recipe)
    }

    /// Of a table that is read block by block the matrix is written anew: a file that is there is not written over.
    fn check_new_matrix(&self) -> Result<()> {
        match self.oos.as_deref().filter(|path| path.is_file()) {
            None => Ok(()),
            Some(path) => {
                let problem = "the file is there, and a table that is read block by block cannot take up a matrix";
                Err(Error::file(path, problem).with_hint(format!(
                    "name another file for --oos, or remove this one; dolmen weigh {} combines anew what it holds",
                    path.display()
                )))
            }
        }
    }

    /// The matrix that an earlier fit has kept in the file that this one is to write. Another file is not written over.
    fn earlier_matrix(&self, run: &Run) -> Result<Option<Matrix>> {
        let Some(path) = self.oos.as_deref().filter(|path| path.is_file()) else { return Ok(None) };
        let foreign = || {
            let problem = "the file is there and is no out-of-sample matrix";
            Error::file(path, problem).with_hint("name another file for --oos, or remove this one")
        };
        Matrix::read(path, run)?.ok_or_else(foreign).map(Some)
    }

    /// Long work is not begun for a result that cannot be kept.
    fn check_outputs(&self) -> Result<()> {
        let (model, matrix) = (self.output.as_deref(), self.oos.as_deref());
        let (plot, report) = (self.shows.plot.as_deref(), self.shows.report.as_deref());
        let written =
            [("--output", model), ("--oos", matrix), ("--plot", plot), ("--report", report)];
        self.shows.check()?;
        for (option, path) in written {
            if path.is_some_and(output::is_standard) {
                let expected = "the name of a file: stdout is for the report";
                return Err(Error::param(option, expected, "-"));
            }
        }
        let read: Vec<&Path> = [Some(self.data.as_path()), self.members.file()]
            .into_iter()
            .chain([self.reading.schema.as_deref().map(Path::new)])
            .flatten()
            .collect();
        output::check_outputs(&read, &written)?;
        // Devices and pipes may be called as they like.
        let is_parquet =
            |path: &Path| path.extension().is_some_and(|e| e == "parquet" || e == "pq");
        let other = |path: &&Path| !is_parquet(path) && (path.is_file() || !path.exists());
        match matrix.filter(other) {
            None => Ok(()),
            Some(path) => {
                let expected = "a file that ends in .parquet: the matrix is written as such";
                Err(Error::param("--oos", expected, path.display()))
            }
        }
    }
}

impl From<EffortKind> for Effort {
    fn from(effort: EffortKind) -> Self {
        match effort {
            EffortKind::Quick => Self::Quick,
            EffortKind::Usual => Self::Usual,
            EffortKind::Best => Self::Best,
        }
    }
}

impl From<CheckKind> for CheckPolicy {
    fn from(check: CheckKind) -> Self {
        match check {
            CheckKind::Auto => Self::Auto,
            CheckKind::Nested => Self::Nested,
            CheckKind::Matrix => Self::Matrix,
            CheckKind::None => Self::None,
        }
    }
}

impl From<Final> for Ending {
    fn from(ending: Final) -> Self {
        match ending {
            Final::Refit => Self::Refit,
            Final::Average => Self::Average,
        }
    }
}

impl From<Intervals> for IntervalKind {
    fn from(intervals: Intervals) -> Self {
        match intervals {
            Intervals::Constant => Self::Constant,
            Intervals::Local => Self::Local,
        }
    }
}
