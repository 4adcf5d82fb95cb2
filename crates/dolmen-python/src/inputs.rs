//! Rows, truth and keys on their way from Python into the library.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use dolmen::learner::Weights;
use dolmen::recipe::{Data, Predicted, Recipe, Truth};
use dolmen::table::{
    self, Categories, Column, Conventions, Features, ReadOptions, Schema, Values, check_finite,
};
use dolmen::target::Labels;
use dolmen::{Error, Result};
use numpy::{PyArray1, PyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
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

impl Frame<'_> {
    /// The rows as work beside the interpreter takes them; arrays are not copied.
    pub(crate) fn held(&self) -> PyResult<Held> {
        Ok(match self {
            Self::Array(array) => Held::Array(borrow::values(array)?, array.shape()[1]),
            Self::Columns(table) => Held::Columns(table.get().clone()),
        })
    }
}

/// Rows that need no interpreter.
pub(crate) enum Held {
    /// Numbers, row after row, and how many columns there are.
    Array(Values, usize),
    /// Columns by name.
    Columns(Table),
}

/// Columns by name that Python has: what they mean is decided when they are used.
#[pyclass(frozen, skip_from_py_object)]
#[derive(Clone)]
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
    pythonize::depythonize(value).map_err(|e| {
        let misread = misread_part::<V>(value).unwrap_or_else(|| misread(what, &e.to_string()));
        raised(value.py(), misread)
    })
}

/// Which part of a dictionary cannot be read, each being tried by itself.
fn misread_part<V: DeserializeOwned>(value: &Bound<'_, PyAny>) -> Option<Error> {
    for (name, part) in value.cast::<PyDict>().ok()?.iter() {
        let alone = PyDict::new(value.py());
        alone.set_item(&name, &part).ok()?;
        let Err(error) = pythonize::depythonize::<V>(&alone) else { continue };
        let (name, message) = (name.to_string(), error.to_string());
        let is_field = message.starts_with("unknown field");
        if is_field && message.contains(&format!("`{name}`")) {
            return None;
        }
        let what = match (is_field, part.is_instance_of::<PyString>()) {
            (true, _) => format!("a part of {name}"),
            (false, true) => name.clone(),
            (false, false) => format!("a word in {name}"),
        };
        return unknown_word(&what, &message).or_else(|| {
            let got = format!("{} ({message})", part.repr().ok()?);
            Some(Error::param(&name, "a value that can be used", got))
        });
    }
    None
}

/// What serde says of a name that there is not, in our words: "unknown field `folts`, expected one of `folds`, ..".
fn misread(what: &str, message: &str) -> Error {
    let part = if message.starts_with("unknown field") { "a part of" } else { "a word in" };
    unknown_word(&format!("{part} the {what}"), message)
        .unwrap_or_else(|| Error::param(what, "one that can be read", message))
}

fn unknown_word(what: &str, message: &str) -> Option<Error> {
    let (_, rest) = message.strip_prefix("unknown ")?.split_once(" `")?;
    let (word, rest) = rest.split_once('`')?;
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let expected = format!("one of {}", known.join(", "));
    Some(Error::param(what, expected, word).suggesting(word, known))
}

/// Rows and what is known of them, on their way out of the interpreter.
pub(crate) struct Given {
    rows: Held,
    truth: Option<Column>,
    weights: Option<Vec<f64>>,
    groups: Option<Vec<u32>>,
    times: Option<Vec<f64>>,
}

impl Given {
    pub(crate) fn new(
        rows: &Frame<'_>,
        truth: Option<&Known<'_>>,
        keys: &Keys<'_>,
    ) -> PyResult<Self> {
        Ok(Self {
            rows: rows.held()?,
            truth: truth.map(Known::column).transpose()?,
            weights: keys.weights.as_ref().map(borrow::copied).transpose()?,
            groups: keys.groups.as_ref().map(borrow::copied).transpose()?,
            times: keys.times.as_ref().map(borrow::copied).transpose()?,
        })
    }

    /// Takes them apart, as a recipe asks for.
    pub(crate) fn data(self, recipe: &Recipe) -> Result<Data> {
        let mut data = match self.rows {
            Held::Array(values, columns) => of_array(values, columns, self.truth)?,
            Held::Columns(table) => of_table(recipe, &table, self.truth)?,
        };
        data.weights = self.weights.map(Weights::new).transpose()?.or(data.weights);
        data.groups = self.groups.or(data.groups);
        data.times = self.times.or(data.times);
        data.gap = recipe.gap()?;
        Ok(data)
    }
}

/// The rows of an array, which is not copied: all its columns are inputs.
pub(crate) fn features(values: Values, schema: Arc<Schema>) -> Result<Features> {
    let features = Features::new(values, schema)?;
    check_finite(&features)?;
    Ok(features)
}

fn of_array(values: Values, columns: usize, truth: Option<Column>) -> Result<Data> {
    let truth = match truth.map(Column::with_plain_truths) {
        None => Truth::None,
        Some(Column::Numeric(numbers)) => Truth::Numbers(numbers),
        Some(Column::Categorical(c)) => Truth::Classes(Labels::new(c.levels, c.codes)?),
    };
    Ok(Data {
        features: features(values, Arc::new(Schema::numeric(columns)))?,
        truth,
        weights: None,
        groups: None,
        times: None,
        gap: 0,
        folds: None,
        lots: None,
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
    rows: Held,
    truth: Option<Column>,
) -> Result<Predicted> {
    match rows {
        Held::Columns(table) => {
            let table = table.read(&model.read_options(false, &[]))?;
            model.rows_of(with_truth(table, model.target(), truth)?)
        }
        Held::Array(values, columns) => {
            let expected = model.schema().len();
            if expected != columns {
                return Err(Error::shape("columns of the rows", expected, columns));
            }
            let features = features(values, Arc::new(model.schema().clone()))?;
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
