"""Rows, targets and keys on their way into the library: arrays are not copied, data frames go through Arrow."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from . import _dolmen

FRAME_SIGNS = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__")
"""Methods of which frames have one: Arrow's PyCapsule interface, or the older protocol."""

FRAME_HINT = "pass a data frame (pandas, Polars, pyarrow) if columns hold texts, categories or dates"


def holds_objects(x: Any) -> bool:
    """Whether an array, or what would become one, holds other things than numbers."""
    try:
        array = np.asarray(x)
    except (TypeError, ValueError):
        return False
    return array.ndim > 0 and array.dtype.kind in "OUS"


def is_frame(x: Any) -> bool:
    """Whether rows come as named columns of possibly unlike types."""
    if isinstance(x, np.ndarray):
        return False
    if type(x).__name__ == "LazyFrame":
        raise TypeError("a lazy frame has no rows yet: collect() it first")
    if hasattr(x, "__dask_graph__"):
        raise TypeError(f"a Dask {type(x).__name__} has its rows elsewhere: compute() it first, or fit with dolmen.dask.fit")
    shape = getattr(x, "shape", None)
    if isinstance(shape, tuple) and len(shape) != 2:
        return False
    return any(hasattr(x, name) for name in FRAME_SIGNS) or _is_pandas(x) or _is_narwhals(x)


def _is_pandas(x: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(x, pandas.DataFrame)


def _is_polars(x: Any) -> bool:
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(x, polars.DataFrame)


def _is_pyarrow(x: Any) -> bool:
    pyarrow = sys.modules.get("pyarrow")
    return pyarrow is not None and isinstance(x, (pyarrow.Table, pyarrow.RecordBatch))


def _is_narwhals(x: Any) -> bool:
    try:
        import narwhals.stable.v1 as narwhals
    except ImportError:
        return False
    return narwhals.dependencies.is_into_dataframe(x)


def check_names(frame: Any) -> None:
    """Refuses a data frame without columns, or with two of one name."""
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None:
        return
    names = [str(name) for name in names]
    if not names:
        raise ValueError("Found array with 0 feature(s): the data frame has no columns")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"the data frame has several columns called {', '.join(twice)}")


def free_name(name: str, taken: list[str]) -> str:
    """A name for a column beside others."""
    while name in taken:
        name += "_"
    return name


def check_rows(table: _dolmen.Table, least: int) -> None:
    """Refuses a data frame with fewer rows, in scikit-learn's words for arrays."""
    if table.rows < least:
        raise ValueError(f"Found array with {table.rows} sample(s) while a minimum of {least} is required.")


def with_names(x: Any, names: list[str]) -> Any:
    """The data frame, or if scikit-learn cannot read its columns' names, one without rows that has them."""
    if _is_pandas(x) or _is_polars(x) or type(x).__module__ == "pyarrow.lib" and type(x).__name__ == "Table":
        return x
    try:
        import pyarrow
    except ImportError:
        return x
    return pyarrow.table({name: pyarrow.array([], pyarrow.float64()) for name in names})


def array_of(frame: Any) -> np.ndarray:
    """The rows of a data frame, for models that do not know columns by name."""
    if _is_pandas(frame) or _is_polars(frame):
        return np.asarray(frame)
    return np.column_stack(list(named_columns(frame).values()))


def refuse_dates(x: Any) -> None:
    """Dates in an array would be numbers in a unit that nobody knows, and missing ones numbers, too."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "mM":
        raise TypeError(f"an array of dates or times holds no numbers\nhint: {FRAME_HINT}")


def refuse_mapping(x: Any) -> None:
    """Refuses columns that nothing holds together. One kind of sparse array is a mapping, too."""
    if isinstance(x, Mapping) and not hasattr(x, "shape"):
        raise TypeError("rows come as an array or a data frame, not as a mapping of columns\nhint: make a data frame of it")


def plain_labels(y: Any) -> Any:
    """Labels in pandas' types for missing values as what they are, if none is missing: scikit-learn would make numbers of truth values."""
    plain = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if plain is None or plain.kind not in "iub" or y.isna().any():
        return y
    return y.to_numpy(dtype=plain)


def table(x: Any, numbers: Collection[str] = ()) -> _dolmen.Table:
    """The columns of any data frame. Times of day are seconds in those that are known to be `numbers`."""
    check_names(x)
    if _is_pandas(x):
        return _of_pandas(x, numbers)
    if _is_polars(x):
        return _of_stream(_plain_polars(x, numbers))
    if _is_pyarrow(x):
        return _of_stream(_with_clocks(x, numbers))
    if hasattr(x, "__arrow_c_stream__"):
        return _of_stream(x)
    if hasattr(x, "__arrow_c_array__"):
        import pyarrow

        return _of_stream(_with_clocks(pyarrow.record_batch(x), numbers))
    import narwhals.stable.v1 as narwhals

    frame = narwhals.from_native(x, eager_only=True)
    return _dolmen.Table.from_arrow(_with_clocks(frame.to_arrow(), numbers))


def _of_stream(x: Any) -> _dolmen.Table:
    try:
        return _dolmen.Table.from_arrow(x)
    except ValueError as error:
        raise ValueError(f"{type(x).__name__} cannot be read as a table of columns: {error}") from None


def _plain_polars(frame: Any, numbers: Collection[str]) -> Any:
    """A frame of Polars whose columns all have a type, for it hands those that hold nothing over in a way that Arrow does not know; and clocks as
    texts, see `_with_clocks`."""
    import polars

    zoned = [name for name, kind in frame.schema.items() if _is_local(getattr(kind, "time_zone", None))]
    clocks = [name for name, kind in frame.schema.items() if kind == polars.Time and name not in numbers]
    return frame.with_columns(
        polars.col(polars.Null).cast(polars.String),
        polars.col(zoned).dt.to_string("%Y-%m-%dT%H:%M:%S%.f%z"),
        polars.col(clocks).dt.to_string("%H:%M:%S%.f"),
    )


def _with_clocks(table: Any, numbers: Collection[str]) -> Any:
    """A table of pyarrow with moments in a zone and times of day as texts that say what the clocks showed, as files of texts do: Arrow hands over
    what the clocks of Greenwich showed, and seconds."""
    import pyarrow.compute

    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    for place, (name, kind) in enumerate(zip(table.schema.names, table.schema.types, strict=True)):
        if _is_local(getattr(kind, "tz", None)):
            table = table.set_column(place, name, pyarrow.compute.strftime(table.column(place), format="%Y-%m-%dT%H:%M:%S%z"))
        elif pyarrow.types.is_time(kind) and name not in numbers:
            table = table.set_column(place, name, table.column(place).cast(pyarrow.string()))
    return table


def _is_local(zone: str | None) -> bool:
    return zone not in (None, "UTC", "Etc/UTC", "+00:00")


def _of_pandas(frame: Any, numbers: Collection[str]) -> _dolmen.Table:
    frame = _plain(frame)
    try:
        import pyarrow
    except ImportError:
        return _dolmen.Table.from_columns([(str(name), _cells(frame[name])) for name in frame.columns])
    try:
        return _dolmen.Table.from_arrow(_with_clocks(pyarrow.Table.from_pandas(frame, preserve_index=False), numbers))
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        # Columns of mixed types: Arrow has none, texts say what the cells look like.
        return _dolmen.Table.from_columns([(str(name), _cells(frame[name])) for name in frame.columns])


def _plain(frame: Any) -> Any:
    """A frame of pandas whose columns all have types that Arrow knows, or that say more than Arrow's do."""
    changed = {name: column for name in frame.columns if (column := _plain_column(frame[name])) is not None}
    if changed:
        frame = frame.copy(deep=False)
    for name, column in changed.items():
        frame[name] = column
    return frame


def _plain_column(column: Any) -> Any:
    """The column in another type; None if it can stay as it is."""
    kind = type(column.dtype).__name__
    if column.dtype.kind == "c":
        raise TypeError(f"column '{column.name}' holds complex numbers, which are not supported")
    if kind == "SparseDtype":
        return column.sparse.to_dense()
    if kind == "PeriodDtype":
        return column.dt.to_timestamp()
    if kind == "IntervalDtype":
        return column.astype(str).where(column.notna())
    if kind == "CategoricalDtype" and type(column.cat.categories.dtype).__name__ == "IntervalDtype":
        return column.cat.rename_categories(str)
    return None


def _cells(column: Any) -> Any:
    """Numbers as an array, anything else as texts with None where a value is missing."""
    if column.dtype.kind in "iuf":
        return np.ascontiguousarray(column.to_numpy(), dtype=np.float64)
    if column.dtype.kind == "m":
        return np.ascontiguousarray(column.dt.total_seconds(), dtype=np.float64)
    missing = column.isna()
    opaque = next((cell for cell in column[~missing] if type(cell).__str__ is object.__str__ and type(cell).__repr__ is object.__repr__), None)
    if opaque is not None:
        raise TypeError(f"column '{column.name}' holds objects of the type {type(opaque).__name__}, which are neither numbers nor texts")
    # Truth values are spelled as Arrow spells them.
    spelled = (lambda cell: str(bool(cell)).lower()) if column.dtype.kind == "b" else str
    return [None if gone else spelled(cell) for cell, gone in zip(column, missing, strict=True)]


def named_columns(frame: Any) -> dict[str, np.ndarray]:
    """The columns of any data frame as arrays, by name."""
    import narwhals.stable.v1 as narwhals

    eager = narwhals.from_native(frame, eager_only=True, pass_through=True)
    if eager is frame:
        import pyarrow

        eager = narwhals.from_native(pyarrow.table(frame), eager_only=True)
    return {str(name): eager.get_column(name).to_numpy() for name in eager.columns}


def numbers(x: Any) -> np.ndarray:
    """A C-contiguous array of doubles: the same one, if it is that already."""
    return np.ascontiguousarray(x, dtype=np.float64)


def rows_of_numbers(x: Any) -> np.ndarray:
    """The same for rows that come without an estimator."""
    try:
        array = numbers(x)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{error}\nhint: {FRAME_HINT}") from None
    if array.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, but has {array.ndim}")
    return array


def spelled(classes: np.ndarray) -> list[str]:
    """The classes' names in files and reports: whole numbers without a decimal point, truth values as Arrow spells them."""
    if classes.dtype.kind == "f" and np.all(classes == np.floor(classes)):
        return [str(int(value)) for value in classes]
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in classes.tolist()]


def unspelled(names: list[str]) -> np.ndarray:
    """Classes read from a model file: whole numbers or truth values if all are spelled so, else texts."""
    if [name.lower() for name in names] == ["false", "true"]:
        return np.asarray([False, True])
    try:
        whole = [int(name) for name in names]
    except ValueError:
        return np.asarray(names, dtype=object)
    return np.asarray(whole) if [str(value) for value in whole] == names else np.asarray(names, dtype=object)


def codes(labels: Any) -> np.ndarray:
    """Any labels, such as groups, as numbers from 0; those that are missing are one of their own."""
    labels = np.asarray(labels)
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1].astype(np.uint32).ravel()
    found: dict[Any, int] = {}
    known = (None if is_missing(label) else label for label in labels.ravel())
    return np.asarray([found.setdefault(label, len(found)) for label in known], dtype=np.uint32)


def is_missing(cell: Any) -> bool:
    """Whether a cell holds no value: None, NaN, NaT, or what pandas calls NA."""
    is_nan = isinstance(cell, (float, np.generic)) and bool(cell != cell)
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def first_missing(values: np.ndarray) -> int | None:
    """The first of some values that is missing."""
    if values.dtype.kind not in "fcmMO":
        return None
    gone = _missing_objects(values) if values.dtype.kind == "O" else values != values
    return int(np.argmax(gone)) if gone.any() else None


def _missing_objects(cells: np.ndarray) -> np.ndarray:
    pandas = sys.modules.get("pandas")
    # It looks at millions of cells in a moment.
    return pandas.isna(cells) if pandas is not None else np.asarray([is_missing(cell) for cell in cells], dtype=bool)


def times(values: Any) -> np.ndarray:
    """Times of any kind as numbers, of which only the order counts, NaN where there is none: dates with a zone as the moments they are, texts as the
    command line reads them."""
    if getattr(getattr(values, "dt", None), "tz", None) is not None:
        values = values.dt.tz_convert(None)
    array = np.asarray(values)
    if array.dtype.kind in "mM":
        moments = array.astype("int64").astype(np.float64)
        return np.where(np.isnat(array), np.nan, moments)
    if array.dtype.kind in "OUS":
        return _dolmen.times([None if is_missing(cell) else _time_text(cell) for cell in array.ravel()])
    return numbers(array)


def _time_text(cell: Any) -> str:
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


SEEDS = 2**63
"""Seeds are whole numbers below this: recipes are files of numbers with a sign."""


def seed(random_state: Any) -> int:
    """The seed of a number, a generator, or None, which is 0."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < SEEDS:
            raise ValueError(f"random_state must be a whole number from 0 to 2**63 - 1, a generator or None, but is {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    from sklearn.utils.validation import check_random_state

    return int(check_random_state(random_state).randint(2**32, dtype=np.uint64))


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


MOST_JOBS = 2**16
"""Threads at most: the library starts no more than the machine has use for."""


def manner(n_jobs: int | None = None, progress: Any = None) -> dict[str, Any]:
    """How work is done: threads, and who hears of its progress. As in joblib, -1 is all cores and -2 all but one."""
    if n_jobs is not None and not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"n_jobs must be a whole number or None, but is {n_jobs!r}")
    if n_jobs == 0:
        raise ValueError("n_jobs must be at least 1, or negative: -1 is all cores")
    if n_jobs is not None and n_jobs < 0:
        import os

        n_jobs = max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return {"n_jobs": None if n_jobs is None else int(min(n_jobs, MOST_JOBS)), "progress": progress}
