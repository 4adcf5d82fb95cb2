"""Bandwidths by leave-one-out likelihood, one per column: 500 x 2, 1000 x 3, 2000 x 5 and 5000 x 7.

The data are those of `points.make` with 4 clusters, Gaussian kernels. The answer is the vector of bandwidths; the
referee computes its likelihood. The peers climb in ln h by L-BFGS from Silverman's bandwidths with the analytic
gradient and stop where Dolmen does, at a slope of 1e-5 or a gain of 1e-9 per row. Dolmen also stops where the
curvature it has learned promises no such gain, without making the step. "Plain" NumPy takes the differences of all rows,
column by column, as one would write it down; the other one multiplies the squares out and leaves nearly all the work
to products of matrices.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import points
import race

SIZES = ((500, 2), (1000, 3), (2000, 5), (5000, 7))
LOSS = "minus log likelihood"
PEERS = {"NumPy + SciPy L-BFGS, plain": "plain", "NumPy + SciPy L-BFGS, products": "products"}


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat per size, its data made."""
    for rows, columns in SIZES:
        data = points.make(max(int(rows * scale), 100), columns, clusters=4, seed=14)
        yield race.Lane(
            title=f"Bandwidths of greatest leave-one-out likelihood: {data.rows} rows, {columns} columns.",
            contestants=[
                race.dolmen("bandwidth", *data.arguments),
                *(race.python(name, "bandwidths.py", way, *data.arguments, budget=20) for name, way in PEERS.items()),
            ],
            goals=[*(race.times_faster_than(peer, 10) for peer in PEERS), race.within_quality(points.SHORT, 1e-6)],
            judge=lambda outcomes, data=data: judge(data, outcomes),
            heat=f"{rows} x {columns}",
        )


def judge(data: points.Points, outcomes: Mapping[str, Sequence[race.Outcome]]) -> Mapping[str, race.Quality]:
    """Minus the mean leave-one-out log density of every contestant's bandwidths; the worst run counts."""
    rows, _ = data.read()
    losses = {
        name: max(loss(rows, np.array(h)) for h in {tuple(run.answer) for run in runs})
        for name, runs in outcomes.items()
    }
    reported = race.worst_reported(outcomes)
    return {name: {**quality, **reported[name]} for name, quality in points.ranked(losses, LOSS).items()}


def loss(rows: points.Matrix, bandwidth: points.Matrix) -> float:
    """Every pair, row by row."""
    scaled = rows / bandwidth
    total = 0.0
    for i, row in enumerate(scaled):
        exponents = -np.square(scaled - row).sum(axis=1) / 2
        exponents[i] = -np.inf
        total += np.logaddexp.reduce(exponents)
    constant = np.log(bandwidth * np.sqrt(2 * np.pi)).sum() + np.log(len(rows) - 1)
    return float(constant - total / len(rows))
