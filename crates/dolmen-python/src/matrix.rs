//! The out-of-sample matrix in Python, and the best combination of its members.

use std::path::PathBuf;
use std::sync::Arc;

use dolmen::oos::OutOfSample;
use dolmen::recipe::{self, Apply, WeighRecipe};
use dolmen::table::{Column, ReadOptions, Values};
use dolmen::target::{Labels, Target};
use dolmen::task::{Classification, Density, Joint, Regression, Task};
use dolmen::{Error, Result, Run};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::borrow;
use crate::errors::raised;
use crate::inputs::{Known, Table, read_value, with_truth};
use crate::model::python;
use crate::pictures::{self, Look};
use crate::work::{Manner, work};

/// What every member said about rows it had not seen.
#[pyclass(frozen)]
pub(crate) struct Matrix {
    pub(crate) matrix: Arc<recipe::Matrix>,
}

impl From<recipe::Matrix> for Matrix {
    fn from(matrix: recipe::Matrix) -> Self {
        Self { matrix: matrix.into() }
    }
}

/// The best combination of a matrix's members.
#[pyclass(frozen)]
pub(crate) struct Weighed {
    found: recipe::Weighed,
    /// What it was found from: pictures of single rows' predictions need them once more.
    matrix: Arc<recipe::Matrix>,
    recipe: WeighRecipe,
}

#[pymethods]
impl Weighed {
    /// Weights, gains, the certificate.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        python(py, &self.found.report)
    }

    /// The combined predictions, column by column; classes by their numbers.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, column) in self.found.predictions.iter().flat_map(dolmen::table::Table::columns)
        {
            match column {
                Column::Numeric(values) => {
                    columns.set_item(name, PyArray1::from_slice(py, values))?;
                }
                Column::Categorical(c) => {
                    columns.set_item(name, PyArray1::from_slice(py, &c.codes))?;
                }
            }
        }
        Ok(columns)
    }

    /// A picture, as SVG.
    fn draw(&self, py: Python<'_>, look: Look) -> PyResult<String> {
        let Self { found, matrix, recipe } = self;
        let drawn = py.detach(|| {
            let evidence = recipe.judge(matrix, None, found, &Run::new(recipe.seed))?;
            pictures::of_weighing(&found.report, &evidence, look)
        });
        drawn.map_err(|error| raised(py, error))
    }

    /// A short summary for notebooks.
    fn summary_html(&self) -> String {
        pictures::summary_of_weighing(&self.found.report)
    }
}

/// Does the same with a matrix of whatever task.
macro_rules! with_matrix {
    ($matrix:expr, $name:ident => $body:expr) => {
        match $matrix {
            recipe::Matrix::Density($name) => $body,
            recipe::Matrix::Classification($name) => $body,
            recipe::Matrix::Joint($name) => $body,
            recipe::Matrix::Regression($name) => $body,
        }
    };
}

#[pymethods]
impl Matrix {
    /// A matrix of arrays that are not copied: log densities, or with a truth numbers, class probabilities (rows x classes), or
    /// logarithms of joint probabilities.
    #[staticmethod]
    fn from_arrays(
        py: Python<'_>,
        members: Vec<(String, Bound<'_, PyArray2<f64>>)>,
        truth: Option<Known<'_>>,
        log: bool,
        weights: Option<Bound<'_, PyArray1<f64>>>,
        manner: Manner,
    ) -> PyResult<Self> {
        let weights = weights.as_ref().map(borrow::copied).transpose()?;
        let column = |(name, array): (String, Bound<'_, _>)| Ok((name, borrow::values(&array)?));
        let members: Vec<(String, Values)> =
            members.into_iter().map(column).collect::<PyResult<_>>()?;
        let truth = truth.as_ref().map(Truth::of).transpose()?;
        // Large matrices are looked at for a while.
        let matrix = work(py, &manner, move |_| match truth {
            None => OutOfSample::<Density>::from_columns(members, (), weights)
                .map(recipe::Matrix::Density),
            Some(Truth::Numbers(numbers)) => {
                OutOfSample::<Regression>::from_columns(members, numbers, weights)
                    .map(recipe::Matrix::Regression)
            }
            Some(Truth::Classes(levels, codes)) => {
                of_classes(members, Labels::new(levels, codes)?, weights, log)
            }
        })?;
        Ok(matrix.into())
    }

    /// A matrix of a table of predictions, as files of predictions are read.
    #[staticmethod]
    fn from_table(
        py: Python<'_>,
        recipe: &Bound<'_, PyAny>,
        table: PyRef<'_, Table>,
        truth: Option<Known<'_>>,
        weights: Option<Bound<'_, PyArray1<f64>>>,
        manner: Manner,
    ) -> PyResult<(Self, Vec<String>)> {
        let recipe: WeighRecipe = read_value("recipe", recipe)?;
        let truth = truth.as_ref().map(Known::column).transpose()?;
        let weights = weights.as_ref().map(borrow::copied).transpose()?.map(Column::Numeric);
        let table = Table::clone(&table);
        let (matrix, _, notes) = work(py, &manner, move |_| {
            let table = table.read(&ReadOptions::default())?;
            let table = with_truth(table, recipe.target.as_deref(), truth)?;
            let weights = recipe.weights.clone().zip(weights);
            recipe.matrix(table.with_columns(weights)?)
        })?;
        Ok((matrix.into(), notes))
    }

    /// Reads a matrix kept as Parquet.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, manner: Manner) -> PyResult<Self> {
        let matrix = work(py, &manner, move |run| {
            let matrix = recipe::Matrix::read(&path, run)?;
            matrix.ok_or_else(|| Error::file(&path, "not a matrix written by Dolmen"))
        })?;
        Ok(matrix.into())
    }

    /// Writes the matrix as Parquet.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let matrix = &self.matrix;
        py.detach(|| matrix.write(&path)).map_err(|error| raised(py, error))
    }

    /// The task's name.
    #[getter]
    fn task(&self) -> &'static str {
        self.matrix.task().name()
    }

    /// The members' names.
    #[getter]
    fn members(&self) -> Vec<String> {
        self.matrix.members().to_vec()
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.matrix.rows()
    }

    /// The classes' spellings.
    #[getter]
    fn classes(&self) -> Vec<String> {
        with_matrix!(&*self.matrix, matrix => matrix.target().classes().to_vec())
    }

    /// Each row's place in the table it came from.
    #[getter]
    fn table_rows(&self) -> Vec<usize> {
        with_matrix!(&*self.matrix, matrix => matrix.table_rows().to_vec())
    }

    /// What a member said: rows x width.
    fn column<'py>(&self, py: Python<'py>, member: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        fn of<T: Task>(matrix: &OutOfSample<T>, member: usize) -> Option<(&[f64], usize)> {
            (member < matrix.members().len()).then(|| (matrix.column(member), matrix.width()))
        }
        let found = with_matrix!(&*self.matrix, matrix => of(matrix, member));
        let (values, width) = found.ok_or_else(|| {
            raised(py, Error::shape("members of the matrix", self.matrix.members().len(), member))
        })?;
        PyArray1::from_slice(py, values).reshape([values.len() / width, width])
    }

    /// What the rows really were: codes of classes, numbers, or nothing.
    fn truth<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        with_matrix!(&*self.matrix, matrix => truth(py, matrix))
    }

    /// The best combination of the members.
    #[pyo3(signature = (recipe, further, manner))]
    fn weigh(
        &self,
        py: Python<'_>,
        recipe: &Bound<'_, PyAny>,
        further: Option<PyRef<'_, Table>>,
        manner: Manner,
    ) -> PyResult<Weighed> {
        let recipe: WeighRecipe = read_value("recipe", recipe)?;
        let (matrix, further) = (Arc::clone(&self.matrix), further.map(|table| table.clone()));
        work(py, &manner, move |run| {
            let apply = match further {
                Some(table) => Apply::Further(table.read(&ReadOptions::default())?),
                None => Apply::Same,
            };
            let found = recipe.weigh(&matrix, None, apply, run)?;
            Ok(Weighed { found, matrix, recipe })
        })
    }
}

/// What the rows really were, as the library takes it.
enum Truth {
    Numbers(Vec<f64>),
    Classes(Vec<String>, Vec<u32>),
}

impl Truth {
    fn of(known: &Known<'_>) -> PyResult<Self> {
        Ok(match known {
            Known::Numbers(numbers) => Self::Numbers(borrow::copied(numbers)?),
            Known::Classes(levels, codes) => Self::Classes(levels.clone(), borrow::copied(codes)?),
        })
    }
}

fn of_classes(
    members: Vec<(String, Values)>,
    labels: Labels,
    weights: Option<Vec<f64>>,
    log: bool,
) -> Result<recipe::Matrix> {
    if log {
        OutOfSample::<Joint>::from_columns(members, labels, weights).map(recipe::Matrix::Joint)
    } else {
        OutOfSample::<Classification>::from_columns(members, labels, weights)
            .map(recipe::Matrix::Classification)
    }
}

fn truth<'py, T: Task>(py: Python<'py>, matrix: &OutOfSample<T>) -> Option<Bound<'py, PyAny>> {
    let target = matrix.target();
    match (target.labels(), target.numbers()) {
        (Some(labels), _) => Some(PyArray1::from_slice(py, labels.codes()).into_any()),
        (None, Some(numbers)) => Some(PyArray1::from_slice(py, numbers).into_any()),
        (None, None) => None,
    }
}
