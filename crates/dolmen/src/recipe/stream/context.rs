//! What the columns of a table are for, and blocks as a task sees them: inputs, target, weights, and the fold of each row.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::look::Look;
use super::sampled::{Sampled, class_of};
use crate::error::{Error, Place, Result};
use crate::learner::{Sample, SelectedSample};
use crate::plan::Lot;
use crate::recipe::Recipe;
use crate::recipe::data::lot_number;
use crate::run::mix;
use crate::table::{Categories, Column, Conventions, Features, Schema, Table, check_finite};
use crate::target::Target;
use crate::task::Task;

/// Everything that turns a block of a table into rows to learn from.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Context {
    target: Option<String>,
    weights: Option<String>,
    groups: Option<String>,
    /// Whether the levels of the groups are those of their block.
    groups_differ: bool,
    schema: Arc<Schema>,
    conventions: Conventions,
    classes: Vec<String>,
    weight_scale: f64,
    lot: Lot,
    /// Which rows are in the sample.
    sampled: Sampled,
}

/// One block.
pub(super) struct Rows<T: Task> {
    /// The number of its first row in the table.
    pub(super) first: u64,
    pub(super) features: Features,
    pub(super) target: T::Target,
    weights: Option<Vec<f64>>,
    /// The rows that have a target, and those of them that are in the sample.
    pub(super) present: Vec<usize>,
    pub(super) sampled: Vec<usize>,
    /// The fold in which each row is held out.
    folds: Vec<usize>,
    /// A number for each row's group, if rows have groups, and what a fold of the group is drawn by.
    groups: Option<(Vec<u32>, Vec<u64>)>,
}

impl Context {
    pub(super) fn new(recipe: &Recipe, look: &Look, classes: Vec<String>, lot: Lot) -> Self {
        Self {
            target: recipe.target.clone(),
            weights: recipe.weights.clone(),
            groups: recipe.groups.clone(),
            groups_differ: look.groups_differ,
            schema: Arc::clone(look.data.schema()),
            conventions: look.data.conventions.clone(),
            classes,
            weight_scale: look.weight_scale,
            lot,
            sampled: look.sampled.clone(),
        }
    }

    /// Whether rows have weights of their own.
    pub(super) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// The rows of a block.
    pub(super) fn rows<T: Task>(&self, first: usize, mut table: Table) -> Result<Rows<T>> {
        let count = table.rows();
        let weights = match &self.weights {
            None => None,
            Some(name) => {
                let mut weights = table.take(name)?.into_numbers(name)?;
                weights.iter_mut().for_each(|weight| *weight *= self.weight_scale);
                Some(weights)
            }
        };
        let groups = self.groups.as_ref().map(|name| table.take(name)).transpose()?;
        let lots: Vec<u64> = (0..count).map(|i| lot_number(groups.as_ref(), first, i)).collect();
        let folds = lots.iter().map(|lot| self.lot.fold(*lot)).collect();
        let groups = groups.map(|groups| {
            let number = |i: usize| match &groups {
                Column::Categorical(known) if !self.groups_differ => known.codes[i],
                // Two groups may share one by accident (one pair in 2^32): they then stay together, too.
                _ => (mix(lots[i]) >> 32) as u32,
            };
            ((0..count).map(number).collect(), lots)
        });
        let target = self.target.as_ref().map(|name| table.take(name)).transpose()?;
        let is_present = |i: &usize| target.as_ref().is_none_or(|column| !column.is_missing(*i));
        let present: Vec<usize> = (0..count).filter(is_present).collect();
        let is_sampled = |i: &usize| {
            let weight = weights.as_ref().map_or(1.0, |weights| weights[*i]);
            self.sampled.holds((first + i) as u64, class_of(target.as_ref(), *i), weight)
        };
        let sampled = present.iter().copied().filter(is_sampled).collect();
        let target =
            T::Target::from_column(target.map(filled), &self.classes).ok_or_else(|| {
                let name = self.target.as_deref().unwrap_or_default();
                let problem = "a block holds targets that those before it do not lead to expect";
                Error::data(Place::column(name), problem)
            })?;
        let features = self.schema.encode(&self.conventions.complete(table)?)?;
        check_finite(&features).map_err(|error| error.after_rows(first))?;
        let first = first as u64;
        Ok(Rows { first, features, target, weights, present, sampled, folds, groups })
    }
}

/// The column with something in the place of missing values, which nobody looks at.
fn filled(column: Column) -> Column {
    match column {
        Column::Numeric(mut values) => {
            values.iter_mut().filter(|value| value.is_nan()).for_each(|value| *value = 0.0);
            Column::Numeric(values)
        }
        Column::Categorical(mut categories) => {
            let codes = categories.codes.iter_mut();
            codes.filter(|code| **code == Categories::MISSING).for_each(|code| *code = 0);
            Column::Categorical(categories)
        }
    }
}

impl Context {
    /// The columns of a table that are needed for its rows.
    pub(super) fn columns(&self) -> Vec<String> {
        let keys = [&self.target, &self.weights, &self.groups].into_iter().flatten().cloned();
        let inputs = self.schema.fields().iter().map(|field| field.name.clone());
        let dates = self.conventions.dates.iter().map(|dates| dates.column.clone());
        keys.chain(inputs).chain(dates).collect()
    }
}

impl<T: Task> Rows<T> {
    /// Chosen rows to learn from.
    pub(super) fn select(&self, rows: Vec<usize>) -> Result<SelectedSample<'_, T>> {
        let mut sample = Sample::new(self.features.rows(), &self.target)?;
        if let Some((groups, lots)) = &self.groups {
            sample = sample.grouped(groups)?.drawn_by(lots)?;
        }
        match &self.weights {
            None => Ok(sample.select(rows)),
            // Rows that count for nothing are a part of a table like others, but no sample.
            Some(weights) if weights.iter().all(|weight| *weight == 0.0) => {
                Ok(sample.select(Vec::new()))
            }
            Some(weights) => Ok(sample.counted(weights)?.select(rows)),
        }
    }

    /// The rows held out in a fold.
    pub(super) fn of_fold(&self, fold: usize) -> Vec<usize> {
        self.present.iter().copied().filter(|&i| self.folds[i] == fold).collect()
    }

    /// All rows but those held out in a fold, if there is one.
    pub(super) fn without(&self, fold: Option<usize>) -> Vec<usize> {
        self.present.iter().copied().filter(|&i| Some(self.folds[i]) != fold).collect()
    }

    /// The memory that they take, the target aside.
    pub(super) fn bytes(&self) -> usize {
        let cells = self.features.rows().values().len();
        let groups = self.groups.as_ref().map_or(0, |(groups, _)| groups.len());
        let numbers = self.weights.as_ref().map_or(0, Vec::len);
        let places = self.present.len() + self.sampled.len() + self.folds.len();
        size_of::<f64>() * (cells + numbers + places)
            + (size_of::<u32>() + size_of::<u64>()) * groups
    }

    /// Rows of the block, those without a target among them.
    pub(super) fn count(&self) -> usize {
        self.folds.len()
    }

    /// The fold in which row `i` is held out.
    pub(super) fn fold(&self, i: usize) -> usize {
        self.folds[i]
    }

    /// The group of each row that has a target, if rows have groups.
    pub(super) fn groups(&self) -> Option<Vec<u32>> {
        let groups = self.groups.as_ref().map(|(groups, _)| groups);
        groups.map(|groups| self.present.iter().map(|&i| groups[i]).collect())
    }

    /// How many rows row `i` counts for.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }
}
