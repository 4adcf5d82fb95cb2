"""Simplex weights of far more members than rows: 100 rows, 10 000 members.

The data are those of `log_scores.make` with spread 1. R's loo, for which this size is out of reach, gets the first 5000
members and one minute.
"""

import log_scores
import race

LIMIT = 60


def lane(scale: float) -> race.Lane:
    """The lane, its data made; the scale acts on the members."""
    data = log_scores.make(rows=100, members=max(int(10_000 * scale), 100), spread=1.0, seed=3)
    arguments = (data.path, *data.shape)
    half = (data.path, data.rows, data.members // 2)
    return race.Lane(
        title=f"Weights of {data.members} members from {data.rows} rows; peers stop at gap 1e-6.",
        contestants=[
            race.dolmen("weights", *arguments),
            race.python("NumPy column generation", "weights.py", "column-generation", *arguments, LIMIT),
            race.python("NumPy EM", "weights.py", "em", *arguments, LIMIT, budget=20),
            race.rscript("R loo, half of them", "weights.R", "loo", *half, limit=60, budget=20),
        ],
        goals=[race.within_seconds(0.05), race.within_quality(log_scores.GAP, 1e-9)],
        judge=data.judge,
    )
