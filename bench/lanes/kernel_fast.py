"""Kernel densities, approximate: 100 000 rows learned from, 100 000 scored, in 1 and 2 columns.

The data are those of `points.make`, whitened, with 4 clusters. Dolmen keeps a bound of the relative error of 1e-6 (4e-6
in 2 columns); KDEpy's binned FFT has no bound, its grid is so fine that the error is about 2e-5 (2e-3 in 2 columns), and
read by interpolation of ln p; scikit-learn's tree keeps 1e-4 and gets 20 seconds.
"""

from collections.abc import Iterator

import kernels
import points
import race


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat per number of columns, its data made."""
    rows = max(int(100_000 * scale), 1000)
    for columns, tolerance in ((1, 1e-6), (2, 4e-6)):
        data = kernels.Kernels(points.make(rows, columns, clusters=4, seed=13, fresh=rows, whiten=True))
        goals = [race.times_faster_than("KDEpy FFT", 1), race.within_quality(kernels.ERROR, tolerance)]
        if columns == 1:
            goals.append(race.within_seconds(0.02))
        yield race.Lane(
            title=f"Gaussian kernels on {rows} rows, {rows} rows scored within {tolerance:g}, {columns} columns.",
            contestants=[
                data.dolmen(tolerance),
                data.peer("KDEpy FFT", "kdepy", limit=60),
                data.peer("scikit-learn, rtol 1e-4", "scikit-learn", limit=20),
            ],
            goals=goals,
            judge=data.judge,
            heat=f"{columns} columns",
        )
