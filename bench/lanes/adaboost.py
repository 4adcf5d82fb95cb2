"""AdaBoost for two classes: 200 000 rows of 30 columns, 200 stumps.

The data are those of `labelled.make`. scikit-learn looks for thresholds between all neighbouring values, Dolmen between
255 bins. Seconds are those of the fit from raw numbers; 200 000 fresh rows are predicted, and the first of them judged.
"""

import labelled
import race

STUMPS = 200


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    data = labelled.make(max(int(200_000 * scale), 2000), 30, seed=4, fresh=max(int(200_000 * scale), labelled.JUDGED))
    arguments = (*data.arguments, STUMPS, 1, labelled.JUDGED)
    return race.Lane(
        title=f"AdaBoost, {STUMPS} stumps: {data.rows} rows of 30, {data.fresh} predicted.",
        contestants=[
            race.dolmen("labelled", f"adaboost(rounds={STUMPS})", *data.arguments, labelled.JUDGED),
            race.python("scikit-learn", "trees.py", "adaboost", *arguments, limit=900, budget=60),
        ],
        goals=[
            race.times_faster_than("scikit-learn", 10),
            labelled.no_worse_than("scikit-learn", labelled.AREA, 0.0005),
        ],
        rounds=3,
        judge=labelled.judge(data),
    )
