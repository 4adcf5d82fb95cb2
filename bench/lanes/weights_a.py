"""Simplex weights, the middle size: 100 000 rows of 20 strongly correlated log densities.

The data are those of `log_scores.make` with spread 0.15: the members are near copies of each other. Peers run to a
certified gap of 1e-6, EM for a minute at most; Dolmen runs to its own default.
"""

import log_scores
import race

LIMIT = 60


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    data = log_scores.make(rows=max(int(100_000 * scale), 100), members=20, spread=0.15, seed=1)
    arguments = (data.path, *data.shape)
    return race.Lane(
        title=f"Weights of {data.members} strongly correlated members from {data.rows} rows; peers stop at gap 1e-6.",
        contestants=[
            race.dolmen("weights", *arguments),
            race.python("SciPy trust-constr", "weights.py", "trust-constr", *arguments, LIMIT),
            race.python("NumPy SQP", "weights.py", "sqp", *arguments, LIMIT),
            race.python("SciPy SLSQP", "weights.py", "slsqp", *arguments, LIMIT),
            race.rscript("R mixsqp", "weights.R", "mixsqp", *arguments),
            race.python("NumPy EM", "weights.py", "em", *arguments, LIMIT, budget=20),
        ],
        goals=[race.times_faster_than("SciPy trust-constr", 8), race.within_quality(log_scores.GAP, 1e-9)],
        judge=data.judge,
    )
