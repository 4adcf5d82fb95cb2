"""Simplex weights, the large size: 1 000 000 rows of 100 correlated log densities, 0.8 GB.

The data are those of `log_scores.make` with spread 0.5. Peers run to a certified gap of 1e-6; a contestant that has
used a minute runs no further round, so that the lane ends in about ten minutes.
"""

import log_scores
import race

LIMIT = 120
BUDGET = 60.0
KILL = 180.0


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    data = log_scores.make(rows=max(int(1_000_000 * scale), 100), members=100, spread=0.5, seed=2)
    arguments = (data.path, *data.shape)
    slow: race.Settings = {"limit": KILL, "budget": BUDGET}
    return race.Lane(
        title=f"Weights of {data.members} correlated members from {data.rows} rows; peers stop at gap 1e-6.",
        contestants=[
            race.dolmen("weights", *arguments),
            race.python("SciPy trust-constr", "weights.py", "trust-constr", *arguments, LIMIT, **slow),
            race.python("NumPy SQP", "weights.py", "sqp", *arguments, LIMIT, **slow),
            race.rscript("R mixsqp", "weights.R", "mixsqp", *arguments, **slow),
            race.dolmen("weights", *arguments, threads=2, name="Dolmen, 2 threads"),
        ],
        goals=[
            race.times_faster_than("SciPy trust-constr", 8),
            race.times_faster_than("R mixsqp", 8),
            race.within_quality(log_scores.GAP, 1e-9),
            race.within_memory("peak memory 1.3 times the matrix", 1.3 * data.megabytes),
        ],
        rounds=3,
        judge=data.judge,
    )
