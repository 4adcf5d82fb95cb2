"""What a Dask cluster costs: `python bench/cluster.py [ROWS [FILES [TASK_ROWS [calm]]]]`, in an environment with the wheel and its extra `dask`.

Two worker processes of one thread each, beside one process of two threads: a stack of a Gaussian and two mixtures fitted in passes over a folder of Parquet
files, and a stack of classes whose fits are tasks of their own, one after the other twice. Both ways must give the same bytes. Seconds are those of the wall, the
cluster being up, and of all processors (client, scheduler and workers), which a busy machine changes less; a number of rows of 0 leaves that part out. What the cluster takes when nobody asks anything
of it is told first: `calm` runs it without Dask's profiler of workers and with a tick every second instead of fifty.
"""

import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dask
import distributed
import dolmen
import numpy as np
from dolmen import dask as on_dask

import scale

Timed = tuple[float, float, bytes]

CALM = {"distributed.worker.profile.enabled": False, "distributed.admin.tick.interval": "1s"}
IDLE_SECONDS = 10.0


def spent(workers: distributed.Client | None) -> float:
    """Seconds of the processors, those of worker processes too."""
    return time.process_time() + (sum(workers.run(time.process_time).values()) if workers else 0.0)


def timed(fit: Callable[[], Any], workers: distributed.Client | None = None) -> Timed:
    """Seconds of the wall and of the processors, and the bytes of the model."""
    start, before = time.monotonic(), spent(workers)
    model = fit()
    return time.monotonic() - start, spent(workers) - before, model.model_.to_bytes()


def idle(workers: distributed.Client) -> float:
    """Which part of all processors a cluster takes that does nothing."""
    before = spent(workers)
    time.sleep(IDLE_SECONDS)
    return (spent(workers) - before) / IDLE_SECONDS / len(os.sched_getaffinity(0))


def cluster(workers: int, threads: int, processes: bool) -> distributed.LocalCluster:
    """Workers on this machine."""
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=threads, processes=processes, dashboard_address=None)


def passes(folder: Path, client: distributed.Client, are_processes: bool) -> Timed:
    """A stack fitted in passes over the files."""
    fit = lambda: on_dask.fit(folder, members=scale.MEMBERS, folds=3, check="matrix", keep_stack=True, client=client, n_jobs=1)  # noqa: E731
    return timed(fit, client if are_processes else None)


def tasks(rows: int) -> Callable[[], Any]:
    """A stack of classes."""
    draw = np.random.default_rng(2)
    x = draw.standard_normal((rows, 20))
    y = np.where(x[:, 0] * x[:, 1] + x[:, 2] + draw.standard_normal(rows) > 0, "yes", "no")
    members = ["forest", "extra-trees", "boost(rounds=200)", "network", "logistic"]
    return lambda: dolmen.StackedClassifier(members, folds=5, check="matrix", n_jobs=2).fit(x, y)


def in_passes(rows: int, files: int, client: distributed.Client) -> tuple[str, Timed, Timed]:
    """Passes over files: one process, then two workers."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in range(files):
            scale.write(folder / f"{file:04}.parquet", rows // files)
        with cluster(1, 2, False) as alone, distributed.Client(alone, set_as_default=False) as own:
            one = passes(folder, own, False)
        return "passes", one, passes(folder, client, True)


def in_tasks(rows: int, client: distributed.Client) -> Iterator[tuple[str, Timed, Timed]]:
    """Tasks: one process, then two workers, and once more the other way round, for the machine may be busier at one time than at another."""
    fit = tasks(rows)

    def there() -> Timed:
        with on_dask.workers(client):
            return timed(fit, client)

    here = timed(fit)
    yield "tasks", here, there()
    others = there()
    yield "tasks, workers first", timed(fit), others


def main() -> None:
    """Measures both, one process first."""
    rows, files, task_rows = (int(word) for word in (sys.argv[1:] + ["6000000", "24", "130000"][len(sys.argv) - 1 :])[:3])
    if "calm" in sys.argv[4:]:
        dask.config.set(CALM)
    print("| work | one process, s | two workers, s | ratio | one process, CPU s | two workers, CPU s | ratio | same bytes |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with cluster(2, 1, True) as two, distributed.Client(two, set_as_default=False) as client:
        client.run(lambda: __import__("dolmen.dask"))
        asleep = idle(client)
        found = [in_passes(rows, files, client)] if rows else []
        for what, (own, own_cpu, model), (others, others_cpu, other) in itertools.chain(found, in_tasks(task_rows, client) if task_rows else []):
            wall = f"{own:.1f} | {others:.1f} | {others / own:.2f}"
            cpu = f"{own_cpu:.1f} | {others_cpu:.1f} | {others_cpu / own_cpu:.2f}"
            print(f"| {what} | {wall} | {cpu} | {model == other} |", flush=True)
    print(f"\nthe cluster takes {asleep:.1%} of all processors when it does nothing")
    print(f"load at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
