"""Support vector machines with scikit-learn's libsvm.

`python peers/svm.py TASK FILE ROWS FRESH COLUMNS` reads the rows (raw little-endian f64, row after row, the target last) and
times the fit to the first ROWS and the prediction of the fresh ones: `classes` by the sign of the target with
probabilities, `numbers`.
"""

import warnings

import numpy as np
import sklearn
from sklearn.svm import SVC, SVR

import contest


def race(arguments: list[str]) -> None:
    """Reads the rows, times fit and prediction, and gives what is predicted of the fresh rows."""
    warnings.simplefilter("ignore")
    task, file, rows, _, columns = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))
    known, fresh = matrix[: int(rows)], matrix[int(rows) :, :-1]
    x, y = known[:, :-1], known[:, -1]
    if task == "classes":
        machine = SVC(probability=True, random_state=0)
        machine.fit(x[:100], y[:100] > 0)
        answer, cost = contest.timed(lambda: machine.fit(x, y > 0).predict_proba(fresh)[:, 1])
    else:
        machine = SVR()
        machine.fit(x[:100], y[:100])
        answer, cost = contest.timed(lambda: machine.fit(x, y).predict(fresh))
    contest.tell(cost, f"scikit-learn {sklearn.__version__}", {}, answer.tolist())


if __name__ == "__main__":
    contest.main(race)
