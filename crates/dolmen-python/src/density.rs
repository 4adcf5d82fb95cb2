//! Densities in Python: marginals, conditionals, probabilities and draws.

use std::sync::Arc;

use dolmen::learner::density::DensityModel;
use dolmen::learner::predict;
use dolmen::table::Schema;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::borrow;
use crate::errors::raised;
use crate::inputs::features;
use crate::work::{Manner, work};

/// A density of numeric columns.
#[pyclass(frozen)]
pub(crate) struct Density {
    model: Arc<dyn DensityModel>,
}

impl Density {
    pub(crate) fn new(model: &dyn DensityModel) -> Self {
        Self { model: model.boxed().into() }
    }

    /// A number for each number.
    fn each<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyArray1<f64>>,
        manner: &Manner,
        value: fn(&dyn DensityModel, f64) -> dolmen::Result<f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (model, points) = (Arc::clone(&self.model), borrow::copied(points)?);
        let values = work(py, manner, move |run| {
            let one = |point: &f64| run.check().and_then(|()| value(model.as_ref(), *point));
            points.iter().map(one).collect::<dolmen::Result<Vec<f64>>>()
        })?;
        Ok(PyArray1::from_vec(py, values))
    }
}

#[pymethods]
impl Density {
    /// Number of columns.
    #[getter]
    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    /// ln p of rows.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, PyArray2<f64>>,
        manner: Manner,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let columns = rows.shape()[1];
        let expected = self.model.dimension();
        if columns != expected {
            let error = dolmen::Error::shape("columns of the rows", expected, columns);
            return Err(raised(py, error));
        }
        let (model, values) = (Arc::clone(&self.model), borrow::values(rows)?);
        let values = work(py, &manner, move |run| {
            let features = features(values, Arc::new(Schema::numeric(columns)))?;
            predict(model.as_ref(), features.rows(), run)
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The density of chosen columns, the others integrated out.
    fn marginal(&self, py: Python<'_>, columns: Vec<usize>) -> PyResult<Self> {
        let model = self.model.marginal(&columns).map_err(|error| raised(py, error))?;
        Ok(Self { model: model.into() })
    }

    /// The density of the remaining columns, given the values of some.
    fn conditional(&self, py: Python<'_>, given: Vec<(usize, f64)>) -> PyResult<Self> {
        let model = self.model.condition(&given).map_err(|error| raised(py, error))?;
        Ok(Self { model: model.into() })
    }

    /// The probability of a value of at most x, for a density of one column.
    fn cdf<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyArray1<f64>>,
        manner: Manner,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.each(py, points, &manner, |model, x| model.cdf(x))
    }

    /// The value below which a share p lies, for a density of one column.
    fn ppf<'py>(
        &self,
        py: Python<'py>,
        shares: &Bound<'py, PyArray1<f64>>,
        manner: Manner,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.each(py, shares, &manner, |model, p| model.quantile(p))
    }

    /// Rows drawn from it.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        rows: usize,
        seed: u64,
        manner: Manner,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (model, width) = (Arc::clone(&self.model), self.model.dimension());
        let values = work(py, &manner, move |run| model.sample(rows, &run.seeded(seed)))?;
        PyArray1::from_vec(py, values).reshape([rows, width])
    }
}
