"""The density lanes' rows, made by seed, and the referee of what contestants say of them.

The recipe: so many clusters of equal size in expectation, centres N(0, 2^2) in every column, each with a full
covariance A A'/columns, the entries of A standard normal, plus 0.1 on its diagonal. The first rows of a file are
learned from; the fresh ones after them are drawn the same way. Whitened rows are then moved and turned so that the
rows learned from have mean 0 and exactly the unit matrix as covariance (N-1), which makes one bandwidth the same thing
for product kernels, radial kernels and kernels shaped like the data. Files stay in `.data` for later races: empty it
when the recipe changes.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from race import DATA, Outcome, Quality

Matrix = NDArray[np.float64]

LOSS = "minus log density"
SHORT = "short of best"


@dataclass(frozen=True)
class Points:
    """Rows in a file: raw little-endian f64, row after row."""

    path: Path
    rows: int
    fresh: int
    columns: int

    @property
    def megabytes(self) -> float:
        """The size of the rows learned from, in 10^6 bytes."""
        return self.rows * self.columns * 8 / 1e6

    @property
    def arguments(self) -> tuple[Path, int, int, int]:
        """File, rows, fresh rows and columns, as contestants want them."""
        return self.path, self.rows, self.fresh, self.columns

    def read(self) -> tuple[Matrix, Matrix]:
        """The rows learned from and the fresh ones."""
        matrix = np.fromfile(self.path, "<f8").reshape(-1, self.columns)
        return matrix[: self.rows], matrix[self.rows :]


def make(rows: int, columns: int, clusters: int, seed: int, *, fresh: int = 0, whiten: bool = False) -> Points:
    """Writes the rows of the recipe unless an earlier race has left them."""
    kind = "whitened" if whiten else "points"
    path = DATA / f"{kind}_{rows}+{fresh}x{columns}_clusters{clusters}_seed{seed}.f64"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        matrix = draw(rows + fresh, columns, clusters, np.random.default_rng(seed))
        if whiten:
            known = matrix[:rows]
            matrix = (matrix - known.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(covariance(known))).T
        unfinished = path.with_suffix(f".{os.getpid()}")
        matrix.astype("<f8").tofile(unfinished)
        unfinished.rename(path)
    return Points(path, rows, fresh, columns)


def draw(rows: int, columns: int, clusters: int, rng: np.random.Generator) -> Matrix:
    """Rows of the recipe, in random order."""
    cluster = rng.integers(clusters, size=rows)
    matrix = rng.standard_normal((rows, columns))
    for k in range(clusters):
        centre = rng.normal(0, 2, columns)
        a = rng.standard_normal((columns, columns))
        root = np.linalg.cholesky(a @ a.T / columns + 0.1 * np.eye(columns))
        matrix[cluster == k] = centre + matrix[cluster == k] @ root.T
    return matrix


def covariance(matrix: Matrix) -> Matrix:
    """The covariance matrix (N-1), a matrix for one column too."""
    return np.atleast_2d(np.cov(matrix.T))


def judge_losses(outcomes: Mapping[str, Sequence[Outcome]]) -> Mapping[str, Quality]:
    """The judge of answers that are log densities of fresh rows; of each contestant the worst run counts."""
    return ranked({name: max(-float(np.mean(run.answer)) for run in runs) for name, runs in outcomes.items()}, LOSS)


def ranked(losses: Mapping[str, float], key: str) -> Mapping[str, Quality]:
    """Losses, and how far each is from the smallest of them."""
    least = min(losses.values(), default=0.0)
    return {name: {key: loss, SHORT: loss - least} for name, loss in losses.items()}
