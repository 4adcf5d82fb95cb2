"""Fits on a Dask cluster: the bytes of one machine, whoever did the work."""

import os
import signal
import threading
import time
from concurrent.futures import CancelledError

import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

from sklearn.base import clone  # noqa: E402
from sklearn.tree import DecisionTreeClassifier  # noqa: E402

import dolmen  # noqa: E402
from dolmen import dask as on_dask  # noqa: E402
from dolmen._tasks import Doer, Fit, _Task  # noqa: E402

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
    # Every name that the program takes for one of a Parquet file is one here.
    for part, name in enumerate(["0.parquet", "1.PARQUET", "2[1].pq"]):
        frame[part * 2000 : (part + 1) * 2000].to_parquet(tmp_path / name, index=False)
    by_path = on_dask.fit(tmp_path, members=MEMBERS, folds=4, client=client)
    by_frame = on_dask.fit([frame[k * 2000 : (k + 1) * 2000] for k in range(3)], members=MEMBERS, folds=4, client=client)
    assert by_path.model_.to_bytes() == by_frame.model_.to_bytes()
    assert on_dask.score(by_path, tmp_path / "2[1].pq", client=client)["rows"] == 2000


@pytest.mark.parametrize("task", ["density", "classes"])
def test_rows_are_kept_for_the_next_pass_where_there_is_room(one_process, frame, mixed, task, tmp_path, monkeypatch):
    rows = frame if task == "density" else mixed[0].assign(kind=mixed[1])
    members = MEMBERS if task == "density" else ["logistic", "naive-bayes", "aode"]
    half = len(rows) // 2
    for part in range(2):
        rows[part * half : (part + 1) * half].to_parquet(tmp_path / f"{part}.parquet", index=False)
    read, outcomes = on_dask._read, []
    for room in (1e9, 0.0):
        readings = []
        monkeypatch.setattr(on_dask, "_room", lambda room=room: room)
        monkeypatch.setattr(on_dask, "_read", lambda path, readings=readings: (readings.append(path), read(path))[1])
        model = on_dask.fit(tmp_path, None if task == "density" else "kind", members=members, folds=4, client=one_process)
        outcomes.append((len(readings), model.model_.to_bytes()))
    (few, kept), (many, read_again) = outcomes
    assert kept == read_again
    assert few == 2 and many > 10


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
    with pytest.raises(MemoryError, match='memory are needed(.|\n)*hint: memory="[0-9.]+[KMG]" is enough to read it; fewer columns need less'):
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


@pytest.fixture(scope="module")
def two_files(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for part in range(2):
        frame[part * 500 : (part + 1) * 500].to_parquet(folder / f"{part}.parquet", index=False)
    return folder


@pytest.mark.parametrize("damage", ["empty", "truncated", "other", "gone"])
def test_a_file_that_cannot_be_used_is_named(client, frame, two_files, damage, tmp_path):
    good = (two_files / "0.parquet").read_bytes()
    (tmp_path / "0.parquet").write_bytes(good)
    bad = tmp_path / "1.parquet"
    if damage == "gone":
        with pytest.raises(FileNotFoundError, match="1.parquet"):
            on_dask.fit([tmp_path / "0.parquet", bad], members=["gaussian"], client=client)
        return
    if damage == "other":
        frame[:500].rename(columns={"b": "z"}).to_parquet(bad, index=False)
    else:
        bad.write_bytes(b"" if damage == "empty" else good[: len(good) // 2])
    with pytest.raises(dolmen.errors.DolmenError, match="1.parquet"):
        on_dask.fit(tmp_path, members=["gaussian"], client=client)
    if damage != "other":
        stack = on_dask.fit(two_files, members=["gaussian"], folds=3, client=client)
        with pytest.raises(dolmen.errors.DolmenError, match="1.parquet"):
            on_dask.score(stack, tmp_path, client=client)


def test_a_bad_cell_is_named_by_its_file_and_its_row_there(client, frame, two_files, tmp_path):
    (tmp_path / "0.parquet").write_bytes((two_files / "0.parquet").read_bytes())
    bad = frame[500:1000].copy()
    bad.loc[bad.index[41], "a"] = np.inf
    bad.to_parquet(tmp_path / "1.parquet", index=False)
    with pytest.raises(dolmen.errors.DolmenError, match="1.parquet, row 42, column 'a'"):
        on_dask.fit(tmp_path, members=["gaussian"], client=client)
    with pytest.raises(dolmen.errors.DolmenError, match="block 2, row 42, column 'a'"):
        on_dask.fit([frame[:500], bad], members=["gaussian"], client=client)
    (tmp_path / "1.parquet").write_bytes(b"")
    with pytest.raises(dolmen.errors.FileError, match="1.parquet(.|\n)*hint: "):
        on_dask.fit(tmp_path, members=["gaussian"], client=client)


def test_a_mistake_is_told_once(one_process, frame, tmp_path, caplog):
    (tmp_path / "0.parquet").write_bytes(b"PAR1, but no more")
    with pytest.raises(dolmen.errors.DolmenError, match="0.parquet"):
        on_dask.fit(tmp_path, members=["gaussian"], client=one_process)
    with pytest.raises(dolmen.errors.DolmenError, match="no column 'nothing'"):
        on_dask.fit([frame, frame], "nothing", members=["ridge"], client=one_process)
    stack = on_dask.fit([frame], members=["gaussian"], folds=3, client=one_process)
    with pytest.raises(TypeError, match="truth is a column"):
        on_dask.score(stack, [frame.to_numpy()], "a", client=one_process)
    assert "Traceback" not in caplog.text and "Compute Failed" not in caplog.text


def test_blocks_without_rows_are_passed_over(client, frame, two_files, tmp_path):
    blocks = [frame[:500], frame[500:1000]]
    whole = on_dask.fit(blocks, members=["gaussian"], folds=3, client=client)
    for data in ([frame[:0], blocks[0], frame[:0], blocks[1]], two_files):
        assert on_dask.fit(data, members=["gaussian"], folds=3, client=client).model_.to_bytes() == whole.model_.to_bytes()
    with pytest.raises(ValueError, match="no rows"):
        on_dask.fit([frame[:0]], members=["gaussian"], client=client)
    parts = dd.from_pandas(frame, npartitions=3)
    some = parts[parts["a"] > frame["a"].max() - 1e-9]
    assert len(on_dask.predict(whole, some).compute()) == 1
    assert on_dask.score(whole, some, client=client)["rows"] == 1


def test_rows_of_other_kinds_are_refused(client, frame):
    array = pytest.importorskip("dask.array")
    for data in (frame, frame.to_numpy(), None, 3):
        with pytest.raises(TypeError, match="data must be a Dask DataFrame or Array"):
            on_dask.fit(data, members=["gaussian"], client=client)
    for data in (dd.from_pandas(frame, npartitions=2)["a"], array.ones(100, chunks=50), array.ones((10, 2, 2), chunks=5)):
        with pytest.raises(ValueError, match="rows have columns"):
            on_dask.fit(data, members=["gaussian"], client=client)
    with pytest.raises(TypeError, match="block of rows .* type dict"):
        on_dask.fit([{"a": [1.0]}], members=["gaussian"], client=client)
    with pytest.raises(TypeError, match="dolmen.dask.fit"):
        dolmen.StackedDensity(["gaussian"]).fit(dd.from_pandas(frame, npartitions=2))
    with pytest.raises(dolmen.errors.DolmenError, match="^data: there is no column 'nothing'"):
        on_dask.fit([frame], "nothing", members=["ridge"], client=client)


def test_a_client_that_cannot_work_is_refused(frame):
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        closed = distributed.Client(cluster, set_as_default=False)
        closed.close()
    with pytest.raises(ValueError, match="closed"):
        on_dask.fit([frame], members=["gaussian"], client=closed)
    with pytest.raises(TypeError, match="client must be"):
        on_dask.fit([frame], members=["gaussian"], client="tcp://localhost:8786")


def test_arrays_of_dask(client, mixed):
    array = pytest.importorskip("dask.array")
    rows, truth = mixed
    numbers = rows[["a", "c"]].to_numpy()
    stack = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3).fit(numbers, truth)
    parts = array.from_array(numbers, chunks=(100, 1))
    said = on_dask.predict(stack, parts)
    assert said.dtype == stack.classes_.dtype
    np.testing.assert_array_equal(said.compute(), stack.predict(numbers))
    for method in ("predict_proba", "predict_log_proba"):
        np.testing.assert_array_equal(on_dask.predict(stack, parts, method).compute(), getattr(stack, method)(numbers))
    with pytest.raises(AttributeError, match="has no method 'predict_prob'"):
        on_dask.predict(stack, [numbers], "predict_prob", client=client)


def test_columns_beside_those_of_the_model_are_not_looked_at(client, mixed):
    rows, truth = mixed
    stack = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3).fit(rows, truth)
    more = dd.from_pandas(rows.assign(truth=truth, other=1)[["other", "truth", *reversed(rows.columns)]], npartitions=2)
    np.testing.assert_array_equal(on_dask.predict(stack, more).compute(), stack.predict(rows))
    found = on_dask.score(stack, more, "truth", client=client)
    assert found["figures"]["error"] == pytest.approx(stack.score_report(rows, truth)["figures"]["error"])
    with pytest.raises(ValueError, match="no column 'nothing'"):
        on_dask.score(stack, more, "nothing", client=client)


def test_masks_reach_the_workers(client, mixed):
    rows, truth = mixed
    masked = np.ma.masked_greater(rows[["a", "c"]].to_numpy(), 0.5)
    stack = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3)
    with on_dask.workers(client):
        there = clone(stack).fit(masked, truth)
    assert there.model_.to_bytes() == clone(stack).fit(masked, truth).model_.to_bytes()
    assert on_dask.fit([masked], members=["gaussian"], folds=3, client=client).model_.to_bytes() == (
        on_dask.fit([masked.filled(np.nan)], members=["gaussian"], folds=3, client=client).model_.to_bytes()
    )


def test_members_that_cannot_be_sent_are_named(client, mixed):
    rows, truth = mixed
    numbers = rows[["a", "c"]].to_numpy()
    with on_dask.workers(client), pytest.raises(TypeError, match="member 'Locked' cannot be sent"):
        dolmen.StackedClassifier([Locked(), "logistic"], folds=3).fit(numbers, truth)


def test_what_the_fit_has_to_say_is_told(client, mixed):
    rows, truth = mixed
    gaps = rows.assign(truth=np.where(rows["a"] > 1.0, None, truth))
    with pytest.warns(UserWarning, match="have no 'truth'"):
        on_dask.fit([gaps[:100], gaps[100:]], "truth", members=["naive-bayes"], folds=3, client=client)


def test_an_interrupted_fit_leaves_no_tasks(client, mixed):
    rows, truth = mixed
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    with on_dask.workers(client), pytest.raises(KeyboardInterrupt):
        dolmen.StackedClassifier([Slow(), "logistic"], folds=20).fit(rows[["a", "c"]].to_numpy(), truth)
    time.sleep(1.5)
    assert not any(client.processing().values())


class Noted:
    """A client that notes what is sent to which of its workers, and does nothing."""

    def __init__(self, threads):
        self.threads, self.sent = threads, []

    def nthreads(self):
        return dict(self.threads)

    def submit(self, _function, text=None, workers=(None,), **_options):
        if text is not None:
            self.sent.append((text, workers[0]))
        return Never()


class Never:
    """A task that is never done."""

    def done(self):
        return False

    def add_done_callback(self, _call):
        pass


def waiting(client, learners):
    """Who does the tasks of these learners, all of which wait."""
    doer = Doer(client, Fit({}, None, None, {}, None))
    doer._waiting = [_Task(learner, f"{learner}", threading.Event()) for learner in learners]
    return doer


def test_the_longest_tasks_are_sent_first_to_who_has_least_to_do():
    client = Noted({"one": 1, "two": 1})
    doer = waiting(client, [0, 0, 1, 1, 2, 2, 3])
    doer._seconds = {0: 1.0, 1: 6.0, 3: 4.0}
    doer._send()
    # Of learner 2 nothing is known: as much as the longest. No worker has more than two.
    assert client.sent == [("2", "one"), ("2", "two"), ("1", "one"), ("1", "two")]
    doer._forget([task for task in doer._sent if task.worker == "two"])
    doer._seconds[2] = 0.5
    doer._send()
    assert client.sent[4:] == [("3", "two"), ("0", "two")]
    # A worker of more threads has all of them at work before any waits behind another.
    client = Noted({"one": 1, "four": 4})
    doer = waiting(client, [0] * 7)
    doer._seconds = {0: 1.0}
    doer._send()
    assert sorted(worker for _, worker in client.sent[:5]) == ["four"] * 4 + ["one"]


def test_workers_may_come_and_go():
    client = Noted({})
    doer = waiting(client, [0] * 9)
    doer._send()
    assert client.sent == [("0", None)] * 2
    client.threads = {"late": 2}
    doer._looked = -np.inf
    doer._send()
    assert client.sent[2:] == [("0", "late")] * 4
    client.threads = {"other": 1}
    doer._looked = -np.inf
    doer._send()
    assert client.sent[6:] == [("0", "other")] * 2
    doer.asked.stopped = True
    with pytest.raises(CancelledError):
        doer._send()


class Locked(DecisionTreeClassifier):
    """Cannot be pickled."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()


class Slow(DecisionTreeClassifier):
    """Takes its time."""

    def fit(self, X, y):
        time.sleep(1.0)
        return super().fit(X, y)
