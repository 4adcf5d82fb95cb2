//! A data file as the verbs that learn from it see it: inputs, truth, weights, groups.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use dolmen::error::{Error, Place, Result};
use dolmen::learner::{Run, Sample};
use dolmen::table::{Column, Features, Kind, Schema, Table};
use dolmen::task::{Labels, Task};

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
    /// The column with row weights.
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
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) groups: Option<Vec<u32>>,
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
        Self::from_table(table, options).map_err(|error| error.in_file(path))
    }

    fn from_table(mut table: Table, options: &DataOptions) -> Result<Self> {
        let weights = options.weights.as_ref().map(|name| numbers(&mut table, name)).transpose()?;
        let groups = options.groups.as_ref().map(|name| table.take(name)).transpose()?;
        let groups = groups.as_ref().map(groups_of);
        let truth = match &options.target {
            None => Truth::None,
            Some(name) => truth(name, table.take(name)?, options.task)?,
        };
        let mut notes = Vec::new();
        let mut schema = Schema::of(&table);
        if matches!(truth, Truth::None) {
            let (numeric, other): (Vec<_>, Vec<_>) =
                schema.fields().iter().cloned().partition(|field| field.kind == Kind::Numeric);
            for field in &other {
                notes.push(format!(
                    "column '{}' holds categories and is left out of the density",
                    field.name
                ));
            }
            schema = Schema::new(numeric);
        }
        if schema.is_empty() {
            let problem = "there are no input columns to learn from";
            return Err(Error::data(Place::default(), problem));
        }
        let schema = Arc::new(schema);
        let features = schema.encode(&table)?;
        check_finite(&features)?;
        Ok(Self { features, schema, truth, weights, groups, notes })
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

/// Infinite inputs cannot be learned from.
pub(crate) fn check_finite(features: &Features) -> Result<()> {
    let rows = features.rows();
    match rows.values().iter().position(|v| v.is_infinite()) {
        None => Ok(()),
        Some(at) => {
            let field = &rows.schema().fields()[at % rows.width()];
            let place = Place::cell(at / rows.width(), &field.name);
            Err(Error::data(place, "the value is infinite")
                .with_hint("give a number, or leave the cell empty"))
        }
    }
}

fn numbers(table: &mut Table, name: &str) -> Result<Vec<f64>> {
    let values = table.take(name)?.into_numbers(name)?;
    match values.iter().position(|v| v.is_nan()) {
        None => Ok(values),
        Some(i) => Err(Error::data(Place::cell(i, name), "the value is missing")),
    }
}

/// Groups by number: equal cells, equal group. A missing one is a group of its own.
pub(crate) fn groups_of(column: &Column) -> Vec<u32> {
    match column {
        Column::Categorical(categories) => {
            let none = categories.levels.len() as u32;
            categories.codes.iter().map(|&code| code.min(none)).collect()
        }
        Column::Numeric(values) => {
            let mut distinct = values.clone();
            distinct.sort_by(f64::total_cmp);
            distinct.dedup_by(|a, b| a.total_cmp(b).is_eq());
            let code = |v: &f64| distinct.partition_point(|d| d.total_cmp(v).is_lt()) as u32;
            values.iter().map(code).collect()
        }
    }
}

fn truth(name: &str, column: Column, task: Option<TargetTask>) -> Result<Truth> {
    if let Some(i) = column.first_missing() {
        return Err(Error::data(Place::cell(i, name), "the target is missing")
            .with_hint("remove the rows without a target"));
    }
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
