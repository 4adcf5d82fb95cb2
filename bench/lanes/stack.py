"""The default stack for two classes: 20 000 rows of 20 columns.

The data are those of `labelled.make`. Dolmen's usual members for such a table, five folds, logistic regression on top
(which `dolmen fit` chooses here), every member fitted again on all rows; scikit-learn's StackingClassifier does the same
with counterparts of the members (Gaussian naive Bayes for AODE and the mixtures per class). Seconds are those of the
fit; 100 000 fresh rows are predicted. scikit-learn works in child processes, whose processor time is not counted.
"""

import labelled
import race

TREES = 200
MEMBERS = (
    "logistic",
    "neighbours(k=[5, 25])",
    f"forest(trees={TREES})",
    f"extra-trees(trees={TREES})",
    "boost",
    "network",
    "aode",
    "bayes(density=mixture(components=2))",
)


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    data = labelled.make(max(int(20_000 * scale), 1000), 20, seed=6, fresh=labelled.JUDGED)
    spec = f"stack(members=[{', '.join(MEMBERS)}], combiner=logistic, folds=5)"
    arguments = (*data.arguments, TREES, 2, labelled.JUDGED)
    return race.Lane(
        title=f"The default stack: {data.rows} rows of 20, {data.fresh} predicted.",
        contestants=[
            race.dolmen("labelled", spec, *data.arguments, labelled.JUDGED, threads=2),
            race.python("scikit-learn", "stacks.py", "stacking", *arguments, threads=2, limit=1800, budget=300),
        ],
        goals=[
            race.times_faster_than("scikit-learn", 5),
            labelled.no_worse_than("scikit-learn", labelled.LOSS, 0.0),
        ],
        rounds=2,
        judge=labelled.judge(data),
    )
