"""Ensembles of trees for two classes, by the usual libraries.

`python peers/trees.py KIND FILE ROWS FRESH COLUMNS TREES THREADS TOLD` reads the rows (raw little-endian f64, row after
row, the label last), times the fit to the first ROWS and the prediction of the fresh ones, and tells the chances of label
1 of the first TOLD of these.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import contest

Array = NDArray[np.float64]
Predict = Callable[[Array], Array]
Fit = Callable[[Array, Array], Predict]

LEAVES, BINS, RATE = 31, 255, 0.1


def lightgbm(trees: int, threads: int) -> tuple[str, Fit]:
    """Gradient boosting by LightGBM."""
    import lightgbm

    settings = {"objective": "binary", "num_leaves": LEAVES, "max_bin": BINS, "learning_rate": RATE}

    def fit(x: Array, y: Array) -> Predict:
        told = settings | {"num_threads": threads, "verbose": -1}
        return lightgbm.train(told, lightgbm.Dataset(x, y), trees).predict

    return f"LightGBM {lightgbm.__version__}", fit


def xgboost(trees: int, threads: int) -> tuple[str, Fit]:
    """Gradient boosting by XGBoost, leaf by leaf on histograms."""
    import xgboost

    settings = {"objective": "binary:logistic", "tree_method": "hist", "grow_policy": "lossguide", "max_depth": 0}
    settings |= {"max_leaves": LEAVES, "max_bin": BINS, "eta": RATE, "nthread": threads}

    def fit(x: Array, y: Array) -> Predict:
        data = xgboost.QuantileDMatrix(x, y, max_bin=BINS, nthread=threads)
        return xgboost.train(settings, data, trees).inplace_predict

    return f"XGBoost {xgboost.__version__}", fit


def hist_gradient_boosting(trees: int, _threads: int) -> tuple[str, Fit]:
    """Gradient boosting by scikit-learn, without early stopping."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    settings = {"max_leaf_nodes": LEAVES, "max_bins": BINS, "learning_rate": RATE, "early_stopping": False}
    return scikit_learn(lambda: HistGradientBoostingClassifier(max_iter=trees, **settings))


def forest(trees: int, threads: int) -> tuple[str, Fit]:
    """A random forest by scikit-learn."""
    from sklearn.ensemble import RandomForestClassifier

    return scikit_learn(lambda: RandomForestClassifier(trees, n_jobs=threads, random_state=0))


def one_dal_forest(trees: int, threads: int) -> tuple[str, Fit]:
    """A random forest by oneDAL."""
    from importlib.metadata import version

    from sklearnex.ensemble import RandomForestClassifier

    _, fit = scikit_learn(lambda: RandomForestClassifier(trees, n_jobs=threads, random_state=0))
    return f"oneDAL {version('daal')}", fit


def adaboost(trees: int, _threads: int) -> tuple[str, Fit]:
    """AdaBoost of stumps by scikit-learn."""
    from sklearn.ensemble import AdaBoostClassifier

    return scikit_learn(lambda: AdaBoostClassifier(n_estimators=trees))


def scikit_learn(make: Callable[[], Any]) -> tuple[str, Fit]:
    """An estimator of scikit-learn's manners."""
    import sklearn

    def fit(x: Array, y: Array) -> Predict:
        model = make().fit(x, y)
        return lambda rows: model.predict_proba(rows)[:, 1]

    return f"scikit-learn {sklearn.__version__}", fit


KINDS = {
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "hist": hist_gradient_boosting,
    "forest": forest,
    "onedal": one_dal_forest,
    "adaboost": adaboost,
}


def race(arguments: list[str], kinds: Mapping[str, Callable[[int, int], tuple[str, Fit]]] = KINDS) -> None:
    """Reads the rows, times the fit and the prediction, and tells chances of the first fresh rows."""
    kind, file, rows, _, columns, trees, threads, told = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))
    known, fresh = matrix[: int(rows)], np.ascontiguousarray(matrix[int(rows) :, :-1])
    x, y = np.ascontiguousarray(known[:, :-1]), np.ascontiguousarray(known[:, -1])
    version, fit = kinds[kind](int(trees), int(threads))
    # A few rows first, so that what is imported late and threads that start are not timed.
    _, few = kinds[kind](2, int(threads))
    few(x[:1000], y[:1000])(fresh[:10])
    predict, cost = contest.timed(lambda: fit(x, y))
    chances, predicted = contest.timed(lambda: predict(fresh))
    quality = {"predict s": predicted.seconds, "predict CPU s": predicted.cpu_seconds}
    contest.tell(cost, version, quality, np.asarray(chances, float)[: int(told)].tolist())


if __name__ == "__main__":
    contest.main(race)
