//! A data file as the verbs that learn from it see it: inputs, truth, weights, groups.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use dolmen::error::{Error, Place, Result};
use dolmen::learner::{Sample, Weights};
use dolmen::run::Run;
use dolmen::table::{
    Assigned, Column, Conventions, Features, Roles, Schema, Table, possible_classes,
};
use dolmen::target::Labels;
use dolmen::task::Task;

use crate::args::Reading;

/// Which columns play which part.
#[derive(Debug, Args)]
pub(crate) struct DataOptions {
    /// The column to predict; without it the density of the rows is modelled.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) target: Option<String>,
    /// The task, where the target's type does not say it.
    #[arg(long, value_enum, requires = "target")]
    pub(crate) task: Option<TargetTask>,
    /// The column with row weights; only their ratios matter.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) weights: Option<String>,
    /// The column with groups of rows that must not be torn apart by the folds.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) groups: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TargetTask {
    /// Predict classes.
    Classify,
    /// Predict numbers.
    Regress,
    /// Model inputs and class together, and predict classes: a mixture of joint probabilities.
    Joint,
}

impl TargetTask {
    /// Whether the target holds classes.
    fn has_classes(self) -> bool {
        matches!(self, Self::Classify | Self::Joint)
    }
}

/// What is to be predicted.
pub(crate) enum Truth {
    None,
    Classes(Labels),
    Numbers(Vec<f64>),
}

/// A table taken apart.
pub(crate) struct Data {
    pub(crate) features: Features,
    pub(crate) schema: Arc<Schema>,
    pub(crate) truth: Truth,
    pub(crate) weights: Option<Weights>,
    pub(crate) groups: Option<Vec<u32>>,
    /// How the table was read, for new rows.
    pub(crate) conventions: Conventions,
    /// What the user should know about how the columns were used.
    pub(crate) notes: Vec<String>,
}

impl Data {
    pub(crate) fn read(
        path: &Path,
        options: &DataOptions,
        reading: &Reading,
        run: &Run,
    ) -> Result<Self> {
        let always: Vec<&str> = [&options.target, &options.weights, &options.groups]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let has_classes = options.task.is_some_and(TargetTask::has_classes);
        let classes = options.target.as_deref().filter(|_| has_classes);
        let table = reading.read(path, &always, classes, run)?;
        Self::from_table(table, options, reading).map_err(|error| error.in_file(path))
    }

    fn from_table(table: Table, options: &DataOptions, reading: &Reading) -> Result<Self> {
        let roles = Roles {
            target: options.target.clone(),
            weights: options.weights.clone(),
            groups: options.groups.clone(),
            classes: options.task.is_some_and(TargetTask::has_classes),
            ..reading.roles()?
        };
        let Assigned { features, target, weights, groups, dates, numbers, mut notes } =
            roles.assign(table)?;
        let truth = match (&options.target, target) {
            (Some(name), Some(column)) => {
                if options.task.is_none() && !roles.declared.contains(name) {
                    notes.extend(classes_note(name, &column));
                }
                truth(name, column, options.task)?
            }
            _ => Truth::None,
        };
        let weights = weights.map(Weights::new).transpose()?;
        let conventions = Conventions { dates, numbers, ..reading.conventions()? };
        let schema = Arc::clone(features.rows().schema());
        Ok(Self { features, schema, truth, weights, groups, conventions, notes })
    }

    /// The rows to learn from.
    pub(crate) fn sample<'a, T: Task>(&'a self, target: &'a T::Target) -> Result<Sample<'a, T>> {
        let sample = Sample::new(self.features.rows(), target)?;
        match &self.weights {
            Some(weights) => sample.weighted(weights),
            None => Ok(sample),
        }
    }
}

/// What to say about a target of numbers that may well be classes.
fn classes_note(name: &str, column: &Column) -> Option<String> {
    let count = possible_classes(column)?;
    Some(format!(
        "the target '{name}' has only {count} different values, all whole, and is predicted as a number; \
         if they are classes, add --task classify"
    ))
}

fn truth(name: &str, column: Column, task: Option<TargetTask>) -> Result<Truth> {
    match (task, column) {
        (Some(TargetTask::Regress), column) => column.into_numbers(name).map(Truth::Numbers),
        (None, Column::Numeric(values)) => Ok(Truth::Numbers(values)),
        (Some(TargetTask::Classify | TargetTask::Joint), Column::Numeric(_)) => Err(Error::data(
            Place::column(name),
            "the target is declared numeric, but the task is to classify",
        )),
        (_, Column::Categorical(c)) => Labels::new(c.levels.to_vec(), c.codes).map(Truth::Classes),
    }
    .and_then(|truth| match &truth {
        Truth::Classes(labels) if labels.codes().iter().all(|&c| c == labels.codes()[0]) => {
            Err(Error::data(Place::column(name), "the target has only one class"))
        }
        Truth::Numbers(values) if values.iter().any(|v| v.is_infinite()) => {
            let i = values.iter().position(|v| v.is_infinite()).unwrap_or_default();
            Err(Error::data(Place::cell(i, name), "the target is infinite"))
        }
        _ => Ok(truth),
    })
}
