"""Python's ways to the weights w on the simplex that maximise mean_i ln sum_m w_m p_im.

`python peers/weights.py METHOD FILE ROWS MEMBERS LIMIT` reads the matrix of ln p (raw little-endian f64, column after
column) and times one method from there. All stop at the same certificate: with the pull g_m = mean_i p_im / (P w)_i, no
weights score more than max_m g_m - 1 above w. All stop when LIMIT seconds are over, too.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import contest

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

TARGET = 1e-6
BLOCK = 4096


@dataclass
class Found:
    """A method's answer."""

    weights: Vector
    iterations: int


class Mixture:
    """The mean log score of mixtures of columns, its derivatives, and when to stop looking for better ones."""

    def __init__(self, density: Matrix, deadline: float) -> None:
        """Scores mixtures of these columns until the deadline, a reading of `time.perf_counter`."""
        self.density = density
        self.rows, self.members = density.shape
        self.deadline = deadline
        self._weights = np.full(self.members, np.nan)
        self._mixed: Vector = np.empty(self.rows)

    @staticmethod
    def from_log(log_density: Matrix, deadline: float) -> "Mixture":
        """Takes log densities, in place: each row is scaled so that its largest density is 1."""
        log_density -= log_density.max(axis=1)[:, None]
        return Mixture(np.exp(log_density, out=log_density), deadline)

    def mixed(self, weights: Vector) -> Vector:
        """The mixture's density of each row; the last one asked for is remembered."""
        if not np.array_equal(weights, self._weights):
            self._mixed = np.maximum(self.density @ weights, 1e-300)
            self._weights = weights.copy()
        return self._mixed

    def loss(self, weights: Vector) -> float:
        """The mean log score with its sign turned."""
        return -float(np.log(self.mixed(weights)).mean())

    def pull(self, weights: Vector) -> Vector:
        """The gradient of the mean log score."""
        pull: Vector = self.density.T @ (1 / self.mixed(weights)) / self.rows
        return pull

    def curvature(self, weights: Vector, active: slice | NDArray[np.int_] = slice(None)) -> Matrix:
        """The Hessian of the loss in the active members, block by block of rows so that it stays in cache."""
        mixed = self.mixed(weights)
        members = self.density[:0, active].shape[1]
        hessian: Matrix = np.zeros((members, members))
        for start in range(0, self.rows, BLOCK):
            rows = slice(start, start + BLOCK)
            scaled = self.density[rows, active] / mixed[rows, None]
            hessian += scaled.T @ scaled
        hessian /= self.rows
        return hessian

    def done(self, weights: Vector, pull: Vector) -> bool:
        """Whether the certificate (of the weights scaled to sum 1) is good enough, or time is over."""
        return bool(pull.max() * weights.sum() - 1 <= TARGET) or time.perf_counter() > self.deadline

    def uniform(self) -> Vector:
        """Equal weights, where most methods start."""
        return np.full(self.members, 1 / self.members)


def em(mixture: Mixture) -> Found:
    """Expectation maximisation: w_m <- w_m g_m."""
    weights = mixture.uniform()
    iterations = 0
    while not mixture.done(weights, pull := mixture.pull(weights)):
        weights = weights * pull
        iterations += 1
    return Found(weights, iterations)


def sqp(mixture: Mixture, start: Vector | None = None) -> Found:
    """Sequential quadratic programming with an active set (Kim, Carbonetto, Stephens & Anitescu 2020).

    Minimises loss(x) + sum(x) over x >= 0, whose solution lies on the simplex by itself. As H x = g, the quadratic
    model at x is y'Hy/2 - (2g - 1)'y: non-negative least squares in the Cholesky factor of H, over members in use or
    pulling.
    """
    from scipy.linalg import cholesky, solve_triangular
    from scipy.optimize import nnls

    x = mixture.uniform() if start is None else start
    iterations = 0
    while not mixture.done(x, pull := mixture.pull(x)):
        active = np.flatnonzero((x > 0) | (pull > 1))
        hessian = mixture.curvature(x, active)
        # Collinear members leave the factor barely positive.
        hessian[np.diag_indices_from(hessian)] += 1e-10 * hessian.diagonal().mean()
        factor = cholesky(hessian)
        right_side = solve_triangular(factor, 2 * pull[active] - 1, trans=1)
        y = np.zeros_like(x)
        y[active], _ = nnls(factor, right_side, maxiter=50 * len(active))
        x = backtrack(mixture, x, y, float((1 - pull) @ (y - x)))
        iterations += 1
    return Found(x, iterations)


def backtrack(mixture: Mixture, x: Vector, y: Vector, slope: float) -> Vector:
    """The point of x..y nearest to y that lowers loss + sum sufficiently (Armijo); mixing the ends mixes the rows."""
    from_x, from_y = mixture.mixed(x), mixture.density @ y
    before = -np.log(from_x).mean() + x.sum()
    step = 1.0
    while step > 1e-10:
        mixed = (1 - step) * from_x + step * from_y
        candidate = (1 - step) * x + step * y
        if mixed.min() > 0 and -np.log(mixed).mean() + candidate.sum() <= before + 1e-4 * step * slope + 1e-15:
            return candidate
        step /= 2
    return x


def column_generation(mixture: Mixture) -> Found:
    """Solves over few members by SQP, lets in those outside that pull hardest, and solves again."""
    batch = 10
    lone = np.log(np.maximum(mixture.density, 1e-300)).mean(axis=0)
    active = np.argsort(lone)[-batch:]
    weights = np.zeros(mixture.members)
    weights[active] = 1 / batch
    iterations = 0
    while not mixture.done(weights, pull := mixture.pull(weights)):
        outside = np.setdiff1d(np.argsort(pull)[-batch:], active)
        active = np.concatenate([active[weights[active] > 0], outside])
        # A newcomer needs a little weight, or a row that only it explains would keep the step short.
        start = 0.99 * weights[active]
        start[-len(outside) :] = 0.01 / max(len(outside), 1)
        found = sqp(Mixture(mixture.density[:, active], mixture.deadline), start)
        weights = np.zeros(mixture.members)
        weights[active] = found.weights / found.weights.sum()
        iterations += found.iterations
    return Found(weights, iterations)


def trust_constr(mixture: Mixture) -> Found:
    """SciPy's interior-point trust region with the exact Hessian.

    The settings are among the fastest of those tried that reach the target at 20 and at 100 members: the Hessian
    itself (products with it alone take twice as long), the simplex as bounds and a linear constraint, and a barrier
    that starts at 1e-3.
    """
    from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, minimize

    def stop(weights: Vector, state: OptimizeResult) -> bool:
        return mixture.done(weights, -state.grad)

    tolerances = {"gtol": 1e-10, "xtol": 1e-12, "barrier_tol": 1e-10, "maxiter": 500}
    barrier = {"initial_barrier_parameter": 1e-3, "initial_barrier_tolerance": 1e-3}
    found = minimize(
        mixture.loss,
        mixture.uniform(),
        method="trust-constr",
        jac=lambda w: -mixture.pull(w),
        hess=mixture.curvature,
        bounds=Bounds(0, 1, keep_feasible=True),
        constraints=[LinearConstraint(np.ones((1, mixture.members)), 1, 1)],
        callback=stop,
        options=tolerances | barrier,
    )
    return Found(found.x, found.nit)


def slsqp(mixture: Mixture) -> Found:
    """SciPy's SLSQP."""
    from scipy.optimize import OptimizeResult, minimize

    def stop(intermediate_result: OptimizeResult) -> None:
        weights = intermediate_result.x
        if mixture.done(weights, mixture.pull(weights)):
            raise StopIteration

    found = minimize(
        mixture.loss,
        mixture.uniform(),
        method="SLSQP",
        jac=lambda w: -mixture.pull(w),
        bounds=[(0, 1)] * mixture.members,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like},
        callback=stop,
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return Found(found.x, found.nit)


METHODS: dict[str, Callable[[Mixture], Found]] = {
    "column-generation": column_generation,
    "em": em,
    "slsqp": slsqp,
    "sqp": sqp,
    "trust-constr": trust_constr,
}


def race(arguments: list[str]) -> None:
    """Reads the matrix, times the method, and says how it went."""
    method, file, rows, members, limit = arguments
    log_density = np.fromfile(file, dtype="<f8").reshape(int(rows), int(members), order="F")
    # A tiny problem first, so that importing the optimiser is not timed.
    METHODS[method](Mixture.from_log(np.asfortranarray(np.eye(12) - 1), time.perf_counter() + 1))
    deadline = time.perf_counter() + float(limit)
    found, cost = contest.timed(lambda: METHODS[method](Mixture.from_log(log_density, deadline)))
    remark = f"stopped itself after {limit} s" if time.perf_counter() > deadline else ""
    contest.tell(cost, version(method), {"iterations": found.iterations}, found.weights.tolist(), remark)


def version(method: str) -> str:
    """The version of the library that does the work."""
    if method == "em":
        return f"NumPy {np.__version__}"
    import scipy

    return f"NumPy {np.__version__}, SciPy {scipy.__version__}"


if __name__ == "__main__":
    contest.main(race)
