"""Small tables: 15 000 rows of 20 columns on one thread, a forest of 100 trees and 100 rounds of boosting.

The data are those of `labelled.make`; here what a call costs beside its work counts too. 100 000 fresh rows are predicted.
"""

from collections.abc import Iterator

import labelled
import race

TREES = 100


def lane(scale: float) -> Iterator[race.Lane]:
    """The two heats, their data made."""
    data = labelled.make(max(int(15_000 * scale), 2000), 20, seed=5, fresh=labelled.JUDGED)
    heats = {
        "forest": (f"forest(trees={TREES})", [("scikit-learn", "forest", 10)]),
        "boosting": (
            f"boost(rounds={TREES}, leaves=31, bins=255, rate=0.1)",
            [("LightGBM", "lightgbm", 1), ("scikit-learn", "hist", 1)],
        ),
    }
    arguments = (*data.arguments, TREES, 1, labelled.JUDGED)
    for heat, (spec, peers) in heats.items():
        yield race.Lane(
            title=f"{heat.capitalize()} of {TREES} trees: {data.rows} rows of 20.",
            contestants=[
                race.dolmen("labelled", spec, *data.arguments, labelled.JUDGED),
                *(race.python(name, "trees.py", kind, *arguments, budget=40) for name, kind, _ in peers),
            ],
            goals=[
                *(race.times_faster_than(name, times) for name, _, times in peers),
                *(labelled.no_worse_than(name, labelled.AREA, 0.001) for name, _, _ in peers),
            ],
            judge=labelled.judge(data),
            heat=heat,
        )
