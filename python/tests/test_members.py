"""Python objects as members."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import dolmen


def test_members_of_all_kinds_in_one_stack(iris, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    x, y = iris
    members = [
        ("lgbm", lightgbm.LGBMClassifier(n_estimators=10, min_child_samples=5, verbose=-1, n_jobs=1)),
        ("pipe", make_pipeline(StandardScaler(), LogisticRegression())),
        "naive-bayes",
        dolmen.RandomForestClassifier(trees=10),
    ]
    stack = dolmen.StackedClassifier(members, keep_all=True, keep_stack=True, combiner="simplex").fit(x, y)
    assert stack.member_names_ == ["lgbm", "pipe", "naive-bayes", "forest(trees=10)"]
    assert stack.weights_.sum() == pytest.approx(1.0)
    assert stack.score(x, y) > 0.9
    stack.save(tmp_path / "mixed.dolmen")
    with pytest.raises(ValueError, match="trust=True"):
        dolmen.load(tmp_path / "mixed.dolmen")
    again = dolmen.load(tmp_path / "mixed.dolmen", trust=True)
    assert np.array_equal(again.predict_proba(x), stack.predict_proba(x))
    said = subprocess.run([sys.executable, "-m", "dolmen", "inspect", str(tmp_path / "mixed.dolmen")], capture_output=True, text=True, check=False)
    assert said.returncode == 0 and "Python" in said.stdout
    pd.DataFrame(x, columns=[f"x{j + 1}" for j in range(4)]).to_csv(tmp_path / "x.csv", index=False)
    words = [sys.executable, "-m", "dolmen", "predict", str(tmp_path / "mixed.dolmen"), str(tmp_path / "x.csv")]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode == 2 and "is a Python object" in said.stderr and "hint:" in said.stderr


def test_out_of_sample_predictions_are_those_of_the_object_itself(diabetes):
    x, y = diabetes
    stack = dolmen.StackedRegressor([("line", LinearRegression()), "mean"], folds=4).fit(x, y)
    oos = stack.oos_
    # Each row is predicted by a line through rows that do not hold it: never the fit on all rows.
    assert np.all(oos["line"] != LinearRegression().fit(x, y).predict(x))
    assert np.mean((oos["line"] - y) ** 2) < np.mean((oos["mean"] - y) ** 2)


def test_threads_and_processes_say_the_same(iris):
    x, y = iris
    forest = RandomForestClassifier(n_estimators=10, random_state=0)
    threads, processes = (
        dolmen.StackedClassifier([("rf", forest), "naive-bayes"], folds=3, check="matrix", member_jobs=jobs).fit(x, y) for jobs in (None, 2)
    )
    assert np.array_equal(threads.oos_["rf"], processes.oos_["rf"])
    assert np.array_equal(threads.weights_, processes.weights_)


def test_objects_see_the_kind_of_frame_that_was_given():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=80), "c": rng.choice(list("pqr"), 80)})
    y = np.where(x["c"] == "p", "yes", "no")
    seen = []

    class Watcher(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append((type(X), list(X.columns), str(X["c"].dtype)))
            self.encoder_ = OneHotEncoder(handle_unknown="ignore").fit(X[["c"]])
            return super().fit(self.encoder_.transform(X[["c"]]), y)

        def predict_proba(self, X):
            return super().predict_proba(self.encoder_.transform(X[["c"]]))

    stack = dolmen.StackedClassifier([("watcher", Watcher()), "class-frequencies"], folds=3, check="matrix").fit(x, y)
    assert seen[0] == (pd.DataFrame, ["a", "c"], "category")
    assert stack.score(x, y) == 1.0


def test_a_density_of_python(blobs):
    stack = dolmen.StackedDensity([("sk", KernelDensity(bandwidth=0.5)), "gaussian"], folds=3).fit(blobs)
    assert "sk" in stack.member_names_
    assert np.isfinite(stack.score(blobs))


class Fails(LogisticRegression):
    """Raises where the third of the first rows is not among those to learn from."""

    def fit(self, X, y, sample_weight=None):
        if not np.any(np.all(np.isclose(X, FIRST), axis=1)):
            raise RuntimeError("no such row")
        return super().fit(X, y)


FIRST = None


def test_a_member_that_raises_in_one_fold(iris):
    global FIRST
    x, y = iris
    FIRST = x[0]
    members = [("fails", Fails()), "naive-bayes", "tree(depth=3)"]
    with pytest.raises(dolmen.errors.MemberError, match=r"^member 'fails' failed in split \d: RuntimeError: no such row") as caught:
        dolmen.StackedClassifier(members).fit(x, y)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value.__cause__, RuntimeError) and str(caught.value.__cause__) == "no such row"
    with pytest.warns(UserWarning, match="left out: fails: RuntimeError: no such row"):
        stack = dolmen.StackedClassifier(members, drop_failed=True).fit(x, y)
    assert stack.member_names_ == ["naive-bayes", "tree(depth=3)"]


def test_objects_without_the_method_are_refused(iris):
    x, y = iris
    with pytest.raises(TypeError, match="'line'.*predict_proba"):
        dolmen.StackedClassifier([("line", LinearRegression()), "naive-bayes"]).fit(x, y)
    with pytest.raises(TypeError, match="fit"):
        dolmen.StackedClassifier([("number", 3), "naive-bayes"]).fit(x, y)


def test_weights_reach_objects_that_take_them(diabetes):
    x, y = diabetes
    weights = np.where(y > np.median(y), 1.0, 1e-9)
    heavy = dolmen.StackedRegressor([("line", LinearRegression()), "mean"], check="matrix").fit(x, y, sample_weight=weights)
    assert heavy.predict(x).mean() > y.mean() + 20


def test_probabilities_that_are_none_are_the_failure_of_the_member():
    class Loud(LogisticRegression):
        def predict_proba(self, X):
            return 3.0 * super().predict_proba(X)

    x, y = load_iris(return_X_y=True)
    with pytest.raises(dolmen.errors.MemberError, match="sum to 1"):
        dolmen.StackedClassifier([("loud", Loud(max_iter=500)), "naive-bayes"], folds=3).fit(x, y)


def test_a_refit_that_fails_leaves_what_was_fitted():
    x, y = load_iris(return_X_y=True)
    model = dolmen.NaiveBayes().fit(x, y)
    with pytest.raises(ValueError):
        model.fit(x[:, :2], np.where(y > 0, "q", "p"), sample_weight=-np.ones(len(y)))
    assert model.classes_.tolist() == [0, 1, 2] and model.n_features_in_ == 4
    assert (model.predict(x) == y).mean() > 0.9


def test_frames_may_call_their_columns_as_arrays_do():
    pandas = pytest.importorskip("pandas")
    x, y = load_iris(return_X_y=True)
    frame = pandas.DataFrame({"x1": x[:, 2], "x2": np.where(x[:, 0] > 5.8, "long", "short")})
    model = dolmen.RandomForestClassifier(trees=5).fit(frame, y)
    assert model.predict_proba(frame).shape == (150, 3)
    assert model._repr_mimebundle_()["text/html"] == model._repr_html_()


@pytest.mark.parametrize("jobs", [1, None])
def test_stacks_of_this_package_may_be_members_as_objects(jobs):
    """In a process of its own: if fits waited for one another it would never end."""
    code = f"""
import numpy as np, dolmen
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
x = np.random.default_rng(0).normal(size=(60, 3)); y = x @ [1.0, 2.0, 3.0]
inner = dolmen.StackedRegressor(["ridge", "mean"], n_jobs={jobs})
piped = make_pipeline(StandardScaler(), dolmen.Ridge(n_jobs={jobs}))
stack = dolmen.StackedRegressor([inner, ("piped", piped), "ridge"], n_jobs={jobs}, folds=3).fit(x, y)
assert np.corrcoef(stack.predict(x), y)[0, 1] > 0.99
dolmen.Ridge(n_jobs={jobs}).fit(x, y)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


class RefusesToPredict(LinearRegression):
    """Learns, and then does not say what."""

    def predict(self, X):
        raise KeyError("nothing to say")


@pytest.mark.parametrize("jobs", [None, 2])
def test_what_a_member_raised_is_the_cause(diabetes, jobs):
    x, y = diabetes
    stack = dolmen.StackedRegressor([("mute", RefusesToPredict()), "mean"], folds=3, member_jobs=jobs)
    with pytest.raises(dolmen.errors.MemberError, match="'mute'.*nothing to say") as caught:
        stack.fit(x, y)
    assert isinstance(caught.value.__cause__, KeyError)


def test_members_of_the_library_keep_the_names_they_are_given(iris, tmp_path):
    x, y = iris
    members = [("mine", dolmen.RandomForestClassifier(trees=10)), ("near", "neighbours(k=[1, 15])"), "naive-bayes"]
    stack = dolmen.StackedClassifier(members, keep_all=True, keep_stack=True, combiner="simplex").fit(x, y)
    names = ["mine", "near/neighbours(k=1)", "near/neighbours(k=15)", "naive-bayes"]
    assert stack.member_names_ == names and stack.oos_.members == names
    assert "mine" in stack.report_html() and "mine" in str(stack.plot("weights"))
    stack.save(tmp_path / "named.dolmen")
    again = dolmen.load(tmp_path / "named.dolmen")
    assert again.member_names_ == names and np.array_equal(again.predict_proba(x), stack.predict_proba(x))
    words = [sys.executable, "-m", "dolmen", "inspect", str(tmp_path / "named.dolmen")]
    assert "mine" in subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_bagging_of_python_objects(iris, diabetes):
    x, y = iris
    bag = dolmen.BaggingClassifier(of=LogisticRegression(max_iter=500), fits=3).fit(x, y)
    assert bag.score(x, y) > 0.9 and bag.predict_proba(x).shape == (150, 3)
    # Nearest neighbours take no weights: rows that are drawn twice are there twice.
    near = dolmen.BaggingClassifier(of=KNeighborsClassifier(1), fits=5, random_state=1).fit(x, y)
    assert 0.95 < near.score(x, y) < 1.0
    x, y = diabetes
    bag = dolmen.BaggingRegressor(of=make_pipeline(StandardScaler(), LinearRegression()), fits=4)
    stack = dolmen.StackedRegressor([("bag", bag), "mean"], folds=3).fit(x, y)
    assert stack.member_names_ == ["bag", "mean"] and stack.score(x, y) > 0.4
    clouds = dolmen.BayesClassifier(density=KernelDensity(bandwidth=0.5)).fit(*iris)
    assert clouds.score(*iris) > 0.9
    with pytest.raises(TypeError, match="LinearRegression is a Python object"):
        dolmen.StackedRegressor(["ridge", "mean"], combiner={"kind": "learner", "of": LinearRegression()}).fit(x, y)


def test_weights_reach_the_last_step_of_a_pipeline(diabetes):
    x, y = diabetes
    weights = np.where(y > np.median(y), 1.0, 1e-9)
    for member in [
        make_pipeline(StandardScaler(), LinearRegression()),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LinearRegression())),
        GridSearchCV(LinearRegression(), {}, cv=2),
    ]:
        heavy = dolmen.StackedRegressor([("line", member), "mean"], check="matrix", folds=3).fit(x, y, sample_weight=weights)
        assert heavy.predict(x).mean() > y.mean() + 20
    with pytest.raises(dolmen.errors.MemberError, match="takes no sample_weight"):
        member = make_pipeline(StandardScaler(), KNeighborsRegressor())
        dolmen.StackedRegressor([("near", member), "mean"], folds=3).fit(x, y, sample_weight=weights)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("labels", ["texts", "numbers", "truths"])
def test_boosting_libraries_take_frames_with_categories_and_truth_values(kind, labels):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=150), "c": rng.choice(list("pqr"), 150), "wet": rng.random(150) < 0.5}
    truth = (columns["c"] == "p") ^ columns["wet"]
    y = {"texts": np.where(truth, "yes", "no"), "numbers": truth.astype(int), "truths": truth}[labels]
    members = [("lgbm", lightgbm.LGBMClassifier(n_estimators=20, min_child_samples=5, verbose=-1, n_jobs=1)), "naive-bayes"]
    try:
        import catboost

        members.append(("cat", catboost.CatBoostClassifier(iterations=20, verbose=0, cat_features=["c"], allow_writing_files=False, thread_count=1)))
    except ImportError:
        pass
    try:
        import xgboost

        members.append(("xgb", xgboost.XGBClassifier(n_estimators=20, enable_categorical=True, n_jobs=1)))
    except ImportError:
        pass
    x = pd.DataFrame(columns) if kind == "pandas" else polars.DataFrame(columns)
    stack = clone(dolmen.StackedClassifier(members, folds=3, check="matrix", keep_all=True)).fit(x, y)
    assert stack.score(x, y) > 0.95
    assert stack.oos_["lgbm"].shape == (150, 2)


def test_objects_see_truth_values_as_such():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=80), "wet": rng.random(80) < 0.5})
    y = x["wet"] * 3.0 + x["a"]
    stack = dolmen.StackedRegressor([("line", LinearRegression()), "mean"], folds=3).fit(x, y)
    assert stack.score(x, y) > 0.99
    missing = x.assign(wet=x["wet"].astype("boolean").mask(x.index == 3))
    assert np.isfinite(dolmen.StackedRegressor([("trees", HistGradientBoostingRegressor()), "mean"], folds=3).fit(missing, y).predict(missing)).all()


def test_libraries_that_fail_on_polars_see_pandas():
    from dolmen._members import _frame_for

    for library in ["lightgbm", "catboost"]:
        boosting = type("Boosting", (LogisticRegression,), {"__module__": f"{library}.core"})()
        assert _frame_for(boosting, "polars") == "pandas"
        assert _frame_for(make_pipeline(StandardScaler(), boosting), "polars") == "pandas"
    assert _frame_for(LogisticRegression(), "polars") == "polars"


def test_names_tell_members_apart(iris):
    for members, problem in [
        ([("a", "logistic"), ("a", KNeighborsClassifier())], "two are called 'a'"),
        ([("a", KNeighborsClassifier()), ("a", LogisticRegression())], "two are called 'a'"),
        ([("a__b", "logistic"), "naive-bayes"], "two underscores"),
    ]:
        with pytest.raises(ValueError, match=problem):
            dolmen.StackedClassifier(members).fit(*iris)
    with pytest.raises(TypeError, match="name must be a text, but is 1"):
        dolmen.StackedClassifier([(1, KNeighborsClassifier()), "logistic"]).fit(*iris)


class Narrow(LogisticRegression):
    """Forgets a class."""

    def predict_proba(self, X):
        return super().predict_proba(X)[:, :2]


class Locked:
    """Cannot be copied."""

    def __init__(self):
        import threading

        self.lock = threading.Lock()

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_members_that_cannot_be_used_say_why(iris, diabetes):
    with pytest.raises(dolmen.errors.MemberError, match=r"shape \(50, 2\), but there are 50 rows and 3 classes"):
        dolmen.StackedClassifier([("narrow", Narrow(max_iter=500)), "naive-bayes"], folds=3).fit(*iris)
    with pytest.raises(dolmen.errors.MemberError, match="Locked cannot be copied for each fold") as caught:
        dolmen.StackedRegressor([("locked", Locked()), "mean"], folds=3).fit(*diabetes)
    assert isinstance(caught.value.__cause__, TypeError)
