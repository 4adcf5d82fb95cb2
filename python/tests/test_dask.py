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

from sklearn.base import clone  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

import dolmen  # noqa: E402
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
    blocks = [frame[:2000], frame[2000:]]
    by_block = client.gather(on_dask.predict(stack, blocks, client=client))
    np.testing.assert_array_equal(np.concatenate(by_block), expected)
    found = on_dask.score(stack, parts, client=client)
    assert found["rows"] == 6000
    whole = stack.score_report(frame)
    assert found["score"] == pytest.approx(whole["score"], rel=1e-12)
    assert found["score_se"] == pytest.approx(whole["score_se"], rel=1e-9)
    assert [member["name"] for member in found["members"]] == [member["name"] for member in whole["members"]]


def test_scores_of_classes_by_partition_are_those_of_all_rows_without_the_auc(client, mixed):
    rows, truth = mixed
    stack = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3).fit(rows, truth)
    parts = [rows[:100].assign(truth=truth[:100]), rows[100:].assign(truth=truth[100:])]
    found, whole = on_dask.score(stack, parts, "truth", client=client), stack.score_report(rows, truth)
    assert found["figures"]["log_loss"] == pytest.approx(whole["figures"]["log_loss"], rel=1e-12)
    assert found["figures"]["error"] == pytest.approx(whole["figures"]["error"])
    assert "auc" in whole["figures"] and "auc" not in found["figures"]
    with pytest.raises(ValueError, match="target must name"):
        on_dask.score(stack, parts, client=client)


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


class WithoutPackage:
    """A client of two workers, the second of which knows no package."""

    def run(self, function, code, **_options):
        def tried(code):
            try:
                return function(code)
            except ImportError as error:
                return error

        return {"tcp://first:1": tried(code), "tcp://second:1": tried(code + "_of_another_name")}


class WithoutPackageInTheMiddle(WithoutPackage):
    """A client of workers that know the package, and of a scheduler that does not."""

    def run(self, function, code, **_options):
        return {"tcp://first:1": function(code)}

    def run_on_scheduler(self, function, code):
        return function(code + "_of_another_name")


def test_a_worker_without_the_package_is_named(frame):
    with pytest.raises(ImportError, match="tcp://second:1 .*install"):
        on_dask.fit([frame], members=MEMBERS, client=WithoutPackage())
    with pytest.raises(ImportError, match="tcp://second:1 .*install"), on_dask.workers(WithoutPackage()):
        pass
    with pytest.raises(ImportError, match="scheduler"), on_dask.workers(WithoutPackageInTheMiddle()):
        pass


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=(300, 3)), columns=["a", "b", "c"])
    rows["word"] = pd.Categorical(rng.choice(["red", "green"], 300))
    rows.loc[::17, "b"] = np.nan
    return rows, np.where(rows["a"] + rng.normal(size=300) > 0, "yes", "no")


def test_members_fitted_by_workers_give_the_bytes_of_this_process(client, mixed):
    rows, truth = mixed
    stack = dolmen.StackedClassifier(["logistic", "forest(trees=10)", "naive-bayes"], folds=3, random_state=5)
    here = clone(stack).fit(rows, truth)
    with on_dask.workers(client):
        there = clone(stack).fit(rows, truth)
    assert there.model_.to_bytes() == here.model_.to_bytes()
    numbers, target = rows[["a", "c"]].to_numpy(), rows["c"].to_numpy()
    stack = dolmen.StackedRegressor(["ridge", "extra-trees(trees=10)"], folds=3)
    with on_dask.workers(client):
        there = clone(stack).fit(numbers, target)
    assert there.model_.to_bytes() == clone(stack).fit(numbers, target).model_.to_bytes()


def test_python_members_are_fitted_by_workers(client, mixed):
    rows, truth = mixed
    numbers = rows[["a", "c"]].to_numpy()
    stack = dolmen.StackedClassifier({"tree": DecisionTreeClassifier(max_depth=3), "plain": "logistic"}, folds=3)
    here = clone(stack).fit(numbers, truth)
    with on_dask.workers(client):
        there = clone(stack).fit(numbers, truth)
    np.testing.assert_array_equal(there.predict_proba(numbers), here.predict_proba(numbers))
    np.testing.assert_array_equal(there.weights_, here.weights_)


def test_a_member_that_fails_on_a_worker_is_named(client, mixed):
    rows, truth = mixed
    with on_dask.workers(client), pytest.raises(ValueError, match="Failing.*not today"):
        dolmen.StackedClassifier([Failing(), "logistic"], folds=3).fit(rows[["a", "c"]].to_numpy(), truth)


def test_members_survive_a_killed_worker(mixed):
    rows, truth = mixed
    stack = dolmen.StackedClassifier(["logistic", "forest(trees=200)", "boost", "network"], folds=4)
    here = clone(stack).fit(rows, truth)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            pids = list(client.run(os.getpid).values())
            killer = threading.Timer(0.7, os.kill, (pids[0], signal.SIGKILL))
            killer.start()
            with on_dask.workers(client):
                there = clone(stack).fit(rows, truth)
            killer.join()
    assert there.model_.to_bytes() == here.model_.to_bytes()


class Failing(DecisionTreeClassifier):
    """Fits nothing."""

    def fit(self, X, y):
        raise ValueError("not today")
