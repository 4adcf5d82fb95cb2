"""Rows of every kind: arrays without a copy, data frames of all libraries alike."""

import datetime
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


def written(table, folder, form):
    """The table as a file, and as a program that reads it anew has it."""
    path = folder / f"table.{form}"
    if form == "parquet":
        table.to_parquet(path, index=False)
    else:
        table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("given", ["pandas", "categories", "polars", "pyarrow", "without pyarrow"])
def test_bytes_are_those_of_the_command_line(frame, form, given, tmp_path, monkeypatch):
    table, kind = frame
    path = written(table.assign(kind=kind), tmp_path, form)
    words = [sys.executable, "-m", "dolmen", "fit", str(path), "--target", "kind", "--task", "classify", "--seed", "7", "--quiet"]
    for member in ["naive-bayes", "forest(trees=10)", "boost(rounds=5)"]:
        words += ["--model", member]
    subprocess.run([*words, "-o", str(tmp_path / "cli.dolmen")], check=True)
    x = {
        "pandas": lambda: table,
        "without pyarrow": lambda: table,
        "categories": lambda: table.assign(colour=table["colour"].astype("category")),
        "polars": lambda: pl.from_pandas(table),
        "pyarrow": lambda: pa.Table.from_pandas(table, preserve_index=False),
    }[given]()
    if given == "without pyarrow":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    members = ["naive-bayes", dolmen.RandomForestClassifier(trees=10), dolmen.GradientBoostingClassifier(rounds=5)]
    stack = dolmen.StackedClassifier(members, random_state=7).fit(x, kind)
    stack.save(tmp_path / "python.dolmen")
    assert (tmp_path / "python.dolmen").read_bytes() == (tmp_path / "cli.dolmen").read_bytes()
    again = dolmen.load(tmp_path / "cli.dolmen")
    assert np.array_equal(again.predict_proba(x), stack.predict_proba(x))
    assert list(again.predict(x)) == list(stack.predict(x))


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_truth_values_to_predict_are_the_same_everywhere(frame, form, tmp_path):
    table, _ = frame
    x, wet = table.drop(columns=["wet", "day"]), table["wet"]
    path = written(x.assign(wet=wet), tmp_path, form)
    words = [sys.executable, "-m", "dolmen", "fit", str(path), "--target", "wet", "--task", "classify", "--model", "naive-bayes", "--alone", "--quiet"]
    subprocess.run([*words, "-o", str(tmp_path / "cli.dolmen")], check=True)
    model = dolmen.NaiveBayes().fit(x, wet)
    assert model.classes_.tolist() == [False, True] and model.predict(x).dtype == bool
    assert model.model_.to_bytes() == (tmp_path / "cli.dolmen").read_bytes()
    again = dolmen.load(tmp_path / "cli.dolmen")
    assert again.classes_.tolist() == [False, True]
    assert np.array_equal(again.predict(x), model.predict(x))
    assert again.score_report(x, wet)
    words = [sys.executable, "-m", "dolmen", "score", str(tmp_path / "cli.dolmen"), str(path)]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_times_give_the_bytes_of_the_command_line(frame, tmp_path):
    table, _ = frame
    x, day = table[["count", "wet"]], table["day"]
    y = pd.Series(np.arange(ROWS) * 0.1 + table["count"], name="y")
    path = written(x.assign(day=day, y=y), tmp_path, "csv")
    words = [sys.executable, "-m", "dolmen", "fit", str(path), "--target", "y", "--time", "day", "--model", "ridge", "--model", "mean", "--quiet"]
    subprocess.run([*words, "-o", str(tmp_path / "cli.dolmen")], check=True)
    by_cli = dolmen.load(tmp_path / "cli.dolmen")
    stack = dolmen.StackedRegressor(["ridge", "mean"]).fit(x, y, times=day)
    assert np.array_equal(by_cli.predict(x), stack.predict(x))
    assert by_cli.report_["members"] == stack.report_["members"]


def test_a_loaded_model_knows_its_columns(frame, tmp_path):
    table, kind = frame
    dolmen.RandomForestClassifier(trees=5).fit(table, kind).save(tmp_path / "m.dolmen")
    again = dolmen.load(tmp_path / "m.dolmen")
    assert list(again.feature_names_in_) == list(table.columns) and again.n_features_in_ == 5
    # As for the command line, other columns may be there, and in any order.
    more = table[list(table.columns)[::-1]].assign(kind=kind)
    assert np.array_equal(again.predict(more), again.predict(table))
    with pytest.raises(ValueError, match="size"):
        again.predict(table.drop(columns="size"))
    x, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    dolmen.NaiveBayes().fit(x, y).save(tmp_path / "m.dolmen")
    again = dolmen.load(tmp_path / "m.dolmen")
    assert again.n_features_in_ == 3 and not hasattr(again, "feature_names_in_")
    with pytest.raises(ValueError, match="3 features"):
        again.predict(x[:, :2])


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


def test_densities_find_the_columns_of_frames_by_name():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(5, 1, size=60)})
    density = dolmen.GaussianDensity().fit(x).density_
    assert np.array_equal(density.score_samples(x[["b", "a"]]), density.score_samples(x))
    assert np.array_equal(density.score_samples(pl.from_pandas(x).select("b", "a")), density.score_samples(x.to_numpy()))
    with pytest.raises(ValueError, match="no column 'b'.*a, c"):
        density.score_samples(x.rename(columns={"b": "c"}))
    assert density.marginal("b").score_samples(x[["b"]]).shape == (60,)
    with pytest.raises(ValueError, match="no column 2"):
        density.marginal([2])
    plain = dolmen.GaussianDensity().fit(x.to_numpy()).density_
    assert np.array_equal(plain.score_samples(x), density.score_samples(x))


class Capsule:
    """An object that only has Arrow's interface."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class ArrayCapsule:
    """An object that only has Arrow's interface for one batch."""

    def __init__(self, batch):
        self._batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self._batch.__arrow_c_array__(requested_schema)


def test_columns_of_any_frame_are_checked(frame):
    import narwhals

    table, kind = frame
    arrow = pa.Table.from_pandas(table, preserve_index=False).combine_chunks()
    expected = dolmen.NaiveBayes().fit(table, kind).predict_proba(table)
    kinds = {
        "batch": lambda t: t.to_batches()[0],
        "stream": Capsule,
        "array": lambda t: ArrayCapsule(t.to_batches()[0]),
        "narwhals": narwhals.from_native,
    }
    for name, of in kinds.items():
        model = dolmen.NaiveBayes().fit(of(arrow), kind)
        assert list(model.feature_names_in_) == list(table.columns) and model.n_features_in_ == 5, name
        assert np.array_equal(model.predict_proba(of(arrow)), expected), name
        with pytest.raises(ValueError, match="same order"):
            model.predict(of(arrow.select(arrow.column_names[::-1])))
        with pytest.raises(ValueError, match="now missing:\n- size"):
            model.predict(of(arrow.drop_columns("size")))
        with pytest.raises(ValueError, match="unseen at fit time:\n- more"):
            model.predict(of(arrow.append_column("more", arrow["size"])))
    numbers = dolmen.NaiveBayes().fit(table[["count"]].to_numpy(), kind)
    with pytest.warns(UserWarning, match="without feature names"):
        found = numbers.predict_proba(Capsule(arrow.select(["count"])))
    assert np.array_equal(found, numbers.predict_proba(table[["count"]].to_numpy()))


def test_frames_without_rows_and_with_names_twice_are_refused_when_used(frame):
    table, kind = frame
    model = dolmen.NaiveBayes().fit(table, kind)
    for empty in [table.iloc[:0], pl.from_pandas(table).head(0), pa.Table.from_pandas(table).slice(0, 0)]:
        with pytest.raises(ValueError, match="0 sample"):
            model.predict(empty[list(table.columns)] if isinstance(empty, pd.DataFrame) else empty.select(list(table.columns)))
    with pytest.raises(ValueError, match="several columns called size"):
        model.predict(pd.concat([table, table[["size"]]], axis=1))


def test_one_column_is_no_frame(frame):
    table, kind = frame
    for column in [table["size"], pl.Series(table["count"])]:
        with pytest.raises(ValueError, match="2D|2-dimensional"):
            dolmen.NaiveBayes().fit(column, kind)
    with pytest.raises(ValueError, match="ChunkedArray cannot be read as a table"):
        dolmen.NaiveBayes().fit(pa.chunked_array([[1.0, 2.0]]), [0, 1])
    density = dolmen.GaussianDensity().fit(table[["count"]]).density_
    assert np.array_equal(density.score_samples(table["count"]), density.score_samples(table[["count"]]))


def test_types_of_pandas_that_arrow_does_not_know_are_what_files_say(frame, tmp_path):
    table, kind = frame
    x = pd.DataFrame(
        {
            "month": table["day"].dt.to_period("M"),
            "range": pd.cut(table["count"], 3),
            "interval": pd.arrays.IntervalArray.from_arrays(table["count"] // 3, table["count"] // 3 + 1),
            "sparse": pd.arrays.SparseArray(table["count"].to_numpy()),
        }
    )
    path = written(x.assign(kind=kind), tmp_path, "csv")
    words = [sys.executable, "-m", "dolmen", "fit", str(path), "--target", "kind", "--task", "classify", "--model", "naive-bayes", "--alone", "--quiet"]
    subprocess.run([*words, "-o", str(tmp_path / "cli.dolmen")], check=True)
    assert dolmen.NaiveBayes().fit(x, kind).model_.to_bytes() == (tmp_path / "cli.dolmen").read_bytes()
    with pytest.raises(TypeError, match="column 'c' holds complex numbers"):
        dolmen.NaiveBayes().fit(pd.DataFrame({"c": np.ones(ROWS) + 1j}), kind)
    opaque = pd.DataFrame({"a": np.arange(20.0), "c": [object()] * 20})
    with pytest.raises(TypeError, match="column 'c' holds objects of the type object"):
        dolmen.Ridge().fit(opaque, np.arange(20.0))


def test_columns_of_polars_without_a_type_hold_nothing(frame):
    table, kind = frame
    x = pl.from_pandas(table).with_columns(pl.lit(None).alias("none"))
    with pytest.warns(UserWarning, match="'none' is left out"):
        model = dolmen.NaiveBayes().fit(x, kind)
    assert model.n_features_in_ == 6


def test_labels_in_types_with_missing_values_are_what_they_are(frame, tmp_path):
    table, _ = frame
    x, wet = table[["size", "count"]], table["wet"]
    for labels in [wet.astype("boolean"), wet.astype("bool[pyarrow]")]:
        model = dolmen.NaiveBayes().fit(x, labels)
        assert model.classes_.dtype == bool
        assert model.model_.to_bytes() == dolmen.NaiveBayes().fit(x, wet).model_.to_bytes()
        assert model.score_report(x, labels)["rows"] == ROWS
    assert dolmen.NaiveBayes().fit(x, table["count"].astype("Int64")).classes_.dtype.kind == "i"
    with pytest.raises(ValueError, match="row 3 has no value"):
        dolmen.NaiveBayes().fit(x, wet.astype("boolean").mask(wet.index == 3))


def test_dates_are_no_numbers(frame):
    table, kind = frame
    with pytest.raises(TypeError, match="hint: pass a data frame"):
        dolmen.NaiveBayes().fit(table[["day"]].to_numpy(), kind)
    with pytest.raises(TypeError, match="y holds dates"):
        dolmen.Ridge().fit(table[["count"]], table["day"])


def test_durations_are_seconds(frame):
    table, kind = frame
    lasting = pd.to_timedelta(table["count"] + 1, unit="min")
    seconds = pd.DataFrame({"lasting": 60.0 * (table["count"] + 1)})
    expected = dolmen.NaiveBayes().fit(seconds, kind).model_.to_bytes()
    for unit in ["s", "ms", "us", "ns"]:
        x = pd.DataFrame({"lasting": lasting.astype(f"timedelta64[{unit}]")})
        assert dolmen.NaiveBayes().fit(x, kind).model_.to_bytes() == expected
        assert dolmen.NaiveBayes().fit(pl.from_pandas(x), kind).model_.to_bytes() == expected


def test_without_pyarrow_durations_are_seconds_too(frame, monkeypatch):
    table, kind = frame
    x = pd.DataFrame({"lasting": pd.to_timedelta(table["count"] + 1, unit="min")})
    expected = dolmen.NaiveBayes().fit(x, kind).model_.to_bytes()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert dolmen.NaiveBayes().fit(x, kind).model_.to_bytes() == expected


def test_moments_in_a_zone_are_what_the_clocks_there_showed(frame, tmp_path):
    """As in the file of texts that pandas writes."""
    rng = np.random.default_rng(5)
    moments = pd.Timestamp("2024-03-20", tz="UTC") + pd.to_timedelta(rng.integers(0, 20 * 24 * 60, ROWS), "min")
    x = pd.DataFrame({"at": moments.tz_convert("America/New_York"), "size": rng.normal(size=ROWS)})
    y = pd.Series(np.where(x["at"].dt.hour < 12, "morning", "later"), name="part")
    x.assign(part=y).to_csv(tmp_path / "zoned.csv", index=False)
    words = ["fit", tmp_path / "zoned.csv", "--target", "part", "--task", "classify", "--model", "tree(depth=2)", "--alone", "-q", "-o", tmp_path / "cli.dolmen"]
    subprocess.run([sys.executable, "-m", "dolmen", *map(str, words)], check=True, capture_output=True)
    by_cli = dolmen.load(tmp_path / "cli.dolmen")
    assert by_cli.score(x, y) == 1.0
    for given in [x, pl.from_pandas(x), pa.Table.from_pandas(x), pa.RecordBatch.from_pandas(x), x.assign(at=x["at"].astype("timestamp[us, tz=America/New_York][pyarrow]"))]:
        assert dolmen.DecisionTreeClassifier(depth=2).fit(given, y).model_.to_bytes() == by_cli.model_.to_bytes()
        assert by_cli.score(given, y) == 1.0


def test_times_of_day_are_those_of_files(tmp_path):
    rng = np.random.default_rng(5)
    minutes = rng.integers(0, 1440, ROWS)
    x = pd.DataFrame({"at": [datetime.time(m // 60, m % 60) for m in minutes], "size": rng.normal(size=ROWS)})
    y = pd.Series(np.where(minutes < 720, "morning", "later"), name="part")
    x.assign(part=y).to_csv(tmp_path / "clock.csv", index=False)
    words = ["fit", tmp_path / "clock.csv", "--target", "part", "--task", "classify", "--model", "tree(depth=2)", "--alone", "-q", "-o", tmp_path / "m.dolmen"]
    subprocess.run([sys.executable, "-m", "dolmen", *map(str, words)], check=True, capture_output=True)
    by_cli = dolmen.load(tmp_path / "m.dolmen")
    for given in [x, pl.from_pandas(x), pa.Table.from_pandas(x)]:
        assert dolmen.DecisionTreeClassifier(depth=2).fit(given, y).model_.to_bytes() == by_cli.model_.to_bytes()
        assert by_cli.score(given, y) == 1.0
    # Where a model knows them as seconds, they are seconds.
    seconds = dolmen.DecisionTreeClassifier(depth=2).fit(x.assign(at=60.0 * minutes), y)
    for given in [x, pl.from_pandas(x)]:
        assert seconds.score(given, y) == 1.0


def test_cells_that_are_masked_are_missing():
    rng = np.random.default_rng(0)
    x, gone = rng.normal(size=(60, 2)), rng.random((60, 2)) < 0.2
    y = (x[:, 0] > 0).astype(int)
    here = dolmen.NaiveBayes().fit(np.ma.masked_array(x, mask=gone), y)
    assert here.model_.to_bytes() == dolmen.NaiveBayes().fit(np.where(gone, np.nan, x), y).model_.to_bytes()


def test_arrays_that_begin_anywhere_in_memory():
    """Such as parts of files and of messages."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y, weights = np.where(x[:, 0] > 0, "a", "b"), rng.random(60)

    def moved(values):
        raw = np.zeros(values.nbytes + 1, dtype=np.uint8)
        there = np.ndarray(values.shape, values.dtype, buffer=raw.data, offset=1)
        there[...] = values
        return there

    assert not moved(x).flags.aligned
    here = dolmen.NaiveBayes().fit(x, y, sample_weight=weights)
    there = dolmen.NaiveBayes().fit(moved(x), y, sample_weight=moved(weights))
    assert there.model_.to_bytes() == here.model_.to_bytes()
    np.testing.assert_array_equal(there.predict_proba(moved(x)), here.predict_proba(x))
