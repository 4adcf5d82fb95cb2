"""Fits on a Dask cluster.

Rows that fit one machine are sent to each worker once, and the fits of a stack (each member on each fold) are shared among the workers; members may be
Python objects:

>>> with on_dask.workers(client):                                              # doctest: +SKIP
...     stack = dolmen.StackedClassifier().fit(X, y)

Rows that no machine holds stay where they are, and small sums travel. Learners that can be fitted in passes (Gaussians, mixtures, linear models, counts) see all rows; the others a seeded sample. Each worker sums its own
partitions, the sums are merged in the order of the partitions, and the result is, bit for bit, that of one machine with the same blocks.

>>> from dolmen import dask as on_dask                                         # doctest: +SKIP
>>> stack = on_dask.fit("events/*.parquet", members=["gaussian", "mixture(components=8)"], client=client)  # doctest: +SKIP
>>> on_dask.predict(stack, frame)                                              # doctest: +SKIP
"""

from __future__ import annotations

import bisect
import contextlib
import glob
import os
import re
import threading
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _dolmen, _rows
from ._cluster import REFUSALS, RETRIES, Asked, mapped, shared
from ._estimator import ELSEWHERE
from ._learner import spec_of
from ._tasks import Workers
from .errors import DataError, DolmenError, FileError
from .recipe import estimator_of

__all__ = ["fit", "predict", "score", "workers"]

# Memory for the sample, if nothing is said: the client's own.
MEMORY = "1G"
# Of its memory a worker keeps so much of the blocks that it has seen, for the next pass; without a limit so many bytes.
KEPT_SHARE, KEPT_BYTES = 0.25, 1_000_000_000
WHOLE = "it may have been copied or written in part: make it again, or take it out of the folder"


def fit(
    data: Any,
    target: str | None = None,
    *,
    members: Any = None,
    client: Any = None,
    memory: str | int | None = MEMORY,
    random_state: Any = 0,
    n_jobs: int | None = 1,
    **recipe: Any,
) -> Any:
    """Fits a stack to rows that the workers of a cluster hold or read, and gives an estimator.

    `data` is a Dask DataFrame or Array, a list of futures, delayed frames, frames or paths, or the path of Parquet files that every worker can read (a
    folder, or a pattern). One partition, or file, is one block; those without rows are passed over. `target` names the column to predict; without it the density of the rows is modelled. Further keywords are fields of
    the recipe (combiners, folds, weights, groups, task, ..); `memory` bounds the sample that members without passes, and errors, are made of
    (None: half of the client's).
    `n_jobs` are the threads of one task.
    """
    client = _client(client)
    blocks = _blocks(data, client)
    given = {"seed": _rows.seed(random_state), "target": target, **recipe}
    if memory is not None:
        given["memory"] = str(memory)
    if members is not None:
        given["members"] = spec_of(_listed(members))
    if "combiner" in given:
        given["combiners"] = given.pop("combiner")
    if "combiners" in given:
        given["combiners"] = _listed(given["combiners"])
    of_all = {"recipe": given, "manner": _rows.manner(n_jobs)}
    asked = Asked(client)
    names: list[str] = []
    firsts: list[int] = []
    try:
        # Rows are read and kept by the worker that has them; they go nowhere else.
        names = [block if isinstance(block, str) else f"block {place + 1}" for place, block in enumerate(blocks)]
        blocks = client.map(_Block, blocks, names, pure=False, retries=RETRIES)
        layouts = asked.all(asked.map(_layout, blocks, recipe=given))
        present = [at for at, own in enumerate(layouts) if own is not None]
        if not present:
            raise DataError("there are no rows: all blocks are empty")
        blocks, layouts, names = ([own[at] for at in present] for own in (blocks, layouts, names))
        of_all["layout"] = layout = _merged(given, layouts, present, data)
        firsts = np.concatenate([[0], np.cumsum([own.rows for own in layouts])[:-1]]).tolist()

        def ask(work: bytes) -> Iterator[bytes]:
            return asked.one_by_one(asked.map(_work, blocks, firsts, work=work, **of_all))

        model = _dolmen.fit_blocks(given, layout, ask, _rows.manner(None))
    except DolmenError as error:
        # What a worker said, in its own words, or what was said here of the rows that came from all of them.
        raise (asked.heard or _in_block(error, names, firsts)) from None
    finally:
        asked.stop()
    estimator = estimator_of(model)
    estimator._tell(_news(model.report()))
    return estimator


def _news(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what was asked for: that the rows were read in blocks."""
    notes = (re.sub(r"^the table was read block by block: \d+ rows(; )?", "", note) for note in report.get("data_notes") or [])
    return {**report, "data_notes": [note for note in notes if note]}


def _in_block(error: DolmenError, names: list[str], firsts: list[int]) -> DolmenError:
    """An error that names a row of the whole table, with the row's block and its place there."""
    found = re.match(r"row (\d+)", str(error))
    if found is None or not isinstance(error, DataError) or not firsts:
        return error
    row = int(found[1])
    # Rows are counted from 1, those before a block from 0.
    place = bisect.bisect_left(firsts, row) - 1
    return type(error)(f"{names[place]}, row {row - firsts[place]}{str(error)[found.end() :]}")


def _merged(recipe: dict[str, Any], layouts: list[_dolmen.Layout], places: list[int], data: Any) -> _dolmen.Layout:
    """The layout of all blocks. One that does not belong to the others is named: by its file, if it is one."""
    try:
        return _dolmen.Layout.merged(recipe, layouts)
    except DolmenError as error:
        found = re.match(r"block (\d+): ", str(error))
        if found is None:
            raise
        place = places[int(found[1]) - 1]
        name = f"block {place + 1}"
        if isinstance(data, (str, os.PathLike)):
            name = _files(os.fspath(data))[place]
        raise DataError(f"{name}: {str(error)[found.end() :]}") from None


def _listed(given: Any) -> list[Any]:
    """One thing, or several, as a list."""
    return [given] if isinstance(given, str) or not isinstance(given, (list, tuple)) else list(given)


def predict(estimator: Any, data: Any, method: str | None = None, *, client: Any = None) -> Any:
    """What a fitted estimator says about rows, partition by partition, as a Dask DataFrame or Array like `data`.

    Of paths, and of lists of futures or delayed frames (see `fit`), a list of futures, one for each block in its order: `client.gather` brings the arrays.
    `method` is the estimator's: `predict`, `predict_proba`, `score_samples`; the last one for densities and the first for others if not given.
    """
    if method is None:
        method = "predict" if hasattr(estimator, "predict") else "score_samples"
    call = _Call(estimator, method)
    if hasattr(data, "map_partitions"):
        return data.map_partitions(call, meta=_shape_of(call, data._meta_nonempty))
    if not hasattr(data, "map_blocks"):
        client = _client(client)
        return mapped(client, _predict, _blocks(data, client), call=call)
    if data.ndim != 2:
        raise ValueError(f"the array must have two dimensions, rows and columns, but has {data.ndim}")
    data = data.rechunk({1: -1})
    like = call(np.zeros((1, data.shape[1])))
    if like.ndim == 1:
        return data.map_blocks(call, drop_axis=1, dtype=like.dtype)
    return data.map_blocks(call, chunks=(data.chunks[0], (like.shape[1],)), dtype=like.dtype)


def score(estimator: Any, data: Any, target: str | None = None, *, client: Any = None) -> dict[str, Any]:
    """How good an estimator is on the rows of a Dask DataFrame, partition by partition: what `score_report` says, beside its members and with standard errors.

    Columns that the estimator does not know are not looked at. The AUC is not there: it ranks all rows, and these stay where they are.
    """
    if target is None and hasattr(estimator, "predict"):
        raise ValueError("target must name the column of the truth, which is held against what the estimator predicts")
    client = _client(client)
    asked = Asked(client)
    found = asked.all(asked.map(_score, _blocks(data, client), estimator=estimator, target=target))
    sums = [part for part in found if part is not None]
    if not sums:
        raise DataError("there are no rows: all blocks are empty")
    return _dolmen.ScoreSums.report(estimator.model_, sums)


@contextlib.contextmanager
def workers(client: Any = None) -> Iterator[Any]:
    """Within it the workers of a cluster fit the members of every stack: each member on each fold is a task of its own, Python objects included.

    The rows go to each worker once. The model is the one that this process would fit, bit for bit; a worker that is lost costs its tasks only.
    """
    token = ELSEWHERE.set(Workers(_client(client)))
    try:
        yield
    finally:
        ELSEWHERE.reset(token)


class _Call:
    """A method of an estimator, sent to the workers as the bytes of its model."""

    def __init__(self, estimator: Any, method: str) -> None:
        if not hasattr(estimator, method):
            raise AttributeError(f"{type(estimator).__name__} has no method '{method}'")
        self.estimator, self.method = estimator, method

    def __call__(self, rows: Any) -> Any:
        rows = _known_columns(self.estimator, rows)
        # Of no rows it says nothing, in the form of what it says of one.
        said = self._said(rows) if len(rows) else self._of_none(rows)
        if not hasattr(rows, "index"):
            return said
        import pandas

        if np.ndim(said) == 1:
            return pandas.Series(said, index=rows.index, name=self.method)
        return pandas.DataFrame(said, index=rows.index, columns=[str(name) for name in self.estimator.classes_])

    def _said(self, rows: Any) -> np.ndarray:
        return getattr(self.estimator, self.method)(rows)

    def _of_none(self, rows: Any) -> np.ndarray:
        classes = getattr(self.estimator, "classes_", None)
        if self.method == "predict" and classes is not None:
            return classes[:0]
        return np.empty((0, len(classes)) if self.method.endswith("_proba") else 0)


def _known_columns(estimator: Any, rows: Any) -> Any:
    """The columns that the estimator was fitted to; there may be more, the target among them."""
    names = getattr(estimator, "feature_names_in_", None)
    columns = getattr(rows, "columns", None)
    if names is None or columns is None or not set(names) <= set(columns):
        return rows
    return rows[list(names)]


def _shape_of(call: _Call, rows: Any) -> Any:
    return call(rows).iloc[:0]


def _client(client: Any) -> Any:
    """The client that is given, or the one at hand; its scheduler and workers can import this package."""
    client = _found(client)
    if not hasattr(client, "run"):
        raise TypeError(f"client must be a Client of dask.distributed, but is of the type {type(client).__name__}")
    if getattr(client, "status", "running") in ("closed", "closing"):
        raise ValueError("the Dask client is closed: start another (distributed.Client())")
    if getattr(client, "asynchronous", False):
        raise ValueError("the Dask client is asynchronous: give one that waits (distributed.Client())")
    # A worker that cannot read a task dies of it, and the fit would wait for ever. All are asked with what every Python has.
    asked = (exec, f"import {__package__}")
    answers = client.run(*asked, on_error="return")
    if not answers:
        warnings.warn("the Dask cluster has no workers yet: the work begins when there are some", stacklevel=3)
    failed = {worker: error for worker, error in answers.items() if error is not None}
    if failed:
        reasons = "; ".join(f"{worker} ({error})" for worker, error in failed.items())
        raise ImportError(f"workers that cannot import this package: {reasons}; install the same version of dolmen there")
    try:
        client.run_on_scheduler(*asked)
    except Exception as error:
        raise ImportError(f"the scheduler cannot import this package ({error}); install the same version of dolmen there") from error
    return client


def _found(client: Any) -> Any:
    if client is not None:
        return client
    try:
        from distributed import get_client
    except ImportError as error:
        raise ImportError("dolmen.dask needs dask.distributed: pip install 'dolmen[dask]'") from error
    try:
        return get_client()
    except ValueError as error:
        raise ValueError("there is no Dask client: start one (distributed.Client()), or give client=") from error


def _blocks(data: Any, client: Any) -> list[Any]:
    """What a task needs to have its rows: a path, or a future of a frame that is kept on some worker."""
    if isinstance(data, (str, os.PathLike)):
        return _files(os.fspath(data))
    if hasattr(data, "to_delayed"):
        if getattr(data, "ndim", 2) != 2:
            raise ValueError(f"rows have columns: a Dask DataFrame, or an Array of two dimensions, but this {type(data).__name__} has {data.ndim}")
        delayed = data.to_delayed()
        parts = [part for part in np.ravel(delayed)] if isinstance(delayed, np.ndarray) else list(delayed)
        if isinstance(delayed, np.ndarray) and delayed.ndim == 2 and delayed.shape[1] != 1:
            raise ValueError("the array is cut into blocks of columns: rechunk it so that a block has whole rows")
        return client.compute(parts)
    if isinstance(data, np.ndarray) or _rows.is_frame(data) or not hasattr(data, "__iter__"):
        kinds = "a Dask DataFrame or Array, a path, or a list of blocks"
        raise TypeError(f"data must be {kinds}, but is of the type {type(data).__name__}\nhint: rows that are here are one block, [rows], or more")
    blocks = [_block(block, client) for block in data]
    if not blocks:
        raise ValueError("there are no blocks of rows")
    return blocks


def _block(block: Any, client: Any) -> Any:
    """One of a list. Rows that are here go to the cluster once, not with every task."""
    if isinstance(block, (str, os.PathLike)):
        return os.path.abspath(os.fspath(block))
    if hasattr(block, "__dask_graph__"):
        return client.compute(block)
    return block if hasattr(block, "add_done_callback") else shared(client, block)


def _files(path: str) -> list[str]:
    """The files of a name, as the program finds them: one, those in a folder, those that fit a pattern."""
    if os.path.isdir(path):
        found = sorted(os.path.join(path, name) for name in os.listdir(path) if _is_parquet(name))
    else:
        # A name that is there is no pattern, whatever signs are in it.
        found = [path] if os.path.exists(path) else sorted(glob.glob(path))
    if not found:
        raise FileNotFoundError(f"no Parquet files at {path}")
    return [os.path.abspath(name) for name in found]


def _is_parquet(name: str) -> bool:
    return not name.startswith(".") and name.lower().endswith((".parquet", ".pq"))


# What workers do. They need nothing but this package.


class _Block:
    """A block on a worker, which keeps its rows as work needs them while there is room: for the next pass. It travels as what it was given, a path or rows."""

    # Those that keep something, the one that was used last at the end.
    keeping: list[weakref.ref[_Block]] = []
    lock = threading.Lock()

    def __init__(self, given: Any, name: str) -> None:
        self.given, self.name, self.bytes = given, name, 0
        self._kept: _dolmen.Table | _dolmen.KeptRows | None = None
        # By what is told of the size of a block the scheduler knows who should work on it. What is wrong with a file is told by who asks for its rows.
        if isinstance(given, str):
            with contextlib.suppress(*REFUSALS):
                self.table()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Block._elsewhere, (self.given, self.name, self.bytes)

    @classmethod
    def _elsewhere(cls, given: Any, name: str, size: int) -> _Block:
        block = cls.__new__(cls)
        block.given, block.name, block.bytes, block._kept = given, name, size, None
        return block

    def __sizeof__(self) -> int:
        from dask.sizeof import sizeof

        return 1000 + (self.bytes if isinstance(self.given, str) else sizeof(self.given))

    def table(self) -> _dolmen.Table:
        """Its rows as they were given."""
        # Another thread may need the room meanwhile.
        kept = self._kept
        if isinstance(kept, _dolmen.Table):
            return kept
        if not isinstance(self.given, str):
            return _table(self.given)
        read = _read(self.given)
        table = _dolmen.Table.from_arrow(read)
        self._keep(table, read.nbytes)
        return table

    def work(self, work: bytes, first: int, recipe: dict[str, Any], layout: _dolmen.Layout, manner: dict[str, Any]) -> bytes:
        """Does some work with it, and keeps its rows for the next in the place of its table."""
        kept = self._kept
        if not (isinstance(kept, _dolmen.KeptRows) and kept.serve(work)):
            kept = self.table()
        with self.named():
            outcome, rows = _dolmen.work_on_block(recipe, work, first, kept, layout, manner)
        if rows is not None:
            self._keep(rows, rows.nbytes)
        return outcome

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Within it an error that names a row says of which block: rows are counted in it."""
        try:
            yield
        except DataError as error:
            if not str(error).startswith("row "):
                raise
            raise type(error)(f"{self.name}, {error}") from None

    def _keep(self, kept: _dolmen.Table | _dolmen.KeptRows, size: int) -> None:
        room = _room()
        with self.lock:
            others = [(ref, block) for ref in self.keeping if (block := ref()) is not None and block is not self]
            while others and sum(block.bytes for _, block in others) + size > room:
                others.pop(0)[1]._kept = None
            self.bytes, self._kept = size, kept if size <= room else None
            self.keeping[:] = [ref for ref, _ in others] + ([weakref.ref(self)] if self._kept is not None else [])


def _room() -> float:
    """Bytes of tables that this worker may keep."""
    try:
        from distributed import get_worker

        limit = get_worker().memory_manager.memory_limit
    except (AttributeError, ImportError, ValueError):
        limit = None
    return limit * KEPT_SHARE if limit else KEPT_BYTES


def _read(path: str) -> Any:
    import pyarrow
    import pyarrow.parquet

    try:
        return pyarrow.parquet.read_table(path)
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: this worker finds no such file") from None
    except (pyarrow.ArrowException, OSError) as error:
        said = str(error)
        # What cures a file that is not as it was written; of one that may not be read the system's own words say enough.
        cure = "" if isinstance(error, PermissionError) else f"\nhint: {WHOLE}"
        raise FileError((said if path in said else f"{path}: {said}") + cure) from None


def _table(block: Any) -> _dolmen.Table:
    if isinstance(block, np.ndarray):
        return _dolmen.Table.from_columns(_columns(block))
    if not _rows.is_frame(block):
        raise TypeError(f"a block of rows must be a data frame or an array, but is of the type {type(block).__name__}")
    return _rows.table(block)


def _columns(block: np.ndarray) -> list[tuple[str, np.ndarray]]:
    if block.ndim != 2:
        raise ValueError(f"a block of an array must have two dimensions, rows and columns, but has {block.ndim}")
    _rows.refuse_dates(block)
    if isinstance(block, np.ma.MaskedArray):
        block = block.astype(np.float64).filled(np.nan)
    return [(f"x{j + 1}", _rows.numbers(block[:, j])) for j in range(block.shape[1])]


def _layout(block: _Block, recipe: dict[str, Any]) -> _dolmen.Layout | None:
    """That of a block; none if it has no rows, for then it may not say what its columns are."""
    table = block.table()
    with block.named():
        return _dolmen.Layout.of(recipe, table) if table.rows else None


def _work(block: _Block, first: int, work: bytes, **fit: Any) -> bytes:
    return block.work(work, first, **fit)


def _frame(block: Any) -> Any:
    return _read(block).to_pandas() if isinstance(block, str) else block


def _predict(block: Any, call: _Call) -> Any:
    return np.asarray(call(_frame(block)))


def _score(block: Any, estimator: Any, target: str | None) -> _dolmen.ScoreSums | None:
    frame = _frame(block)
    if not len(frame):
        return None
    if target is None:
        return estimator._score_sums(_known_columns(estimator, frame))
    columns = getattr(frame, "columns", None)
    if columns is None:
        raise TypeError("the truth is a column with a name, which arrays do not have: give data frames")
    if target not in columns:
        raise DataError(f"there is no column '{target}'\nhint: the columns are: {', '.join(map(str, columns))}")
    names = [name for name in columns if name != target]
    return estimator._score_sums(_known_columns(estimator, frame[names]), frame[target])
