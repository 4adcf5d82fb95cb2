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
    assert "logistic" in again and "forest" not in again and list(again) == again.members
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
    with pytest.raises(ValueError, match="hint: .* mapping"):
        dolmen.stack_oof([0, 1, 1], [np.full((3, 2), 0.5)] * 2)
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


def test_the_truth_may_be_a_column_of_the_frame():
    rng = np.random.default_rng(2)
    y = rng.normal(size=50)
    frame = pd.DataFrame({"a": y + rng.normal(size=50) * 0.1, "b": rng.normal(size=50)})
    expected = dolmen.weigh(frame, y).weights
    assert np.array_equal(dolmen.weigh(frame.assign(truth=y), "truth").weights, expected)
    with pytest.raises(ValueError, match="no column 'trth'"):
        dolmen.weigh(frame, "trth")
    with pytest.raises(ValueError, match="no members to combine"):
        dolmen.weigh(frame[["a"]], "a")
    with pytest.raises(TypeError, match="data frames"):
        dolmen.weigh({"a": y}, "a")


def test_probabilities_and_rows_are_checked():
    with pytest.raises(ValueError, match="'m' gives .0.5, 0.9. in row 0"):
        dolmen.stack_oof(["a", "b"], {"m": [[0.5, 0.9], [0.1, 0.9]]})
    with pytest.raises(ValueError, match="'a' has 2 rows, but y has 3"):
        dolmen.stack_oof([0, 1, 1], {"a": [0.1, 0.2]})


def test_a_matrix_of_any_frame_is_the_one_that_is_weighed():
    import polars

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    said = {"a": np.clip(0.3 + 0.4 * y + 0.2 * rng.normal(size=80), 0.01, 0.99), "b": rng.uniform(0.01, 0.99, 80)}
    expected = dolmen.weigh(said, y).weights
    for frame in [pd.DataFrame({**said, "y": y}), polars.DataFrame({**said, "y": y}), pd.DataFrame({**said, "y": pd.Series(y, dtype="boolean")})]:
        matrix = dolmen.OutOfSample.from_pandas(frame)
        assert matrix.task == "classification"
        assert np.allclose(matrix.weigh().weights, expected)
    assert dolmen.OutOfSample.from_pandas(pd.DataFrame(said)).task == "density"


def test_the_matrix_can_be_pickled():
    import pickle

    rng = np.random.default_rng(0)
    y = rng.choice(["10", "9"], 60)
    matrix = dolmen.OutOfSample.from_arrays({"a": rng.uniform(size=60)}, rng.normal(size=60))
    assert np.array_equal(pickle.loads(pickle.dumps(matrix))["a"], matrix["a"])
    x = rng.normal(size=(60, 2))
    matrix = dolmen.StackedClassifier(["logistic", "naive-bayes"], folds=3, check="none").fit(x, y).oos_
    again = pickle.loads(pickle.dumps(matrix))
    assert again.members == matrix.members and np.array_equal(again.y, matrix.y)
    assert np.array_equal(again.weigh().weights, matrix.weigh().weights)


def test_comparisons_and_advice_name_what_is_wrong():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "y"])
    y = rng.choice(["u", "v"], 60)
    assert dolmen.advise(x, y)["facts"]["rows"] == 60, "a column may be called as the truth would be"
    with pytest.raises(ValueError, match="row 2 has no value"):
        dolmen.compare(x, np.where(np.arange(60) == 2, None, y), ["logistic", "naive-bayes"])
    with pytest.raises(ValueError, match="several columns called a"):
        dolmen.advise(x.set_axis(["a", "a"], axis=1), y)
    with pytest.raises(ValueError, match="several columns called a"):
        dolmen.weigh(pd.DataFrame([[0.1, 0.2]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="no rows"):
        dolmen.weigh(np.empty((0, 2)))
    with pytest.raises(ValueError, match="hint: give log=True if the columns hold logarithms; leave out"):
        dolmen.weigh(pd.DataFrame({"a": [-1.0, 0.5]}))


def test_comparisons_take_the_members_of_stacks():
    x, y = load_iris(return_X_y=True)
    names = np.asarray(["9", "10", "v"])[y]
    members = [("mine", dolmen.NaiveBayes()), ("theirs", GaussianNB()), "logistic"]
    found = dolmen.compare(x, names, members, repeats=2, folds=3)
    said = {method["name"]: method for method in found["methods"]}
    assert {"mine", "theirs", "logistic"} <= set(said)
    assert found._repr_html_().startswith("<svg")
    with pytest.raises(TypeError, match="has no predict_proba"):
        from sklearn.linear_model import LinearRegression

        dolmen.compare(x, names, [LinearRegression(), "logistic"], repeats=2)
