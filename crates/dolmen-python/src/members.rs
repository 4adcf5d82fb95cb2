//! Python objects as members of a stack: cloned, fitted and asked fold by fold like any learner.
//!
//! What they need to know of rows and classes is Python's business: `dolmen._members` wraps every object in one that takes
//! arrays and gives arrays.

use std::sync::{Arc, OnceLock};

use dolmen::catalogue::{Catalogue, Catalogued, LearnerEntry, Parameter};
use dolmen::learner::foreign::Foreign;
use dolmen::learner::{Block, Failure, Fitted, Learner, Parameters, Sample, Stored, refit};
use dolmen::plan::Plan;
use dolmen::run::Run;
use dolmen::spec::Spec;
use dolmen::store::{Record, Registry};
use dolmen::table::{Kind, Rows, Schema};
use dolmen::target::Target;
use dolmen::task::{Classification, Density, Regression, Task};
use dolmen::{Error, Result};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::foreign;
use crate::work::in_member;

/// The kind by which recipes name Python objects: `python(name=..)`.
const KIND: &str = "python";
const LANGUAGE: &str = "Python";

/// Objects by the names of the members they are.
pub(crate) type Objects = Vec<(String, Py<PyAny>)>;

/// The catalogue that knows these objects, and runs those that are read from files if they are trusted.
pub(crate) fn catalogue(objects: Objects, trusted: bool) -> Arc<Catalogue> {
    static WITHOUT: [OnceLock<Arc<Catalogue>>; 2] = [OnceLock::new(), OnceLock::new()];
    let make = |objects| {
        let objects = Arc::new(objects);
        let catalogue = Catalogue::standard().clone();
        let catalogue = with_task::<Density>(catalogue, &objects, trusted);
        let catalogue = with_task::<Classification>(catalogue, &objects, trusted);
        Arc::new(with_task::<Regression>(catalogue, &objects, trusted))
    };
    if objects.is_empty() {
        let made = WITHOUT[usize::from(trusted)].get_or_init(|| make(objects));
        return Arc::clone(made);
    }
    make(objects)
}

fn with_task<T: Catalogued>(
    catalogue: Catalogue,
    objects: &Arc<Objects>,
    trusted: bool,
) -> Catalogue {
    let objects = Arc::clone(objects);
    let name = Parameter::new("name", "the object's name", dolmen::catalogue::Kind::Text);
    let build = move |spec: &Spec, _: &Catalogue| -> Result<Box<dyn Learner<T>>> {
        let wanted = spec.parameters.get("name").and_then(|name| name.as_str()).unwrap_or("");
        let found = objects.iter().find(|(name, _)| name == wanted);
        let Some((name, object)) = found else {
            return Err(Error::param("member", "a Python object that is given", wanted));
        };
        let object = Python::attach(|py| object.clone_ref(py));
        Ok(Box::new(Member { name: name.clone(), object }))
    };
    let entry = LearnerEntry::by_hand(KIND, "a Python object", vec![name], build);
    let catalogue = catalogue.with_learner::<T>(entry);
    if trusted {
        catalogue.with_model::<T, FittedMember<true>>()
    } else {
        catalogue.with_model::<T, FittedMember<false>>()
    }
}

/// An object that is not fitted: `dolmen._members.Member`.
#[derive(Debug)]
struct Member {
    name: String,
    object: Py<PyAny>,
}

impl<T: Task> Learner<T> for Member {
    fn members(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn fit(&self, sample: &Sample<'_, T>, run: &Run) -> Result<Vec<Box<dyn Fitted<T>>>> {
        run.check()?;
        let object = in_member(|py| {
            let rows = Given::new(py, sample)?;
            self.object.call_method1(py, "fit", (rows.x, rows.fields, rows.truth, rows.weights))
        });
        let object = object.map_err(|e| foreign(&self.name, e))?;
        let (columns, width) = (sample.x().width(), T::width(sample.target()));
        let name = self.name.clone();
        Ok(vec![Box::new(FittedMember::<true> {
            name,
            object,
            columns,
            width,
            state: OnceLock::new(),
        })])
    }

    /// Objects that are to be fitted in other processes are given all splits at once.
    fn out_of_sample(&self, sample: &Sample<'_, T>, plan: &Plan, run: &Run) -> Result<Block> {
        let in_processes =
            Python::attach(|py| self.object.getattr(py, "in_processes")?.is_truthy(py));
        if !in_processes.map_err(|e| foreign(&self.name, e))? {
            return refit(self, sample, plan, run);
        }
        run.check()?;
        let mut block = Block { splits: Vec::new(), failures: Vec::new() };
        in_member(|py| {
            let rows = Given::new(py, sample)?;
            let splits = PyList::empty(py);
            for split in plan.splits() {
                let indices =
                    |rows: &[usize]| PyArray1::from_iter(py, rows.iter().map(|&i| i as i64));
                splits.append((indices(&split.train(sample.rows())), indices(split.test())))?;
            }
            let given = (rows.x, rows.fields, rows.truth, rows.weights, splits);
            let answers = self.object.call_method1(py, "out_of_sample", given)?;
            for (split, answer) in answers.bind(py).try_iter()?.enumerate() {
                match answer?.extract::<Answer<'_>>()? {
                    Answer::Predicted(column) => {
                        block.splits.push(vec![crate::borrow::copied(&column)?]);
                    }
                    Answer::Failed(message) => {
                        block.splits.push(vec![Vec::new()]);
                        block.failures.push(Failure { member: 0, split, message });
                    }
                }
                run.step(&self.name, |_| ());
            }
            Ok(())
        })
        .map_err(|e: PyErr| foreign(&self.name, e))?;
        Ok(block)
    }
}

/// What a process says of one split.
#[derive(FromPyObject)]
enum Answer<'py> {
    Predicted(Bound<'py, PyArray1<f64>>),
    Failed(String),
}

/// A sample as Python sees it.
struct Given<'py> {
    x: Bound<'py, PyArray2<f64>>,
    fields: Bound<'py, PyList>,
    truth: Option<Bound<'py, PyAny>>,
    weights: Option<Bound<'py, PyArray1<f64>>>,
}

impl<'py> Given<'py> {
    fn new<T: Task>(py: Python<'py>, sample: &Sample<'_, T>) -> PyResult<Self> {
        let target = sample.target();
        let truth = match (target.labels(), target.numbers()) {
            (Some(labels), _) => Some(PyArray1::from_slice(py, labels.codes()).into_any()),
            (None, Some(numbers)) => Some(PyArray1::from_slice(py, numbers).into_any()),
            (None, None) => None,
        };
        let weights = sample.weights().map(|weights| PyArray1::from_slice(py, weights));
        let fields = PyList::empty(py);
        for field in sample.x().schema().fields() {
            let levels = match &field.kind {
                Kind::Numeric => None,
                Kind::Categorical { levels } => Some(levels.to_vec()),
            };
            fields.append((field.name.as_str(), levels))?;
        }
        Ok(Self { x: array(py, sample.x())?, fields, truth, weights })
    }
}

/// Rows as an array of Python's own.
fn array<'py>(py: Python<'py>, x: Rows<'_>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, &x.values()).reshape([x.rows(), x.width()])
}

/// A fitted object: `dolmen._members.FittedMember`. One that is not trusted cannot be read.
#[derive(Debug)]
struct FittedMember<const TRUSTED: bool> {
    name: String,
    object: Py<PyAny>,
    columns: usize,
    width: usize,
    /// Its pickle, once it was asked for or if it was read from one: a second pickle may differ.
    state: OnceLock<Vec<u8>>,
}

impl<const TRUSTED: bool> FittedMember<TRUSTED> {
    fn pickle(&self) -> Result<&[u8]> {
        if let Some(state) = self.state.get() {
            return Ok(state);
        }
        let state = Python::attach(|py| {
            self.object
                .call_method0(py, "dumps")?
                .bind(py)
                .cast::<PyBytes>()
                .map(|b| b.as_bytes().to_vec())
                .map_err(PyErr::from)
        });
        let state = state.map_err(|e| foreign(&self.name, e))?;
        Ok(self.state.get_or_init(|| state))
    }
}

impl<T: Task, const TRUSTED: bool> Fitted<T> for FittedMember<TRUSTED> {
    fn width(&self) -> usize {
        self.width
    }

    /// Calls into Python are dear, and most models there split rows among threads themselves.
    fn block(&self) -> usize {
        usize::MAX
    }

    fn predict_into(&self, x: Rows<'_>, out: &mut [f64]) -> Result<()> {
        let predicted = in_member(|py| {
            let answer = self.object.call_method1(py, "predict", (array(py, x)?,))?;
            crate::borrow::copied(answer.bind(py).cast::<PyArray1<f64>>()?)
        });
        let predicted = predicted.map_err(|e| foreign(&self.name, e))?;
        if predicted.len() != out.len() {
            let what = format!("values predicted by '{}'", self.name);
            return Err(Error::shape(what, out.len(), predicted.len()));
        }
        out.copy_from_slice(&predicted);
        Ok(())
    }

    fn validate(&self, inputs: &Schema, width: usize) -> Result<()> {
        dolmen::learner::check_use(&self.name, (self.columns, self.width), inputs, width)
    }

    fn record(&self) -> Result<Record> {
        let stored = Foreign {
            language: LANGUAGE.into(),
            name: self.name.clone(),
            columns: self.columns,
            width: self.width,
            state: self.pickle()?.to_vec(),
        };
        stored.to_record()
    }

    fn parameters(&self) -> Parameters {
        Parameters::new(Foreign::KIND).with("language", LANGUAGE).with("name", self.name.clone())
    }
}

impl<T: Task, const TRUSTED: bool> Stored<T> for FittedMember<TRUSTED> {
    const KIND: &'static str = Foreign::KIND;
    const VERSION: u32 = Foreign::VERSION;

    fn restore(record: &Record, _registry: &Registry) -> Result<Self> {
        let Foreign { language, name, columns, width, state } = Foreign::from_record(record)?;
        if language != LANGUAGE {
            return Err(Error::param("member", "a Python object", format!("one of {language}")));
        }
        if !TRUSTED {
            let got = format!("a pickle of '{name}', and reading a pickle runs what is in it");
            return Err(Error::param("the file's members", "without Python objects", got)
                .with_hint("if you trust where the file comes from: trust=True"));
        }
        let object = in_member(|py| {
            let loads = py.import("dolmen._members")?.getattr("loads")?;
            loads.call1((PyBytes::new(py, &state),)).map(Bound::unbind)
        });
        let object = object.map_err(|e| foreign(&name, e))?;
        let held = OnceLock::from(state);
        Ok(Self { name, object, columns, width, state: held })
    }
}

/// The objects of a dictionary, in its order.
pub(crate) fn objects(members: Option<&Bound<'_, PyDict>>) -> PyResult<Objects> {
    let Some(members) = members else { return Ok(Vec::new()) };
    members.iter().map(|(name, object)| Ok((name.extract()?, object.unbind()))).collect()
}
