"""Gradient boosting for two classes: 200 000 rows of 30 columns, 200 rounds of 31 leaves on 255 bins.

The data are those of `labelled.make`. The rate is 0.1, otherwise every library's own settings. Seconds are those of the
fit from raw numbers, binning included; 1 000 000 fresh rows are predicted, and the first of them judged.
"""

import labelled
import race

ROUNDS, THREADS = 200, 2


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    data = labelled.make(max(int(200_000 * scale), 2000), 30, seed=4, fresh=max(int(1_000_000 * scale), labelled.JUDGED))
    arguments = (*data.arguments, ROUNDS, THREADS, labelled.JUDGED)
    spec = f"boost(rounds={ROUNDS}, leaves=31, bins=255, rate=0.1)"
    peers = ["XGBoost", "LightGBM", "scikit-learn"]
    return race.Lane(
        title=f"Gradient boosting, {ROUNDS} rounds of 31 leaves: {data.rows} rows of 30, {data.fresh} predicted.",
        contestants=[
            race.dolmen("labelled", spec, *data.arguments, labelled.JUDGED, threads=THREADS),
            race.python("XGBoost", "trees.py", "xgboost", *arguments, threads=THREADS, limit=300, budget=120),
            race.python("LightGBM", "trees.py", "lightgbm", *arguments, threads=THREADS, limit=300, budget=120),
            race.python("scikit-learn", "trees.py", "hist", *arguments, threads=THREADS, limit=300, budget=120),
        ],
        goals=[
            *(race.times_faster_than(peer, 1) for peer in peers),
            *(labelled.predicts_times_faster_than(peer, 1) for peer in peers),
            *(labelled.no_worse_than(peer, labelled.AREA, 0.0005) for peer in peers),
        ],
        rounds=3,
        judge=labelled.judge(data),
    )
