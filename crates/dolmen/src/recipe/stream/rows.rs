//! Blocks as a task sees them: inputs, target, weights, and the fold in which each row is held out.

use std::sync::Arc;

use super::Source;
use super::look::{Look, lot_number};
use crate::error::{Error, Place, Result};
use crate::learner::{Sample, SelectedSample};
use crate::plan::Lot;
use crate::recipe::Recipe;
use crate::run::Run;
use crate::table::{Categories, Column, Conventions, Features, Schema, Table, check_finite};
use crate::target::Target;
use crate::task::Task;

/// A table read block by block, and what its columns are for.
pub(super) struct Stream<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) schema: Arc<Schema>,
    conventions: &'a Conventions,
    recipe: &'a Recipe,
    classes: Vec<String>,
    weight_scale: f64,
    lot: Lot,
}

/// One block.
pub(super) struct Rows<T: Task> {
    /// The number of its first row in the table.
    pub(super) first: u64,
    pub(super) features: Features,
    target: T::Target,
    weights: Option<Vec<f64>>,
    /// The rows that have a target.
    pub(super) present: Vec<usize>,
    /// The fold in which each row is held out.
    pub(super) folds: Vec<usize>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(
        recipe: &'a Recipe,
        source: &'a dyn Source,
        look: &'a Look,
        classes: Vec<String>,
        lot: Lot,
    ) -> Self {
        Self {
            source,
            schema: Arc::clone(look.data.schema()),
            conventions: &look.data.conventions,
            recipe,
            classes,
            weight_scale: look.weight_scale,
            lot,
        }
    }

    /// Shows block after block.
    pub(super) fn visit<T: Task>(
        &self,
        run: &Run,
        mut visit: impl FnMut(Rows<T>) -> Result<()>,
    ) -> Result<()> {
        self.source.visit(run, &mut |first, table| visit(self.rows(first, table)?))
    }

    fn rows<T: Task>(&self, first: usize, mut table: Table) -> Result<Rows<T>> {
        let count = table.rows();
        let recipe = self.recipe;
        let weights = match &recipe.weights {
            None => None,
            Some(name) => {
                let mut weights = table.take(name)?.into_numbers(name)?;
                weights.iter_mut().for_each(|weight| *weight *= self.weight_scale);
                Some(weights)
            }
        };
        let groups = recipe.groups.as_ref().map(|name| table.take(name)).transpose()?;
        let fold = |i: usize| self.lot.fold(lot_number(groups.as_ref(), first, i));
        let folds = (0..count).map(fold).collect();
        let target = recipe.target.as_ref().map(|name| table.take(name)).transpose()?;
        let is_present = |i: &usize| target.as_ref().is_none_or(|column| !column.is_missing(*i));
        let present: Vec<usize> = (0..count).filter(is_present).collect();
        let target =
            T::Target::from_column(target.map(filled), &self.classes).ok_or_else(|| {
                let name = recipe.target.as_deref().unwrap_or_default();
                Error::data(
                    Place::column(name),
                    "a later block holds a target that the first had not",
                )
            })?;
        let features = self.schema.encode(&self.conventions.complete(table)?)?;
        check_finite(&features)?;
        Ok(Rows { first: first as u64, features, target, weights, present, folds })
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

impl<T: Task> Rows<T> {
    /// Chosen rows to learn from, or to predict.
    pub(super) fn select(&self, rows: Vec<usize>) -> Result<SelectedSample<'_, T>> {
        let mut sample = Sample::new(self.features.rows(), &self.target)?;
        if let Some(weights) = &self.weights {
            sample = sample.counted(weights)?;
        }
        Ok(sample.select(rows))
    }

    /// The rows held out in a fold, or all others.
    pub(super) fn of_fold(&self, fold: usize, held_out: bool) -> Vec<usize> {
        let wanted = |i: &usize| (self.folds[*i] == fold) == held_out;
        self.present.iter().copied().filter(wanted).collect()
    }

    /// The target of the rows.
    pub(super) fn target(&self) -> &T::Target {
        &self.target
    }

    /// How many rows row `i` counts for.
    pub(super) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }
}
