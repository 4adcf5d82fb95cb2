"""What estimators do beyond scikit-learn's checks."""

import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dolmen

MEMBERS = ["logistic", "naive-bayes", "tree(depth=3)"]


def test_a_stack_carries_its_evidence(iris):
    x, y = iris
    stack = dolmen.StackedClassifier(MEMBERS, keep_stack=True, combiner="simplex").fit(x, y)
    assert stack.member_names_ == MEMBERS
    assert stack.weights_.sum() == pytest.approx(1.0)
    assert np.all(stack.weights_ >= 0) and np.all(stack.weight_errors_ >= 0)
    assert stack.report_["check"]["stack"]["mean"] < 0
    oos = stack.oos_
    assert len(oos) == len(y) and np.array_equal(oos.y, y)
    assert oos["logistic"].shape == (150, 3)
    assert np.allclose(oos["logistic"].sum(axis=1), 1.0)
    # The weights are those of the matrix: solving again finds the same.
    assert np.allclose(oos.weigh("simplex").weights, stack.weights_, atol=1e-9)


def test_the_same_bits_on_any_number_of_threads(diabetes):
    x, y = diabetes
    one, two = (dolmen.StackedRegressor(["ridge", "forest(trees=20)"], n_jobs=n).fit(x, y) for n in (1, 2))
    assert one.model_.to_bytes() == two.model_.to_bytes()
    assert np.array_equal(one.predict(x), two.predict(x))


def test_intervals_hold_about_as_many_as_they_say(diabetes):
    x, y = diabetes
    stack = dolmen.StackedRegressor(["ridge", "neighbours(k=20)"]).fit(x[::2], y[::2])
    lower, upper = stack.predict_interval(x[1::2], 0.8).T
    assert np.all(lower < upper)
    assert 0.7 < np.mean((lower <= y[1::2]) & (y[1::2] <= upper)) < 0.9


def test_pickle_clone_and_joblib(iris, tmp_path):
    x, y = iris
    stack = dolmen.StackedClassifier(MEMBERS, folds=3).fit(x, y)
    again = pickle.loads(pickle.dumps(stack))
    assert np.array_equal(again.predict_proba(x), stack.predict_proba(x))
    assert again.report_ == stack.report_
    with pytest.raises(AttributeError, match="out-of-sample"):
        _ = again.oos_
    joblib.dump(stack, tmp_path / "stack.joblib")
    assert np.array_equal(joblib.load(tmp_path / "stack.joblib").predict(x), stack.predict(x))
    assert not hasattr(clone(stack), "model_")


def test_grid_search_pipelines_and_routing(iris):
    x, y = iris
    grid = GridSearchCV(dolmen.RandomForestClassifier(trees=10), {"depth": [1, 4]}, cv=3).fit(x, y)
    assert grid.best_params_["depth"] == 4
    named = dolmen.StackedClassifier([("mine", LogisticRegression(max_iter=500)), ("tree", dolmen.DecisionTreeClassifier())], folds=3)
    grid = GridSearchCV(named, {"mine__C": [1e-6, 1.0]}, cv=3, scoring="neg_log_loss").fit(x, y)
    assert grid.best_params_["mine__C"] == 1.0
    pipe = make_pipeline(ColumnTransformer([("scaled", StandardScaler(), [0, 1, 2, 3])]), dolmen.StackedClassifier(MEMBERS, folds=3))
    assert cross_val_score(pipe, x, y, cv=3).mean() > 0.9
    groups = np.arange(len(y)) // 5
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        routed = dolmen.RandomForestClassifier(trees=10).set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
        grid = GridSearchCV(routed, {"depth": [4]}, cv=3).fit(x, y, sample_weight=np.ones(len(y)), groups=groups)
        assert grid.best_score_ > 0.8


def test_groups_are_not_torn_apart():
    """Rows of a group are copies: a memorising learner gains by torn groups only."""
    rng = np.random.default_rng(0)
    x = np.repeat(rng.normal(size=(40, 3)), 5, axis=0)
    y = np.repeat(rng.integers(0, 2, 40), 5)
    groups = np.repeat([f"g{i}" for i in range(40)], 5)
    members = ["neighbours(k=1)", "class-frequencies"]
    torn = dolmen.StackedClassifier(members, keep_stack=True, combiner="simplex").fit(x, y)
    kept = dolmen.StackedClassifier(members, keep_stack=True, combiner="simplex").fit(x, y, groups=groups)
    assert torn.weights_[0] > 0.9 > 0.5 > kept.weights_[0]


def test_no_row_is_predicted_from_its_future():
    y = np.cumsum(np.random.default_rng(1).normal(size=120))
    x = np.arange(120.0).reshape(-1, 1)
    times = np.datetime64("2020-01-01") + np.arange(120)
    stack = dolmen.StackedRegressor(["neighbours(k=1)", "mean"], keep_stack=True).fit(x, y, times=times)
    oos = stack.oos_
    # One neighbour knows only what was before: it says the last value of the past, block by block.
    said = oos["neighbours(k=1)"]
    assert set(np.round(said, 9)) <= set(np.round(y, 9))
    assert all(np.any(np.isclose(said[i], y[: oos.rows[i]])) for i in range(len(oos)))
    assert len(oos) < 120


def test_densities(blobs):
    density = dolmen.StackedDensity(["gaussian", "kernel", "mixture(components=2)"]).fit(blobs)
    assert density.score(blobs) == pytest.approx(density.score_samples(blobs).mean())
    one = density.marginal([0])
    grid = np.linspace(-10, 15, 4001)
    mass = np.exp(one.score_samples(grid)).sum() * (grid[1] - grid[0])
    assert mass == pytest.approx(1.0, abs=1e-3)
    assert one.cdf(one.ppf([0.1, 0.5, 0.9])) == pytest.approx([0.1, 0.5, 0.9], abs=1e-9)
    given = density.conditional({1: 3.0})
    assert given.ppf([0.5])[0] == pytest.approx(5.0, abs=0.5)
    drawn = density.sample(500, random_state=0)
    assert drawn.shape == (500, 2) and np.array_equal(drawn, density.sample(500, random_state=0))
    strange = density.anomaly_scores([[50.0, 50.0], [0.0, 0.0]])
    assert strange[0] > strange[1]


def test_attributes_have_the_names_people_know(blobs, iris, diabetes):
    mixture = dolmen.GaussianMixture(components=2).fit(blobs)
    order = np.argsort(mixture.means_[:, 0])
    assert mixture.means_[order] == pytest.approx(np.array([[0, 0], [5, 3]]), abs=0.6)
    assert mixture.weights_[order] == pytest.approx([80 / 140, 60 / 140], abs=0.05)
    assert mixture.covariances_.shape == (2, 2, 2)
    assert dolmen.KernelDensity().fit(blobs).bandwidth_.shape == (2,)
    x, y = diabetes
    ridge = dolmen.Ridge(lambda_=0.0).fit(x, y)
    least_squares = np.linalg.lstsq(np.column_stack([np.ones(len(x)), x]), y, rcond=None)[0]
    assert ridge.intercept_ == pytest.approx(least_squares[0])
    assert ridge.coef_ == pytest.approx(least_squares[1:])
    forest = dolmen.RandomForestClassifier(trees=20).fit(*iris)
    assert forest.feature_importances_.shape == (4,)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


def test_bagging_averages_fits_of_anything(iris):
    x, y = iris
    for of in ["tree", dolmen.LogisticRegression(lambda_=1.0)]:
        bag = dolmen.BaggingClassifier(of=of, fits=5).fit(x, y)
        assert bag.score(x, y) > 0.9
        assert bag.parameters_["models"][0]["kind"] == "bagged"


def test_warnings_tell_what_the_library_notes(iris):
    import pandas as pd

    x, y = iris
    frame = pd.DataFrame(x, columns=list("abcd")).assign(id=[f"row {i}" for i in range(len(x))])
    with pytest.warns(UserWarning, match="'id'"):
        model = dolmen.RandomForestClassifier(trees=5).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)
        dolmen.RandomForestClassifier(trees=5, reading={"all_columns": True}).fit(frame, y)


def test_importances_of_stacks_and_of_frames_with_dates():
    import pandas as pd

    rng = np.random.default_rng(0)
    x = pd.DataFrame({"id": [f"row {i}" for i in range(200)], "a": rng.normal(size=200), "b": rng.normal(size=200)})
    x["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), "D")
    y = 3 * x["a"] + rng.normal(size=200) * 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stack = dolmen.StackedRegressor(["ridge", "forest(trees=20)"], explain=True).fit(x, y)
        forest = dolmen.RandomForestRegressor(trees=20).fit(x, y)
    for importances in [stack.feature_importances_, forest.feature_importances_]:
        assert importances.shape == (4,) and np.argmax(importances) == 1 and importances[0] == 0.0
    assert stack.evidence_["importance"]["inputs"][0]["name"] == "a"
    with pytest.raises(AttributeError, match="explain=True"):
        _ = dolmen.StackedRegressor(["ridge", "mean"]).fit(x[["a", "b"]], y).feature_importances_


def test_the_matrix_travels_if_it_is_to(iris, tmp_path):
    stack = dolmen.StackedClassifier(MEMBERS, folds=3, keep_matrix=True).fit(*iris)
    again = pickle.loads(pickle.dumps(stack))
    assert np.array_equal(again.oos_["logistic"], stack.oos_["logistic"])
    stack.save(tmp_path / "m.dolmen")
    assert np.array_equal(dolmen.load(tmp_path / "m.dolmen").oos_["logistic"], stack.oos_["logistic"])


def test_what_densities_cannot_do_is_told_in_words(blobs):
    density = dolmen.GaussianMixture(components=2).fit(blobs)
    one = density.marginal(np.int64(0))
    assert isinstance(one.ppf(0.5), float) and one.cdf(one.ppf([[0.1, 0.9]])) == pytest.approx(np.asarray([[0.1, 0.9]]))
    kept = pickle.loads(pickle.dumps(density.conditional({0: 1.0})))
    assert kept.ppf(0.3) == density.conditional({0: 1.0}).ppf(0.3)
    assert np.array_equal(pickle.loads(pickle.dumps(density.density_)).score_samples(blobs), density.score_samples(blobs))
    for wrong in [1.5, None]:
        with pytest.raises(TypeError, match="column|iterable"):
            density.marginal(wrong)
    with pytest.raises(TypeError, match="dictionary"):
        density.conditional([0.0])
    with pytest.raises(ValueError, match="empty"):
        density.conditional({})
    for wrong in [2.5, "a"]:
        with pytest.raises(TypeError, match="n_samples must be a whole number"):
            density.sample(wrong)
    with pytest.raises(ValueError, match="two dimensions"):
        one.score_samples(np.ones((3, 1, 1)))
    with pytest.raises(ValueError, match="several stand in a stack"):
        dolmen.GaussianMixture(components=[1, 2]).fit(blobs)
    with pytest.raises(TypeError, match="reading must be a dictionary"):
        dolmen.GaussianMixture(reading=["a"]).fit(blobs)


def test_wrong_values_name_their_parameter(blobs):
    for name, wrong in [("components", "a"), ("components", 2.5), ("beta", np.nan), ("beta", "a")]:
        with pytest.raises(dolmen.errors.ParameterError, match=f"{name} in mixture must be a number"):
            dolmen.GaussianMixture(**{name: wrong}).fit(blobs)


def test_single_learners_without_pictures_say_so(iris):
    with pytest.raises(ValueError, match="no picture of this NaiveBayes"):
        dolmen.NaiveBayes().fit(*iris).plot()


def test_rows_of_known_truth_must_have_known_classes(iris):
    x, y = iris
    names = np.asarray(["s", "v", "w"])[y]
    model = dolmen.NaiveBayes().fit(x, names)
    assert model.score_report(x, names)["rows"] == 150
    for wrong, problem in [(y, "does not know: 0, 1, 2"), (np.where(y == 1, "q", names), "does not know: q"), (np.where(y == 1, None, names), "row 50")]:
        with pytest.raises(ValueError, match=problem):
            model.score_report(x, wrong)


def test_a_loaded_stack_is_fitted_again_as_it_was(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80), "c": rng.choice(list("pq"), 80)})
    y = np.where(x["a"] > 0, "10", "9")
    stack = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3, check="none", reading={"drop": ["b"]}, random_state=3).fit(x, y)
    stack.save(tmp_path / "m.dolmen")
    again = clone(dolmen.load(tmp_path / "m.dolmen")).fit(x, y)
    assert again.model_.to_bytes() == stack.model_.to_bytes()


def test_a_loaded_learner_is_of_its_own_class(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80), "c": rng.choice(list("pq"), 80)})
    y, path = np.where(x["a"] > 0, "10", "9"), tmp_path / "m.dolmen"
    learners = [
        dolmen.RandomForestClassifier(trees=5, reading={"drop": ["b"]}, random_state=3),
        dolmen.LogisticRegression(lambda_=0.5),
        dolmen.BaggingClassifier(of=dolmen.DecisionTreeClassifier(depth=2), fits=3),
        dolmen.BayesClassifier(density=dolmen.GaussianMixture(components=2), reading={"drop": ["c"]}),
        dolmen.KNeighborsRegressor(k=3),
        dolmen.GaussianMixture(components=3, covariance="diagonal"),
    ]
    for learner in learners:
        truth = x["a"] * 2 if isinstance(learner, dolmen.KNeighborsRegressor) else y
        learner.fit(x, truth).save(path)
        again = dolmen.load(path)
        assert type(again) is type(learner) and again.reading == learner.reading and again.random_state == (learner.random_state or 0)
        assert clone(again).fit(x, truth).model_.to_bytes() == again.model_.to_bytes() == learner.model_.to_bytes()
    assert again.means_.shape == (3, 2) and np.array_equal(again.means_, learner.means_)
    forest = learners[0]
    forest.save(path)
    assert dolmen.load(path).feature_importances_.tolist() == forest.feature_importances_[[0, 2]].tolist()
    # A learner without a class of its own.
    x.assign(y=x["a"]).to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", tmp_path / "t.csv", "--target", "y", "--alone", "-q", "-o", path, "--model"]
    for model, cls in [("mean", dolmen.StackedRegressor), ("forest(trees=7)", dolmen.RandomForestRegressor)]:
        subprocess.run([sys.executable, "-m", "dolmen", *map(str, words), model], capture_output=True, check=True)
        assert type(dolmen.load(path)) is cls
    assert dolmen.load(path).trees == 7


def test_the_matrix_has_the_labels_that_were_given(iris):
    x, y = iris
    for labels in [np.asarray(["10", "9", "8"])[y], y, y == 1, np.asarray(["s", "v", "w"])[y]]:
        oos = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3, check="none").fit(x, labels).oos_
        assert np.array_equal(oos.y, labels[oos.rows]) and oos.y.dtype == labels.dtype


def test_warnings_point_at_the_line_that_called(iris):
    import pandas as pd

    x = pd.DataFrame({"a": np.arange(40) % 7, "c": ["p", "q"] * 20})
    model = dolmen.NaiveBayes().fit(x, [0, 1] * 20)
    for use in [model.predict, model.predict_proba, model.predict_log_proba]:
        with pytest.warns(UserWarning, match="not seen in the fit: z") as caught:
            use(x.assign(c="z"))
        assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="is left out") as caught:
        dolmen.NaiveBayes().fit(x.assign(none=np.nan), [0, 1] * 20)
    assert caught[0].filename == __file__


def test_options_in_messages_are_those_of_python():
    import pandas as pd

    x = pd.DataFrame({"a": np.arange(40) % 7, "c": ["1,5", "2,5"] * 20})
    with pytest.warns(UserWarning, match=r'reading=\{"types": \{"c": "categorical"\}\} reads texts'):
        dolmen.NaiveBayes().fit(x, [0, 1] * 20)
    model = dolmen.NaiveBayes().fit(x[["a"]], [0, 1] * 20)
    with pytest.raises(ValueError, match=r'reading=\{"missing": \["x"\]\}'):
        model.predict(pd.DataFrame({"a": ["x"] * 3}))
    with pytest.raises(TypeError, match="hint: make a data frame of it"):
        dolmen.NaiveBayes().fit({"a": [1.0, 2.0]}, [0, 1])
