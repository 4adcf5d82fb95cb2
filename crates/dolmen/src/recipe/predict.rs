//! New rows as a model expects them, what it says about them, and rows drawn from it.

use std::path::Path;

use super::model::{AnyModel, Model};
use crate::ensemble::Ensemble;
use crate::error::{Error, Place, Result};
use crate::learner::{Fitted, predict};
use crate::math::first_largest;
use crate::memory;
use crate::run::Run;
use crate::table::{
    self, Categories, Column, ColumnKind, Features, Field, ReadOptions, Rows, Table, Unseen,
    check_finite, place_of,
};
use crate::target::Target;
use crate::task::{Joint, Regression, Task};

/// What is predicted beside the prediction itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PredictOptions {
    /// The level of prediction intervals, of numbers.
    pub interval: Option<f64>,
    /// Whether each member's prediction is wanted, too.
    pub members: bool,
}

/// New rows as a model sees them, and what it has not seen before.
#[derive(Debug)]
pub struct Predicted {
    /// The inputs.
    pub features: Features,
    /// All columns read.
    pub table: Table,
    /// Categories that the model has not seen.
    pub unseen: Vec<Unseen>,
}

impl Model {
    /// How the columns that the model needs are read from a file of new rows: as its own table was. With the truth, if it is
    /// wanted, and other columns to be carried along, as texts.
    pub fn read_options(&self, with_truth: bool, carried: &[String]) -> ReadOptions {
        let mut options = self.conventions().read_options(self.schema());
        options.dates.retain(|dates| !carried.contains(&dates.column));
        for name in carried {
            if !options.keep.contains(name) {
                options.keep.push(name.clone());
                options.schema.insert(name.clone(), ColumnKind::Categorical);
            }
        }
        if let Some(target) = self.target().filter(|_| with_truth) {
            let numbers = self.classes().is_empty();
            let kind = if numbers { ColumnKind::Numeric } else { ColumnKind::Categorical };
            options.keep.push(target.to_string());
            options.schema.insert(target.to_string(), kind);
        }
        options
    }

    /// Reads new rows from a file.
    pub fn read_rows(&self, path: &Path, options: &ReadOptions, run: &Run) -> Result<Predicted> {
        let table = table::read(path, options, run)?;
        self.rows_of(table).map_err(|error| error.in_file(path))
    }

    /// New rows from a table.
    pub fn rows_of(&self, table: Table) -> Result<Predicted> {
        let table = self.conventions().complete(table)?;
        let features = self.schema.encode(&table)?;
        check_finite(&features)?;
        let unseen = self.schema().unseen(&table);
        Ok(Predicted { features, table, unseen })
    }

    /// The truth of new rows, as the model's task sees it.
    pub(super) fn truth<T: Target>(&self, table: &mut Table) -> Result<T> {
        let name = self.target().unwrap_or_default();
        let column: Option<Column> = self.target().map(|name| table.take(name)).transpose()?;
        let missing = column.as_ref().and_then(Column::first_missing);
        let unknown = column.as_ref().and_then(|column| self.unknown_class(name, column));
        T::from_column(column, self.classes()).ok_or_else(|| {
            if let Some(i) = missing {
                return Error::data(Place::cell(i, name), "the target is missing");
            }
            if let Some(unknown) = unknown {
                return unknown;
            }
            let kind = if self.classes().is_empty() { "numbers" } else { "classes" };
            let problem = format!("the target must be {kind}, as those that the model has learned");
            Error::data(Place::column(name), problem)
        })
    }

    /// Refuses rows of a class that the model has not learned.
    pub(super) fn check_classes(&self, table: &Table) -> Result<()> {
        let column = self.target().and_then(|name| Some((name, table.column(name).ok()?)));
        let unknown = column.and_then(|(name, column)| self.unknown_class(name, column));
        unknown.map_or(Ok(()), Err)
    }

    /// The error of the first row of a class that the model has not learned.
    fn unknown_class(&self, name: &str, column: &Column) -> Option<Error> {
        let Column::Categorical(categories) = column else { return None };
        let is_unknown = |level: &String| {
            !self.classes().is_empty() && place_of(level, self.classes()).is_none()
        };
        let unknown: Vec<bool> = categories.levels.iter().map(is_unknown).collect();
        let mut codes = categories.codes.iter();
        let row = codes.position(|code| unknown.get(*code as usize) == Some(&true))?;
        let class = categories.level(row).unwrap_or_default();
        let problem = format!("'{class}' is no class of the model's");
        let hint = format!("its classes are: {}", self.classes().join(", "));
        Some(Error::data(Place::cell(row, name), problem).with_hint(hint))
    }

    /// What the model says about rows, as columns: `log_density`; or `class` and `p(class)`; or `mean`, and `lower` and
    /// `upper` if an interval is wanted. Members' columns are called by their names, `member:class` for classes.
    pub fn predict(
        &self,
        features: &Features,
        options: &PredictOptions,
        run: &Run,
    ) -> Result<Vec<(String, Column)>> {
        let x = features.rows();
        if let (Some(level), false) =
            (options.interval, matches!(self.any(), AnyModel::Regression(_)))
        {
            let expected = "left out: the model does not predict numbers";
            return Err(Error::param("interval", expected, level));
        }
        let classes = self.classes();
        let one = |name: &str, values| vec![number(name, values)];
        match self.any() {
            AnyModel::Density(model) => {
                let mut columns = one("log_density", predict(model, x, run)?);
                columns.extend(members(model, x, options, run, one)?);
                Ok(columns)
            }
            AnyModel::Regression(model) => {
                let mut columns = one("mean", predict(model, x, run)?);
                if let Some(level) = options.interval {
                    columns.extend(interval_columns(model, x, level, run)?);
                }
                columns.extend(members(model, x, options, run, one)?);
                Ok(columns)
            }
            AnyModel::Joint(model) => {
                let posteriors = |joints: &[f64]| Joint::posteriors(joints, classes.len());
                let mut columns = class_columns(classes, &posteriors(&predict(model, x, run)?));
                let each = |name: &str, joints: Vec<f64>| {
                    member_classes(name, classes, &posteriors(&joints))
                };
                columns.extend(members(model, x, options, run, each)?);
                Ok(columns)
            }
            AnyModel::Classification(model) => {
                let mut columns = class_columns(classes, &predict(model, x, run)?);
                let each = |name: &str, p: Vec<f64>| member_classes(name, classes, &p);
                columns.extend(members(model, x, options, run, each)?);
                Ok(columns)
            }
        }
    }

    /// Rows drawn from a density.
    pub fn sample(&self, rows: usize, run: &Run) -> Result<Table> {
        let AnyModel::Density(model) = self.any() else {
            let problem =
                format!("a model for {}: rows can be drawn from densities only", self.task());
            return Err(Error::data(Place::default(), problem));
        };
        let Some(density) = model.density() else {
            let problem = "a member of the stack, or its combination, cannot be drawn from";
            return Err(Error::data(Place::default(), problem));
        };
        let fields = self.schema().fields();
        let needed = memory::size(&[rows, fields.len(), size_of::<f64>()]);
        memory::claim(needed, &format!("{rows} rows"))?;
        let mut rng = run.rng();
        let mut columns: Vec<Vec<f64>> = fields.iter().map(|_| Vec::with_capacity(rows)).collect();
        let mut row = vec![0.0; fields.len()];
        for i in 0..rows {
            if i % CANCELLED_EVERY == 0 {
                run.check()?;
            }
            density.sample_into(&mut rng, &mut row);
            columns.iter_mut().zip(&row).for_each(|(column, value)| column.push(*value));
        }
        let column = |(field, values): (&Field, Vec<f64>)| {
            (field.name.clone(), self.conventions().column(&field.name, values))
        };
        Table::new(fields.iter().zip(columns).map(column).collect())
    }
}

/// Rows drawn before it is asked whether they are still wanted.
const CANCELLED_EVERY: usize = 1024;

/// Each member's predictions as columns, if they are wanted.
fn members<T: Task>(
    ensemble: &Ensemble<T>,
    x: Rows<'_>,
    options: &PredictOptions,
    run: &Run,
    columns: impl Fn(&str, Vec<f64>) -> Vec<(String, Column)>,
) -> Result<Vec<(String, Column)>> {
    let mut all = Vec::new();
    for (name, model) in ensemble.names().zip(ensemble.models()).filter(|_| options.members) {
        all.extend(columns(name, predict(model, x, run)?));
    }
    Ok(all)
}

fn interval_columns(
    model: &Ensemble<Regression>,
    x: Rows<'_>,
    level: f64,
    run: &Run,
) -> Result<[(String, Column); 2]> {
    let intervals = model.intervals(x, level, run)?.ok_or_else(|| {
        let expected = "left out: the model was fitted without rows held out (--alone, --check none or too few rows)";
        Error::param("interval", expected, level)
    })?;
    Ok(["lower", "upper"].map(|name| {
        let side = usize::from(name == "upper");
        number(name, intervals.iter().map(|bounds| bounds[side]).collect())
    }))
}

fn number(name: &str, values: Vec<f64>) -> (String, Column) {
    (name.to_string(), Column::Numeric(values))
}

/// The most probable class, and a column `p(class)` for each.
pub(super) fn class_columns(classes: &[String], probabilities: &[f64]) -> Vec<(String, Column)> {
    let width = classes.len();
    let codes = probabilities.chunks_exact(width).map(|row| first_largest(row) as u32).collect();
    let class = Column::Categorical(Categories { levels: classes.to_vec().into(), codes });
    let mut columns = vec![("class".to_string(), class)];
    for (c, name) in classes.iter().enumerate() {
        columns.push(number(&format!("p({name})"), every(probabilities, c, width)));
    }
    columns
}

/// A member's class probabilities, a column for each.
fn member_classes(
    member: &str,
    classes: &[String],
    probabilities: &[f64],
) -> Vec<(String, Column)> {
    let column = |(c, class): (usize, &String)| {
        number(&format!("{member}:{class}"), every(probabilities, c, classes.len()))
    };
    classes.iter().enumerate().map(column).collect()
}

fn every(values: &[f64], first: usize, step: usize) -> Vec<f64> {
    values.iter().skip(first).step_by(step).copied().collect()
}
