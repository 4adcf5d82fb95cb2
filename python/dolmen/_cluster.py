"""What is asked of a Dask cluster, and how its workers answer."""

from __future__ import annotations

import contextlib
import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .errors import DolmenError

# How often a task is tried again when its worker is lost.
RETRIES = 3
# What a worker answers instead of failing: it would fail again, and be told with its traceback for every block and trial.
REFUSALS = (DolmenError, FileNotFoundError, TypeError, ValueError)
# Outcomes are brought in so many at a time, or so many bytes.
AT_ONCE, BYTES_AT_ONCE = 32, 32_000_000


class Asked:
    """What is asked of the cluster for one fit: no task outlives it."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.futures: weakref.WeakSet[Any] = weakref.WeakSet()
        self.heard: Exception | None = None
        """What a worker raised."""
        self._lock, self.stopped = threading.Lock(), False

    def map(self, function: Callable[..., Any], *of_blocks: list[Any], **shared: Any) -> list[Any]:
        """A task for each block."""
        return self.noted(mapped(self.client, functools.partial(_answer, function), *of_blocks, **shared))

    def noted(self, futures: list[Any]) -> list[Any]:
        """Keeps in mind what there is to call off."""
        with self._lock:
            self.futures.update(futures)
            is_late = self.stopped
        if is_late:
            self.stop()
        return futures

    def all(self, futures: list[Any]) -> list[Any]:
        """What came of all."""
        try:
            answers = self.client.gather(futures)
            for answer in answers:
                if isinstance(answer, _Refused):
                    raise answer.error
            return answers
        except Exception as error:
            self.heard = self.heard or error
            raise

    def one_by_one(self, futures: list[Any]) -> Iterator[Any]:
        """What came of each in their order, some being brought in at a time: one by one they cost more than they say."""
        done, window = 0, 1
        while done < len(futures):
            came = self.all(futures[done : done + window])
            # What was merged need not be kept on the workers.
            futures[done : done + window] = [None] * len(came)
            done += len(came)
            window = max(1, min(AT_ONCE, BYTES_AT_ONCE // max(1, *map(len, came))))
            yield from came

    def stop(self) -> None:
        """Calls off what is not done."""
        with self._lock:
            self.stopped, left = True, [future for future in self.futures if not future.done()]
        # A client that is gone has nothing to call off.
        with contextlib.suppress(Exception):
            if left:
                self.client.cancel(left)


def mapped(client: Any, function: Callable[..., Any], *of_blocks: list[Any], **of_all: Any) -> list[Any]:
    """Futures of a function of each block and of what all need."""
    return client.map(_with, *of_blocks, function=function, of_all=shared(client, of_all), pure=False, retries=RETRIES)


def shared(client: Any, value: Any) -> Any:
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


def _with(*of_block: Any, function: Callable[..., Any], of_all: dict[str, Any]) -> Any:
    return function(*of_block, **of_all)


class _Refused:
    """What a worker could not do, and why."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _answer(function: Callable[..., Any], *of_block: Any, **of_all: Any) -> Any:
    try:
        return function(*of_block, **of_all)
    except REFUSALS as error:
        # A traceback of the worker's says nothing here.
        return _Refused(error.with_traceback(None))
