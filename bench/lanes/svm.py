"""Support vector machines: 5000 rows of 20 columns, kernel rbf with C = 1 and gamma = 1/(d variance), 1000 fresh rows.

The target is sin(x1 + x2) + x3 x4 / 2 + N(0, 0.5^2) of standard normal inputs; the classes are its signs. Classes are timed
with the five extra fits that make their probabilities. The referee scores fresh rows: log loss, and root mean square
error.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

import points
import race

COLUMNS, FRESH = 20, 1000
LOSS = "loss"


def lane(scale: float) -> Iterator[race.Lane]:
    """One heat for classes and one for numbers, the data made."""
    data = make(max(int(5000 * scale), 300))
    for task in ("classes", "numbers"):
        yield race.Lane(
            title=f"{task} from {data.rows} rows of {COLUMNS} columns, {FRESH} fresh rows predicted.",
            contestants=[
                race.dolmen("svm", task, *data.arguments),
                race.python("scikit-learn", "svm.py", task, *data.arguments, budget=60),
            ],
            goals=[race.times_faster_than("scikit-learn", 1), race.within_quality(points.SHORT, 0.01)],
            rounds=3,
            judge=lambda outcomes, task=task: judge(data, task, outcomes),
            heat=task,
        )


def make(rows: int) -> points.Points:
    """Writes the rows of the recipe, target last, unless an earlier race has left them."""
    path = race.DATA / f"svm_{rows}+{FRESH}x{COLUMNS}_seed23.f64"
    if not path.exists():
        race.DATA.mkdir(exist_ok=True)
        rng = np.random.default_rng(23)
        x = rng.standard_normal((rows + FRESH, COLUMNS))
        y = np.sin(x[:, 0] + x[:, 1]) + x[:, 2] * x[:, 3] / 2 + rng.normal(0, 0.5, len(x))
        unfinished = path.with_suffix(f".{os.getpid()}")
        np.column_stack([x, y]).astype("<f8").tofile(unfinished)
        unfinished.rename(path)
    return points.Points(path, rows, FRESH, COLUMNS + 1)


def judge(
    data: points.Points, task: str, outcomes: Mapping[str, Sequence[race.Outcome]]
) -> Mapping[str, race.Quality]:
    """The loss on the fresh rows; of each contestant the worst run counts."""
    target = data.read()[1][:, -1]

    def loss(answer: Sequence[float]) -> float:
        said = np.array(answer)
        if task == "numbers":
            return float(np.sqrt(np.mean(np.square(said - target))))
        return float(-np.mean(np.log(np.where(target > 0, said, 1 - said))))

    return points.ranked({name: max(loss(run.answer) for run in runs) for name, runs in outcomes.items()}, LOSS)
