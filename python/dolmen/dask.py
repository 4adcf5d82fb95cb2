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

import contextlib
import functools
import glob
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _dolmen, _rows
from ._estimator import ELSEWHERE
from ._learner import spec_of
from .recipe import estimator_of

__all__ = ["fit", "predict", "score", "workers"]

# How often a task is tried again when its worker is lost.
RETRIES = 3
# Memory for the sample, if nothing is said: the client's own.
MEMORY = "1G"


def fit(
    data: Any,
    target: str | None = None,
    *,
    members: Any = None,
    client: Any = None,
    memory: str = MEMORY,
    random_state: int = 0,
    n_jobs: int | None = 1,
    **recipe: Any,
) -> Any:
    """Fits a stack to rows that the workers of a cluster hold or read, and gives an estimator.

    `data` is a Dask DataFrame or Array, a list of futures or delayed frames, or the path of Parquet files that every worker can read (a folder, or a
    pattern). One partition, or file, is one block. `target` names the column to predict; without it the density of the rows is modelled. Further keywords are fields of
    the recipe (combiners, folds, weights, groups, task, ..); `memory` bounds the sample that members without passes, and errors, are made of.
    `n_jobs` are the threads of one task.
    """
    client = _client(client)
    blocks = _blocks(data, client)
    given = {"seed": random_state, "target": target, "memory": str(memory), **recipe}
    if members is not None:
        given["members"] = spec_of(_listed(members))
    if "combiner" in given:
        given["combiners"] = given.pop("combiner")
    if "combiners" in given:
        given["combiners"] = _listed(given["combiners"])
    manner = _rows.manner(n_jobs)
    layouts = client.gather(_map(client, _layout, blocks, recipe=given))
    layout = _dolmen.Layout.merged(layouts)
    firsts = np.concatenate([[0], np.cumsum([own.rows for own in layouts])[:-1]]).tolist()

    def ask(work: bytes) -> Iterator[bytes]:
        futures = _map(client, _work, blocks, firsts, work=work, recipe=given, layout=layout, manner=manner)
        for at, future in enumerate(futures):
            yield future.result()
            # What was merged need not be kept on the workers.
            futures[at] = None

    return estimator_of(_dolmen.fit_blocks(given, layout, ask, _rows.manner(None)))


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
    if not hasattr(data, "map_partitions") and not hasattr(data, "map_blocks"):
        client = _client(client)
        return _map(client, _predict, _blocks(data, client), call=call)
    if hasattr(data, "map_partitions"):
        meta = _shape_of(call, data._meta_nonempty)
        return data.map_partitions(call, meta=meta)
    width = getattr(estimator, "classes_", ())
    if method == "predict_proba":
        return data.map_blocks(call, chunks=(data.chunks[0], (len(width),)), dtype=np.float64)
    return data.map_blocks(call, drop_axis=1, dtype=np.float64)


def score(estimator: Any, data: Any, target: str | None = None, *, client: Any = None) -> dict[str, Any]:
    """How good an estimator is on the rows of a Dask DataFrame, partition by partition: what `score_report` says, beside its members and with standard errors.

    The AUC is not there: it ranks all rows, and these stay where they are.
    """
    if target is None and hasattr(estimator, "predict"):
        raise ValueError("target must name the column of the truth, which is held against what the estimator predicts")
    client = _client(client)
    found = client.gather(_map(client, _score, _blocks(data, client), estimator=estimator, target=target))
    return _dolmen.ScoreSums.report(estimator.model_, found)


@contextlib.contextmanager
def workers(client: Any = None) -> Iterator[Any]:
    """Within it the workers of a cluster fit the members of every stack: each member on each fold is a task of its own, Python objects included.

    The rows go to each worker once. The model is the one that this process would fit, bit for bit; a worker that is lost costs its tasks only.
    """
    token = ELSEWHERE.set(_Workers(_client(client)))
    try:
        yield
    finally:
        ELSEWHERE.reset(token)


class _Workers:
    """Those who do the fits of stacks."""

    # As many members are asked for at a time as there are threads, which only wait here.
    threads = 16

    def __init__(self, client: Any) -> None:
        self.client = client

    def doer(self, *fit: Any) -> Callable[[list[bytes]], list[bytes]]:
        """Sends the rows to the cluster; what is called with the tasks."""
        sent = _shared(self.client, _Fit(*fit))

        def do(tasks: list[bytes]) -> list[bytes]:
            return self.client.gather(self.client.map(_task, tasks, fit=sent, pure=False, retries=RETRIES))

        return do


class _Fit:
    """A fit as it is sent to the workers, which take it apart once."""

    def __init__(self, recipe: dict[str, Any], x: Any, truth: Any, keys: dict[str, Any], members: dict[str, Any] | None) -> None:
        self.given = (recipe, x, truth, keys, members)
        self._lock, self._tasks = threading.Lock(), None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.given

    def tasks(self) -> _dolmen.FitTasks:
        """What does the tasks."""
        with self._lock:
            if self._tasks is None:
                recipe, x, *others = self.given
                rows = _rows.table(x) if _rows.is_frame(x) else np.ascontiguousarray(x, dtype=np.float64)
                self._tasks = _dolmen.FitTasks(recipe, rows, *others)
            return self._tasks


class _Call:
    """A method of an estimator, sent to the workers as the bytes of its model."""

    def __init__(self, estimator: Any, method: str) -> None:
        self.estimator, self.method = estimator, method

    def __call__(self, rows: Any) -> Any:
        said = getattr(self.estimator, self.method)(rows)
        if not hasattr(rows, "index"):
            return said
        import pandas

        if np.ndim(said) == 1:
            return pandas.Series(said, index=rows.index, name=self.method)
        return pandas.DataFrame(said, index=rows.index, columns=[str(name) for name in self.estimator.classes_])


def _shape_of(call: _Call, rows: Any) -> Any:
    return call(rows).iloc[:0]


def _client(client: Any) -> Any:
    """The client that is given, or the one at hand; its scheduler and workers can import this package."""
    client = _found(client)
    # A worker that cannot read a task dies of it, and the fit would wait for ever. All are asked with what every Python has.
    asked = (exec, f"import {__package__}")
    failed = {worker: error for worker, error in client.run(*asked, on_error="return").items() if error is not None}
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
        delayed = data.to_delayed()
        parts = [part for part in np.ravel(delayed)] if isinstance(delayed, np.ndarray) else list(delayed)
        if isinstance(delayed, np.ndarray) and delayed.ndim == 2 and delayed.shape[1] != 1:
            raise ValueError("the array is cut into blocks of columns: rechunk it so that a block has whole rows")
        return client.compute(parts)
    blocks = list(data)
    if not blocks:
        raise ValueError("there are no blocks of rows")
    return [client.compute(block) if hasattr(block, "__dask_graph__") else block for block in blocks]


def _files(path: str) -> list[str]:
    found = sorted(glob.glob(os.path.join(path, "*.parquet")) if os.path.isdir(path) else glob.glob(path))
    if not found:
        raise FileNotFoundError(f"no Parquet files at {path}")
    return [os.path.abspath(name) for name in found]


def _map(client: Any, function: Callable[..., Any], *of_blocks: list[Any], **shared: Any) -> list[Any]:
    return client.map(_with, *of_blocks, function=function, shared=_shared(client, shared), pure=False, retries=RETRIES)


def _shared(client: Any, value: Any) -> Any:
    """A value that many tasks need, as the result of a task: it goes to the cluster once, then from worker to worker as they ask for it. Scattered, it would be
    lost with the worker that holds it; the result of a task is made again.
    """
    import dask

    # Dask warns of large arguments of tasks, which is right where they go with each.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
        return client.submit(functools.partial(_itself, value), pure=False, retries=RETRIES)


# What workers do. They need nothing but this package.


def _itself(value: Any) -> Any:
    return value


def _with(*of_block: Any, function: Callable[..., Any], shared: dict[str, Any]) -> Any:
    return function(*of_block, **shared)


def _table(block: Any) -> _dolmen.Table:
    if isinstance(block, str):
        import pyarrow.parquet

        return _dolmen.Table.from_arrow(pyarrow.parquet.read_table(block))
    if isinstance(block, np.ndarray):
        columns = [(f"x{j + 1}", _rows.numbers(block[:, j])) for j in range(block.shape[1])]
        return _dolmen.Table.from_columns(columns)
    return _rows.table(block)


def _layout(block: Any, recipe: dict[str, Any]) -> _dolmen.Layout:
    return _dolmen.Layout.of(recipe, _table(block))


def _work(
    block: Any, first: int, work: bytes, recipe: dict[str, Any], layout: _dolmen.Layout, manner: dict[str, Any]
) -> bytes:
    return _dolmen.work_on_block(recipe, work, first, _table(block), layout, manner)


def _task(task: bytes, fit: _Fit) -> bytes:
    return fit.tasks().run(task, _rows.manner(1))


def _frame(block: Any) -> Any:
    if not isinstance(block, str):
        return block
    import pandas

    return pandas.read_parquet(block)


def _predict(block: Any, call: _Call) -> Any:
    frame, names = _frame(block), getattr(call.estimator, "feature_names_in_", None)
    # Files may hold more columns than the estimator was fitted to, the target among them.
    return np.asarray(call(frame[list(names)] if names is not None and hasattr(frame, "columns") else frame))


def _score(block: Any, estimator: Any, target: str | None) -> _dolmen.ScoreSums:
    frame = _frame(block)
    if target is None:
        return estimator._score_sums(frame)
    return estimator._score_sums(frame.drop(columns=[target]), frame[target])
