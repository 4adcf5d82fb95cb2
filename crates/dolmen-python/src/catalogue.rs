//! Learners and combiners with their parameters, as data: what Python's classes and their documentation are made from.

use dolmen::catalogue::{Catalogue, Catalogued, Entry, Parameter};
use dolmen::spec::Spec;
use dolmen::task::{Classification, Density, Joint, Regression, Task};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::raised;
use crate::model::python;

#[derive(Serialize)]
struct Listed<'a> {
    kind: &'a str,
    about: &'a str,
    example: &'a str,
    parameters: Vec<Described<'a>>,
}

#[derive(Serialize)]
struct Described<'a> {
    #[serde(flatten)]
    parameter: &'a Parameter,
    /// What it can be, in words.
    allowed: String,
}

#[derive(Serialize)]
struct Section<'a> {
    task: &'static str,
    learners: Vec<Listed<'a>>,
    combiners: Vec<Listed<'a>>,
}

fn listed<W: ?Sized>(entries: &[Entry<W>]) -> Vec<Listed<'_>> {
    let describe = |parameter| Described { allowed: Parameter::allowed(parameter), parameter };
    let list = |entry| {
        let parameters = Entry::parameters(entry).iter().map(describe).collect();
        let (kind, about, example) = (entry.kind(), entry.about(), entry.example());
        Listed { kind, about, example, parameters }
    };
    entries.iter().map(list).collect()
}

fn section<T: Catalogued + Task>(catalogue: &Catalogue) -> Section<'_> {
    Section {
        task: T::NAME,
        learners: listed(catalogue.learners::<T>()),
        combiners: listed(catalogue.combiners::<T>()),
    }
}

/// All learners and combiners, task by task.
#[pyfunction]
pub(crate) fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let all = Catalogue::standard();
    let sections = [
        section::<Density>(all),
        section::<Classification>(all),
        section::<Joint>(all),
        section::<Regression>(all),
    ];
    Ok(pythonize::pythonize(py, &sections)?)
}

/// A spec taken apart: its parameters by name, and its kind; models among them alike.
#[pyfunction]
pub(crate) fn spec<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    python(py, &Spec::parse(text).map_err(|error| raised(py, error))?.to_object())
}
