"""Logistic regression: 100 000 rows of 50 inputs in two classes, 50 000 rows of 20 inputs in five, lambda 1.

The data are those of `responses.make`. The penalty is on the inputs as they are, and everyone stops when no element of
the gradient of the mean loss is above 1e-6.
"""

from collections.abc import Iterator

import points
import race
import responses

TOLERANCE = 1e-6
SOLVERS = ("lbfgs", "newton-cholesky")


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat per number of classes, its data made."""
    for rows, inputs, classes in ((100_000, 50, 2), (50_000, 20, 5)):
        data = responses.make(max(int(rows * scale), 1000), inputs, classes, seed=42, fresh=2000)
        arguments = (*data.arguments, classes, TOLERANCE)
        yield race.Lane(
            title=f"Logistic regression: {data.rows} rows of {inputs} inputs, {classes} classes.",
            contestants=[
                race.dolmen("logistic", *arguments),
                *(race.python(solver, "linear.py", *arguments, solver) for solver in SOLVERS),
            ],
            goals=[
                *(race.times_faster_than(solver, 1) for solver in SOLVERS),
                race.within_quality(points.SHORT, 1e-6),
            ],
            judge=responses.judge,
            heat=f"{classes} classes",
        )
