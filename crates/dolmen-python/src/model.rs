//! Fitted models in Python, and the calls that make and judge them.

use std::path::PathBuf;
use std::sync::Arc;

use dolmen::catalogue::Catalogue;
use dolmen::ensemble::Ensemble;
use dolmen::learner::{Diagnostics, Fitted, predict};
use dolmen::recipe::{self, AnyModel, CompareRecipe, Fit, ModelFile, Predicted, Recipe, Versus};
use dolmen::run::Run;
use dolmen::table::{Column, Kind, Rows};
use dolmen::task::{Joint, Task};
use dolmen::{Error, Result};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::Serialize;

use crate::density::Density;
use crate::errors::raised;
use crate::inputs::{Frame, Given, Keys, Known, new_rows, read_value};
use crate::matrix::Matrix;
use crate::members::{self, objects};
use crate::pictures::{self, Look};
use crate::tasks::Callable;
use crate::work::{Manner, work, work_of_others};

/// A fitted model of any task.
#[pyclass(frozen)]
pub(crate) struct Model {
    pub(crate) model: Arc<recipe::Model>,
    /// What can read its members back.
    catalogue: Arc<Catalogue>,
}

/// Fits a model: gives it, and what each member said about rows it had not seen. `doer` does the members' fits, if it is given: it takes
/// tasks as bytes and gives what came of each.
#[pyfunction]
#[pyo3(signature = (recipe, rows, truth, keys, members, earlier, manner, doer=None))]
#[expect(clippy::too_many_arguments, reason = "as Python hands them over")]
pub(crate) fn fit(
    py: Python<'_>,
    recipe: &Bound<'_, PyAny>,
    rows: Frame<'_>,
    truth: Option<Known<'_>>,
    keys: Keys<'_>,
    members: Option<&Bound<'_, PyDict>>,
    earlier: Option<PyRef<'_, Matrix>>,
    manner: Manner,
    doer: Option<Py<PyAny>>,
) -> PyResult<(Model, Option<Matrix>)> {
    let recipe: Recipe = read_value("recipe", recipe)?;
    let given = Given::new(&rows, truth.as_ref(), &keys)?;
    let catalogue = members::catalogue(objects(members)?, true);
    let earlier = earlier.map(|matrix| recipe::Matrix::clone(&matrix.matrix));
    let used = Arc::clone(&catalogue);
    let Fit { model, matrix, .. } = match doer {
        Some(doer) => work_of_others(py, &manner, move |run| {
            let data = given.data(&recipe)?;
            recipe.fit_elsewhere(&used, &data, Arc::new(Callable(doer)), run)
        })?,
        None => work(py, &manner, move |run| {
            recipe.fit_with(&used, &given.data(&recipe)?, earlier, run)
        })?,
    };
    Ok((Model { model: model.into(), catalogue }, matrix.map(Matrix::from)))
}

/// Compares the stack of a recipe with its rivals by repeated splits.
#[pyfunction]
#[pyo3(signature = (recipe, versus, rows, truth, keys, manner, members=None))]
#[expect(clippy::too_many_arguments, reason = "as Python hands them over")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    recipe: &Bound<'py, PyAny>,
    versus: &Bound<'py, PyAny>,
    rows: Frame<'py>,
    truth: Option<Known<'py>>,
    keys: Keys<'py>,
    manner: Manner,
    members: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let recipe: Recipe = read_value("recipe", recipe)?;
    let versus: Versus = read_value("comparison", versus)?;
    let given = Given::new(&rows, truth.as_ref(), &keys)?;
    let catalogue = members::catalogue(objects(members)?, true);
    let comparison = CompareRecipe { recipe, versus };
    let compared = work(py, &manner, move |run| {
        comparison.compare_with(&catalogue, &given.data(&comparison.recipe)?, run)
    })?;
    python(py, &compared)
}

/// Says which ensemble suits the rows, and why.
#[pyfunction]
pub(crate) fn advise<'py>(
    py: Python<'py>,
    recipe: &Bound<'py, PyAny>,
    rows: Frame<'py>,
    truth: Option<Known<'py>>,
    keys: Keys<'py>,
    manner: Manner,
) -> PyResult<Bound<'py, PyAny>> {
    let recipe: Recipe = read_value("recipe", recipe)?;
    let given = Given::new(&rows, truth.as_ref(), &keys)?;
    let advice = work(py, &manner, move |run| recipe.advise(&given.data(&recipe)?, run))?;
    python(py, &advice)
}

/// Any value of the library as Python's dictionaries, lists and numbers; infinite numbers stay so.
pub(crate) fn python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    Ok(pythonize::pythonize(py, value)?)
}

/// A member as it tells of itself.
#[derive(Serialize)]
struct Described {
    name: String,
    weight: Option<f64>,
    #[serde(flatten)]
    diagnostics: Diagnostics,
}

/// Does the same with a model of whatever task.
macro_rules! with_ensemble {
    ($model:expr, $name:ident => $body:expr) => {
        match $model {
            AnyModel::Density($name) => $body,
            AnyModel::Classification($name) => $body,
            AnyModel::Joint($name) => $body,
            AnyModel::Regression($name) => $body,
        }
    };
}

fn describe<T: Task>(ensemble: &Ensemble<T>) -> Vec<Described> {
    let weights = ensemble.combination().weights();
    let member = |(m, (name, model)): (usize, (&str, &dyn Fitted<T>))| Described {
        name: name.into(),
        weight: weights.and_then(|weights| weights.get(m).copied()),
        diagnostics: model.diagnostics(),
    };
    ensemble.names().zip(ensemble.models()).enumerate().map(member).collect()
}

/// Numbers, row after row.
struct Predictions {
    values: Vec<f64>,
    width: usize,
}

impl Predictions {
    fn array(self, py: Python<'_>) -> PyResult<Bound<'_, PyArray2<f64>>> {
        let rows = self.values.len() / self.width.max(1);
        PyArray1::from_vec(py, self.values).reshape([rows, self.width])
    }
}

fn predictions<T: Task>(model: &dyn Fitted<T>, x: Rows<'_>, run: &Run) -> Result<Predictions> {
    Ok(Predictions { width: model.width(), values: predict(model, x, run)? })
}

/// ln p(x), p(class given x), or E(y given x): joint models give posteriors.
fn posteriors(predicted: Predictions) -> Predictions {
    let values = Joint::posteriors(&predicted.values, predicted.width);
    Predictions { values, ..predicted }
}

#[pymethods]
impl Model {
    /// The task's name.
    #[getter]
    fn task(&self) -> &'static str {
        self.model.task().name()
    }

    /// The target's name.
    #[getter]
    fn target(&self) -> Option<&str> {
        self.model.target()
    }

    /// The classes' spellings, in the order of the columns predicted.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.model.classes().to_vec()
    }

    /// The input columns: names, and levels of categories.
    #[getter]
    fn columns(&self) -> Vec<(String, Option<Vec<String>>)> {
        let levels = |kind: &Kind| match kind {
            Kind::Numeric => None,
            Kind::Categorical { levels } => Some(levels.to_vec()),
        };
        let fields = self.model.schema().fields().iter();
        fields.map(|field| (field.name.clone(), levels(&field.kind))).collect()
    }

    /// The column of the table that each input column comes from: of dates one for all their numbers.
    #[getter]
    fn origins(&self) -> Vec<String> {
        let dates = &self.model.conventions().dates;
        let origin = |name: &String| {
            let of = dates.iter().find(|dates| dates.names().any(|derived| derived == *name));
            of.map_or_else(|| name.clone(), |dates| dates.column.clone())
        };
        self.model.schema().fields().iter().map(|field| origin(&field.name)).collect()
    }

    /// The version that made it.
    #[getter]
    fn writer(&self) -> &str {
        self.model.writer()
    }

    /// What the fit said of itself.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, &self.model.report())
    }

    /// How predictions did row by row, summed up; `None` if nothing was kept of it.
    fn evidence<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, &self.model.evidence())
    }

    /// What decided the fit.
    fn recipe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, &self.model.recipe())
    }

    /// The same as a TOML file that the command line takes.
    fn recipe_toml(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let text = self.model.recipe().map(Recipe::to_toml).transpose();
        text.map_err(|error| raised(py, error))
    }

    /// What the model consists of.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, &self.model.parameters())
    }

    /// The members: weights, and how their fits went.
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, &with_ensemble!(self.model.any(), ensemble => describe(ensemble)))
    }

    /// The out-of-sample matrix, if it was kept.
    fn matrix(&self) -> Option<Matrix> {
        self.model.matrix().cloned().map(Matrix::from)
    }

    /// Predicts rows, and tells which categories were not known: (column, rows, levels).
    fn predict<'py>(
        &self,
        py: Python<'py>,
        rows: Frame<'py>,
        manner: Manner,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyAny>)> {
        let (model, rows) = (Arc::clone(&self.model), rows.held()?);
        let (predicted, unseen) = work(py, &manner, move |run| {
            let Predicted { features, unseen, .. } = new_rows(&model, rows, None)?;
            let x = features.rows();
            let predicted = match model.any() {
                AnyModel::Density(ensemble) => predictions(ensemble, x, run),
                AnyModel::Classification(ensemble) => predictions(ensemble, x, run),
                AnyModel::Joint(ensemble) => predictions(ensemble, x, run).map(posteriors),
                AnyModel::Regression(ensemble) => predictions(ensemble, x, run),
            };
            Ok((predicted?, unseen))
        })?;
        Ok((predicted.array(py)?, python(py, &unseen)?))
    }

    /// What each member that is stored says about rows.
    fn predict_members<'py>(
        &self,
        py: Python<'py>,
        rows: Frame<'py>,
        manner: Manner,
    ) -> PyResult<Vec<(String, Bound<'py, PyArray2<f64>>)>> {
        let (model, rows) = (Arc::clone(&self.model), rows.held()?);
        let all = work(py, &manner, move |run| {
            let Predicted { features, .. } = new_rows(&model, rows, None)?;
            let x = features.rows();
            match model.any() {
                AnyModel::Density(ensemble) => of_members(ensemble, x, run, |p| p),
                AnyModel::Classification(ensemble) => of_members(ensemble, x, run, |p| p),
                AnyModel::Joint(ensemble) => of_members(ensemble, x, run, posteriors),
                AnyModel::Regression(ensemble) => of_members(ensemble, x, run, |p| p),
            }
        })?;
        all.into_iter().map(|(name, predicted)| Ok((name, predicted.array(py)?))).collect()
    }

    /// Lower and upper ends of prediction intervals of this level.
    fn predict_interval<'py>(
        &self,
        py: Python<'py>,
        rows: Frame<'py>,
        level: f64,
        manner: Manner,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, rows) = (Arc::clone(&self.model), rows.held()?);
        let values = work(py, &manner, move |run| {
            let Predicted { features, .. } = new_rows(&model, rows, None)?;
            let options = recipe::PredictOptions { interval: Some(level), ..Default::default() };
            let columns = model.predict(&features, &options, run)?;
            let find = |wanted: &str| match columns.iter().find(|(name, _)| name == wanted) {
                Some((_, Column::Numeric(values))) => Ok(values),
                _ => Err(Error::param("interval", "of a model of numbers", level)),
            };
            let (lower, upper) = (find("lower")?, find("upper")?);
            Ok(lower.iter().zip(upper).flat_map(|(l, u)| [*l, *u]).collect())
        })?;
        Predictions { values, width: 2 }.array(py)
    }

    /// How good the model is on rows with known truth.
    fn score<'py>(
        &self,
        py: Python<'py>,
        rows: Frame<'py>,
        truth: Option<Known<'py>>,
        manner: Manner,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (rows, truth) = (rows.held()?, truth.as_ref().map(Known::column).transpose()?);
        let model = Arc::clone(&self.model);
        let report =
            work(py, &manner, move |run| model.score(new_rows(&model, rows, truth)?, run))?;
        python(py, &report)
    }

    /// The density that it is.
    fn density(&self, py: Python<'_>) -> PyResult<Density> {
        let density = match self.model.any() {
            AnyModel::Density(ensemble) => ensemble.density(),
            _ => None,
        };
        let density = density.ok_or_else(|| {
            Error::param("model", "a density that can be drawn from", "another kind of model")
        });
        density.map(Density::new).map_err(|error| raised(py, error))
    }

    /// The pictures that suit it: names, and what they show.
    fn kinds(&self) -> Vec<(&'static str, &'static str)> {
        pictures::kinds(&self.model)
    }

    /// A picture, as SVG.
    fn draw(&self, py: Python<'_>, look: Look) -> PyResult<String> {
        pictures::of_model(py, &self.model, look)
    }

    /// The report's page.
    fn page(&self, py: Python<'_>, title: Option<String>) -> PyResult<String> {
        pictures::page(py, &self.model, title)
    }

    /// A short summary for notebooks.
    fn summary_html(&self) -> String {
        pictures::summary(&self.model)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model.to_bytes_with(&self.catalogue);
        Ok(PyBytes::new(py, &bytes.map_err(|error| raised(py, error))?))
    }

    /// Writes the model file, whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.model.write_with(&path, &self.catalogue).map_err(|error| raised(py, error))
    }

    /// Reads the bytes of a model file; those with Python objects only if they are trusted.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8], trust: bool) -> PyResult<Self> {
        Self::of_file(py, ModelFile::decode(bytes), trust)
    }

    /// Reads a model file; one with Python objects only if it is trusted.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, trust: bool) -> PyResult<Self> {
        Self::of_file(py, ModelFile::read(&path), trust)
    }
}

impl Model {
    /// A model without Python members.
    pub(crate) fn new(model: Arc<recipe::Model>) -> Self {
        Self { model, catalogue: members::catalogue(Vec::new(), false) }
    }

    fn of_file(py: Python<'_>, file: Result<ModelFile>, trust: bool) -> PyResult<Self> {
        let catalogue = members::catalogue(Vec::new(), trust);
        let model = file.and_then(|file| recipe::Model::from_file(file, &catalogue));
        Ok(Self { model: model.map_err(|error| raised(py, error))?.into(), catalogue })
    }
}

fn of_members<T: Task>(
    ensemble: &Ensemble<T>,
    x: Rows<'_>,
    run: &Run,
    shown: fn(Predictions) -> Predictions,
) -> Result<Vec<(String, Predictions)>> {
    let one = |(name, model): (&str, &dyn Fitted<T>)| {
        Ok((name.to_string(), shown(predictions(model, x, run)?)))
    };
    ensemble.names().zip(ensemble.models()).map(one).collect()
}
