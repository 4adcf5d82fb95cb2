"""Rows of every kind: arrays without a copy, data frames of all libraries alike."""

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dolmen
from dolmen import _rows

ROWS = 90


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    colour = rng.choice(["red", "green", "blue"], ROWS)
    size = rng.normal(size=ROWS)
    size[::11] = np.nan
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, ROWS), "D")
    table = pd.DataFrame({"size": size, "colour": colour, "wet": rng.random(ROWS) < 0.5, "day": day, "count": rng.integers(0, 9, ROWS)})
    kind = np.where((colour == "red") ^ (np.nan_to_num(size) > 0), "yes", "no")
    return table, pd.Series(kind, name="kind")


def test_frames_of_all_libraries_give_the_same_model(frame):
    table, kind = frame
    given = {
        "pandas": table,
        "categories": table.assign(colour=table["colour"].astype("category")),
        "polars": pl.from_pandas(table),
        "pyarrow": pa.Table.from_pandas(table, preserve_index=False),
    }
    predicted = {}
    for name, x in given.items():
        model = dolmen.RandomForestClassifier(trees=20).fit(x, kind)
        assert list(model.classes_) == ["no", "yes"]
        predicted[name] = model.predict_proba(x)
        assert model.score(x, kind) > 0.9, name
    for name, values in predicted.items():
        assert np.array_equal(values, predicted["pandas"]), name


def test_without_pyarrow_pandas_is_read_column_by_column(frame, monkeypatch):
    table, kind = frame
    with_arrow = dolmen.RandomForestClassifier(trees=10).fit(table.drop(columns="day"), kind)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = table.drop(columns="day")
    without = dolmen.RandomForestClassifier(trees=10).fit(table, kind)
    assert np.array_equal(without.predict_proba(table), with_arrow.predict_proba(table))


def test_an_array_of_doubles_is_not_copied():
    x = np.random.default_rng(0).normal(size=(1000, 3))
    assert _rows.numbers(x) is x
    before = x.copy()
    dolmen.GaussianDensity().fit(x)
    assert np.array_equal(x, before)


def test_bytes_are_those_of_the_command_line(frame, tmp_path):
    table, kind = frame
    path = tmp_path / "table.parquet"
    table.assign(kind=kind).to_parquet(path, index=False)
    words = [sys.executable, "-m", "dolmen", "fit", str(path), "--target", "kind", "--task", "classify", "--seed", "7", "--quiet"]
    for member in ["naive-bayes", "forest(trees=10)", "boost(rounds=5)"]:
        words += ["--model", member]
    subprocess.run([*words, "-o", str(tmp_path / "cli.dolmen")], check=True)
    members = ["naive-bayes", dolmen.RandomForestClassifier(trees=10), dolmen.GradientBoostingClassifier(rounds=5)]
    stack = dolmen.StackedClassifier(members, random_state=7).fit(table, kind)
    stack.save(tmp_path / "python.dolmen")
    assert (tmp_path / "python.dolmen").read_bytes() == (tmp_path / "cli.dolmen").read_bytes()
    again = dolmen.load(tmp_path / "cli.dolmen")
    assert np.array_equal(again.predict_proba(table), stack.predict_proba(table))
    assert list(again.predict(table)) == list(stack.predict(table))


def test_columns_are_found_by_name_and_checked(frame):
    table, kind = frame
    model = dolmen.RandomForestClassifier(trees=5).fit(table, kind)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.drop(columns="size"))
    unseen = table.assign(colour="violet")
    with pytest.warns(UserWarning, match="violet"):
        model.predict(unseen)
    with pytest.raises(ValueError, match="data frame"):
        model.predict(np.zeros((2, 5)))


def test_numbers_of_a_frame_may_come_as_an_array_later():
    x = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"])
    model = dolmen.Ridge().fit(x, x["a"] * 2)
    with pytest.warns(UserWarning, match="feature names"):
        assert np.allclose(model.predict(x.to_numpy()), model.predict(x))


def test_set_output_gives_frames():
    x = pd.DataFrame({"a": np.random.default_rng(0).normal(size=40), "b": np.arange(40.0) % 7})
    stack = dolmen.StackedRegressor(["ridge", "mean"], keep_all=True, keep_stack=True).fit(x, x["a"])
    shown = stack.set_output(transform="pandas").transform(x)
    assert list(shown.columns) == ["ridge", "mean"]
