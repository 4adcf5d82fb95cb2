"""Nearest neighbours: 10 of 50 000 rows for each of 10 000 fresh ones, in 3, 10 and 30 columns.

The data are those of `points.make` with 6 clusters. What is predicted is the first column's mean over the neighbours: the
referee finds them by sorting all distances of the first 200 fresh rows.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import points
import race

K = 10
ERROR = "error of the mean"
JUDGED = 200


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat per number of columns, its data made."""
    rows, fresh = max(int(50_000 * scale), 1000), max(int(10_000 * scale), 500)
    for columns in (3, 10, 30):
        data = points.make(rows, columns, clusters=6, seed=21, fresh=fresh)
        yield race.Lane(
            title=f"{K} nearest of {rows} rows for {fresh} fresh rows, {columns} columns.",
            contestants=[
                race.dolmen("neighbours", *data.arguments, K),
                race.python("scikit-learn, kd_tree", "neighbours.py", "kd_tree", *data.arguments, K, budget=20),
                race.python("scikit-learn, brute", "neighbours.py", "brute", *data.arguments, K, budget=20),
            ],
            goals=[
                race.times_faster_than("scikit-learn, kd_tree", 1),
                race.times_faster_than("scikit-learn, brute", 1),
                race.within_quality(ERROR, 1e-9),
            ],
            rounds=3,
            judge=lambda outcomes, data=data: judge(data, outcomes),
            heat=f"{columns} columns",
        )


def judge(data: points.Points, outcomes: Mapping[str, Sequence[race.Outcome]]) -> Mapping[str, race.Quality]:
    """The largest error of a prediction over the fresh rows judged and the rounds."""
    known, fresh = data.read()
    nearest = [np.argsort(np.square(known - row).sum(axis=1), kind="stable")[:K] for row in fresh[:JUDGED]]
    truth = np.array([known[rows, 0].mean() for rows in nearest])
    return {
        name: {ERROR: max(float(np.abs(np.array(run.answer) - truth).max()) for run in runs)}
        for name, runs in outcomes.items()
    }
