"""Rows, targets and keys on their way into the library: arrays are not copied, data frames go through Arrow."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _dolmen

FRAME_HINT = "pass a data frame (pandas, Polars, pyarrow) if columns hold texts, categories or dates"


def is_frame(x: Any) -> bool:
    """Whether rows come as named columns of possibly unlike types."""
    if isinstance(x, np.ndarray):
        return False
    return hasattr(x, "__arrow_c_stream__") or hasattr(x, "__dataframe__") or _is_pandas(x) or _is_narwhals(x)


def _is_pandas(x: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(x, pandas.DataFrame)


def _is_narwhals(x: Any) -> bool:
    try:
        import narwhals.stable.v1 as narwhals
    except ImportError:
        return False
    return narwhals.dependencies.is_into_dataframe(x)


def table(x: Any) -> _dolmen.Table:
    """The columns of any data frame."""
    if _is_pandas(x):
        return _of_pandas(x)
    if hasattr(x, "__arrow_c_stream__"):
        return _dolmen.Table.from_arrow(x)
    import narwhals.stable.v1 as narwhals

    frame = narwhals.from_native(x, eager_only=True)
    return _dolmen.Table.from_arrow(frame.to_arrow())


def _of_pandas(frame: Any) -> _dolmen.Table:
    try:
        import pyarrow
    except ImportError:
        return _dolmen.Table.from_columns([(str(name), _cells(frame[name])) for name in frame.columns])
    try:
        return _dolmen.Table.from_arrow(pyarrow.Table.from_pandas(frame, preserve_index=False))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        # Columns of mixed types: Arrow has none, texts say what the cells look like.
        return _dolmen.Table.from_columns([(str(name), _cells(frame[name])) for name in frame.columns])


def _cells(column: Any) -> Any:
    """Numbers as an array, anything else as texts with None where a value is missing."""
    if column.dtype.kind in "iuf":
        return np.ascontiguousarray(column.to_numpy(), dtype=np.float64)
    missing = column.isna()
    # Truth values are spelled as Arrow spells them.
    spelled = (lambda cell: str(bool(cell)).lower()) if column.dtype.kind == "b" else str
    return [None if gone else spelled(cell) for cell, gone in zip(column, missing, strict=True)]


def numbers(x: Any) -> np.ndarray:
    """A C-contiguous array of doubles: the same one, if it is that already."""
    return np.ascontiguousarray(x, dtype=np.float64)


def spelled(classes: np.ndarray) -> list[str]:
    """The classes' names in files and reports: whole numbers without a decimal point."""
    if classes.dtype.kind == "f" and np.all(classes == np.floor(classes)):
        return [str(int(value)) for value in classes]
    return [str(value) for value in classes.tolist()]


def unspelled(names: list[str]) -> np.ndarray:
    """Classes read from a model file: whole numbers if all are spelled so, else texts."""
    try:
        whole = [int(name) for name in names]
    except ValueError:
        return np.asarray(names, dtype=object)
    return np.asarray(whole) if [str(value) for value in whole] == names else np.asarray(names, dtype=object)


def codes(labels: Any) -> np.ndarray:
    """Any labels, such as groups, as numbers from 0."""
    return np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.uint32).ravel()


def times(values: Any) -> np.ndarray:
    """Times of any kind as numbers, of which only the order counts."""
    array = np.asarray(values)
    if array.dtype.kind in "mM":
        return np.ascontiguousarray(array.astype("int64"), dtype=np.float64)
    return numbers(array)


def keys(rows: int, sample_weight: Any = None, groups: Any = None, times_of: Any = None) -> dict[str, Any]:
    """What is known of the rows beside inputs and truth."""
    found = {
        "weights": None if sample_weight is None else numbers(sample_weight).ravel(),
        "groups": None if groups is None else codes(groups),
        "times": None if times_of is None else times(times_of).ravel(),
    }
    for name, values in found.items():
        if values is not None and len(values) != rows:
            raise ValueError(f"{name}: expected {rows} values, one for each row, found {len(values)}")
    return found


def manner(n_jobs: int | None = None, progress: Any = None) -> dict[str, Any]:
    """How work is done: threads, and who hears of its progress. As in joblib, -1 is all cores and -2 all but one."""
    if n_jobs is not None and n_jobs < 0:
        import os

        n_jobs = max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return {"n_jobs": n_jobs, "progress": progress}
