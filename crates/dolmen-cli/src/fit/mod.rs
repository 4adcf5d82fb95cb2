//! `dolmen fit`: the whole way from a table to a model file.

mod alone;
mod evidence;
mod report;

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use dolmen::catalogue::weights_of;
use dolmen::catalogue::{Catalogue, Catalogued};
use dolmen::combine::{Combiner, Method, Weights};
use dolmen::ensemble::{Check, Ending, Ensemble, IntervalKind, Stack};
use dolmen::error::{Error, Place, Result};
use dolmen::learner::{Fitted, Sample};
use dolmen::oos::OnFailure;
use dolmen::plan::{PlanSpec, RowKeys};
use dolmen::recipe::ModelFile;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::table::{Rows, Schema};
use dolmen::target::Target;
use dolmen::task::{Classification, Density, Joint, Regression};
use serde::Serialize;

use crate::args::{Calibrate, Common, DataFile, Format, Reading};
use crate::data::{Data, DataOptions, TargetTask, Truth};
use crate::members::Members;
use crate::output::{self, Done, Failure, note};
use alone::Alone;
pub(crate) use evidence::show_coverage;
use report::Report;

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
  dolmen fit ozone.csv --target ozone --combiner ridge --final average \\
      -o ozone.dolmen
  dolmen fit geyser.csv --oos matrix.parquet && \\
      dolmen weigh matrix.parquet --method em")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Fit {
    /// CSV or Parquet by extension; `-` reads CSV from standard input.
    data: DataFile,
    #[command(flatten)]
    columns: DataOptions,
    #[command(flatten)]
    members: Members,
    /// How the members are combined: `dolmen learners` lists the combiners. Of several, and of a ladder's rungs, the one
    /// that does best in the check is used. [default: simplex; for classes in 1000 rows or more also
    /// log-pool, and in more than 5000 logistic]
    #[arg(long = "combiner", value_name = "SPEC")]
    combiners: Vec<String>,
    /// One model as it is, fitted on all rows: no folds, no combiner, no check.
    #[arg(
        long,
        requires = "Members",
        conflicts_with_all = ["combiners", "folds", "check", "ending", "calibrate", "keep_stack", "drop_failed", "oos"]
    )]
    alone: bool,
    /// Folds of the out-of-sample matrix. [default: 5 with a target, 10 for densities; fewer where rows or groups are fewer]
    #[arg(long)]
    folds: Option<usize>,
    /// How the stack is compared with its best member.
    #[arg(long, value_enum, default_value_t = CheckKind::Auto)]
    check: CheckKind,
    /// What predicts new rows: every member fitted again on all rows, or the average of its fits on the folds.
    #[arg(long = "final", value_enum, default_value_t = Final::Refit)]
    ending: Final,
    /// Calibrate class probabilities on rows the stack has not seen.
    #[arg(long, value_enum)]
    calibrate: Option<Calibrate>,
    /// How wide prediction intervals of numbers are: everywhere the same, or in proportion to the error expected at the row.
    #[arg(long, value_enum, default_value_t = Intervals::Constant)]
    intervals: Intervals,
    /// Exit with 0 even if the search for the combination missed its tolerance.
    #[arg(long)]
    allow_unconverged: bool,
    /// Keep the stack even if the check finds its best member, or equal weights, better.
    #[arg(long)]
    keep_stack: bool,
    /// Go on without named members that cannot be fitted, instead of stopping; the usual ones always leave with a note.
    #[arg(long)]
    drop_failed: bool,
    /// Where the model is written.
    #[arg(short, long, value_name = "MODEL")]
    output: Option<PathBuf>,
    /// Where the out-of-sample matrix is kept, as Parquet; `dolmen weigh` reads it.
    #[arg(long, value_name = "PARQUET")]
    oos: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
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

/// Rows up to which `--check auto` is nested.
const NESTED_ROWS: usize = 5000;
/// Rows from which it is: two folds held out of fewer leave next to nothing to learn from.
const FEWEST_NESTED_ROWS: usize = 15;

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Fitting {
    /// A stack.
    Stack(Box<Report>),
    /// Members as they are.
    Alone(Alone),
}

pub(crate) fn run(fit: &Fit, common: &Common, out: &mut dyn Write) -> Done {
    fit.check_outputs()?;
    let run = common.run()?;
    let data = Data::read(&fit.data, &fit.columns, &fit.reading, &run)?;
    data.notes.iter().for_each(|text| note(common, text));
    let tell = |text: &str| note(common, text);
    let (report, written) = match &data.truth {
        Truth::None => fit.fit::<Density>(&data, &(), &tell, &run),
        Truth::Classes(labels) if fit.columns.task == Some(TargetTask::Joint) => {
            fit.fit::<Joint>(&data, labels, &tell, &run)
        }
        Truth::Classes(labels) => fit.fit::<Classification>(&data, labels, &tell, &run),
        Truth::Numbers(values) => fit.fit::<Regression>(&data, values, &tell, &run),
    }
    .map_err(|error| error.in_file(&fit.data))?;
    drop(run);
    match (common.format, &report) {
        (Format::Json, _) => output::json(&report, out)?,
        (Format::Text, Fitting::Stack(report)) => report.show(out)?,
        (Format::Text, Fitting::Alone(report)) => report.show(out)?,
    }
    if fit.output.is_none() {
        note(common, "the model is not kept: -o FILE.dolmen writes it");
    }
    written?;
    match &report {
        Fitting::Stack(report) if !(report.converged() || fit.allow_unconverged) => {
            Err(Failure::Negative)
        }
        _ => Ok(()),
    }
}

impl Fit {
    /// Long work is not begun for a result that cannot be kept.
    fn check_outputs(&self) -> Result<()> {
        let (model, matrix) = (self.output.as_deref(), self.oos.as_deref());
        let written = [("--output", model), ("--oos", matrix)];
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
        output::check_outputs(&read, &written)
    }

    /// The report, and whether all that was to be kept could be written: what could is there in either case.
    fn fit<T: Catalogued>(
        &self,
        data: &Data,
        target: &T::Target,
        tell: &dyn Fn(&str),
        run: &Run,
    ) -> Result<(Fitting, Result<()>)> {
        let sample = data.sample::<T>(target)?;
        let keys = RowKeys {
            classes: target.strata(),
            groups: data.groups.as_deref(),
            ..RowKeys::default()
        };
        let usual = if target.rows().is_some() { 5 } else { 10 };
        let possible = PlanSpec::possible_folds(usual, sample.rows(), &keys);
        let folds = self.folds.unwrap_or(possible);
        if self.alone || folds == 0 || self.folds.is_none() && folds < 2 {
            if !self.alone && sample.rows() < 2 {
                let problem = "there is only 1 row: nothing can be learned from it";
                return Err(Error::data(Place::default(), problem));
            }
            if !self.alone {
                tell(
                    "too few rows or groups for folds: the members weigh alike and are not checked",
                );
            }
            return self.fit_alone(data, target, &sample, run);
        }
        if folds < usual && self.folds.is_none() {
            tell(&format!("too few rows or groups for {usual} folds: there are {folds}"));
        }
        let plan = PlanSpec::suited(folds, &keys).build(sample.rows(), &keys, &run.child(0))?;
        let specs = self.combiners::<T>(sample.x())?;
        let stack = self.stack::<T>(&specs, target, sample.rows(), folds)?;
        let learners = self.members.learners::<T>(&sample)?;
        report::plan_report(sample.rows(), learners.iter().map(|l| l.members().len()).sum(), run);
        let stack = stack.members(learners);
        let ensemble = stack.fit_on(&sample, &plan, &run.child(1))?;
        let weights = chosen_weights::<T>(&specs, &ensemble)?;
        let named = specs[0].kind.clone();
        let mut report = Report::new(&ensemble, named, weights, folds, &run.child(2))?;
        let mut written = Ok(());
        if let Some(path) = &self.output {
            written = self.store::<T>(data, target, &ensemble, path);
            report.model = written.is_ok().then(|| path.clone());
        }
        if let (Some(path), Some(matrix)) = (&self.oos, ensemble.matrix()) {
            let matrix = matrix.write(path);
            written = written.and(matrix);
        }
        Ok((Fitting::Stack(Box::new(report)), written))
    }

    /// The members as they are: no folds, no combiner.
    fn fit_alone<T: Catalogued>(
        &self,
        data: &Data,
        target: &T::Target,
        sample: &Sample<'_, T>,
        run: &Run,
    ) -> Result<(Fitting, Result<()>)> {
        let learners = self.members.learners::<T>(sample)?;
        let count: usize = learners.iter().map(|learner| learner.members().len()).sum();
        if self.alone && count != 1 {
            return Err(Error::param(
                "alone",
                "given with exactly one member",
                format!("with {count}"),
            ));
        }
        // The combiner is not asked: equal weights need none.
        let stack = self.stack::<T>(&T::usual_combiners(sample.x()), target, sample.rows(), 0)?;
        let (ensemble, failures) =
            stack.members(learners).fit_without_folds(sample, &run.child(1))?;
        let mut report = Alone::new(&ensemble, sample.rows(), &failures);
        let mut written = Ok(());
        if let Some(path) = &self.output {
            written = self.store::<T>(data, target, &ensemble, path);
            report.model = written.is_ok().then(|| path.clone());
        }
        Ok((Fitting::Alone(report), written))
    }

    /// The combiners named, or the usual ones.
    fn combiners<T: Catalogued>(&self, x: Rows<'_>) -> Result<Vec<Spec>> {
        if self.combiners.is_empty() {
            return Ok(T::usual_combiners(x));
        }
        self.combiners.iter().map(|text| Spec::parse(text)).collect()
    }

    /// The stack that is asked for, without members.
    fn stack<T: Catalogued>(
        &self,
        specs: &[Spec],
        target: &T::Target,
        rows: usize,
        folds: usize,
    ) -> Result<Stack<T>> {
        let combiners: Vec<Box<dyn Combiner<T>>> =
            specs.iter().map(T::combiner).collect::<Result<_>>()?;
        let few = target.rows().is_some()
            && (FEWEST_NESTED_ROWS..=NESTED_ROWS).contains(&rows)
            && folds > 2;
        let check = match self.check {
            CheckKind::Auto if few => Check::Nested,
            CheckKind::Auto | CheckKind::Matrix => Check::Matrix,
            CheckKind::Nested => Check::Nested,
            CheckKind::None => Check::AsNeeded,
        };
        let ending = match self.ending {
            Final::Refit => Ending::Refit,
            Final::Average => Ending::Average,
        };
        let may_fail = self.drop_failed || !self.members.are_named();
        let on_failure = if may_fail { OnFailure::Drop } else { OnFailure::Stop };
        let stack = Stack::choosing(combiners)
            .on_failure(on_failure)
            .check(check)
            .ending(ending)
            .intervals(match self.intervals {
                Intervals::Constant => IntervalKind::Constant,
                Intervals::Local => IntervalKind::Local,
            })
            .replaced_if_not_better(!self.keep_stack && check != Check::AsNeeded);
        Ok(match self.calibrate {
            None => stack,
            Some(calibrate) => stack.calibrated(calibrate.into()),
        })
    }

    fn store<T: Catalogued>(
        &self,
        data: &Data,
        target: &T::Target,
        model: &dyn Fitted<T>,
        path: &Path,
    ) -> Result<()> {
        ModelFile {
            task: T::NAME.into(),
            schema: Schema::clone(&data.schema),
            target: self.columns.target.clone(),
            classes: target.classes().to_vec(),
            conventions: data.conventions.clone(),
            model: model.record()?,
        }
        .write::<T>(path, Catalogue::standard().registry())
    }
}

/// The options of the chosen combiner if it is one that gives each member a weight.
fn chosen_weights<T: Catalogued>(
    specs: &[Spec],
    ensemble: &Ensemble<T>,
) -> Result<Option<Weights>> {
    let mut chosen = &specs[0];
    if let Some(assessment) = ensemble.assessment() {
        if assessment.chosen == Method::Uniform.name() {
            return Ok(Some(Weights { method: Method::Uniform, ..Weights::default() }));
        }
        for spec in specs {
            if T::combiner(spec)?.rungs().contains(&assessment.chosen) {
                chosen = spec;
                break;
            }
        }
    }
    weights_of(chosen)
}
