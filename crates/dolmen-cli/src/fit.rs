//! `dolmen fit`: the whole way from a table to a model file.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use dolmen::combine::weigh::{WeighOptions, Weighing, weigh};
use dolmen::combine::{Method, Weights};
use dolmen::ensemble::Stack;
use dolmen::error::{Error, Result};
use dolmen::learner::library::Library;
use dolmen::learner::{Fitted, Run};
use dolmen::oos::OnFailure;
use dolmen::plan::{PlanSpec, RowKeys};
use dolmen::store::ModelFile;
use dolmen::table::Schema;
use dolmen::task::{Classification, Density, Joint, Regression, Target, Task};
use serde::Serialize;

use crate::args::{Common, DataFile, Format, Reading};
use crate::data::{Data, DataOptions, TargetTask, Truth};
use crate::members::Members;
use crate::output::{self, Done, note};
use crate::weigh::show;

/// Fit a stack: members, what each says about rows it has not seen, the weights, one model.
///
/// Without --target the model is a density of the numeric columns; with it, a classifier or a regression.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  dolmen fit geyser.csv -o geyser.dolmen
  dolmen fit iris.csv --drop Species --model 'kernel(shape=triangular, bandwidth=[0.1,0.4,1.5])' --model 'mixture(components=[2,4,8])'
  dolmen fit iris.csv --target Species --model 'bayes(density=gaussian)' --model class-frequencies -o iris.dolmen
  dolmen fit geyser.csv --oos matrix.parquet && dolmen weigh matrix.parquet --method em")]
pub(crate) struct Fit {
    /// CSV or Parquet by extension; `-` reads CSV from standard input.
    data: DataFile,
    #[command(flatten)]
    columns: DataOptions,
    #[command(flatten)]
    members: Members,
    /// How the members are combined: simplex, em, uniform, best, greedy, pseudo-bma, pseudo-bma+, non-negative.
    #[arg(long, default_value = "simplex")]
    combiner: Method,
    /// Folds of the out-of-sample matrix.
    #[arg(long, default_value_t = 10)]
    folds: usize,
    /// Go on without members that cannot be fitted, instead of stopping.
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

/// What is printed: the weighing and where the model went.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(flatten)]
    weighing: Weighing,
    folds: usize,
    failures: Vec<String>,
    model: Option<PathBuf>,
}

pub(crate) fn run(fit: &Fit, common: &Common, out: &mut dyn Write) -> Done {
    let run = common.run()?;
    let data = Data::read(&fit.data, &fit.columns, &fit.reading, &run)?;
    data.notes.iter().for_each(|text| note(common, text));
    let report = match &data.truth {
        Truth::None => fit.fit::<Density>(&data, &(), &run),
        Truth::Classes(labels) if fit.columns.task == Some(TargetTask::Joint) => {
            fit.fit::<Joint>(&data, labels, &run)
        }
        Truth::Classes(labels) => fit.fit::<Classification>(&data, labels, &run),
        Truth::Numbers(values) => fit.fit::<Regression>(&data, values, &run),
    }
    .map_err(|error| error.in_file(&fit.data))?;
    drop(run);
    if common.format == Format::Json {
        return output::json(&report, out);
    }
    show(&report.weighing, out)?;
    for failure in &report.failures {
        writeln!(out, "failed         {failure}")?;
    }
    if let Some(model) = &report.model {
        writeln!(out, "model          {}", model.display())?;
    }
    Ok(())
}

impl Fit {
    fn fit<T: Library>(&self, data: &Data, target: &T::Target, run: &Run) -> Result<Report> {
        let sample = data.sample::<T>(target)?;
        let learners = self.members.learners::<T>(&sample)?;
        let weights = Weights::from(self.combiner);
        let on_failure = if self.drop_failed { OnFailure::Drop } else { OnFailure::Stop };
        let stack = Stack::new(weights.clone()).members(learners).on_failure(on_failure);
        let keys =
            RowKeys { classes: target.strata(), groups: data.groups.as_deref(), times: None };
        let plan =
            PlanSpec::suited(self.folds, &keys).build(sample.rows(), &keys, &run.child(0))?;
        let ensemble = stack.fit_on(&sample, &plan, &run.child(1))?;
        let matrix = ensemble.matrix().ok_or_else(|| Error::shape("out-of-sample matrix", 1, 0))?;
        let options = WeighOptions { weights, ..WeighOptions::default() };
        let weighing = weigh(matrix, &options, &run.child(2))?;
        if let Some(path) = &self.oos {
            matrix.write(path)?;
        }
        if let Some(path) = &self.output {
            self.store::<T>(data, target, &ensemble, path)?;
        }
        let failures = matrix.failures().iter().map(|(name, failure)| {
            format!("{name} in split {}: {}", failure.split + 1, failure.message)
        });
        Ok(Report {
            failures: failures.collect(),
            weighing,
            folds: self.folds,
            model: self.output.clone(),
        })
    }

    fn store<T: Task>(
        &self,
        data: &Data,
        target: &T::Target,
        model: &dyn Fitted<T>,
        path: &std::path::Path,
    ) -> Result<()> {
        ModelFile {
            task: T::NAME.into(),
            schema: Schema::clone(&data.schema),
            target: self.columns.target.clone(),
            classes: target.classes().to_vec(),
            model: model.record()?,
        }
        .write(path)
    }
}
