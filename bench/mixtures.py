"""The mixture lanes: where EM starts, and the referee of the components it comes to.

The start: random rows as means, the covariance of all rows for every component, equal weights. An answer is the
components' weights, means and covariances, one after the other; the referee takes the mean log likelihood of the rows.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import race
from points import Matrix, Points, covariance, ranked

LOSS = "minus log likelihood"
BLOCK = 65_536


@dataclass(frozen=True)
class Mixtures:
    """Rows to fit so many components to, so many iterations from a given start."""

    points: Points
    components: int
    iterations: int

    @property
    def arguments(self) -> tuple[Path, int, int, int, Path, int]:
        """What contestants want: the rows, the start and the iterations."""
        return *self.points.arguments, self.start(), self.iterations

    def start(self) -> Path:
        """The file the start is in, as JSON."""
        rows, _ = self.points.read()
        chosen = np.random.default_rng(0).choice(len(rows), self.components, replace=False)
        start = {
            "weights": [1 / self.components] * self.components,
            "means": rows[chosen].tolist(),
            "covariances": [covariance(rows).tolist()] * self.components,
        }
        path = self.points.path.with_suffix(f".{self.components}.json")
        path.write_text(json.dumps(start), encoding="ascii")
        return path

    def judge(self, outcomes: Mapping[str, Sequence[race.Outcome]]) -> Mapping[str, race.Quality]:
        """Scores every run's components with the same code; of each contestant the worst run counts."""
        rows, _ = self.points.read()
        losses = {}
        for name, runs in outcomes.items():
            different = {tuple(run.answer) for run in runs}
            losses[name] = max(self.loss(rows, np.array(answer)) for answer in different)
        return ranked(losses, LOSS)

    def loss(self, rows: Matrix, answer: Matrix) -> float:
        """Minus the mean log likelihood of components."""
        k, d = self.components, self.points.columns
        weights, means, covariances = np.split(answer, [k, k + k * d])
        means, roots = means.reshape(k, d), np.linalg.cholesky(covariances.reshape(k, d, d))
        total = 0.0
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            logs = np.empty((k, len(block)))
            for c in range(k):
                turned = np.linalg.solve(roots[c], (block - means[c]).T)
                constant = np.log(weights[c]) - np.log(np.diag(roots[c])).sum() - d / 2 * np.log(2 * np.pi)
                logs[c] = constant - np.square(turned).sum(axis=0) / 2
            total += np.logaddexp.reduce(logs, axis=0).sum()
        return -total / len(rows)


def contestants(data: Mixtures, slow: race.Settings) -> list[race.Contestant]:
    """Dolmen and its peers, all from the same start."""
    arguments = data.arguments
    return [
        race.dolmen("mixture", *arguments),
        race.python("oneDAL", "mixtures.py", "onedal", *arguments, **slow),
        race.python("NumPy EM", "mixtures.py", "numpy", *arguments, **slow),
        race.python("scikit-learn", "mixtures.py", "scikit-learn", *arguments, **slow),
        race.dolmen("mixture", *arguments, threads=2, name="Dolmen, 2 threads"),
    ]
