"""The linear lanes' rows, made by seed: inputs and, in the last column, a response; and the referee of predictions.

Inputs are standard normal with a share of one common factor, which correlates them, and means N(0, 1). The response is
linear with noise as strong as the signal, or a class drawn by softmax from linear scores. Files stay in `.data` for
later races: empty it when the recipe changes.
"""

import os
from collections.abc import Mapping, Sequence

import numpy as np

import points
from race import DATA, Outcome, Quality

LOSS = "loss of fresh rows"


def make(rows: int, inputs: int, classes: int, seed: int, fresh: int) -> points.Points:
    """Writes the rows of the recipe unless an earlier race has left them; without classes the response is a number."""
    path = DATA / f"responses_{rows}+{fresh}x{inputs}_classes{classes}_seed{seed}.f64"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        rng = np.random.default_rng(seed)
        x = rng.standard_normal((rows + fresh, inputs)) + 0.7 * rng.standard_normal((rows + fresh, 1))
        x += rng.standard_normal(inputs)
        scores = x @ rng.normal(0, 1 / np.sqrt(inputs), (inputs, max(classes, 1)))
        if classes:
            response = np.argmax(scores + rng.gumbel(size=scores.shape), axis=1).astype(np.float64)
        else:
            response = scores[:, 0] + rng.standard_normal(rows + fresh)
        unfinished = path.with_suffix(f".{os.getpid()}")
        np.column_stack([x, response]).astype("<f8").tofile(unfinished)
        unfinished.rename(path)
    return points.Points(path, rows, fresh, inputs + 1)


def judge(outcomes: Mapping[str, Sequence[Outcome]]) -> Mapping[str, Quality]:
    """The judge of answers that are losses of fresh rows; of each contestant the worst run counts."""
    return points.ranked({name: max(float(np.mean(run.answer)) for run in runs) for name, runs in outcomes.items()}, LOSS)
