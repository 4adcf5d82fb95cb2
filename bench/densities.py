"""Densities of many tables: `python bench/densities.py --data FOLDER [--dolmen PROGRAM ..] [--split SEED] [--rows MOST]`.

The numeric columns (twelve at most, of more than eight values each) of every table without its missing rows; a third of the rows is held out, and the mean log density of
those is told in nats, so that densities of the same columns compare. Several programs, or flags of one after a colon, are told apart: `old=path`, `best=path:--effort best`.
scikit-learn's counterparts are a Gaussian mixture whose number of components and covariances are chosen by BIC, and a kernel whose bandwidth is chosen by five folds, both on
standardised columns.
"""

import argparse
import hashlib
import json
import math
import shlex
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import ranks
import results
import stacks
import study

FOLDERS = ("density", "anomaly", "classification", "regression")
MOST_COLUMNS, LEAST_VALUES, LEAST_ROWS = 12, 8, 60
NOT_MEASURED = ("id", "outlier", "label", "class")


def tables(root: Path, most: int) -> list[tuple[str, pd.DataFrame]]:
    """The tables that have columns to speak of; of long ones, some rows."""
    found = []
    for folder in FOLDERS:
        for path in sorted((root / folder).glob("*.csv")):
            table = pd.read_csv(path).select_dtypes("number").dropna()
            kept = [c for c in table.columns if table[c].nunique() > LEAST_VALUES and c.lower() not in NOT_MEASURED]
            table = table[kept[:MOST_COLUMNS]]
            if kept and len(table) >= LEAST_ROWS:
                found.append((f"{folder}/{path.stem}", table.sample(min(most, len(table)), random_state=5)))
    return found


def dolmen(train: pd.DataFrame, test: pd.DataFrame, program: str, flags: Sequence[str]) -> tuple[float, float]:
    """The mean log density of the rows held out, and the seconds of the processor of the fit."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        train.to_csv(place / "train.csv", index=False)
        test.to_csv(place / "test.csv", index=False)
        before = study.children()
        stacks.run(Path(program), "fit", place / "train.csv", "--all-columns", "--allow-unconverged", *flags, "-o", place / "m.dolmen")
        spent = study.children() - before
        scored = json.loads(stacks.run(Path(program), "score", place / "m.dolmen", place / "test.csv"))
    return study.number(scored["figures"]["log_density"]), spent


def scikit(train: NDArray[np.float64], test: NDArray[np.float64]) -> dict[str, float]:
    """The counterparts' mean log densities, on standardised columns."""
    from sklearn.mixture import GaussianMixture
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KernelDensity

    counts = [k for k in (1, 2, 4, 8, 16) if k == 1 or k * 5 * (train.shape[1] + 1) <= len(train)]
    fits = [GaussianMixture(k, covariance_type=c, n_init=3, random_state=0).fit(train) for k in counts for c in ("full", "diag")]
    best = min(fits, key=lambda fit: fit.bic(train))
    kernel = GridSearchCV(KernelDensity(), {"bandwidth": np.geomspace(0.05, 1.5, 12)}, cv=5).fit(train)
    return {"mixture by BIC": float(best.score(test)), "kernel by folds": float(kernel.score(test)) / len(test)}


def halves(name: str, table: pd.DataFrame, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows to learn from, and a third of all held out."""
    order = np.random.default_rng([seed, *hashlib.sha1(name.encode()).digest()[:4]]).permutation(len(table))
    return table.iloc[np.sort(np.delete(order, np.s_[2::3]))], table.iloc[np.sort(order[2::3])]


def main() -> int:
    """Fits and tells; without data there is nothing to do, which is no failure."""
    parser = argparse.ArgumentParser(prog="densities", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--dolmen", nargs="*", default=["Dolmen=target/release/dolmen"], metavar="NAME=PROGRAM[:FLAGS]")
    parser.add_argument("--split", type=int, default=0, help="the seed of the rows held out")
    parser.add_argument("--rows", type=int, default=4000, help="rows of a table at most")
    asked = parser.parse_args()
    if asked.data is None or not (asked.data / "schema.csv").is_file():
        print("no data: name the folder of data sets with --data", file=sys.stderr)
        return 0
    scores: dict[str, dict[str, float]] = {}
    spent: dict[str, float] = {}
    for name, table in tables(asked.data, asked.rows):
        train, test = halves(name, table, asked.split)
        centre, scale = train.mean(), train.std()
        if not (scale > 0).all():
            continue
        own = scores.setdefault(name, {})
        for word in asked.dolmen:
            called, _, program = word.partition("=")
            program, _, flags = program.partition(":")
            own[called], seconds = dolmen(train, test, program, shlex.split(flags))
            spent[called] = spent.get(called, 0.0) + seconds
        inward = [((part - centre) / scale).to_numpy(float) for part in (train, test)]
        shift = float(np.log(scale).sum())
        own |= {who: value - shift for who, value in scikit(*inward).items()}
        print(name, *(f"{who} {value:.4f}" for who, value in own.items()), file=sys.stderr, flush=True)
    who = list(next(iter(scores.values())))
    cell = lambda value, best: f"**{value:.3f}**" if value == best else f"{value:.3f}"  # noqa: E731
    rows = [["table", *who]] + [[t, *(cell(own[w], max(own.values())) for w in who)] for t, own in scores.items()]
    print(results.aligned(rows) + "\n")
    # The inverse of a typical row's density: a loss whose ratios mean something.
    losses = {w: np.array([math.exp(min(-own[w], 600.0)) for own in scores.values()]) for w in who}
    print(ranks.standing(losses))
    print("- CPU seconds of all fits: " + ", ".join(f"{called} {seconds:.0f}" for called, seconds in spent.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
