"""The kernel lanes: the bandwidth, and the referee of log densities.

All use Gaussian kernels with the same bandwidth in every column, Silverman's for whitened rows. An answer is the log
densities of the first 200 fresh rows; the referee sums all pairs for them in double precision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import race
from points import Matrix, Points

ERROR = "error of ln p"
JUDGED = 200


@dataclass(frozen=True)
class Kernels:
    """Whitened rows, and how wide kernels on them are."""

    points: Points

    @property
    def bandwidth(self) -> float:
        """Silverman's rule."""
        d = self.points.columns
        return (self.points.rows * (d + 2) / 4) ** (-1 / (d + 4))

    def dolmen(self, tolerance: float, name: str = race.DOLMEN) -> race.Contestant:
        """Dolmen with a bound of the relative error; 0 looks at every pair."""
        return race.dolmen("kernel", *self.points.arguments, self.bandwidth, tolerance, name=name)

    def peer(self, name: str, method: str, limit: float, budget: float = 10.0) -> race.Contestant:
        """One of the ways in `peers/kernels.py`."""
        arguments = (method, *self.points.arguments, self.bandwidth)
        return race.python(name, "kernels.py", *arguments, limit=limit, budget=budget)

    def judge(self, outcomes: Mapping[str, Sequence[race.Outcome]]) -> Mapping[str, race.Quality]:
        """The largest error of a log density over the fresh rows judged and the rounds."""
        known, fresh = self.points.read()
        truth = self.log_densities(known, fresh[:JUDGED])
        return {
            name: {ERROR: max(float(np.abs(np.array(run.answer) - truth).max()) for run in runs)}
            for name, runs in outcomes.items()
        }

    def log_densities(self, known: Matrix, fresh: Matrix) -> Matrix:
        """Every pair, in log space."""
        h, d = self.bandwidth, self.points.columns
        logs = [np.logaddexp.reduce(-np.square((known - row) / h).sum(axis=1) / 2) for row in fresh]
        return np.array(logs) - np.log(len(known)) - d * np.log(h * np.sqrt(2 * np.pi))
