"""Ridge regression: 100 000 rows of 50 inputs, at one penalty, and with the penalty of least leave-one-out error.

The data are those of `responses.make`. The penalty is on the inputs as they are. Both sides choose among 37 penalties
over nine decades.
"""

from collections.abc import Iterator

import points
import race
import responses

INPUTS = 50


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat at a fixed penalty and one that chooses, on the same rows."""
    data = responses.make(max(int(100_000 * scale), 1000), INPUTS, classes=0, seed=41, fresh=2000)
    for penalty, peer in (("1", "Ridge"), ("auto", "RidgeCV")):
        yield race.Lane(
            title=f"Ridge regression, lambda {penalty}: {data.rows} rows of {INPUTS} inputs.",
            contestants=[
                race.dolmen("ridge", *data.arguments, penalty),
                race.python(peer, "linear.py", *data.arguments, peer),
            ],
            goals=[race.times_faster_than(peer, 1), race.within_quality(points.SHORT, 1e-4)],
            judge=responses.judge,
            heat=f"lambda {penalty}",
        )
