"""The Python package beside scikit-learn and beside the library itself, into RESULTS.md: `python bench/python_door.py [WHEEL]` with the release wheel
installed; `python bench/python_door.py NAME` shows one measurement.

Each measurement runs in a process of its own. The races call `fit` and the prediction of both sides on the same array by turns, three rounds, best
time; quality is beside it, because a faster, worse answer does not count. Overhead is the time of a fit of about a second from Python less that of the
compiled call it makes; and, because the compiled call has work of its own to do, the whole time of the same fit with a learner that learns nothing.
What an array costs beside itself is the rise of the peak memory while a fit of few needs of its own reads it.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROUNDS = 3


def by_turns(*works):
    """The least seconds and the least processor seconds of each piece of work in a few rounds."""
    times = [[] for _ in works]
    for _ in range(ROUNDS):
        for mine, work in zip(times, works, strict=True):
            start, spent = time.perf_counter(), time.process_time()
            work()
            mine.append((time.perf_counter() - start, time.process_time() - spent))
    return [tuple(min(values) for values in zip(*mine, strict=True)) for mine in times]


def tell(**found):
    """A measurement, for the process that writes them down."""
    print(json.dumps(found))


def densities(name):
    """Both sides, and what is asked of them, for densities."""
    import numpy as np
    from sklearn import mixture, neighbors

    import dolmen

    rows = 50_000 if name == "GaussianMixture" else 5_000
    x = np.random.default_rng(0).normal(size=(rows, 5)) @ np.random.default_rng(1).normal(size=(5, 5))
    x[: rows // 2] += 3
    train, test = x[::2].copy(), x[1::2].copy()
    sides = {
        "GaussianMixture": lambda: (
            dolmen.GaussianMixture(components=8, restarts=1, n_jobs=2),
            mixture.GaussianMixture(8, random_state=0, max_iter=500, tol=1e-5),
        ),
        "KernelDensity": lambda: (dolmen.KernelDensity(bandwidth={"absolute": [0.5]}, n_jobs=2), neighbors.KernelDensity(bandwidth=0.5)),
    }[name]()
    calls = [("fit", lambda m: m.fit(train)), ("score_samples", lambda m: m.score_samples(test))]
    return sides, calls, lambda m: -float(np.mean(m.score_samples(test))), "- mean ln p"


def supervised(name):
    """The same for classes and numbers."""
    import numpy as np
    from sklearn import datasets, ensemble, metrics
    from sklearn.model_selection import train_test_split

    import dolmen

    make = datasets.make_classification if name.endswith("Classifier") else datasets.make_regression
    x, y = make(40_000, 20, n_informative=10, random_state=0)
    train, test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=0)
    histograms = {"max_iter": 100, "early_stopping": False, "random_state": 0}
    sides = {
        "RandomForestClassifier": lambda: (
            dolmen.RandomForestClassifier(trees=100, n_jobs=2),
            ensemble.RandomForestClassifier(100, n_jobs=2, random_state=0),
        ),
        "RandomForestRegressor": lambda: (
            dolmen.RandomForestRegressor(trees=100, n_jobs=2),
            ensemble.RandomForestRegressor(100, n_jobs=2, random_state=0),
        ),
        "GradientBoostingClassifier": lambda: (
            dolmen.GradientBoostingClassifier(rounds=100, n_jobs=2),
            ensemble.HistGradientBoostingClassifier(**histograms),
        ),
        "GradientBoostingRegressor": lambda: (
            dolmen.GradientBoostingRegressor(rounds=100, n_jobs=2),
            ensemble.HistGradientBoostingRegressor(**histograms),
        ),
    }[name]()
    fit = ("fit", lambda m: m.fit(train, y_train))
    if name.endswith("Classifier"):
        calls = [fit, ("predict_proba", lambda m: m.predict_proba(test))]
        return sides, calls, lambda m: float(metrics.log_loss(y_test, m.predict_proba(test))), "log loss"
    calls = [fit, ("predict", lambda m: m.predict(test))]
    return sides, calls, lambda m: float(np.sqrt(np.mean((m.predict(test) - y_test) ** 2))), "RMSE"


def race(name):
    """One learner against scikit-learn's, fit and prediction, on two threads."""
    (ours, theirs), calls, quality, label = (densities if name in ("GaussianMixture", "KernelDensity") else supervised)(name)
    for call, work in calls:
        (a, a_cpu), (b, b_cpu) = by_turns(lambda work=work: work(ours), lambda work=work: work(theirs))
        judged = [quality(ours), quality(theirs)]
        tell(kind="race", name=name, call=call, ours=a, theirs=b, ours_cpu=a_cpu, theirs_cpu=b_cpu, quality=judged, label=label)


def overhead():
    """A fit of about a second: from Python, in the compiled call, and without anything to learn."""
    import numpy as np

    import dolmen
    from dolmen import _dolmen, _rows
    from dolmen._learner import RegressionLearner

    class Nothing(RegressionLearner):
        _kind = "mean"

        def __init__(self, *, reading=None, random_state=None, n_jobs=None, progress=None):
            self.reading, self.random_state, self.n_jobs, self.progress = reading, random_state, n_jobs, progress

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, 10))
    y = x.sum(axis=1) + rng.normal(size=200_000)
    model, nothing = dolmen.GradientBoostingRegressor(rounds=100, n_jobs=1), Nothing(n_jobs=1)
    recipe = {"target": "y", "task": "regress", **model._recipe(None)}
    (outer, outer_cpu), (inner, inner_cpu), (empty, empty_cpu) = by_turns(
        lambda: model.fit(x, y),
        lambda: _dolmen.fit(recipe, x, y, _rows.keys(len(x)), None, None, _rows.manner(1)),
        lambda: nothing.fit(x, y),
    )
    tell(kind="overhead", wall=[outer, inner, empty], cpu=[outer_cpu, inner_cpu, empty_cpu])


def memory():
    """How much more memory is at its peak than before, for an array of 800 MB: in C order, and in Fortran's, which has to be copied."""
    import resource

    import numpy as np

    import dolmen

    rng = np.random.default_rng(0)
    x = rng.normal(size=(10_000_000, 10))
    dolmen.GaussianDensity().fit(x[:1000])

    def rise(rows):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        dolmen.GaussianDensity().fit(rows)
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / 1e6

    tell(kind="memory", size=x.nbytes / 1e6, c=rise(x), other=rise(x.reshape(10, -1).T))


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
        ("mixture", dolmen.GaussianMixture(components=64, tolerance=1e-12, iterations=100_000)),
        ("stack", dolmen.StackedClassifier()),
    ]:
        asked = []
        timer = threading.Timer(1.0, lambda asked=asked: (asked.append(time.monotonic()), os.kill(os.getpid(), signal.SIGINT)))
        timer.start()
        try:
            model.fit(x) if name == "mixture" else model.fit(x, y)
        except KeyboardInterrupt:
            tell(kind="interrupted", name=name, seconds=time.monotonic() - asked[0])


def imported():
    """Seconds of `import dolmen` after the interpreter's own start, NumPy's import with it."""
    code = """
import time
begin, spent = time.perf_counter(), time.process_time()
import numpy
between = time.process_time() - spent
import dolmen
print(time.perf_counter() - begin, time.process_time() - spent, between)
"""
    runs = [[float(word) for word in subprocess.check_output([sys.executable, "-c", code]).split()] for _ in range(7)]
    whole, cpu, numpy = (min(values) for values in zip(*runs, strict=True))
    code = "import sys, dolmen; print(*[name for name in ('pandas', 'matplotlib', 'sklearn', 'scipy') if name in sys.modules])"
    heavy = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    tell(kind="imported", seconds=whole, cpu=cpu, numpy_cpu=numpy, heavy=heavy)


RACES = [
    "GaussianMixture",
    "KernelDensity",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
]


def verdict(met, text):
    """A goal and whether it is met."""
    return f"- {'met' if met else '**missed**'}: {text}"


def written(found, wheel):
    """The section of RESULTS.md."""
    races = [one for one in found if one["kind"] == "race"]
    lines = ["| call | Dolmen s | scikit-learn s | ratio | CPU s | CPU s | CPU ratio | quality (less is better) | Dolmen | scikit-learn |"]
    lines.append("| --- " * 10 + "|")
    for one in races:
        a, b, x, y = one["ours"], one["theirs"], one["ours_cpu"], one["theirs_cpu"]
        quality = f"{one['label']} | {one['quality'][0]:.4g} | {one['quality'][1]:.4g}"
        lines.append(f"| {one['name']}.{one['call']} | {a:.3g} | {b:.3g} | {b / a:.3g} | {x:.3g} | {y:.3g} | {y / x:.3g} | {quality} |")
    goals = [verdict(one["theirs_cpu"] >= one["ours_cpu"], f"{one['name']}.{one['call']} takes no more processor time than scikit-learn's") for one in races]
    by_kind = {one["kind"]: one for one in found}
    fit = by_kind["overhead"]
    (outer, inner, empty), cpu = fit["wall"], fit["cpu"]
    share, bound = cpu[0] / cpu[1] - 1, cpu[2] / cpu[0]
    text = f"overhead under 5 % of a fit of {outer:.2f} s: {100 * share:.1f} % of processor time over the compiled call ({100 * (outer / inner - 1):.1f} % of the time)"
    goals.append(verdict(max(share, bound) < 0.05, f"{text}; all that is no learning takes {1000 * empty:.1f} ms, {100 * bound:.1f} %"))
    array = by_kind["memory"]
    text = f"no copy of an array of doubles in C order: peak memory rises by {array['c']:.0f} MB beyond the array's {array['size']:.0f} MB"
    goals.append(verdict(array["c"] < 0.1 * array["size"], f"{text} (by {array['other']:.0f} MB in Fortran's order, which is copied once)"))
    start = by_kind["imported"]
    text = f"import in less than 0.15 s without pandas and matplotlib: {start['seconds']:.3f} s, {start['cpu']:.3f} s of processor time"
    goals.append(verdict(start["seconds"] < 0.15 and not start["heavy"], f"{text}, NumPy's {start['numpy_cpu']:.3f} s with it"))
    stops = [one for one in found if one["kind"] == "interrupted"]
    text = ", ".join(f"{one['name']} {one['seconds']:.3f} s" for one in stops)
    goals.append(verdict(all(one["seconds"] <= 0.2 for one in stops), f"Ctrl-C within 0.2 s: {text}"))
    if wheel is not None:
        size = Path(wheel).stat().st_size / 1e6
        goals.append(verdict(size < 15, f"a wheel of less than 15 MB: {size:.1f} MB"))
    return "\n".join(lines), "\n".join(goals)


def main():
    """All measurements, each in its own process; with a name, that one."""
    words = sys.argv[1:]
    if words and not words[0].endswith(".whl"):
        name = words[0]
        return race(name) if name in RACES else globals()[name]()
    found = []
    for name in ["imported", "overhead", "memory", "interrupted", *RACES]:
        said = subprocess.run([sys.executable, __file__, name], check=True, capture_output=True, text=True).stdout
        print(said, end="", flush=True)
        found += [json.loads(line) for line in said.splitlines()]
    import datetime

    import sklearn

    import dolmen
    from results import keep, processor

    table, goals = written(found, words[0] if words else None)
    title = "The Python package: the same calls of both sides on two threads, by turns in one process."
    circumstances = f"{title}\n{datetime.date.today()}, {processor()}, {ROUNDS} rounds, load {os.getloadavg()[0]:.1f} at the end."
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False, cwd=Path(__file__).parent).stdout.strip()
    versions = f"Versions: Dolmen {dolmen.__version__} ({commit}), scikit-learn {sklearn.__version__}, Python {sys.version.split()[0]}."
    keep("python", "\n\n".join(["## python", circumstances, table, goals, versions]) + "\n")
    return None


if __name__ == "__main__":
    main()
