"""Predictions made anywhere."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

import dolmen


@pytest.fixture(scope="module")
def logs():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(-2, 1, 200), rng.normal(3, 0.5, 100)])
    normal = lambda m, s: -0.5 * ((x - m) / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi)  # noqa: E731
    return {"left": normal(-2, 1), "right": normal(3, 0.5), "wide": normal(0, 3)}


def test_weights_are_the_certified_optimum(logs):
    found = dolmen.weigh(logs, log=True)
    assert found.members == ["left", "right", "wide"]
    assert found.gap <= 1e-9 and found.weights.sum() == pytest.approx(1.0)
    assert found.weights[0] == pytest.approx(2 / 3, abs=0.05)
    # EM's fixed point: every member with weight has price 1.
    p = np.exp(np.column_stack(list(logs.values())))
    price = (p / (p @ found.weights)[:, None]).mean(axis=0)
    assert price[found.weights > 1e-6] == pytest.approx(1.0, abs=1e-7)
    assert np.all(price < 1 + 1e-7)
    assert found.predictions == pytest.approx(np.log(p @ found.weights))


def test_densities_arrays_and_frames_are_the_same(logs):
    expected = dolmen.weigh(logs, log=True).weights
    densities = {name: np.exp(values) for name, values in logs.items()}
    assert dolmen.weigh(densities).weights == pytest.approx(expected, abs=1e-9)
    assert dolmen.weigh(np.column_stack(list(logs.values())), log=True).weights == pytest.approx(expected)
    assert dolmen.weigh(pd.DataFrame(logs), log=True).weights == pytest.approx(expected)


def test_classes_and_numbers():
    x, y = load_iris(return_X_y=True)
    names = np.asarray(["setosa", "versicolor", "virginica"])[y]
    said = {
        "logistic": cross_val_predict(LogisticRegression(max_iter=500), x, y, method="predict_proba"),
        "bayes": cross_val_predict(GaussianNB(), x, y, method="predict_proba"),
    }
    found = dolmen.stack_oof(names, said)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.predictions.shape == (150, 3)
    assert found.predictions == pytest.approx(found.weights[0] * said["logistic"] + found.weights[1] * said["bayes"], abs=1e-9)
    assert np.allclose(dolmen.stack_oof(y, said).weights, found.weights)
    two = {name: values[:, 2] for name, values in said.items()}
    assert dolmen.stack_oof(y == 2, two).predictions.shape == (150, 2)
    truth = x[:, 0]
    numbers = {"good": truth + 0.1 * x[:, 1], "bad": np.zeros(150)}
    assert dolmen.stack_oof(truth, numbers).weights[0] > 0.9


def test_the_matrix_to_and_from_files_and_frames(tmp_path):
    x, y = load_iris(return_X_y=True)
    stack = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3).fit(x, y)
    oos = stack.oos_
    oos.write(tmp_path / "oos.parquet")
    again = dolmen.OutOfSample.read(tmp_path / "oos.parquet")
    assert again.members == oos.members and np.array_equal(again["logistic"], oos["logistic"])
    frame = oos.to_pandas()
    assert list(frame.columns) == ["logistic:0", "logistic:1", "logistic:2", "naive-bayes:0", "naive-bayes:1", "naive-bayes:2", "y"]
    back = dolmen.OutOfSample.from_pandas(frame)
    assert np.array_equal(back["naive-bayes"], oos["naive-bayes"])
    assert np.allclose(back.weigh().weights, oos.weigh().weights)


def test_mistakes_are_named(logs):
    with pytest.raises(ValueError, match="no such|one of|must be"):
        dolmen.weigh(logs, log=True, method="simplx")
    with pytest.raises(ValueError, match="negative"):
        dolmen.weigh({"a": [-1.0, 0.5]})
    with pytest.raises(ValueError, match="two dimensions"):
        dolmen.weigh(np.zeros(3))
    with pytest.raises(ValueError, match="classes"):
        dolmen.stack_oof(["a", "b", "c"], {"m": [0.1, 0.2, 0.3]})
    with pytest.raises(ValueError):
        dolmen.weigh({"a": [np.nan, 1.0]}, log=True)


def test_compare_and_advise():
    x, y = load_iris(return_X_y=True)
    names = np.asarray(["s", "v", "w"])[y]
    found = dolmen.compare(x, names, ["logistic", "naive-bayes"], repeats=3)
    assert "svg" in str(found.plot())
    assert any("logistic" in str(value) for value in found.values())
    advice = dolmen.advise(x, names)
    assert advice["recommendation"] and advice["facts"]["rows"] == 150


def test_frames_of_any_kind_are_weighed_alike():
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    columns = {"a": rng.random(60), "b": rng.random(60)}
    weights = rng.random(60) + 0.5
    arrays = dolmen.weigh(columns, sample_weight=weights).weights
    for frame in (polars.DataFrame(columns), pandas.DataFrame(columns)):
        assert np.array_equal(dolmen.weigh(frame, sample_weight=weights).weights, arrays)
        assert not np.array_equal(dolmen.weigh(frame).weights, arrays)


def test_two_classes_are_the_same_in_mappings_arrays_and_frames():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    columns = {name: np.clip(0.5 + (y - 0.5) * rng.normal(share, 0.4, 200), 0.01, 0.99) for name, share in [("a", 0.6), ("b", 0.3)]}
    expected = dolmen.stack_oof(y, columns)
    assert expected.predictions.shape == (200, 2)
    for matrix in [pd.DataFrame(columns), polars.DataFrame(columns), np.column_stack(list(columns.values()))]:
        found = dolmen.stack_oof(y, matrix)
        assert found.predictions.shape == (200, 2)
        assert np.array_equal(found.weights, expected.weights)
    # Truth values are classes too, and beside predictions that are no probabilities numbers are numbers.
    assert np.array_equal(dolmen.stack_oof(y.astype(bool), pd.DataFrame(columns)).weights, expected.weights)
    assert dolmen.stack_oof(y, pd.DataFrame(columns) * 3.0).predictions.ndim == 1


def test_columns_of_frames_are_found_by_the_classes():
    x, y = load_iris(return_X_y=True)
    names = np.asarray(["setosa", "versicolor", "virginica"])[y]
    said = cross_val_predict(LogisticRegression(max_iter=500), x, names, method="predict_proba")
    other = np.full((150, 3), 1 / 3)
    expected = dolmen.stack_oof(names, {"a": said, "b": other})
    frame = pd.DataFrame(said, columns=sorted(set(names)))
    for columns in [frame, frame[frame.columns[::-1]], frame.add_prefix("p(").add_suffix(")")[["p(virginica)", "p(setosa)", "p(versicolor)"]]]:
        assert np.array_equal(dolmen.stack_oof(names, {"a": columns, "b": other}).predictions, expected.predictions)
    unnamed = pd.DataFrame(said)
    assert np.array_equal(dolmen.stack_oof(names, {"a": unnamed, "b": other}).predictions, expected.predictions)
    with pytest.raises(ValueError, match="'a' has the columns one, two, three.*setosa"):
        dolmen.stack_oof(names, {"a": pd.DataFrame(said, columns=["one", "two", "three"]), "b": other})


def test_truths_that_are_missing_and_seeds_that_are_none_are_named(logs):
    with pytest.raises(ValueError, match="row 1 has no value"):
        dolmen.stack_oof(["a", None, "b"], {"m": np.full((3, 2), 0.5)})
    with pytest.raises(ValueError, match="row 0 has no value"):
        dolmen.stack_oof([np.nan, 1.5], {"m": [0.1, 0.2]})
    with pytest.raises(ValueError, match="random_state.*-1"):
        dolmen.weigh(logs, log=True, random_state=-1)


def test_columns_that_are_no_members_are_told():
    frame = pd.DataFrame({"a:x": [0.4, 0.6, 0.7], "a:y": [0.6, 0.4, 0.3], "class": ["y", "x", "x"]})
    with pytest.warns(UserWarning, match="'class' is left out"):
        dolmen.weigh(frame, np.asarray(["y", "x", "x"]))
