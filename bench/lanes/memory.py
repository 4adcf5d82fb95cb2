"""Memory of fits to large tables: 5 000 000 rows of 5 columns (200 MB of numbers) and 1 000 000 rows of 20 (160 MB).

The data are those of `labelled.make`, read row after row into the one table that is fitted to. The peak is that of the
whole process: the table, its target, its bins where the learner has any, what the fit needs, and the model. There is no
peer; the goal is what has to be there, which is all of these but what the fit needs, and a fifth more. The model is counted
as large as it is stored. Densities leave the label out, ridge regression takes it for a number.

Forests have one batch of trees, boosting few rounds, networks few passes, and single trees leaves of many rows: what more
of them would take is time, and memory in the model only.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import labelled
import race
from points import Points

SIZES = (5_000_000, 5), (1_000_000, 20)
MODEL = "model MB"


@dataclass(frozen=True)
class Entry:
    """A learner: its spec, its task, and whether it keeps a byte for every cell."""

    spec: str
    task: str = "classification"
    bins: bool = False


ENTRIES = (
    Entry("gaussian", "density"),
    Entry("mixture(components=8, iterations=20)", "density"),
    Entry("ridge", "regression"),
    Entry("logistic"),
    Entry("naive-bayes"),
    Entry("aode"),
    Entry("tree(min_leaf=200)", bins=True),
    Entry("forest(trees=32)", bins=True),
    Entry("extra-trees(trees=32)", bins=True),
    Entry("boost(rounds=20)", bins=True),
    Entry("network(epochs=2)"),
)
TARGETS = {"density": 0, "classification": 4, "regression": 8}
"""Bytes of a row's target."""


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat per learner and size."""
    for rows, columns in SIZES:
        data = labelled.make(max(int(rows * scale), 2000), columns, seed=6, fresh=0)
        for entry in ENTRIES:
            yield race.Lane(
                title=f"Memory of {entry.spec} ({entry.task}) fitted to {data.rows} rows of {columns}.",
                contestants=[race.dolmen("fit", entry.task, entry.spec, *data.arguments, threads=2, limit=1800)],
                goals=[within_need(entry, data)],
                rounds=1,
                heat=f"{rows:.0e} x {columns}, {entry.spec.partition('(')[0]}".replace("e+0", "e"),
            )


def within_need(entry: Entry, data: Points) -> race.Goal:
    """The peak as a multiple of table, target, bins and model."""
    inputs = data.columns - 1
    held = data.rows * (inputs * (8 + entry.bins) + TARGETS[entry.task]) / 1e6

    def measure(standings: race.Standings) -> float | None:
        standing = standings[race.DOLMEN]
        model = standing.quality.get(MODEL)
        return None if standing.peak_mb is None or model is None else standing.peak_mb / (held + model)

    parts = "table, target, bins" if entry.bins else "table, target"
    return race.Goal(f"1.2 times {parts} ({held:.0f} MB) and model", measure, 1.2)
