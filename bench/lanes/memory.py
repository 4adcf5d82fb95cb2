"""Memory of fits to a large table: 1 000 000 rows of 30 columns, 240 MB of numbers and 30 MB of bins.

The data are those of `labelled.make`, read row after row into the one table that is fitted to. The peak is that of the
whole process: the table, its codes, what the fit needs, and the model. There is no peer; the goal is twice the table
and its bins.
"""

from collections.abc import Iterator

import labelled
import race

COLUMNS = 30
SPECS = {"boost": "boost(rounds=100, leaves=31)", "forest": "forest(trees=200)"}


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat per learner, on the same rows."""
    data = labelled.make(max(int(1_000_000 * scale), 2000), COLUMNS, seed=6, fresh=0)
    for heat, spec in SPECS.items():
        yield race.Lane(
            title=f"Memory of {spec} fitted to {data.rows} rows of {COLUMNS}.",
            contestants=[race.dolmen("fit", spec, *data.arguments, threads=2, limit=900)],
            goals=[race.within_memory("twice the table and its bins", 2 * data.rows * COLUMNS * 9 / 1e6)],
            rounds=1,
            heat=heat,
        )
