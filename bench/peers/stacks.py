"""A stack for two classes by scikit-learn, with counterparts of Dolmen's usual members.

`python peers/stacks.py stacking FILE ROWS FRESH COLUMNS TREES THREADS TOLD`, arguments and answer as in trees.py.
"""

import contest
import trees


def stacking(count: int, threads: int) -> tuple[str, trees.Fit]:
    """StackingClassifier over eight members, five folds, logistic regression on top; forests of `count` trees."""
    from sklearn import ensemble, naive_bayes, neighbors, neural_network
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network = neural_network.MLPClassifier((32,), early_stopping=True, random_state=0)
    members = [
        ("logistic", make_pipeline(StandardScaler(), LogisticRegression())),
        ("neighbours 5", make_pipeline(StandardScaler(), neighbors.KNeighborsClassifier(5))),
        ("neighbours 25", make_pipeline(StandardScaler(), neighbors.KNeighborsClassifier(25))),
        ("forest", ensemble.RandomForestClassifier(count, random_state=0)),
        ("extra trees", ensemble.ExtraTreesClassifier(count, random_state=0)),
        ("boosting", ensemble.HistGradientBoostingClassifier(random_state=0)),
        ("network", make_pipeline(StandardScaler(), network)),
        ("bayes", naive_bayes.GaussianNB()),
    ]
    return trees.scikit_learn(lambda: ensemble.StackingClassifier(members, cv=5, n_jobs=threads))


if __name__ == "__main__":
    contest.main(lambda arguments: trees.race(arguments, {"stacking": stacking}))
