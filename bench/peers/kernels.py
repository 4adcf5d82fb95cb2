"""Python's ways to a density of Gaussian kernels.

`python peers/kernels.py METHOD FILE ROWS FRESH COLUMNS BANDWIDTH` reads the rows (raw little-endian f64, row after row)
and times fitting to the first ROWS of them and scoring the others.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import contest

Array = NDArray[np.float64]
Score = Callable[[Array, Array, float], Array]

BLOCK = 64
JUDGED = 200
GRID = {1: 1 << 14, 2: 1 << 9}
"""KDEpy's grid points in each of 1 or 2 columns."""


def scale(known: Array, bandwidth: float) -> float:
    """The logarithm of what a sum of exp(-u^2/2) is to be multiplied by."""
    return -np.log(len(known)) - known.shape[1] * np.log(bandwidth * np.sqrt(2 * np.pi))


def numpy() -> tuple[str, Score]:
    """Squared distances by a product of matrices, in blocks that stay in cache."""

    def score(known: Array, fresh: Array, bandwidth: float) -> Array:
        known_t, fresh = (known / bandwidth).T.copy(), fresh / bandwidth
        half = np.square(known_t).sum(axis=0) / 2
        sums = np.empty(len(fresh))
        for start in range(0, len(fresh), BLOCK):
            block = fresh[start : start + BLOCK]
            exponent = block @ known_t
            exponent -= half
            exponent -= np.square(block).sum(axis=1)[:, None] / 2
            sums[start : start + BLOCK] = np.exp(exponent, out=exponent).sum(axis=1)
        return np.log(sums) + scale(known, bandwidth)

    return f"NumPy {np.__version__}", score


def numba() -> tuple[str, Score]:
    """Two compiled loops."""
    import numba as nb

    @nb.njit(fastmath=True)
    def sums(known: Array, fresh: Array) -> Array:
        columns, rows = known.shape
        out = np.empty(len(fresh))
        for q in range(len(fresh)):
            total = 0.0
            for i in range(rows):
                distance = 0.0
                for j in range(columns):
                    away = known[j, i] - fresh[q, j]
                    distance += away * away
                total += np.exp(-0.5 * distance)
            out[q] = total
        return out

    def score(known: Array, fresh: Array, bandwidth: float) -> Array:
        turned = np.ascontiguousarray(known.T) / bandwidth
        return np.log(sums(turned, fresh / bandwidth)) + scale(known, bandwidth)

    return f"Numba {nb.__version__}", score


def scipy() -> tuple[str, Score]:
    """gaussian_kde, whose kernels have the shape of the data: round for whitened rows."""
    import scipy as sp
    from scipy.stats import gaussian_kde

    def score(known: Array, fresh: Array, bandwidth: float) -> Array:
        return gaussian_kde(known.T, bw_method=bandwidth).logpdf(fresh.T)

    return f"SciPy {sp.__version__}", score


def scikit_learn() -> tuple[str, Score]:
    """The KD tree, with a relative error of 1e-4."""
    import sklearn
    from sklearn.neighbors import KernelDensity

    def score(known: Array, fresh: Array, bandwidth: float) -> Array:
        return KernelDensity(bandwidth=bandwidth, rtol=1e-4).fit(known).score_samples(fresh)

    return f"scikit-learn {sklearn.__version__}", score


def kdepy() -> tuple[str, Score]:
    """Linear binning, FFT, and linear interpolation of ln p between the grid's points."""
    from importlib.metadata import version

    from KDEpy import FFTKDE
    from scipy.interpolate import RegularGridInterpolator

    def score(known: Array, fresh: Array, bandwidth: float) -> Array:
        points = GRID[known.shape[1]]
        grid, density = FFTKDE(kernel="gaussian", bw=bandwidth).fit(known).evaluate(points)
        logs = np.log(np.maximum(density, 1e-300))
        if known.shape[1] == 1:
            return np.interp(fresh[:, 0], np.ravel(grid), logs)
        axes = tuple(np.unique(column) for column in grid.T)
        return RegularGridInterpolator(axes, logs.reshape(points, points))(fresh)

    return f"KDEpy {version('KDEpy')}", score


METHODS = {"numpy": numpy, "numba": numba, "scipy": scipy, "scikit-learn": scikit_learn, "kdepy": kdepy}


def race(arguments: list[str]) -> None:
    """Reads the rows, times the method, and gives the first of its log densities."""
    method, file, rows, _, columns, bandwidth = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))
    known, fresh = matrix[: int(rows)], matrix[int(rows) :]
    version, score = METHODS[method]()
    # A few rows first, so that what is imported or compiled late is not timed.
    few = known[:100]
    score(few, few[:10], float(bandwidth))
    scores, cost = contest.timed(lambda: score(known, fresh, float(bandwidth)))
    contest.tell(cost, version, {}, scores[:JUDGED].tolist())


if __name__ == "__main__":
    contest.main(race)
