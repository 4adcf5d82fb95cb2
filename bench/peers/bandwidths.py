"""The bandwidths of greatest leave-one-out likelihood with NumPy and SciPy.

`python peers/bandwidths.py WAY FILE ROWS FRESH COLUMNS` reads the rows (raw little-endian f64, row after row) and times
the search: L-BFGS in ln h from Silverman's bandwidths, with the analytic gradient, which is computed in a plain way or
by products of matrices.
"""

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

import contest

Array = NDArray[np.float64]
BLOCK = 256


def plain(log_h: Array, rows: Array) -> tuple[float, Array]:
    """Minus the mean leave-one-out log density and its gradient in ln h, from the differences of all rows."""
    n, d = rows.shape
    scaled = rows / np.exp(log_h)
    squares = [np.square(column[:, None] - column) for column in scaled.T]
    kernel = np.exp(-sum(squares) / 2)
    np.fill_diagonal(kernel, 0)
    sums = np.maximum(kernel.sum(axis=1), 1e-300)
    shares = kernel / sums[:, None]
    gradient = np.array([n - (shares * square).sum() for square in squares])
    constant = log_h.sum() + d / 2 * np.log(2 * np.pi) + np.log(n - 1)
    return constant - np.log(sums).sum() / n, gradient / n


def products(log_h: Array, rows: Array) -> tuple[float, Array]:
    """The same by products of matrices, block after block."""
    n, d = rows.shape
    scaled = rows / np.exp(log_h)
    squares = np.square(scaled)
    half = squares.sum(axis=1) / 2
    total, gradient = 0.0, np.full(d, float(n))
    for start in range(0, n, BLOCK):
        block = slice(start, start + BLOCK)
        kernel = scaled[block] @ scaled.T
        kernel -= half
        kernel -= half[block, None]
        np.exp(kernel, out=kernel)
        np.fill_diagonal(kernel[:, block], 0)
        sums = np.maximum(kernel.sum(axis=1), 1e-300)
        total += np.log(sums).sum()
        # With shares P_ij = K_ij / sum_j K_ij: sum_ij P_ij (z_i - z_j)^2, the square multiplied out.
        gradient -= squares[block].sum(axis=0) + ((kernel @ squares) / sums[:, None]).sum(axis=0)
        gradient += 2 * (scaled[block] * (kernel @ scaled) / sums[:, None]).sum(axis=0)
    constant = log_h.sum() + d / 2 * np.log(2 * np.pi) + np.log(n - 1)
    return constant - total / n, gradient / n


def search(way: str, rows: Array) -> OptimizeResult:
    """Climbs from Silverman's bandwidths."""
    n, d = rows.shape
    start = np.log(rows.std(axis=0, ddof=1) * (n * (d + 2) / 4) ** (-1 / (d + 4)))
    options = {"gtol": 1e-5, "ftol": 1e-9, "maxiter": 200}
    loss = {"plain": plain, "products": products}[way]
    return minimize(loss, start, args=(rows,), jac=True, method="L-BFGS-B", options=options)


def race(arguments: list[str]) -> None:
    """Reads the rows, times the search, and gives the bandwidths."""
    way, file, rows, _, columns = arguments
    matrix = np.fromfile(file, "<f8").reshape(-1, int(columns))[: int(rows)]
    search(way, matrix[:20])
    found, cost = contest.timed(lambda: search(way, matrix))
    version = f"NumPy {np.__version__}, SciPy {scipy.__version__}"
    contest.tell(cost, version, {"evaluations": found.nfev}, np.exp(found.x).tolist())


if __name__ == "__main__":
    contest.main(race)
