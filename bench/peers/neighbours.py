"""Nearest neighbours with scikit-learn.

`python peers/neighbours.py ALGORITHM FILE ROWS FRESH COLUMNS K` reads the rows (raw little-endian f64, row after row) and
times the fit to the first ROWS and the prediction of the fresh ones; the target is the first column.
"""

import numpy as np
import sklearn
from sklearn.neighbors import KNeighborsRegressor

import contest

JUDGED = 200


def race(arguments: list[str]) -> None:
    """Reads the rows, times fit and prediction, and gives what is predicted of the first fresh rows."""
    algorithm, file, rows, _, columns, k = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))
    known, fresh = matrix[: int(rows)], matrix[int(rows) :]
    model = KNeighborsRegressor(int(k), algorithm=algorithm)
    model.fit(known[:100], known[:100, 0]).predict(fresh[:10])
    answer, cost = contest.timed(lambda: model.fit(known, known[:, 0]).predict(fresh))
    contest.tell(cost, f"scikit-learn {sklearn.__version__}", {}, answer[:JUDGED].tolist())


if __name__ == "__main__":
    contest.main(race)
