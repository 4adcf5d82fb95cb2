"""Smyth and Wolpert's six models, stacked: a product kernel in NumPy, and mixtures of scikit-learn or in NumPy too.

`python peers/six_models.py MIXTURES FILE ROWS FRESH COLUMNS` reads the rows (raw little-endian f64, row after row),
times the out-of-sample densities, the weights by EM and the fits to all of the first ROWS, and scores the fresh ones.
"""

import warnings
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

import contest
import mixtures

Array = NDArray[np.float64]

BANDWIDTHS = (0.1, 0.4, 1.5)
COMPONENTS = (2, 4, 8)
ITERATIONS = 10
REGULAR = 1e-4
"""What is added to variances, so that no component collapses."""
FOLDS = 10
BLOCK = 1 << 13
"""Pairs of rows in one block of the kernel: so many that it stays in cache."""


class Mixture(Protocol):
    """A fitted mixture."""

    def score_samples(self, rows: Array) -> Array:
        """Log densities."""


def kernel_densities(known: Array, fresh: Array) -> Array:
    """Log densities of triangular product kernels, one column per bandwidth; distances serve all bandwidths."""
    rows, columns = known.shape
    spread = known.std(axis=0, ddof=1)
    known_t = np.ascontiguousarray((known / spread).T)
    fresh = fresh / spread
    out = np.empty((len(fresh), len(BANDWIDTHS)))
    step = max(BLOCK // rows, 1)
    for start in range(0, len(fresh), step):
        block = fresh[start : start + step]
        away = np.abs(block.T[:, :, None] - known_t[:, None, :])
        for m, h in enumerate(BANDWIDTHS):
            kernel = np.maximum(h - away[0], 0)
            for column in away[1:]:
                kernel *= np.maximum(h - column, 0)
            out[start : start + step, m] = kernel.sum(axis=1) / (rows * h ** (2 * columns))
    with np.errstate(divide="ignore"):
        return np.log(out) - np.log(spread).sum()


class NumpyMixture:
    """The EM of `mixtures.iterate`, all components at once: quicker than scikit-learn where rows are few."""

    def __init__(self, components: mixtures.Components) -> None:
        """A mixture of these components."""
        self.components = components

    @staticmethod
    def fit(known: Array, k: int, rng: np.random.Generator) -> "NumpyMixture":
        """The best of two starts from k-means and two from random rows."""
        starts = [start_from_clusters(known, k, rng) for _ in range(2)]
        starts += [start_from_rows(known, k, rng) for _ in range(2)]
        fits = []
        for components in starts:
            for _ in range(ITERATIONS):
                components = regular(mixtures.iterate(known, components))
            fits.append(NumpyMixture(components))
        return max(fits, key=lambda fit: fit.score_samples(known).sum())

    def score_samples(self, rows: Array) -> Array:
        """Log densities."""
        return np.logaddexp.reduce(mixtures.joint_log_densities(rows, self.components), axis=0)


def start_from_clusters(known: Array, k: int, rng: np.random.Generator) -> mixtures.Components:
    """The moments of the clusters of k-means."""
    from scipy.cluster.vq import kmeans2

    _, labels = kmeans2(known, k, iter=20, minit="points", rng=rng)
    share = np.eye(k)[labels].T + 1e-10
    mass = share.sum(axis=1)
    means = share @ known / mass[:, None]
    away = known - means[:, None, :]
    covariances = (away * share[:, :, None]).transpose(0, 2, 1) @ away / mass[:, None, None]
    return regular(mixtures.Components(mass / mass.sum(), means, covariances))


def start_from_rows(known: Array, k: int, rng: np.random.Generator) -> mixtures.Components:
    """Random rows as means, the covariance of all rows, equal weights."""
    means = known[rng.choice(len(known), k, replace=False)]
    return mixtures.Components(np.full(k, 1 / k), means, np.stack([np.cov(known.T)] * k))


def regular(components: mixtures.Components) -> mixtures.Components:
    """The components with what scikit-learn would add to their variances."""
    components.covariances += REGULAR * np.eye(components.means.shape[1])
    return components


def scikit_learn_mixture(known: Array, k: int, seed: int) -> Mixture:
    """The best of two starts from k-means and two from random rows."""
    from sklearn.mixture import GaussianMixture

    settings = {"max_iter": ITERATIONS, "tol": 0, "reg_covar": REGULAR, "n_init": 2, "random_state": seed}
    starts = ("kmeans", "random_from_data")
    fits = [GaussianMixture(k, init_params=start, **settings).fit(known) for start in starts]
    return max(fits, key=lambda fit: fit.lower_bound_)


def numpy_mixture(known: Array, k: int, seed: int) -> Mixture:
    """The same in NumPy."""
    return NumpyMixture.fit(known, k, np.random.default_rng(seed))


MIXTURES = {"scikit-learn": scikit_learn_mixture, "numpy": numpy_mixture}


@dataclass
class Models:
    """The six models fitted to some rows."""

    known: Array
    mixtures: list[Mixture]

    @staticmethod
    def fit(known: Array, kind: str, seed: int) -> "Models":
        """Fits the mixtures; kernels need nothing but the rows."""
        return Models(known, [MIXTURES[kind](known, k, seed) for k in COMPONENTS])

    def log_densities(self, fresh: Array) -> Array:
        """One column per model."""
        scores = [mixture.score_samples(fresh) for mixture in self.mixtures]
        return np.column_stack([kernel_densities(self.known, fresh), *scores])


def em_weights(logs: Array) -> Array:
    """The paper's EM: until the log likelihood changes by less than 0.001."""
    density = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights = np.full(logs.shape[1], 1 / logs.shape[1])
    before = -np.inf
    for _ in range(10_000):
        mixed = density @ weights
        likelihood = np.log(mixed).sum()
        if likelihood - before < 1e-3:
            break
        before = likelihood
        weights = weights * (density.T @ (1 / mixed)) / len(logs)
    return weights


def stack(rows: Array, kind: str) -> tuple[Models, Array]:
    """The models fitted to all rows, and their weights."""
    from sklearn.model_selection import KFold

    logs = np.empty((len(rows), len(BANDWIDTHS) + len(COMPONENTS)))
    for number, (train, test) in enumerate(KFold(FOLDS, shuffle=True, random_state=0).split(rows)):
        logs[test] = Models.fit(rows[train], kind, number).log_densities(rows[test])
    return Models.fit(rows, kind, FOLDS), em_weights(logs)


def race(arguments: list[str]) -> None:
    """Reads the rows, times the stack, and gives its log densities of the fresh rows."""
    import sklearn

    warnings.simplefilter("ignore")
    kind, file, rows, _, columns = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))
    # A few rows first, so that what is imported late is not timed.
    stack(matrix[:40], kind)
    (models, weights), cost = contest.timed(lambda: stack(matrix[: int(rows)], kind))
    logs = models.log_densities(matrix[int(rows) :])
    with np.errstate(divide="ignore"):
        answer = np.logaddexp.reduce(logs + np.log(weights), axis=1)
    contest.tell(cost, f"scikit-learn {sklearn.__version__}, NumPy {np.__version__}", {}, answer.tolist())


if __name__ == "__main__":
    contest.main(race)
