"""Bagged mixtures with scikit-learn.

`python peers/bagged.py FILE ROWS FRESH COLUMNS FITS COMPONENTS ITERATIONS` reads the rows (raw little-endian f64, row
after row), times mixtures fitted to bootstrap samples of the first ROWS, and scores the fresh ones by their average.
"""

import warnings

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

import contest

Array = NDArray[np.float64]


def bag(rows: Array, fits: int, components: int, iterations: int) -> list[GaussianMixture]:
    """One mixture per bootstrap sample."""
    rng = np.random.default_rng(0)
    mixtures = []
    for number in range(fits):
        drawn = rows[rng.integers(len(rows), size=len(rows))]
        mixtures.append(GaussianMixture(components, max_iter=iterations, tol=0, random_state=number).fit(drawn))
    return mixtures


def race(arguments: list[str]) -> None:
    """Reads the rows, times the fits, and gives the average's log densities of the fresh rows."""
    warnings.simplefilter("ignore")
    file, rows, _, columns, fits, components, iterations = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))
    known, fresh = matrix[: int(rows)], matrix[int(rows) :]
    bag(known[:100], 1, int(components), 2)
    mixtures, cost = contest.timed(lambda: bag(known, int(fits), int(components), int(iterations)))
    logs = np.stack([mixture.score_samples(fresh) for mixture in mixtures])
    answer = np.logaddexp.reduce(logs, axis=0) - np.log(len(mixtures))
    contest.tell(cost, f"scikit-learn {sklearn.__version__}", {}, answer.tolist())


if __name__ == "__main__":
    contest.main(race)
