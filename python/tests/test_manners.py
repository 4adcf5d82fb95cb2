"""Progress, Ctrl-C, errors, imports, the program in the wheel, and documentation that keeps up."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import dolmen

MEMBERS = ["logistic", "naive-bayes"]


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@contextlib.contextmanager
def interrupted(after):
    """Ctrl-C after so many seconds, which must end what is done there, and soon."""
    asked = []

    def interrupt():
        asked.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    # Programs that were started in the background may have it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(after, interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - asked[0] < 1.0, "a busy machine has its second; 0.2 s is measured by bench/python_door.py"


def test_ctrl_c_stops_a_fit_and_leaves_everything_usable():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60_000, 30))
    y = rng.integers(0, 2, 60_000)
    with interrupted(after=0.7):
        dolmen.RandomForestClassifier(trees=20_000).fit(x, y)
    assert dolmen.GaussianDensity().fit(x[:100]).score(x[:100]) < 0


def test_ctrl_c_stops_a_weighing():
    rng = np.random.default_rng(0)
    said = {f"member {m}": rng.normal(size=400_000) for m in range(12)}
    with interrupted(after=0.3):
        while True:
            dolmen.weigh(said, log=True)


def test_progress_is_told_and_never_falls(monkeypatch, iris):
    told = []
    from contextlib import contextmanager

    from dolmen import _estimator

    @contextmanager
    def listening(progress, what):
        yield lambda share, last, left: told.append(share)

    monkeypatch.setattr(_estimator, "listening", listening)
    dolmen.StackedClassifier(["forest(trees=300)", "logistic"], progress=True).fit(*iris)
    assert told == sorted(told) and told[-1] == 1.0
    told.clear()
    dolmen.RandomForestClassifier(trees=30, progress=True).fit(*iris)
    assert told[-1] == 1.0


def test_bars_are_shown_on_request(iris, capsys):
    dolmen.StackedClassifier(["forest(trees=300)", "logistic"], progress=True).fit(*iris)
    assert "StackedClassifier" in capsys.readouterr().err


def test_errors_have_the_library_s_words_and_cures(iris):
    x, y = iris
    with pytest.raises(dolmen.errors.ParameterError, match="hint: did you mean") as caught:
        dolmen.StackedClassifier(["forrest"]).fit(x, y)
    assert isinstance(caught.value, ValueError)
    with pytest.raises(ValueError, match="trees"):
        dolmen.RandomForestClassifier(trees=0).fit(x, y)
    with pytest.raises(ValueError, match="one class"):
        dolmen.NaiveBayes().fit(x, np.zeros(len(x), dtype=int))
    with pytest.raises(ValueError, match="expected 150"):
        dolmen.NaiveBayes().fit(x, y, groups=[1, 2, 3])
    with pytest.raises(ValueError, match="infin"):
        dolmen.NaiveBayes().fit(np.where(x == x[0, 0], np.inf, x), y)
    with pytest.raises(ValueError, match="could not convert|data frame"):
        dolmen.NaiveBayes().fit(np.array([["a", "b"], ["c", "d"]], dtype=object), [0, 1])
    with pytest.raises(FileNotFoundError):
        dolmen.load("no such file.dolmen")
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        dolmen.StackedClassifier().predict(x)


def test_the_part_of_a_recipe_that_cannot_be_read_is_named(iris):
    x, y = iris
    for given, said in [
        ({"folds": "3"}, "folds must be .* but is '3'"),
        ({"check": "nestd"}, "check must be one of auto, nested.*nestd\nhint: did you mean 'nested'"),
        ({"reading": {"drp": ["a"]}}, "a part of reading must be one of types, drop.*drp\nhint: did you mean 'drop'"),
        ({"members": ["rige"]}, "tuned, but is rige"),
    ]:
        with pytest.raises(dolmen.errors.ParameterError, match=said):
            dolmen.StackedClassifier(**{"members": MEMBERS, **given}).fit(x, y)
    with pytest.raises(dolmen.errors.ParameterError, match=r'a part of the recipe must be one of .*folts\nhint: did you mean .folds'):
        dolmen.compare(x, y, MEMBERS, task="classify", folts=3)
    stack = dolmen.StackedRegressor(["ridge", "mean"], check="none").fit(x, y)
    with pytest.raises(ValueError, match=r'held out \(check="none" or'):
        stack.predict_interval(x)


def test_bad_input_is_refused_in_words(iris):
    x, y = iris
    texts = np.asarray(["a", "b", None] * 50, dtype=object)
    for target in [texts, np.asarray(["a", 1, 2] * 50, dtype=object)]:
        with pytest.raises(ValueError, match="row 2 has no value|unlike types: number, text"):
            dolmen.NaiveBayes().fit(x, target)
    with pytest.raises(ValueError, match="hint: pass a data frame"):
        dolmen.NaiveBayes().fit(np.array([["a", "b"], ["c", "d"]] * 5, dtype=object), [0, 1] * 5)
    with pytest.raises(TypeError, match="hint: pass a data frame"):
        dolmen.NaiveBayes().fit(np.array([[{}, 1.0], [2.0, 3.0]] * 5, dtype=object), [0, 1] * 5)
    for seed in [-1, 2**63]:
        with pytest.raises(ValueError, match="random_state must be a whole number from 0"):
            dolmen.NaiveBayes(random_state=seed).fit(x, y)
    with pytest.raises(ValueError, match="random_state"):
        dolmen.GaussianDensity().fit(x).sample(3, random_state=-2)
    with pytest.raises(ValueError, match="random_state"):
        dolmen.advise(x, y, random_state=-1)
    dolmen.NaiveBayes(random_state=2**63 - 1).fit(x, y)
    for jobs in [0, "two"]:
        with pytest.raises((ValueError, TypeError), match="n_jobs"):
            dolmen.NaiveBayes(n_jobs=jobs).fit(x, y)
    with pytest.raises(ValueError, match="dimension|2D"):
        dolmen.NaiveBayes().fit(x[:, 0], y)
    with pytest.raises(ValueError, match="4 features"):
        dolmen.NaiveBayes().fit(x, y).predict(x[:, :2])


def test_frames_and_options_that_cannot_be_used_are_told_in_words(iris):
    import pandas as pd
    import polars

    x, y = iris
    frame = pd.DataFrame(x, columns=list("abcd"))
    with pytest.raises(TypeError, match="collect"):
        dolmen.NaiveBayes().fit(polars.from_pandas(frame).lazy(), y)
    with pytest.raises(ValueError, match="several columns called a"):
        dolmen.NaiveBayes().fit(pd.DataFrame(x, columns=list("aabc")), y)
    with pytest.raises(ValueError, match="no columns"):
        dolmen.NaiveBayes().fit(pd.DataFrame(index=range(10)), [0, 1] * 5)
    with pytest.raises(ValueError, match="lists|neither numbers nor categories"):
        dolmen.NaiveBayes().fit(pd.DataFrame({"a": [[1], [2]] * 5}), [0, 1] * 5)
    with pytest.raises(ValueError, match="two dimensions"):
        dolmen.advise(x[:, 0], y)
    with pytest.raises(dolmen.errors.ParameterError, match="al_columns\nhint: did you mean 'all_columns'"):
        dolmen.NaiveBayes(reading={"al_columns": True}).fit(frame, y)
    with pytest.raises(dolmen.errors.ParameterError, match="nestd\nhint: did you mean 'nested'"):
        dolmen.StackedClassifier(["logistic", "naive-bayes"], check="nestd").fit(x, y)
    with pytest.raises(ValueError, match='check="none"'):
        dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=1).fit(x, y)
    with pytest.raises(ValueError, match="no members"):
        dolmen.StackedClassifier([]).fit(x, y)
    with pytest.raises(TypeError, match="NaiveBayes is a class"):
        dolmen.StackedClassifier([dolmen.NaiveBayes, "logistic"]).fit(x, y)


def test_work_that_is_left_behind_keeps_no_threads(iris):
    """Ctrl-C while a member sleeps: the next fit does not wait for it."""
    from sklearn.linear_model import LogisticRegression

    class Slow(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            time.sleep(4)
            return super().fit(X, y)

    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        dolmen.StackedClassifier([("slow", Slow(max_iter=500)), ("slower", Slow(max_iter=500))], folds=3, n_jobs=2).fit(*iris)
    start = time.monotonic()
    dolmen.NaiveBayes(n_jobs=2).fit(*iris)
    assert time.monotonic() - start < 2.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on Unix only")
def test_a_forked_process_has_threads_of_its_own():
    """In a process of its own: if the fit waited for threads of its parent it would never end."""
    code = """
import os, numpy as np, dolmen
x = np.random.default_rng(0).normal(size=(200, 3)); y = (x[:, 0] > 0).astype(int)
stack = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3).fit(x, y)
child = os.fork()
if child == 0:
    again = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3).fit(x, y)
    os._exit(0 if np.array_equal(again.predict_proba(x), stack.predict_proba(x)) else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    # A session of its own, so that a child that waits for ever is ended with its parent.
    run = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
    try:
        assert run.wait(timeout=60) == 0
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGKILL)


def test_groups_without_a_label_are_one_group(iris):
    from dolmen import _rows

    assert _rows.codes(np.asarray(["a", None, "b", np.nan, "a"], dtype=object)).tolist() == [0, 1, 2, 1, 0]
    assert _rows.codes([3.0, np.nan, 1.0, np.nan]).tolist() == [1, 2, 0, 2]
    x, y = iris
    dolmen.NaiveBayes().fit(x, y, groups=np.asarray(["a", "b", None] * 50, dtype=object))


def test_times_of_every_kind_have_the_same_order():
    import pandas as pd
    import polars

    from dolmen import _rows

    days = pd.Series(pd.date_range("2024-03-30 12:00", periods=6, freq="7h")).sample(frac=1.0, random_state=0).reset_index(drop=True)
    order = np.argsort(days.to_numpy())
    zoned = days.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    for times in [
        days,
        zoned,
        list(zoned),
        days.to_numpy(),
        polars.Series(days),
        days.astype(str),
        days.dt.strftime("%Y-%m-%dT%H:%M:%S").to_numpy(dtype=object),
        [day.to_pydatetime() for day in days],
        (days - days.min()),
        days.astype("int64"),
    ]:
        assert np.array_equal(np.argsort(_rows.times(times)), order)
    x, y = np.arange(6.0).reshape(-1, 1), np.arange(6.0)
    for times in [days.mask(days.index == 2), zoned.mask(days.index == 2), days.astype(str).mask(days.index == 2), [1.0, 2.0, np.nan, 4.0, 5.0, 6.0]]:
        with pytest.raises(ValueError, match="row 3: the time is missing"):
            dolmen.StackedRegressor(["ridge", "mean"]).fit(x, y, times=times)
    with pytest.raises(ValueError, match="no order of time"):
        dolmen.StackedRegressor(["ridge", "mean"]).fit(x, y, times=["January", "February", "March"] * 2)


def test_progress_without_tqdm_is_no_error(iris, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.warns(UserWarning, match="pip install tqdm"):
        dolmen.NaiveBayes(progress=True).fit(*iris)
    from dolmen import _progress

    monkeypatch.setattr(_progress, "in_notebook", lambda: True)
    dolmen.NaiveBayes().fit(*iris)


def test_a_damaged_file_is_refused(tmp_path, iris):
    path = tmp_path / "m.dolmen"
    dolmen.NaiveBayes().fit(*iris).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="truncated or damaged"):
        dolmen.load(path)


def test_import_is_light():
    loaded = run("import sys, dolmen; print([m for m in ('pandas', 'matplotlib', 'sklearn', 'scipy') if m in sys.modules])")
    assert loaded.strip() == "[]"


def test_the_program_is_in_the_wheel():
    said = subprocess.run([sys.executable, "-m", "dolmen", "--version"], capture_output=True, text=True, check=True)
    assert dolmen.__version__ in said.stdout
    wrong = subprocess.run([sys.executable, "-m", "dolmen", "fit", "none.csv"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and "error:" in wrong.stderr


def test_every_name_is_there():
    for name in dolmen.__all__:
        assert getattr(dolmen, name) is not None
    with pytest.raises(AttributeError):
        _ = dolmen.nothing


def test_documentation_is_made_from_the_library():
    generate = Path(__file__).parents[1] / "generate.py"
    said = subprocess.run([sys.executable, str(generate), "--check"], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    from dolmen import _learners

    assert set(_learners.__all__) <= set(dolmen.__all__)


MEETING = threading.Barrier(2)


class Meeting(DecisionTreeClassifier):
    """Is fitted when another is being fitted, too."""

    def fit(self, X, y):
        MEETING.wait(60)
        return super().fit(X, y)


def test_fits_on_two_threads_go_on_at_the_same_time():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    stack = dolmen.StackedClassifier({"meeting": Meeting(), "plain": "logistic"}, folds=2, check="none", n_jobs=1, keep_all=True)
    with ThreadPoolExecutor(2) as threads:
        both = list(threads.map(lambda own: own.fit(x, y), [clone(stack), clone(stack)]))
    np.testing.assert_array_equal(both[0].predict_proba(x), both[1].predict_proba(x))
