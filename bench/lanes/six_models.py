"""Smyth and Wolpert's (1999) six models with ten folds: as large as iris (150 x 4), and 10 000 x 5.

Product kernels of triangular shape with 0.1, 0.4 and 1.5 standard deviations, mixtures of 2, 4 and 8 components with 10
iterations from 4 starts (2 of k-means, 2 random); out-of-sample densities, weights, and all six fitted to all rows. The
data are those of `points.make` with 3 clusters. The answer is the ensemble's log densities of 2000 fresh rows; random
numbers differ, so qualities agree only roughly.
"""

from collections.abc import Iterator

import points
import race

SIZES = ((150, 4), (10_000, 5))


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat per size, its data made."""
    for rows, columns in SIZES:
        data = points.make(max(int(rows * scale), 100), columns, clusters=3, seed=15, fresh=2000)
        script = "six_models.py"
        yield race.Lane(
            title=f"Six densities stacked with 10 folds: {data.rows} rows, {columns} columns.",
            contestants=[
                race.dolmen("six", *data.arguments),
                race.python("scikit-learn, NumPy kernels", script, "scikit-learn", *data.arguments, budget=20),
                race.python("NumPy alone", script, "numpy", *data.arguments, budget=20),
            ],
            goals=[
                race.times_faster_than("scikit-learn, NumPy kernels", 10),
                race.times_faster_than("NumPy alone", 10),
                race.within_quality(points.SHORT, 0.02),
            ],
            judge=points.judge_losses,
            heat=f"{rows} x {columns}",
        )
