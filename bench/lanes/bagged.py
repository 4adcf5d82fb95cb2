"""Bagged mixtures: 50 mixtures of 4 full components on bootstrap samples of 20 000 rows of 5 columns.

The data are those of `points.make` with 6 clusters. Every fit starts once from k-means and takes 30 iterations of EM.
The answer is the average's log densities of 2000 fresh rows; random numbers differ, so qualities agree only roughly.
"""

import points
import race

FITS, COMPONENTS, ITERATIONS = 50, 4, 30


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    data = points.make(max(int(20_000 * scale), 500), columns=5, clusters=6, seed=16, fresh=2000)
    arguments = (*data.arguments, FITS, COMPONENTS, ITERATIONS)
    return race.Lane(
        title=f"{FITS} bagged mixtures of {COMPONENTS} components, {ITERATIONS} iterations: {data.rows} rows of 5.",
        contestants=[
            race.dolmen("bagged", *arguments),
            race.python("scikit-learn", "bagged.py", *arguments, budget=20),
        ],
        goals=[race.times_faster_than("scikit-learn", 8), race.within_quality(points.SHORT, 0.01)],
        rounds=3,
        judge=points.judge_losses,
    )
