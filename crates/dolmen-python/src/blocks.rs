//! Fits to blocks of rows that others have: what a cluster's client and its workers call.

use std::sync::Arc;

use dolmen::catalogue::Catalogue;
use dolmen::recipe::stream::{self, Block, Elsewhere};
use dolmen::recipe::{self, Recipe};
use dolmen::run::Run;
use dolmen::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::raised;
use crate::inputs::{Frame, Known, Table, new_rows, read_value};
use crate::model::{Model, python};
use crate::work::{Manner, work, work_of_others};

/// The columns of a block, or of many: their kinds and levels.
#[pyclass(frozen, module = "dolmen._dolmen")]
pub(crate) struct Layout(stream::Layout);

#[pymethods]
impl Layout {
    /// That of one block, as a recipe reads it.
    #[staticmethod]
    fn of(py: Python<'_>, recipe: &Bound<'_, PyAny>, table: PyRef<'_, Table>) -> PyResult<Self> {
        let recipe: Recipe = read_value("recipe", recipe)?;
        let table = &*table;
        let read = || Ok(stream::Layout::of(&table.read(&recipe.read_options()?)?));
        py.detach(read).map(Self).map_err(|error| raised(py, error))
    }

    /// That of all blocks, from those of each, in their order, as a fit by a recipe needs it.
    #[staticmethod]
    fn merged(
        py: Python<'_>,
        recipe: &Bound<'_, PyAny>,
        layouts: Vec<PyRef<'_, Self>>,
    ) -> PyResult<Self> {
        let recipe: Recipe = read_value("recipe", recipe)?;
        let mut layouts = layouts.into_iter();
        let Some(first) = layouts.next() else {
            return Err(raised(py, Error::shape("blocks of rows", 1, 0)));
        };
        let mut all = first.0.clone();
        for (block, other) in layouts.enumerate() {
            all.merge(other.0.clone()).map_err(|error| {
                let error = Error::foreign(format!("block {}", block + 2), error);
                raised(py, error)
            })?;
        }
        all.settle(&recipe).map_err(|error| raised(py, error))?;
        Ok(Self(all))
    }

    /// Rows of the blocks.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let class = py.get_type::<Self>().getattr("from_bytes")?.unbind();
        let bytes = serde_json::to_vec(&self.0)
            .map_err(|e| raised(py, Error::param("layout", "storable", e)))?;
        Ok((class, (PyBytes::new(py, &bytes),)))
    }

    /// From the bytes of a pickle.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        serde_json::from_slice(bytes)
            .map(Self)
            .map_err(|e| raised(py, Error::param("layout", "readable", e)))
    }
}

/// The rows of a block as a worker keeps them for the next work.
#[pyclass(frozen, module = "dolmen._dolmen")]
pub(crate) struct KeptRows(stream::KeptRows);

#[pymethods]
impl KeptRows {
    /// Whether work that the client sent can be done with them.
    fn serve(&self, work: &[u8]) -> bool {
        self.0.serve(work)
    }

    /// The memory that they take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes()
    }
}

/// A block as a worker has it.
#[derive(FromPyObject)]
pub(crate) enum Held<'py> {
    Table(PyRef<'py, Table>),
    Kept(PyRef<'py, KeptRows>),
}

/// Does work that the client sent with a block, whose first row has this number in the table. Gives the outcome, and the block's
/// rows where the next work may need them.
#[pyfunction]
pub(crate) fn work_on_block<'py>(
    py: Python<'py>,
    recipe: &Bound<'_, PyAny>,
    sent: &[u8],
    first: usize,
    block: Held<'_>,
    layout: PyRef<'_, Layout>,
    manner: Manner,
) -> PyResult<(Bound<'py, PyBytes>, Option<KeptRows>)> {
    let recipe: Recipe = read_value("recipe", recipe)?;
    let (layout, sent) = (layout.0.clone(), sent.to_vec());
    let block: Box<dyn FnOnce() -> Result<Block> + Send> = match block {
        Held::Kept(kept) => {
            let kept = kept.0.clone();
            Box::new(move || Ok(kept.into()))
        }
        Held::Table(table) => {
            let table = Table::clone(&table);
            let read = move || layout.apply(table.read(&recipe.read_options()?)?);
            Box::new(move || Ok(Block::new(first, read()?)))
        }
    };
    let registry = Catalogue::standard().registry();
    let work_on = move |run: &Run| {
        let block = block()?;
        // Work counts the rows of the whole table; who gave the block knows its own.
        let own = |row: usize| row.checked_sub(first);
        stream::work_on(&sent, block, registry, run).map_err(|error| error.in_rows(&own))
    };
    let (outcome, kept) = work(py, &manner, work_on)?;
    Ok((PyBytes::new(py, &outcome), kept.map(KeptRows)))
}

/// Fits a model to blocks that others have. `ask` is called with work as bytes and gives its outcomes on all blocks, in their
/// order.
#[pyfunction]
pub(crate) fn fit_blocks(
    py: Python<'_>,
    recipe: &Bound<'_, PyAny>,
    layout: PyRef<'_, Layout>,
    ask: Py<PyAny>,
    manner: Manner,
) -> PyResult<Model> {
    let recipe: Recipe = read_value("recipe", recipe)?;
    let (rows, columns, known) = (layout.0.rows, layout.0.columns(), layout.0.known());
    let fitted = work_of_others(py, &manner, move |run| {
        let ask = |sent: &[u8], take: &mut dyn FnMut(&[u8]) -> Result<()>| asked(&ask, sent, take);
        recipe.fit_blocks(&Elsewhere { rows, columns, known, ask: &ask }, run)
    })?;
    Ok(Model::new(Arc::new(fitted.model)))
}

fn asked(ask: &Py<PyAny>, sent: &[u8], take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let foreign = |error: PyErr| Error::foreign("the cluster", error);
    Python::attach(|py| {
        let outcomes = ask.call1(py, (PyBytes::new(py, sent),)).map_err(foreign)?;
        for outcome in outcomes.bind(py).try_iter().map_err(foreign)? {
            let outcome = outcome.map_err(foreign)?;
            let bytes = outcome.cast::<PyBytes>().map_err(|e| foreign(e.into()))?;
            take(bytes.as_bytes())?;
        }
        Ok(())
    })
}

/// What rows with known truth said of a model so far.
#[pyclass(frozen, module = "dolmen._dolmen")]
pub(crate) struct ScoreSums(recipe::ScoreSums);

#[pymethods]
impl ScoreSums {
    /// Of one block of rows. Predictions are not kept, so that there is no AUC.
    #[staticmethod]
    fn of(
        py: Python<'_>,
        model: PyRef<'_, Model>,
        rows: Frame<'_>,
        truth: Option<Known<'_>>,
        manner: Manner,
    ) -> PyResult<Self> {
        let (rows, truth) = (rows.held()?, truth.as_ref().map(Known::column).transpose()?);
        let model = Arc::clone(&model.model);
        let sums = work(py, &manner, move |run| {
            let mut sums = recipe::ScoreSums::new(&model, false);
            sums.add(&model, new_rows(&model, rows, truth)?, run)?;
            Ok(sums)
        })?;
        Ok(Self(sums))
    }

    /// What all blocks say, from the sums of each, in their order.
    #[staticmethod]
    fn report<'py>(
        py: Python<'py>,
        model: PyRef<'_, Model>,
        sums: Vec<PyRef<'_, Self>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut all = recipe::ScoreSums::new(&model.model, false);
        for part in sums {
            all.merge(part.0.clone()).map_err(|error| raised(py, error))?;
        }
        python(py, &all.report(&model.model).map_err(|error| raised(py, error))?)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let class = py.get_type::<Self>().getattr("from_bytes")?.unbind();
        let bytes = self.0.to_bytes().map_err(|error| raised(py, error))?;
        Ok((class, (PyBytes::new(py, &bytes),)))
    }

    /// From the bytes of a pickle.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        recipe::ScoreSums::from_bytes(bytes).map(Self).map_err(|error| raised(py, error))
    }
}
