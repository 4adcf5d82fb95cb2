//! The out-of-sample matrix of any task.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ModelFile;
use crate::error::{Error, Place, Result};
use crate::oos::{Kept, OutOfSample};
use crate::run::Run;
use crate::store::floats;
use crate::table::{self, ReadOptions, Table};
use crate::target::{Labels, Target};
use crate::task::{Classification, Density, Joint, Regression, Task, TaskKind};

/// The out-of-sample matrix of any task.
#[derive(Debug, Clone)]
pub enum Matrix {
    /// Log densities.
    Density(OutOfSample<Density>),
    /// Class probabilities.
    Classification(OutOfSample<Classification>),
    /// Log joint probabilities.
    Joint(OutOfSample<Joint>),
    /// Predicted numbers.
    Regression(OutOfSample<Regression>),
}

/// Does the same with a matrix of whatever task.
macro_rules! with_matrix {
    ($matrix:expr, $name:ident => $body:expr) => {
        match $matrix {
            $crate::recipe::Matrix::Density($name) => $body,
            $crate::recipe::Matrix::Classification($name) => $body,
            $crate::recipe::Matrix::Joint($name) => $body,
            $crate::recipe::Matrix::Regression($name) => $body,
        }
    };
}
pub(super) use with_matrix;

impl Matrix {
    /// The task it was made for.
    pub fn task(&self) -> TaskKind {
        match self {
            Self::Density(_) => TaskKind::Density,
            Self::Classification(_) => TaskKind::Classification,
            Self::Joint(_) => TaskKind::Joint,
            Self::Regression(_) => TaskKind::Regression,
        }
    }

    /// The members' names.
    pub fn members(&self) -> &[String] {
        with_matrix!(self, matrix => matrix.members())
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        with_matrix!(self, matrix => matrix.rows())
    }

    /// The error of a matrix that a fit of another task cannot go on with.
    pub(super) fn refused_by(&self, task: TaskKind) -> Error {
        let problem = format!("it is of the task {}, not {task}", self.task());
        with_matrix!(self, matrix => matrix.refused(&problem, "fit without it, and write a new one"))
    }

    /// Writes the matrix as Parquet.
    pub fn write(&self, path: &Path) -> Result<()> {
        with_matrix!(self, matrix => matrix.write(path))
    }

    /// Reads a matrix kept as Parquet, or in a model file; `None` if the file is neither. A model without one is an error.
    pub fn read(path: &Path, run: &Run) -> Result<Option<Self>> {
        if ModelFile::is_at(path) {
            let stored = ModelFile::read(path)?.matrix.ok_or_else(|| {
                let place = Place { file: Some(path.into()), ..Place::default() };
                Error::data(place, "the model does not carry its out-of-sample matrix").with_hint(
                    "fit with --keep-matrix, or with --oos FILE.parquet, and weigh what is kept",
                )
            })?;
            return stored.restore().map(Some).map_err(|error| error.in_file(path));
        }
        match kept_at(path)? {
            None => Ok(None),
            Some(kept) => {
                let table = table::read(path, &ReadOptions::default(), run)?;
                let own = Self::of_kept(&kept, table).map_err(|error| error.in_file(path))?;
                with_matrix!(&own, matrix => matrix.shares()).map_err(|e| e.in_file(path))?;
                Ok(Some(own))
            }
        }
    }

    /// The matrix of these rows of a file that was kept.
    pub(super) fn of_kept(kept: &Kept, table: Table) -> Result<Self> {
        match kept.task() {
            Density::NAME => kept.matrix(table).map(Self::Density),
            Classification::NAME => kept.matrix(table).map(Self::Classification),
            Joint::NAME => kept.matrix(table).map(Self::Joint),
            Regression::NAME => kept.matrix(table).map(Self::Regression),
            other => {
                let problem = format!("a matrix of the unknown task {other}");
                Err(Error::data(Place::default(), problem))
            }
        }
    }
}

/// What a file says of the matrix that it holds; `None` if it holds none, or is no Parquet file.
pub(super) fn kept_at(path: &Path) -> Result<Option<Kept>> {
    let is_parquet = path.extension().is_some_and(|e| e == "parquet" || e == "pq");
    if is_parquet { Kept::at(path) } else { Ok(None) }
}

/// A matrix as it stands in a model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredMatrix {
    task: String,
    members: Vec<String>,
    columns: Vec<Numbers>,
    classes: Vec<String>,
    codes: Vec<u32>,
    numbers: Numbers,
    weights: Option<Numbers>,
    rows: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    times: Option<Numbers>,
}

/// Numbers stored as their bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Numbers(#[serde(with = "floats")] Vec<f64>);

impl StoredMatrix {
    pub(super) fn of(matrix: &Matrix) -> Self {
        with_matrix!(matrix, own => Self::of_task(own))
    }

    fn of_task<T: Task>(matrix: &OutOfSample<T>) -> Self {
        let target = matrix.target();
        let column = |m: usize| Numbers(matrix.column(m).to_vec());
        Self {
            task: T::NAME.into(),
            members: matrix.members().to_vec(),
            columns: (0..matrix.members().len()).map(column).collect(),
            classes: target.classes().to_vec(),
            codes: target.labels().map_or_else(Vec::new, |labels| labels.codes().to_vec()),
            numbers: Numbers(target.numbers().map_or_else(Vec::new, <[f64]>::to_vec)),
            weights: matrix.weights().map(|weights| Numbers(weights.to_vec())),
            rows: matrix.table_rows().to_vec(),
            groups: matrix.groups().map(<[u32]>::to_vec),
            times: matrix.times().map(|times| Numbers(times.to_vec())),
        }
    }

    pub(super) fn restore(&self) -> Result<Matrix> {
        let labels = || Labels::new(self.classes.clone(), self.codes.clone());
        match self.task.as_str() {
            Density::NAME => self.with_target(()).map(Matrix::Density),
            Classification::NAME => self.with_target(labels()?).map(Matrix::Classification),
            Joint::NAME => self.with_target(labels()?).map(Matrix::Joint),
            Regression::NAME => self.with_target(self.numbers.0.clone()).map(Matrix::Regression),
            other => Err(Error::param("stored matrix", "of a known task", other)),
        }
    }

    fn with_target<T: Task>(&self, target: T::Target) -> Result<OutOfSample<T>> {
        if self.members.len() != self.columns.len() {
            return Err(Error::shape("stored columns", self.members.len(), self.columns.len()));
        }
        let columns = self.columns.iter().map(|column| column.0.clone());
        let members = self.members.iter().cloned().zip(columns).collect();
        let weights = self.weights.as_ref().map(|weights| weights.0.clone());
        let mut matrix = OutOfSample::from_columns(members, target, weights)?
            .at_table_rows(self.rows.clone())?;
        if let Some(groups) = &self.groups {
            matrix = matrix.grouped(groups.clone())?;
        }
        if let Some(times) = &self.times {
            matrix = matrix.timed(times.0.clone())?;
        }
        Ok(matrix)
    }
}
