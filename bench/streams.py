"""Rows seen block by block, beside learners of other libraries that do the same: `python bench/streams.py PROGRAM [ROWS]`.

One Parquet file of 10 columns and a class is learned from by the program under `--memory 400M`, and by scikit-learn's `partial_fit`, dask-ml and river where they are
installed, each in a process of its own on the page cache; river, which takes row by row, is shown a hundredth of them. Quality is the mean log loss of 100 000 other
rows. Passes over the file are as many as each needs: one of counts, five of the gradient descent, Newton's until they have converged.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS, BATCH, TEST = 10, 1 << 17, 100_000
NAMES = [f"x{j}" for j in range(COLUMNS)]


def rows(draw, count):
    """Correlated numbers, and classes that depend on them."""
    x = draw.standard_normal((count, COLUMNS))
    x[:, 1:] += 0.3 * x[:, :-1]
    lean = x[:, 0] + 0.5 * x[:, 1] - 0.7 * x[:, 2] + 0.3 * x[:, 3] * x[:, 4]
    return x, np.where(draw.random(count) < 1 / (1 + np.exp(-lean)), "yes", "no")


def write(path, count, seed):
    """The table, a batch at a time."""
    import pyarrow
    import pyarrow.parquet

    draw = np.random.default_rng(seed)
    schema = pyarrow.schema([*((name, pyarrow.float64()) for name in NAMES), ("class", pyarrow.string())])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=["class"]) as file:
        for first in range(0, count, BATCH):
            x, y = rows(draw, min(BATCH, count - first))
            file.write_table(pyarrow.table([*x.T, y], schema=schema))


def batches(path):
    """Arrays of a batch of rows, and their classes."""
    import pyarrow.parquet

    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(BATCH):
        yield np.column_stack([batch.column(j) for j in range(COLUMNS)]), np.asarray(batch.column(COLUMNS))


def log_loss(model, path):
    """The mean log loss of a fitted object."""
    from sklearn.metrics import log_loss as measured

    x, y = map(np.concatenate, zip(*batches(path), strict=True))
    return measured(y, model.predict_proba(x))


def partial(kind, train, test):
    """scikit-learn, batch by batch."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB

    model, epochs = (GaussianNB(), 1) if kind == "naive-bayes" else (SGDClassifier(loss="log_loss", random_state=0), 5)
    for _ in range(epochs):
        for x, y in batches(train):
            model.partial_fit(x, y, classes=["no", "yes"])
    return lambda: log_loss(model, test)


def dask_ml(kind, train, test):
    """dask-ml on the partitions of an array."""
    import dask.dataframe as dd
    from dask_ml.linear_model import LogisticRegression
    from dask_ml.naive_bayes import GaussianNB

    frame = dd.read_parquet(train)
    x, y = frame[NAMES].to_dask_array(lengths=True), (frame["class"] == "yes").to_dask_array(lengths=True).astype(int)
    model = (GaussianNB() if kind == "naive-bayes" else LogisticRegression(solver="newton")).fit(x, y)

    def judge():
        from sklearn.metrics import log_loss as measured

        x, y = map(np.concatenate, zip(*batches(test), strict=True))
        return measured(y == "yes", np.asarray(model.predict_proba(x)))

    return judge


def river(kind, train, test):
    """river, row by row: a hundredth of the rows."""
    from river import linear_model, naive_bayes, preprocessing

    model = naive_bayes.GaussianNB() if kind == "naive-bayes" else preprocessing.StandardScaler() | linear_model.LogisticRegression()
    left = rows_of(train) // 100
    for x, y in batches(train):
        for row, label in zip(x[:left].tolist(), y[:left].tolist(), strict=True):
            model.learn_one(dict(zip(NAMES, row, strict=True)), label == "yes")
        left -= len(x)
        if left <= 0:
            break

    def judge():
        x, y = map(np.concatenate, zip(*batches(test), strict=True))
        said = [model.predict_proba_one(dict(zip(NAMES, row, strict=True))).get(True, 0.5) for row in x[:10_000].tolist()]
        truth = y[:10_000] == "yes"
        said = np.clip(said, 1e-15, 1 - 1e-15)
        return float(-np.mean(np.where(truth, np.log(said), np.log(1 - said))))

    return judge


def rows_of(path):
    """Rows of a file."""
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(path).metadata.num_rows


def dolmen(program, kind, train, test):
    """The program: seconds, peak bytes, log loss."""
    model = Path(train).with_suffix(".dolmen")
    fit = [program, "fit", train, "--target", "class", "--model", kind, "--alone", "--memory", "400M", "-q", "-o", str(model)]
    start = time.monotonic()
    with subprocess.Popen(fit, stdout=subprocess.DEVNULL) as process:
        import os

        _, status, used = os.wait4(process.pid, 0)
    seconds = time.monotonic() - start
    if status:
        sys.exit(f"{' '.join(fit)} ended with {status}")
    said = subprocess.run([program, "score", str(model), test, "--format", "json", "-q"], check=True, capture_output=True)
    return seconds, used.ru_maxrss / 1e3, json.loads(said.stdout)["figures"]["log_loss"]


def other(name, kind, train, test):
    """Another library in a process of its own; `None` if it is not there."""
    code = [sys.executable, __file__, "one", name, kind, train, test]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def one(name, kind, train, test):
    """One measurement of another library."""
    import resource

    start = time.monotonic()
    judge = {"scikit-learn": partial, "dask-ml": dask_ml, "river": river}[name](kind, train, test)
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(json.dumps([seconds * (100 if name == "river" else 1), peak, judge()]))


def main():
    """Measures all."""
    program, *count = sys.argv[1:] or sys.exit(__doc__)
    count = int(count[0]) if count else 5_000_000
    print(f"| learner, {count} rows | contestant | seconds | ratio | peak MB | log loss |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        train, test = str(Path(folder) / "train.parquet"), str(Path(folder) / "test.parquet")
        write(train, count, 1)
        write(test, TEST, 2)
        for kind in "naive-bayes", "logistic":
            found = {"Dolmen": dolmen(program, kind, train, test)}
            found |= {name: other(name, kind, train, test) for name in ("scikit-learn", "dask-ml", "river")}
            for name, measured in found.items():
                if measured is not None:
                    seconds, peak, loss = measured
                    ratio = seconds / found["Dolmen"][0]
                    print(f"| {kind} | {name} | {seconds:.2f} | {ratio:.2f} | {peak:.0f} | {loss:.5f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        one(*sys.argv[2:])
    else:
        main()
