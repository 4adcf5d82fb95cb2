"""Linear models with scikit-learn.

`python peers/linear.py FILE ROWS FRESH COLUMNS MODEL` fits `Ridge` or `RidgeCV`, and `python peers/linear.py FILE ROWS
FRESH COLUMNS CLASSES TOLERANCE SOLVER` a logistic regression, to the first ROWS (raw little-endian f64, row after row, the
response last), and gives the loss of each fresh row.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV

import contest

Array = NDArray[np.float64]
Fit = Callable[[Array, Array], Any]
Loss = Callable[[Any, Array, Array], Array]

PENALTIES = np.geomspace(1e-6, 1e3, 37)


def regression(model: str) -> tuple[Fit, Loss]:
    """How to fit, and the squared errors of a fit."""

    def fit(x: Array, y: Array) -> Any:
        # The same penalties as Dolmen's: multiples of the columns' mean spread, which is about 1.49 a row.
        penalties = PENALTIES * 1.49 * len(x)
        return (Ridge(alpha=1.0) if model == "Ridge" else RidgeCV(alphas=penalties)).fit(x, y)

    return fit, lambda fitted, x, y: (y - fitted.predict(x)) ** 2


def classification(tolerance: float, solver: str) -> tuple[Fit, Loss]:
    """How to fit, and minus the log probabilities by a fit."""

    def fit(x: Array, y: Array) -> Any:
        return LogisticRegression(C=1.0, solver=solver, tol=tolerance, max_iter=10_000).fit(x, y)

    return fit, lambda fitted, x, y: -fitted.predict_log_proba(x)[np.arange(len(y)), y.astype(int)]


def race(arguments: list[str]) -> None:
    """Reads the rows, times the fit, and gives the losses of the fresh rows."""
    file, rows, _, columns, *rest = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))
    x, y = np.ascontiguousarray(matrix[:, :-1]), matrix[:, -1].copy()
    fit, loss = regression(rest[0]) if len(rest) == 1 else classification(float(rest[1]), rest[2])
    known = int(rows)
    fit(x[:1000], y[:1000])
    fitted, cost = contest.timed(lambda: fit(x[:known], y[:known]))
    contest.tell(cost, f"scikit-learn {sklearn.__version__}", {}, loss(fitted, x[known:], y[known:]).tolist())


if __name__ == "__main__":
    contest.main(race)
