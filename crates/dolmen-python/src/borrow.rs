//! Memory that Python keeps, read where it lies: arrays of NumPy, and Arrow streams. The one file with `unsafe`.
#![expect(unsafe_code, reason = "arrays of gigabytes are not copied to be read")]

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use dolmen::table::Values;
use numpy::{Element, PyArray, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::errors::wrong_type;

/// The numbers of an array, which is kept alive as long as they are looked at. As with every extension that lets go of the
/// interpreter, the caller must not write to the array meanwhile.
struct Kept {
    start: *const f64,
    count: usize,
    _owner: Py<PyAny>,
}

// SAFETY: the numbers are only read, and their owner is a counted reference, which may be dropped on any thread.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl AsRef<[f64]> for Kept {
    fn as_ref(&self) -> &[f64] {
        // SAFETY: `start` and `count` are those of a contiguous and aligned array whose memory its owner, held here, keeps in place:
        // an array that others refer to is not resized.
        unsafe { std::slice::from_raw_parts(self.start, self.count) }
    }
}

/// The array, or a copy of one whose values do not begin where the processor likes them to: a part of a file, or of a message.
fn aligned<'py, E: Element, D: numpy::ndarray::Dimension>(
    array: &Bound<'py, PyArray<E, D>>,
) -> PyResult<Bound<'py, PyArray<E, D>>> {
    if array.data().is_aligned() {
        return Ok(array.clone());
    }
    Ok(array.call_method0("copy")?.cast_into::<PyArray<E, D>>()?)
}

/// The values of a contiguous array, without a copy if they are aligned; a type error of any other.
pub(crate) fn values<D: numpy::ndarray::Dimension>(
    array: &Bound<'_, PyArray<f64, D>>,
) -> PyResult<Values> {
    if !array.is_c_contiguous() {
        return Err(wrong_type("the array must be C-contiguous"));
    }
    if array.is_empty() {
        return Ok(Vec::new().into());
    }
    let array = aligned(array)?;
    let owner = array.as_any().clone().unbind();
    Ok(Arc::new(Kept { start: array.data(), count: array.len(), _owner: owner }).into())
}

/// A copy of a contiguous array of anything.
pub(crate) fn copied<E: Element + Copy>(array: &Bound<'_, numpy::PyArray1<E>>) -> PyResult<Vec<E>> {
    Ok(aligned(array)?.readonly().as_slice().map_err(|e| wrong_type(e.to_string()))?.to_vec())
}

/// The record batches of any object with the Arrow PyCapsule interface.
pub(crate) fn batches(table: &Bound<'_, PyAny>) -> PyResult<Vec<RecordBatch>> {
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds a stream by the Arrow C interface; reading moves it out and leaves it released, so
    // that the capsule does not release it again.
    let reader = unsafe {
        RecordBatchStreamReader::from_raw(stream.as_ptr().cast::<FFI_ArrowArrayStream>())
    };
    let damaged = |e: arrow_schema::ArrowError| PyValueError::new_err(e.to_string());
    reader.map_err(damaged)?.collect::<Result<_, _>>().map_err(damaged)
}
