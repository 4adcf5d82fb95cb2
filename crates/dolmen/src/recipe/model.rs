//! A fitted model of any task: what it consists of, and how it is stored with its evidence.

use std::path::Path;
use std::sync::Arc;

use super::file::ModelFile;
use super::matrix::{Matrix, StoredMatrix};
use super::{Data, Evidence, FitReport, Recipe};
use crate::catalogue::{Catalogue, Catalogued};
use crate::ensemble::Ensemble;
use crate::error::{Error, Result};
use crate::learner::{Fitted, Parameters};
use crate::oos::OutOfSample;
use crate::store::write_file;
use crate::table::{Conventions, Schema};
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
    pub(super) schema: Arc<Schema>,
    target: Option<String>,
    classes: Vec<String>,
    conventions: Conventions,
    recipe: Option<Recipe>,
    report: Option<FitReport>,
    evidence: Option<Evidence>,
    matrix: Option<Matrix>,
    writer: String,
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
}
