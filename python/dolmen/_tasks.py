"""The fits of a stack as tasks on a Dask cluster, those that take longest first."""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from concurrent.futures import CancelledError
from typing import Any

import numpy as np

from . import _dolmen, _rows
from ._cluster import RETRIES, Asked, shared

# A thread of the cluster has so many tasks, so that it does not wait for the next.
AHEAD = 2
# Learners ask at about the same time; which task is the longest is known when all have asked.
TOGETHER = 0.01
# How often it is looked who is there to work, in seconds.
GLANCE = 1.0


class Workers:
    """Those who do the fits of stacks."""

    # As many members are asked for at a time as there are threads, which only wait here.
    threads = 16

    def __init__(self, client: Any) -> None:
        self.client = client

    def doer(self, *fit: Any) -> Doer:
        """Sends the rows to the cluster; what is called with the tasks."""
        return Doer(self.client, Fit(*fit))


class _Task:
    """A task that waits to be sent, or to be done."""

    def __init__(self, learner: int, text: bytes, came: threading.Event) -> None:
        self.learner, self.text, self.came = learner, text, came
        self.worker: str | None = None
        self.future: Any = None

    def is_done(self) -> bool:
        return self.future is not None and self.future.done()


class Doer:
    """Who does the tasks of one fit.

    For a long task that begins last all others wait. So no more are sent than keep the workers busy, and the next one is always of the learner whose tasks take
    longest. How long that is, its last one has told; a learner of which nothing is known comes first. A task goes to the worker that has the least to do: Dask
    prefers those that hold the rows already, and does not know which task takes how long. If that worker is lost, any other does it.
    """

    def __init__(self, client: Any, fit: Fit) -> None:
        self.client, self.asked = client, Asked(client)
        self._lock = threading.Lock()
        self._waiting: list[_Task] = []
        self._sent: list[_Task] = []
        self._seconds: dict[int, float] = {}
        self._threads: dict[str, int] = {}
        self._looked = -math.inf
        try:
            self._fit = shared(client, fit)
        except Exception as error:
            raise TypeError(_unsendable(fit, error)) from error

    def __call__(self, learner: int, texts: list[bytes]) -> list[bytes]:
        """What came of a learner's tasks; called from several threads."""
        came = threading.Event()
        tasks = [_Task(learner, text, came) for text in texts]
        answers: dict[_Task, bytes] = {}
        with self._lock:
            self._waiting += tasks
        try:
            time.sleep(TOGETHER)
            self._send()
            while len(answers) < len(tasks):
                came.wait(GLANCE)
                came.clear()
                done = [task for task in tasks if task.is_done()]
                self._forget(done)
                # The next ones begin while the answers are on their way.
                self._send()
                answers.update(zip(done, self._answers(done), strict=True))
        finally:
            self._forget(tasks)
        return [answers[task] for task in tasks]

    def stop(self) -> None:
        """Nobody waits for the tasks any more."""
        self.asked.stop()

    def _forget(self, tasks: list[_Task]) -> None:
        gone = set(tasks)
        with self._lock:
            self._waiting = [task for task in self._waiting if task not in gone]
            self._sent = [task for task in self._sent if task not in gone]

    def _answers(self, done: list[_Task]) -> list[bytes]:
        answers = []
        for task, (answer, seconds) in zip(done, self.asked.all([task.future for task in done]), strict=True):
            self._seconds[task.learner] = seconds
            # What was brought in need not be kept on the worker.
            task.future = None
            answers.append(answer)
        return answers

    def _send(self) -> None:
        """Sends what there is room for."""
        with self._lock:
            if self.asked.stopped:
                raise CancelledError("the fit was called off")
            if time.monotonic() - self._looked > GLANCE:
                self._threads, self._looked = self.client.nthreads(), time.monotonic()
            while self._waiting and (worker := self._free_worker()) is not None:
                self._send_to(worker, self._longest())

    def _longest(self) -> _Task:
        begun = {task.learner for task in self._sent}

        def urgency(task: _Task) -> tuple[bool, float]:
            seconds = self._seconds.get(task.learner)
            return seconds is None and task.learner not in begun, math.inf if seconds is None else seconds

        return max(self._waiting, key=urgency)

    def _free_worker(self) -> str | None:
        """The worker that has the least to do, if there is room; an empty name stands for whoever comes where there is nobody yet."""
        tasks, seconds = defaultdict(int), defaultdict(float)
        usual = max(self._seconds.values(), default=1.0)
        for task in self._sent:
            tasks[task.worker] += 1
            seconds[task.worker] += self._seconds.get(task.learner, usual)
        threads = self._threads or {"": 1}
        free = [worker for worker, own in threads.items() if tasks[worker] < AHEAD * own]
        return min(free, key=lambda worker: (tasks[worker] >= threads[worker], seconds[worker] / threads[worker]), default=None)

    def _send_to(self, worker: str, task: _Task) -> None:
        placed = {"workers": [worker], "allow_other_workers": True} if worker else {}
        task.worker, task.future = worker, self.client.submit(_done, task.text, fit=self._fit, pure=False, retries=RETRIES, **placed)
        self._waiting.remove(task)
        self._sent.append(task)
        self.asked.noted([task.future])
        task.future.add_done_callback(lambda _: task.came.set())


def _done(text: bytes, fit: Fit) -> tuple[bytes, float]:
    """What a worker does: what came of a task, and the seconds that it took."""
    tasks = fit.tasks()
    start = time.perf_counter()
    return tasks.run(text, _rows.manner(1)), time.perf_counter() - start


def _unsendable(fit: Fit, error: Exception) -> str:
    """Which part of a fit cannot be sent to workers."""
    from distributed.protocol.pickle import dumps

    for name, member in (fit.given[-1] or {}).items():
        try:
            dumps(member)
        except Exception as own:
            return f"member '{name}' cannot be sent to workers: {own}"
    return f"the fit cannot be sent to workers: {error}"


class Fit:
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


