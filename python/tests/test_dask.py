"""Fits on a Dask cluster: the bytes of one machine, whoever did the work."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

from dolmen import dask as on_dask  # noqa: E402

MEMBERS = ["gaussian", "mixture(components=2)", "mixture(components=4)"]


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.fixture(scope="module")
def one_process():
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            yield client


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    centre = rng.integers(0, 3, 6000)[:, None] * 3.0
    return pd.DataFrame(centre + rng.normal(size=(6000, 3)), columns=["a", "b", "c"])


def test_two_workers_give_the_bytes_of_one_process(client, one_process, frame):
    parts = dd.from_pandas(frame, npartitions=4)
    there = on_dask.fit(parts, members=MEMBERS, folds=4, client=client)
    here = on_dask.fit(parts, members=MEMBERS, folds=4, client=one_process)
    assert there.model_.to_bytes() == here.model_.to_bytes()


def test_parquet_files_are_read_by_the_workers(client, frame, tmp_path):
    for part in range(3):
        frame[part * 2000 : (part + 1) * 2000].to_parquet(tmp_path / f"{part}.parquet", index=False)
    by_path = on_dask.fit(tmp_path, members=MEMBERS, folds=4, client=client)
    by_frame = on_dask.fit([frame[k * 2000 : (k + 1) * 2000] for k in range(3)], members=MEMBERS, folds=4, client=client)
    assert by_path.model_.to_bytes() == by_frame.model_.to_bytes()


def test_a_killed_worker_costs_its_tasks_only(frame):
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            parts = [frame[k * 1000 : (k + 1) * 1000] for k in range(6)]
            whole = on_dask.fit(parts, members=MEMBERS, folds=4, client=client)
            pids = list(client.run(os.getpid).values())

            def kill():
                time.sleep(0.5)
                os.kill(pids[0], signal.SIGKILL)

            killer = threading.Thread(target=kill)
            killer.start()
            again = on_dask.fit(parts, members=MEMBERS, folds=4, client=client)
            killer.join()
            assert again.model_.to_bytes() == whole.model_.to_bytes()


def test_predictions_and_scores_partition_by_partition(client, frame):
    parts = dd.from_pandas(frame, npartitions=3)
    stack = on_dask.fit(parts, members=MEMBERS, folds=4, client=client)
    said = on_dask.predict(stack, parts).compute()
    expected = stack.score_samples(frame)
    np.testing.assert_array_equal(said.to_numpy(), expected)
    found = on_dask.score(stack, parts, client=client)
    assert found["rows"] == 6000
    assert found["mean"] == pytest.approx(expected.mean())


def test_blocks_that_do_not_belong_together_are_refused(client, frame):
    other = frame.rename(columns={"b": "z"})
    with pytest.raises(ValueError, match="block 2.*'z'"):
        on_dask.fit([frame, other], members=MEMBERS, client=client)
    texts = frame.assign(b="x")
    with pytest.raises(ValueError, match="numbers in some blocks and texts"):
        on_dask.fit([frame, texts], members=MEMBERS, client=client)
    with pytest.raises(FileNotFoundError, match="no Parquet files"):
        on_dask.fit("/nowhere/*.parquet", client=client)
    with pytest.raises(MemoryError, match="memory are needed"):
        on_dask.fit([frame], members=MEMBERS, client=client, memory="1K")
