"""Python's ways to a Gaussian mixture by EM from a given start.

`python peers/mixtures.py METHOD FILE ROWS FRESH COLUMNS START ITERATIONS` reads the rows (raw little-endian f64, row
after row) and the start (JSON) and times so many iterations of maximum likelihood with full covariances.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import contest

Array = NDArray[np.float64]
BLOCK = 4096


@dataclass
class Components:
    """The components of a mixture."""

    weights: Array
    means: Array
    covariances: Array


Fit = Callable[[Array, Components, int], Components]


def scikit_learn() -> tuple[str, Fit]:
    """GaussianMixture without its regularisation and stopping rule."""
    import sklearn
    from sklearn.mixture import GaussianMixture

    def fit(rows: Array, start: Components, iterations: int) -> Components:
        mixture = GaussianMixture(
            len(start.weights),
            tol=0,
            reg_covar=0,
            max_iter=iterations,
            weights_init=start.weights,
            means_init=start.means,
            precisions_init=np.linalg.inv(start.covariances),
        )
        with warnings.catch_warnings(action="ignore"):
            mixture.fit(rows)
        return Components(mixture.weights_, mixture.means_, mixture.covariances_)

    return f"scikit-learn {sklearn.__version__}", fit


def onedal() -> tuple[str, Fit]:
    """The EM of oneDAL through daal4py, which takes the start as it is."""
    from importlib.metadata import version

    from daal4py import em_gmm

    def fit(rows: Array, start: Components, iterations: int) -> Components:
        algorithm = em_gmm(len(start.weights), maxIterations=iterations, accuracyThreshold=0)
        found = algorithm.compute(rows, start.weights[None, :], start.means, list(start.covariances))
        return Components(found.weights.ravel(), found.means, np.stack(found.covariances))

    return f"oneDAL {version('scikit-learn-intelex')}", fit


def numpy() -> tuple[str, Fit]:
    """Textbook EM in blocks of rows that stay in cache."""

    def fit(rows: Array, start: Components, iterations: int) -> Components:
        for _ in range(iterations):
            start = iterate(rows, start)
        return start

    return f"NumPy {np.__version__}", fit


def iterate(rows: Array, old: Components) -> Components:
    """One iteration: responsibilities, and moments by products of matrices."""
    k, d = old.means.shape
    mass, first, second = np.zeros(k), np.zeros((k, d)), np.zeros((k, d, d))
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        share = joint_log_densities(block, old)
        share -= share.max(axis=0)
        np.exp(share, out=share)
        share /= share.sum(axis=0)
        mass += share.sum(axis=1)
        first += share @ block
        for c in range(k):
            second[c] += (block * share[c][:, None]).T @ block
    means = first / mass[:, None]
    covariances = second / mass[:, None, None] - means[:, :, None] * means[:, None, :]
    return Components(mass / len(rows), means, covariances)


def joint_log_densities(rows: Array, components: Components) -> Array:
    """The log of weight times density, one row per component; one product of matrices turns the rows for all."""
    k, d = components.means.shape
    inverses = np.linalg.inv(np.linalg.cholesky(components.covariances))
    roots = np.log(np.diagonal(inverses, axis1=1, axis2=2)).sum(axis=1)
    constants = np.log(components.weights) + roots - d / 2 * np.log(2 * np.pi)
    turned = inverses.reshape(k * d, d) @ rows.T
    turned -= (inverses @ components.means[:, :, None]).reshape(k * d, 1)
    np.square(turned, out=turned)
    return constants[:, None] - turned.reshape(k, d, len(rows)).sum(axis=1) / 2


METHODS = {"scikit-learn": scikit_learn, "onedal": onedal, "numpy": numpy}


def race(arguments: list[str]) -> None:
    """Reads rows and start, times the method, and gives the components."""
    method, file, rows, _, columns, start_file, iterations = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))[: int(rows)]
    start = Components(**{k: np.array(v) for k, v in json.loads(Path(start_file).read_text(encoding="ascii")).items()})
    version, fit = METHODS[method]()
    # A few rows first, so that what is imported or compiled late is not timed.
    fit(matrix[: 50 * int(columns)], start, 1)
    found, cost = contest.timed(lambda: fit(matrix, start, int(iterations)))
    answer = np.concatenate([found.weights, found.means.ravel(), found.covariances.ravel()])
    contest.tell(cost, version, {}, answer.tolist())


if __name__ == "__main__":
    contest.main(race)
