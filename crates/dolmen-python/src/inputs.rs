//! Rows, truth and keys on their way from Python into the library.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use dolmen::learner::Weights;
use dolmen::recipe::{Data, Predicted, Recipe, Truth};
use dolmen::table::{
    self, Categories, Column, Conventions, Features, ReadOptions, Schema, check_finite,
};
use dolmen::target::Labels;
use dolmen::{Error, Result};
use numpy::{PyArray1, PyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;

use crate::borrow;
use crate::errors::{raised, wrong_type};

/// Rows as Python has them.
#[derive(FromPyObject)]
pub(crate) enum Frame<'py> {
    /// Numbers, row after row.
    Array(Bound<'py, PyArray2<f64>>),
    /// Columns by name.
    Columns(Bound<'py, Table>),
}

/// Columns by name that Python has: what they mean is decided when they are used.
#[pyclass(frozen)]
pub(crate) struct Table {
    batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// The columns of any object with the Arrow PyCapsule interface.
    #[staticmethod]
    fn from_arrow(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { batches: borrow::batches(table)? })
    }

    /// Columns given one by one: arrays of numbers, or lists of texts with None where a value is missing.
    #[staticmethod]
    fn from_columns(columns: Vec<(String, Cells<'_>)>) -> PyResult<Self> {
        let columns: Vec<(String, ArrayRef)> = columns
            .into_iter()
            .map(|(name, cells)| Ok((name, cells.array()?)))
            .collect::<PyResult<_>>()?;
        let batch = RecordBatch::try_from_iter(columns).map_err(|e| wrong_type(e.to_string()))?;
        Ok(Self { batches: vec![batch] })
    }

    /// Number of rows.
    #[getter]
    fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The columns' names.
    #[getter]
    fn names(&self) -> Vec<String> {
        let fields = self.batches.first().map(RecordBatch::schema);
        fields.iter().flat_map(|schema| schema.fields().iter().map(|f| f.name().clone())).collect()
    }
}

impl Table {
    /// The table as the library reads it.
    pub(crate) fn read(&self, options: &ReadOptions) -> Result<table::Table> {
        table::Table::from_batches(self.batches.iter().cloned(), options)
    }
}

/// The cells of one column.
#[derive(FromPyObject)]
enum Cells<'py> {
    Numbers(Bound<'py, PyArray1<f64>>),
    Texts(Vec<Option<String>>),
}

impl Cells<'_> {
    fn array(self) -> PyResult<ArrayRef> {
        Ok(match self {
            Self::Numbers(numbers) => Arc::new(Float64Array::from(borrow::copied(&numbers)?)),
            Self::Texts(texts) => Arc::new(StringArray::from(texts)),
        })
    }
}

/// What is to be predicted.
#[derive(FromPyObject)]
pub(crate) enum Known<'py> {
    /// The classes' spellings, and each row's class among them.
    Classes(Vec<String>, Bound<'py, PyArray1<u32>>),
    /// Numbers.
    Numbers(Bound<'py, PyArray1<f64>>),
}

impl Known<'_> {
    /// The truth as a column: classes in the order that files give them.
    pub(crate) fn column(&self) -> PyResult<Column> {
        match self {
            Self::Numbers(numbers) => Ok(Column::Numeric(borrow::copied(numbers)?)),
            Self::Classes(levels, codes) => {
                let codes = borrow::copied(codes)?;
                let text = |code: &u32| levels.get(*code as usize).map(String::as_str);
                Ok(Column::Categorical(Categories::new(codes.iter().map(text))))
            }
        }
    }
}

/// What is known of the rows beside inputs and truth.
#[derive(FromPyObject, Default)]
#[pyo3(from_item_all)]
pub(crate) struct Keys<'py> {
    weights: Option<Bound<'py, PyArray1<f64>>>,
    groups: Option<Bound<'py, PyArray1<u32>>>,
    times: Option<Bound<'py, PyArray1<f64>>>,
}

/// A value of the library from Python's dictionaries and lists; unknown keys are refused.
pub(crate) fn read_value<V: DeserializeOwned>(what: &str, value: &Bound<'_, PyAny>) -> PyResult<V> {
    pythonize::depythonize(value).map_err(|e| raised(value.py(), misread(what, &e.to_string())))
}

/// What serde says of a name that there is not, in our words: "unknown field `folts`, expected one of `folds`, ..".
fn misread(what: &str, message: &str) -> Error {
    let unknown = || {
        let (kind, rest) = message.strip_prefix("unknown ")?.split_once(" `")?;
        let (name, rest) = rest.split_once('`')?;
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        let part = if kind == "field" { "a part of" } else { "a word in" };
        let expected = format!("one of {}", known.join(", "));
        Some(Error::param(&format!("{part} the {what}"), expected, name).suggesting(name, known))
    };
    unknown().unwrap_or_else(|| Error::param(what, "one that can be read", message))
}

/// Takes rows and what is known of them apart, as a recipe asks for.
pub(crate) fn data(
    py: Python<'_>,
    recipe: &Recipe,
    rows: &Frame<'_>,
    truth: Option<&Known<'_>>,
    keys: &Keys<'_>,
) -> PyResult<Data> {
    let truth = truth.map(Known::column).transpose()?;
    let mut data = match rows {
        Frame::Array(array) => of_array(array, truth).map_err(|error| raised(py, error))?,
        Frame::Columns(table) => {
            of_table(recipe, table.get(), truth).map_err(|error| raised(py, error))?
        }
    };
    let weights = keys.weights.as_ref().map(borrow::copied).transpose()?;
    if let Some(weights) = weights {
        data.weights = Some(Weights::new(weights).map_err(|error| raised(py, error))?);
    }
    if let Some(groups) = &keys.groups {
        data.groups = Some(borrow::copied(groups)?);
    }
    if let Some(times) = &keys.times {
        data.times = Some(borrow::copied(times)?);
    }
    data.gap = recipe.gap().map_err(|error| raised(py, error))?;
    Ok(data)
}

/// The rows of an array, which is not copied: all its columns are inputs.
pub(crate) fn features(array: &Bound<'_, PyArray2<f64>>, schema: Arc<Schema>) -> Result<Features> {
    let values = borrow::values(array).map_err(|e| Error::foreign("the array", e))?;
    let features = Features::new(values, schema)?;
    check_finite(&features)?;
    Ok(features)
}

fn of_array(array: &Bound<'_, PyArray2<f64>>, truth: Option<Column>) -> Result<Data> {
    let truth = match truth.map(Column::with_plain_truths) {
        None => Truth::None,
        Some(Column::Numeric(numbers)) => Truth::Numbers(numbers),
        Some(Column::Categorical(c)) => Truth::Classes(Labels::new(c.levels, c.codes)?),
    };
    Ok(Data {
        features: features(array, Arc::new(Schema::numeric(array.shape()[1])))?,
        truth,
        weights: None,
        groups: None,
        times: None,
        gap: 0,
        folds: None,
        conventions: Conventions::default(),
        notes: Vec::new(),
    })
}

fn of_table(recipe: &Recipe, table: &Table, truth: Option<Column>) -> Result<Data> {
    let table = table.read(&recipe.reading.read_options(&[], None)?)?;
    recipe.data(with_truth(table, recipe.target.as_deref(), truth)?)
}

/// The table with one more column.
pub(crate) fn with_truth(
    table: table::Table,
    name: Option<&str>,
    truth: Option<Column>,
) -> Result<table::Table> {
    let truth = name.zip(truth).map(|(name, column)| (name.to_string(), column));
    table.with_columns(truth)
}

/// New rows as a model sees them.
pub(crate) fn new_rows(
    model: &dolmen::recipe::Model,
    rows: &Frame<'_>,
    truth: Option<Column>,
) -> Result<Predicted> {
    match rows {
        Frame::Columns(table) => {
            let table = table.get().read(&model.read_options(false, &[]))?;
            model.rows_of(with_truth(table, model.target(), truth)?)
        }
        Frame::Array(array) => {
            let (expected, found) = (model.schema().len(), array.shape()[1]);
            if expected != found {
                return Err(Error::shape("columns of the rows", expected, found));
            }
            let features = features(array, Arc::new(model.schema().clone()))?;
            let truth = model.target().map(String::from).zip(truth);
            let table = table::Table::new(truth.into_iter().collect())?;
            Ok(Predicted { features, table, unseen: Vec::new() })
        }
    }
}

/// Times that are texts, as the command line reads them: NaN where there is none.
#[pyfunction]
pub(crate) fn times(
    py: Python<'_>,
    texts: Vec<Option<String>>,
) -> PyResult<Bound<'_, PyArray1<f64>>> {
    let column = Column::Categorical(Categories::new(texts.iter().map(Option::as_deref)));
    let times = table::times_of("times", &column).map_err(|error| raised(py, error))?;
    Ok(PyArray1::from_vec(py, times))
}

/// The order in which the library has classes of these names: by value if all are numbers, else by spelling.
#[pyfunction]
pub(crate) fn class_order(names: Vec<String>) -> Vec<usize> {
    let places = Categories::new(names.iter().map(|name| Some(name.as_str()))).codes;
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&i| places[i]);
    order
}
