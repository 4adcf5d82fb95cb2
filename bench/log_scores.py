"""The weight lanes' matrices of log densities, made by seed, and the referee of the weights found for them.

The recipe: rows are points of the plane, drawn from eight round clusters (centres standard normal, standard deviation
0.6). Member m is a normal density with independent coordinates whose means are N(0, spread^2) and whose standard
deviations are exp(N(-0.1, 0.25^2)). Entry (i, m) is its log density at row i plus N(0, 0.02^2), the traces of fitting
on different folds. A small spread makes neighbouring members nearly the same column (condition number of the Hessian
1e4 to 1e6) and leaves weight on few of them. Matrices stay in `.data` for later races: empty it when the recipe
changes.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from race import DATA, Outcome, Quality

CLUSTERS = 8
NOISE = 0.02
BLOCK = 65_536

SHORT = "short of best"
GAP = "certified gap"


@dataclass(frozen=True)
class LogScores:
    """A matrix of log densities in a file: raw little-endian f64, column after column."""

    path: Path
    rows: int
    members: int

    @property
    def megabytes(self) -> float:
        """The size of the matrix in 10^6 bytes."""
        return self.rows * self.members * 8 / 1e6

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and members, as contestants' arguments want them."""
        return self.rows, self.members

    def judge(self, outcomes: Mapping[str, Sequence[Outcome]]) -> Mapping[str, Quality]:
        """Scores every run's weights with the same code; of each contestant the worst run counts.

        `short of best` is the distance to the best mean log score of the race, `certified gap` an upper bound of the
        distance to the optimum that needs no one else: max_m mean_i p_im / (P w)_i - 1.
        """
        runs = [(name, run) for name, those in outcomes.items() for run in those]
        if not runs:
            return {}
        scores, gaps = self.measure([run.answer for _, run in runs])
        verdicts: dict[str, dict[str, float]] = {}
        for (name, run), score, gap in zip(runs, scores, gaps, strict=True):
            verdict = {SHORT: float(scores.max() - score), GAP: float(gap), **run.quality}
            earlier = verdicts.get(name, verdict)
            verdicts[name] = {key: max(verdict[key], earlier[key]) for key in verdict}
        return verdicts

    def measure(self, answers: Sequence[Sequence[float]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean log score and the certified gap of several weight vectors, in one pass over the rows."""
        weights = np.zeros((self.members, len(answers)))
        for column, answer in zip(weights.T, answers, strict=True):
            column[: len(answer)] = np.clip(answer, 0, None)
        weights /= weights.sum(axis=0)
        matrix = np.memmap(self.path, "<f8", "r", shape=(self.rows, self.members), order="F")
        scores = np.zeros(len(answers))
        pulls = np.zeros_like(weights)
        for start in range(0, self.rows, BLOCK):
            block = np.array(matrix[start : start + BLOCK])
            largest = block.max(axis=1, keepdims=True)
            density = np.exp(block - largest)
            mixed = density @ weights
            scores += (np.log(mixed) + largest).sum(axis=0)
            pulls += density.T @ (1 / mixed)
        return scores / self.rows, pulls.max(axis=0) / self.rows - 1


def make(rows: int, members: int, spread: float, seed: int) -> LogScores:
    """Writes the matrix of the recipe unless an earlier race has left it."""
    path = DATA / f"log_scores_{rows}x{members}_spread{spread}_seed{seed}.f64"
    scores = LogScores(path, rows, members)
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        write(unfinished, scores, spread, np.random.default_rng(seed))
        unfinished.rename(path)
    return scores


def write(path: Path, scores: LogScores, spread: float, rng: np.random.Generator) -> None:
    """Writes the matrix column by column, so that it never has to fit into memory."""
    centres = rng.standard_normal((CLUSTERS, 2))
    points = centres[rng.integers(CLUSTERS, size=scores.rows)] + 0.6 * rng.standard_normal((scores.rows, 2))
    with path.open("wb") as file:
        for _ in range(scores.members):
            means = rng.normal(0, spread, 2)
            widths = np.exp(rng.normal(-0.1, 0.25, 2))
            distances = np.square((points - means) / widths).sum(axis=1)
            column = -distances / 2 - np.log(2 * np.pi * widths.prod())
            column += NOISE * rng.standard_normal(scores.rows)
            column.astype("<f8").tofile(file)
