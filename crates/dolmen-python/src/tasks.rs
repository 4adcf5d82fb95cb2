//! Fits as tasks that others do: what a cluster's client and its workers call.

use std::sync::Arc;

use dolmen::catalogue::Catalogue;
use dolmen::recipe::{Data, Doer, Recipe};
use dolmen::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::raised;
use crate::inputs::{Frame, Given, Keys, Known, read_value};
use crate::members::{self, objects};
use crate::work::{Manner, work};

/// A fit as one who does its tasks has it: the recipe, the rows, and the Python objects among the members.
#[pyclass(frozen, module = "dolmen._dolmen")]
pub(crate) struct FitTasks {
    recipe: Recipe,
    data: Arc<Data>,
    catalogue: Arc<Catalogue>,
}

#[pymethods]
impl FitTasks {
    #[new]
    #[pyo3(signature = (recipe, rows, truth, keys, members))]
    fn new(
        py: Python<'_>,
        recipe: &Bound<'_, PyAny>,
        rows: Frame<'_>,
        truth: Option<Known<'_>>,
        keys: Keys<'_>,
        members: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let recipe: Recipe = read_value("recipe", recipe)?;
        let given = Given::new(&rows, truth.as_ref(), &keys)?;
        let data = py.detach(|| given.data(&recipe)).map_err(|error| raised(py, error))?;
        let catalogue = members::catalogue(objects(members)?, true);
        Ok(Self { recipe, data: Arc::new(data), catalogue })
    }

    /// Does one task; what came of it, as it is sent back.
    fn run<'py>(
        &self,
        py: Python<'py>,
        task: &[u8],
        manner: Manner,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let (recipe, task) = (self.recipe.clone(), task.to_vec());
        let (data, catalogue) = (Arc::clone(&self.data), Arc::clone(&self.catalogue));
        let came = work(py, &manner, move |run| recipe.do_task(&catalogue, &data, &task, run))?;
        Ok(PyBytes::new(py, &came))
    }
}

/// A callable that takes a learner's number and its tasks, as a list of bytes, and gives what came of each.
pub(crate) struct Callable(pub(crate) Py<PyAny>);

impl Doer for Callable {
    fn all(&self, learner: usize, tasks: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let foreign = |error: PyErr| Error::foreign("the cluster", error);
        Python::attach(|py| {
            let tasks = tasks.iter().map(|task| PyBytes::new(py, task));
            let tasks = PyList::new(py, tasks).map_err(foreign)?;
            let came = self.0.call1(py, (learner, tasks)).map_err(foreign)?;
            came.extract(py).map_err(|error: PyErr| foreign(error))
        })
    }
}
