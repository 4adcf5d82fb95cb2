"""The tree lanes' rows, made by seed, and the referee of what contestants say of them.

The recipe, for two classes: 8 informative columns, standard normal; 8 redundant ones, random linear mixtures of the
informative with normal noise of deviation 0.5; the rest normal noise. With x the informative columns, the log odds are
1.6 times

    sum_j b_j x_j + 0.7 sum_j sin(2 x_j) + sum over pairs (0,1), (2,3), .. of sign(x_j) x_k,

|b_j| uniform on [0.5, 1] with random signs: smooth parts, waves, and pairs that mean nothing alone. A share of 4 % of the labels
is turned over whatever the odds. Tables of fewer than 16 columns have the first of these; the label is drawn from all. Boosting by the usual libraries reaches an area under the ROC curve of about 0.92 and
forests of fully grown trees one of about 0.89. The label, 0 or 1, is the last column. Files stay in `.data` for later
races: empty it when the recipe changes.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from points import Points
from race import DATA, DOLMEN, Goal, Judge, Outcome, Quality, Standings

Vector = NDArray[np.float64]

INFORMATIVE, REDUNDANT = 8, 8
STEEPNESS, TURNED = 1.6, 0.04

PREDICT, PREDICT_CPU = "predict s", "predict CPU s"
AREA, LOSS = "1 - AUC", "log loss"
JUDGED = 100_000
"""Fresh rows whose predictions are told and judged; all fresh rows are predicted."""


def make(rows: int, columns: int, seed: int, fresh: int) -> Points:
    """Writes the rows of the recipe, label last, unless an earlier race has left them."""
    path: Path = DATA / f"labelled_{rows}+{fresh}x{columns}_seed{seed}.f64"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        matrix = draw(rows + fresh, columns, np.random.default_rng(seed))
        unfinished = path.with_suffix(f".{os.getpid()}")
        matrix.astype("<f8").tofile(unfinished)
        unfinished.rename(path)
    return Points(path, rows, fresh, columns + 1)


def draw(rows: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rows of the recipe."""
    informative = rng.standard_normal((rows, INFORMATIVE))
    mixing = rng.standard_normal((INFORMATIVE, REDUNDANT)) / np.sqrt(INFORMATIVE)
    redundant = informative @ mixing + 0.5 * rng.standard_normal((rows, REDUNDANT))
    noise = rng.standard_normal((rows, max(columns - INFORMATIVE - REDUNDANT, 0)))
    slopes = rng.uniform(0.5, 1, INFORMATIVE) * rng.choice([-1, 1], INFORMATIVE)
    odds = informative @ slopes + 0.7 * np.sin(2 * informative).sum(axis=1)
    odds += (np.sign(informative[:, 0::2]) * informative[:, 1::2]).sum(axis=1)
    chance = TURNED + (1 - 2 * TURNED) / (1 + np.exp(-STEEPNESS * odds))
    label = rng.random(rows) < chance
    return np.column_stack([np.column_stack([informative, redundant, noise])[:, :columns], label])


def judge(data: Points) -> Judge:
    """The judge of answers that are chances of label 1 in the first fresh rows; of each contestant the worst run counts,
    and the fastest prediction."""
    matrix = np.fromfile(data.path, "<f8", offset=data.rows * data.columns * 8, count=JUDGED * data.columns)
    labels = matrix.reshape(-1, data.columns)[:, -1]

    def verdicts(outcomes: Mapping[str, Sequence[Outcome]]) -> Mapping[str, Quality]:
        return {name: verdict(labels, runs) for name, runs in outcomes.items()}

    return verdicts


def verdict(labels: Vector, runs: Sequence[Outcome]) -> Quality:
    """What is said of one contestant's runs."""
    answers = [np.asarray(run.answer) for run in runs]
    return {
        PREDICT: min(run.quality[PREDICT] for run in runs),
        PREDICT_CPU: min(run.quality[PREDICT_CPU] for run in runs),
        AREA: max(1 - area_under_curve(labels, answer) for answer in answers),
        LOSS: max(log_loss(labels, answer) for answer in answers),
    }


def area_under_curve(labels: Vector, chances: Vector) -> float:
    """The share of pairs of unlike rows that the chances put in the right order, ties counted half."""
    _, place, counts = np.unique(chances, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    ones = labels.sum()
    return float((ranks[labels == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(labels) - ones)))


def log_loss(labels: Vector, chances: Vector) -> float:
    """Minus the mean log chance of what happened; chances of 0 and 1 count as 1e-15 off."""
    sure = np.clip(np.where(labels == 1, chances, 1 - chances), 1e-15, 1)
    return float(-np.mean(np.log(sure)))


def predicts_times_faster_than(peer: str, times: float) -> Goal:
    """The processor time of Dolmen's best prediction goes so many times into the peer's."""

    def measure(standings: Standings) -> float | None:
        theirs, ours = (standings[name].quality.get(PREDICT_CPU) for name in (peer, DOLMEN))
        return theirs / ours if theirs and ours else None

    return Goal(f"predicts {times:g} times as fast as {peer}, by CPU", measure, times, at_least=True)


def no_worse_than(peer: str, key: str, slack: float = 0.0) -> Goal:
    """Dolmen's quality exceeds the peer's by no more than the slack."""

    def measure(standings: Standings) -> float | None:
        theirs, ours = (standings[name].quality.get(key) for name in (peer, DOLMEN))
        return ours - theirs if theirs is not None and ours is not None else None

    return Goal(f"{key} at most {slack:g} above {peer}'s", measure, slack)
