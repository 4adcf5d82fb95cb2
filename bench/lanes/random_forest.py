"""Random forests for two classes: 200 000 rows of 30 columns, 200 trees.

The data are those of `labelled.make`; every library has its own settings, the number of trees apart. Seconds are those
of the fit from raw numbers; 1 000 000 fresh rows are predicted, and the first of them judged.
"""

import labelled
import race

TREES, THREADS = 200, 2


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    data = labelled.make(max(int(200_000 * scale), 2000), 30, seed=4, fresh=max(int(1_000_000 * scale), labelled.JUDGED))
    arguments = (*data.arguments, TREES, THREADS, labelled.JUDGED)
    return race.Lane(
        title=f"Random forest, {TREES} trees: {data.rows} rows of 30, {data.fresh} predicted.",
        contestants=[
            race.dolmen("labelled", f"forest(trees={TREES})", *data.arguments, labelled.JUDGED, threads=THREADS),
            race.python("oneDAL", "trees.py", "onedal", *arguments, threads=THREADS, limit=1500, budget=120),
            race.python("scikit-learn", "trees.py", "forest", *arguments, threads=THREADS, limit=1500, budget=60),
        ],
        goals=[
            race.times_faster_than("oneDAL", 3),
            labelled.predicts_times_faster_than("oneDAL", 5),
            race.within_quality(labelled.AREA, 0.108),
            labelled.no_worse_than("oneDAL", labelled.AREA, 0.001),
        ],
        rounds=3,
        judge=labelled.judge(data),
    )
