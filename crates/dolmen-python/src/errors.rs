//! The library's errors as Python's: the same message, the hint on a line of its own.

use std::error::Error as _;

use dolmen::Error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The class of `dolmen.errors` with this name: there, exceptions can have several bases.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("dolmen.errors")?.getattr(name)?.cast_into::<PyType>()?)
}

/// The exception that says what the error says.
pub(crate) fn raised(py: Python<'_>, error: Error) -> PyErr {
    let hint = error.hint();
    let message = match &hint {
        Some(hint) => format!("{error}\nhint: {hint}"),
        None => error.to_string(),
    };
    let name = match &error {
        Error::Cancelled => return PyKeyboardInterrupt::new_err(()),
        // Python has an exception for each kind of refusal: a file that is not there, one that may not be read.
        Error::Io { source, .. } => return std::io::Error::new(source.kind(), message).into(),
        Error::Memory { .. } => return memory(py, message).unwrap_or_else(|error| error),
        Error::Param { .. } => "ParameterError",
        Error::Member { .. } => "MemberError",
        Error::Version { .. } | Error::UnknownKind { .. } | Error::File { .. } => "FileError",
        _ => "DataError",
    };
    let raised = match class(py, name).and_then(|class| class.call1((message,))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => return error,
    };
    if let Some(cause) = cause(&error) {
        raised.set_cause(py, Some(cause.clone_ref(py)));
    }
    raised
}

/// Python's own exception, in the words that things have there; the others see to that themselves.
fn memory(py: Python<'_>, message: String) -> PyResult<PyErr> {
    let message = py.import("dolmen.errors")?.call_method1("in_python", (message,))?;
    Ok(PyMemoryError::new_err(message.unbind()))
}

/// The Python exception that an error came from, if it did.
fn cause(error: &Error) -> Option<&PyErr> {
    let mut next = error.source();
    while let Some(source) = next {
        if let Some(exception) = source.downcast_ref::<PyErr>() {
            return Some(exception);
        }
        next = source.source();
    }
    None
}

/// What is not of the right type.
pub(crate) fn wrong_type(message: impl Into<String>) -> PyErr {
    PyTypeError::new_err(message.into())
}

/// What went wrong in Python code that the library called, for the library.
pub(crate) fn foreign(what: &str, error: PyErr) -> Error {
    Error::foreign(what, error)
}
