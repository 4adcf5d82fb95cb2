"""The Python package beside scikit-learn and beside the library itself: `python bench/python_door.py` with the package installed.

Each measurement runs in a process of its own. The races call `fit` and the prediction of both sides on the same array in one process, one after the
other, three rounds, best time; quality is beside it, because a faster, worse answer does not count. Overhead is the time of a fit from Python
less what the library itself takes for the same recipe and rows in the command line's report of that process, both for a fit of about a second. What an array
costs beside itself is the rise of the peak memory while a fit of few needs of its own reads it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time

ROUNDS = 3


def best(work):
    """The least seconds of a few rounds, and what the last one gave."""
    times, result = [], None
    for _ in range(ROUNDS):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result


def race(name):
    """One learner against scikit-learn's, fit and prediction, on two threads."""
    import numpy as np
    from sklearn import datasets, ensemble, metrics, mixture, neighbors
    from sklearn.model_selection import train_test_split

    import dolmen

    if name in ("GaussianMixture", "KernelDensity"):
        rows = 50_000 if name == "GaussianMixture" else 5_000
        x = np.random.default_rng(0).normal(size=(rows, 5)) @ np.random.default_rng(1).normal(size=(5, 5))
        x[: rows // 2] += 3
        train, test = x[: rows // 2 * 1], x[rows // 2 :]
        train, test = x[::2].copy(), x[1::2].copy()
        pairs = {
            "GaussianMixture": (
                dolmen.GaussianMixture(components=8, restarts=1, n_jobs=2),
                mixture.GaussianMixture(8, random_state=0, max_iter=500, tol=1e-5),
            ),
            "KernelDensity": (dolmen.KernelDensity(bandwidth={"absolute": [0.5]}, n_jobs=2), neighbors.KernelDensity(bandwidth=0.5)),
        }
        calls = [("fit", lambda m: m.fit(train)), ("score_samples", lambda m: m.score_samples(test))]
        quality = lambda m: float(np.mean(m.score_samples(test)))  # noqa: E731
        label = "mean ln p, higher is better"
    else:
        make = datasets.make_classification if name.endswith("Classifier") else datasets.make_regression
        x, y = make(40_000, 20, n_informative=10, random_state=0)
        train, test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=0)
        pairs = {
            "RandomForestClassifier": (
                dolmen.RandomForestClassifier(trees=100, n_jobs=2),
                ensemble.RandomForestClassifier(100, n_jobs=2, random_state=0),
            ),
            "RandomForestRegressor": (
                dolmen.RandomForestRegressor(trees=100, n_jobs=2),
                ensemble.RandomForestRegressor(100, n_jobs=2, random_state=0),
            ),
            "GradientBoostingClassifier": (
                dolmen.GradientBoostingClassifier(rounds=100, n_jobs=2),
                ensemble.HistGradientBoostingClassifier(max_iter=100, early_stopping=False, random_state=0),
            ),
            "GradientBoostingRegressor": (
                dolmen.GradientBoostingRegressor(rounds=100, n_jobs=2),
                ensemble.HistGradientBoostingRegressor(max_iter=100, early_stopping=False, random_state=0),
            ),
        }
        calls = [("fit", lambda m: m.fit(train, y_train))]
        if name.endswith("Classifier"):
            calls.append(("predict_proba", lambda m: m.predict_proba(test)))
            quality, label = lambda m: float(metrics.log_loss(y_test, m.predict_proba(test))), "log loss"
        else:
            calls.append(("predict", lambda m: m.predict(test)))
            quality, label = lambda m: float(np.sqrt(np.mean((m.predict(test) - y_test) ** 2))), "RMSE"
    ours, theirs = pairs[name]
    for call, work in calls:
        a, b = best(lambda: work(ours))[0], best(lambda: work(theirs))[0]
        print(json.dumps([name, call, a, b, b / a, quality(ours), quality(theirs), label]))


def overhead():
    """A fit of about a second: from Python, and inside the library."""
    import numpy as np

    import dolmen
    from dolmen import _dolmen, _rows

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, 10))
    y = x.sum(axis=1) + rng.normal(size=200_000)
    model = dolmen.GradientBoostingRegressor(rounds=60, n_jobs=1)
    outer = best(lambda: model.fit(x, y))[0]
    recipe = {"target": "y", "task": "regress", **model._recipe(None)}
    inner = best(lambda: _dolmen.fit(recipe, x, y, _rows.keys(len(x)), None, None, _rows.manner(1)))[0]
    print(json.dumps(["overhead of the estimator over the compiled call", outer, inner, outer / inner - 1]))


def memory():
    """How much more memory is at its peak than before, for an array of 800 MB."""
    import resource

    import numpy as np

    import dolmen

    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_000_000, 10))
    y = np.zeros(len(x))
    y[::2] = 1.0
    dolmen.Ridge(lambda_=1.0).fit(x[:1000], y[:1000])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    dolmen.GaussianDensity().fit(x)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(["peak beyond an array of 800 MB", (after - before) / 1e3]))


def interrupted():
    """Seconds from Ctrl-C to the exception."""
    import numpy as np

    import dolmen

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(100_000, 20)), rng.integers(0, 2, 100_000)
    for name, model in [
        ("forest", dolmen.RandomForestClassifier(trees=20_000)),
        ("boost", dolmen.GradientBoostingClassifier(rounds=20_000)),
        ("svm", dolmen.SVC()),
        ("mixture", dolmen.GaussianMixture(components=64, tolerance=0.0, iterations=100_000)),
        ("stack", dolmen.StackedClassifier()),
    ]:
        asked = []
        timer = threading.Timer(1.0, lambda: (asked.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
        timer.start()
        try:
            model.fit(x) if name == "mixture" else model.fit(x, y)
        except KeyboardInterrupt:
            print(json.dumps([f"Ctrl-C in {name}", time.monotonic() - asked[0]]))


def imported():
    """Seconds of `import dolmen` after the interpreter's own start."""
    times = []
    for _ in range(5):
        code = "import time; t = time.perf_counter(); import numpy; n = time.perf_counter(); import dolmen; print(n - t, time.perf_counter() - t)"
        times.append([float(word) for word in subprocess.check_output([sys.executable, "-c", code]).split()])
    numpy, whole = min(times, key=lambda pair: pair[1])
    print(json.dumps(["import dolmen, NumPy's share", whole, numpy]))


RACES = [
    "GaussianMixture",
    "KernelDensity",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
]


def main():
    """All measurements, each in its own process; with a name, that one."""
    if len(sys.argv) > 1:
        name = sys.argv[1]
        return race(name) if name in RACES else globals()[name]()
    for name in ["imported", "overhead", "memory", "interrupted", *RACES]:
        subprocess.run([sys.executable, __file__, name], check=True)
    return None


if __name__ == "__main__":
    main()
