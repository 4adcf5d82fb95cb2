//! A fitted model of any task: it reads new rows as it expects them, predicts, draws, and stores itself with its evidence.

use std::path::Path;
use std::sync::Arc;

use super::file::ModelFile;
use super::matrix::{Matrix, StoredMatrix};
use super::{Data, Evidence, FitReport, Recipe};
use crate::catalogue::{Catalogue, Catalogued};
use crate::ensemble::Ensemble;
use crate::error::{Error, Place, Result};
use crate::learner::{Fitted, Parameters, predict};
use crate::math::first_largest;
use crate::memory;
use crate::oos::OutOfSample;
use crate::run::Run;
use crate::store::write_file;
use crate::table::{
    self, Categories, Column, ColumnKind, Conventions, Features, Field, ReadOptions, Rows, Schema,
    Table, Unseen, check_finite, place_of,
};
use crate::target::Target;
use crate::task::{Classification, Density, Joint, Regression, Task, TaskKind};

/// A fitted ensemble of any task.
#[derive(Debug)]
pub enum AnyModel {
    /// ln p(x).
    Density(Ensemble<Density>),
    /// p(class given x).
    Classification(Ensemble<Classification>),
    /// ln p(x, class).
    Joint(Ensemble<Joint>),
    /// E(y given x).
    Regression(Ensemble<Regression>),
}

/// Does the same with a model of whatever task.
macro_rules! with_model {
    ($model:expr, $name:ident => $body:expr) => {
        match $model {
            $crate::recipe::AnyModel::Density($name) => $body,
            $crate::recipe::AnyModel::Classification($name) => $body,
            $crate::recipe::AnyModel::Joint($name) => $body,
            $crate::recipe::AnyModel::Regression($name) => $body,
        }
    };
}

pub(super) use with_model;

/// A task that the any-task values have a place for.
pub(super) trait Anywhere: Catalogued {
    fn into_model(ensemble: Ensemble<Self>) -> AnyModel;
    fn into_matrix(matrix: OutOfSample<Self>) -> Matrix;
    fn from_matrix(matrix: Matrix) -> Result<OutOfSample<Self>>;
}

macro_rules! anywhere {
    ($($task:ident),*) => {$(
        impl Anywhere for $task {
            fn into_model(ensemble: Ensemble<Self>) -> AnyModel {
                AnyModel::$task(ensemble)
            }

            fn into_matrix(matrix: OutOfSample<Self>) -> Matrix {
                Matrix::$task(matrix)
            }

            fn from_matrix(matrix: Matrix) -> Result<OutOfSample<Self>> {
                match matrix {
                    Matrix::$task(matrix) => Ok(matrix),
                    other => Err(other.refused_by(Self::KIND)),
                }
            }
        }
    )*};
}
anywhere!(Density, Classification, Joint, Regression);

/// A fitted model with all it takes to use it on new rows, and with its evidence.
#[derive(Debug)]
pub struct Model {
    any: AnyModel,
    schema: Arc<Schema>,
    target: Option<String>,
    classes: Vec<String>,
    conventions: Conventions,
    recipe: Option<Recipe>,
    report: Option<FitReport>,
    evidence: Option<Evidence>,
    matrix: Option<Matrix>,
    writer: String,
}

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
    pub(super) fn new(
        recipe: &Recipe,
        data: &Data,
        classes: Vec<String>,
        model: AnyModel,
        (report, evidence): (FitReport, Option<Evidence>),
        matrix: Option<Matrix>,
    ) -> Self {
        Self {
            any: model,
            schema: Arc::clone(data.schema()),
            target: recipe.target.clone(),
            classes,
            conventions: data.conventions.clone(),
            recipe: Some(recipe.clone()),
            report: Some(report),
            evidence,
            matrix,
            writer: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// Reads a model file written by this or an earlier version.
    pub fn read(path: &Path) -> Result<Self> {
        Self::from_file(ModelFile::read(path)?, Catalogue::standard())
            .map_err(|error| error.in_file(path))
    }

    /// Reads the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_file(ModelFile::decode(bytes)?, Catalogue::standard())
    }

    /// The model of a file, by the kinds that a catalogue knows.
    pub fn from_file(file: ModelFile, catalogue: &Catalogue) -> Result<Self> {
        let registry = catalogue.registry();
        let model = if file.is::<Density>() {
            AnyModel::Density(file.restore(registry)?)
        } else if file.is::<Classification>() {
            AnyModel::Classification(file.restore(registry)?)
        } else if file.is::<Joint>() {
            AnyModel::Joint(file.restore(registry)?)
        } else if file.is::<Regression>() {
            AnyModel::Regression(file.restore(registry)?)
        } else {
            return Err(Error::param("model file", "of a known task", file.task));
        };
        let matrix = file.matrix.as_ref().map(StoredMatrix::restore).transpose()?;
        Ok(Self {
            any: model,
            schema: Arc::new(file.schema),
            target: file.target,
            classes: file.classes,
            conventions: file.conventions,
            recipe: file.recipe,
            report: file.report,
            evidence: file.evidence,
            matrix,
            writer: file.writer,
        })
    }

    /// The file's contents.
    fn file(&self) -> Result<ModelFile> {
        Ok(ModelFile {
            writer: self.writer.clone(),
            task: self.task().name().into(),
            schema: Schema::clone(&self.schema),
            target: self.target.clone(),
            classes: self.classes.clone(),
            conventions: self.conventions.clone(),
            recipe: self.recipe.clone(),
            report: self.report.clone(),
            evidence: self.evidence.clone(),
            matrix: self.matrix.as_ref().map(StoredMatrix::of),
            model: with_model!(&self.any, model => model.record())?,
        })
    }

    /// The bytes of the model file, read back and compared with what they came from.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_bytes_with(Catalogue::standard())
    }

    /// The same for models with members that are a program's own, which its catalogue can read.
    pub fn to_bytes_with(&self, catalogue: &Catalogue) -> Result<Vec<u8>> {
        let (file, registry) = (self.file()?, catalogue.registry());
        match &self.any {
            AnyModel::Density(_) => file.to_bytes::<Density>(registry),
            AnyModel::Classification(_) => file.to_bytes::<Classification>(registry),
            AnyModel::Joint(_) => file.to_bytes::<Joint>(registry),
            AnyModel::Regression(_) => file.to_bytes::<Regression>(registry),
        }
    }

    /// Writes the model file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        self.write_with(path, Catalogue::standard())
    }

    /// The same for models with members that are a program's own, which its catalogue can read.
    pub fn write_with(&self, path: &Path, catalogue: &Catalogue) -> Result<()> {
        let bytes = self.to_bytes_with(catalogue).map_err(|error| error.in_file(path))?;
        write_file(path, |out| out.write_all(&bytes))
    }

    /// The task it was fitted for.
    pub fn task(&self) -> TaskKind {
        match self.any {
            AnyModel::Density(_) => TaskKind::Density,
            AnyModel::Classification(_) => TaskKind::Classification,
            AnyModel::Joint(_) => TaskKind::Joint,
            AnyModel::Regression(_) => TaskKind::Regression,
        }
    }

    /// The ensemble.
    pub fn any(&self) -> &AnyModel {
        &self.any
    }

    /// What the ensemble consists of, as data.
    pub fn parameters(&self) -> Parameters {
        with_model!(&self.any, model => model.parameters())
    }

    /// The input columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The target column's name; `None` for densities.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// The classes' names; empty unless the task has classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// What decided the fit; `None` in files of format 1.
    pub fn recipe(&self) -> Option<&Recipe> {
        self.recipe.as_ref()
    }

    /// What the fit said of itself; `None` in files of format 1.
    pub fn report(&self) -> Option<&FitReport> {
        self.report.as_ref()
    }

    /// How its predictions of rows held out did, summed up; `None` in files of earlier versions and of members alone.
    pub fn evidence(&self) -> Option<&Evidence> {
        self.evidence.as_ref()
    }

    /// How its table was read.
    pub fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    /// The out-of-sample matrix, if it was kept.
    pub fn matrix(&self) -> Option<&Matrix> {
        self.matrix.as_ref()
    }

    /// The version of Dolmen that made the model; empty in files of format 1.
    pub fn writer(&self) -> &str {
        &self.writer
    }

    /// How the columns that the model needs are read from a file of new rows: as its own table was. With the truth, if it is
    /// wanted, and other columns to be carried along, as texts.
    pub fn read_options(&self, with_truth: bool, carried: &[String]) -> ReadOptions {
        let mut options = self.conventions.read_options(&self.schema);
        for name in carried {
            if !options.keep.contains(name) {
                options.keep.push(name.clone());
                options.schema.insert(name.clone(), ColumnKind::Categorical);
            }
        }
        if let Some(target) = self.target.as_ref().filter(|_| with_truth) {
            let numbers = self.classes.is_empty();
            let kind = if numbers { ColumnKind::Numeric } else { ColumnKind::Categorical };
            options.keep.push(target.clone());
            options.schema.insert(target.clone(), kind);
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
        let table = self.conventions.complete(table)?;
        let features = self.schema.encode(&table)?;
        check_finite(&features)?;
        let unseen = self.schema.unseen(&table);
        Ok(Predicted { features, table, unseen })
    }

    /// The truth of new rows, as the model's task sees it.
    pub(super) fn truth<T: Target>(&self, table: &mut Table) -> Result<T> {
        let name = self.target.clone().unwrap_or_default();
        let column: Option<Column> =
            self.target.as_ref().map(|name| table.take(name)).transpose()?;
        let missing = column.as_ref().and_then(Column::first_missing);
        let unknown = column.as_ref().and_then(|column| self.unknown_class(&name, column));
        T::from_column(column, &self.classes).ok_or_else(|| {
            if let Some(i) = missing {
                return Error::data(Place::cell(i, &name), "the target is missing");
            }
            if let Some(unknown) = unknown {
                return unknown;
            }
            let kind = if self.classes.is_empty() { "numbers" } else { "classes" };
            let problem = format!("the target must be {kind}, as those that the model has learned");
            Error::data(Place::column(&name), problem)
        })
    }

    /// Refuses rows of a class that the model has not learned.
    pub(super) fn check_classes(&self, table: &Table) -> Result<()> {
        let column = self.target.as_ref().and_then(|name| Some((name, table.column(name).ok()?)));
        let unknown = column.and_then(|(name, column)| self.unknown_class(name, column));
        unknown.map_or(Ok(()), Err)
    }

    /// The error of the first row of a class that the model has not learned.
    fn unknown_class(&self, name: &str, column: &Column) -> Option<Error> {
        let Column::Categorical(categories) = column else { return None };
        let is_unknown =
            |level: &String| !self.classes.is_empty() && place_of(level, &self.classes).is_none();
        let unknown: Vec<bool> = categories.levels.iter().map(is_unknown).collect();
        let mut codes = categories.codes.iter();
        let row = codes.position(|code| unknown.get(*code as usize) == Some(&true))?;
        let class = categories.level(row).unwrap_or_default();
        let problem = format!("'{class}' is no class of the model's");
        let hint = format!("its classes are: {}", self.classes.join(", "));
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
            (options.interval, matches!(self.any, AnyModel::Regression(_)))
        {
            let expected = "left out: the model does not predict numbers";
            return Err(Error::param("interval", expected, level));
        }
        let classes = &self.classes;
        let one = |name: &str, values| vec![number(name, values)];
        match &self.any {
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
        let AnyModel::Density(model) = &self.any else {
            let problem =
                format!("a model for {}: rows can be drawn from densities only", self.task());
            return Err(Error::data(Place::default(), problem));
        };
        let Some(density) = model.density() else {
            let problem = "a member of the stack, or its combination, cannot be drawn from";
            return Err(Error::data(Place::default(), problem));
        };
        let fields = self.schema.fields();
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
            (field.name.clone(), self.conventions.column(&field.name, values))
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
