"""A Gaussian mixture, the middle size: 100 000 rows of 10 columns, 16 full components, 50 iterations of EM.

The data are those of `points.make` with 16 clusters; all start from the same components (`mixtures.Mixtures.start`) and
maximise the likelihood, without prior or regularisation.
"""

import mixtures
import points
import race


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    rows = max(int(100_000 * scale), 1000)
    data = mixtures.Mixtures(points.make(rows, columns=10, clusters=16, seed=10), components=16, iterations=50)
    return race.Lane(
        title=f"50 iterations of EM from the same start: 16 full components, {rows} rows of 10 columns.",
        contestants=mixtures.contestants(data, {"limit": 120.0, "budget": 20.0}),
        goals=[
            race.times_faster_than("oneDAL", 2),
            race.times_faster_than("scikit-learn", 8),
            race.within_quality(points.SHORT, 1e-9),
        ],
        rounds=3,
        judge=data.judge,
    )
