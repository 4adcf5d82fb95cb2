"""A Gaussian mixture, the large size: 1 000 000 rows of 5 columns, 8 full components, 50 iterations of EM.

As `mixture_a`, with 8 clusters. A contestant that has used 20 seconds runs no further round.
"""

import mixtures
import points
import race


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    rows = max(int(1_000_000 * scale), 1000)
    data = mixtures.Mixtures(points.make(rows, columns=5, clusters=8, seed=11), components=8, iterations=50)
    return race.Lane(
        title=f"50 iterations of EM from the same start: 8 full components, {rows} rows of 5 columns.",
        contestants=mixtures.contestants(data, {"limit": 120.0, "budget": 20.0}),
        goals=[
            race.times_faster_than("oneDAL", 2),
            race.times_faster_than("scikit-learn", 8),
            race.within_quality(points.SHORT, 1e-9),
            race.within_memory("peak memory the data and 20 MB", data.points.megabytes + 20),
        ],
        rounds=3,
        judge=data.judge,
    )
