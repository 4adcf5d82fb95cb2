"""Which members a stack should have: chosen by the stacks themselves, over many tables.

`python bench/portfolio.py FOLDER .. [--task classes|numbers] [--size N] [--from NAME ..]` reads what `study.py run --keep FOLDER` left: of every split
the out-of-sample matrix and what the members said of the rows held out. Members of several folders that were fitted on the same splits are put side by side.
A set of members is judged by its stack: weights on the simplex from the matrix, the loss on the rows held out, as a multiple of that of
all members together, averaged over tables on a logarithmic scale. Members are added greedily, and the set after each is shown; members that
only some tables have (support vectors on small ones) are not looked at where they are not.

The tables of one half (see study.py) choose; with `--half both` the other half shows what the same sets are worth there.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import quality
import study

Array = NDArray[np.float64]
PASSES = 400
"""Of EM, or steps of the projected gradient: weights to three digits, which is far below what they are worth."""


@dataclass(frozen=True)
class Kept:
    """One split: what members said of the rows learned from, unseen, and of those held out."""

    table: str
    repeat: int
    task: str
    learned: dict[str, Array]
    """Chances of the true class, or errors."""
    held_out: dict[str, Array]

    def loss(self, members: Sequence[str]) -> float:
        """The loss of the stack of some members on the rows held out."""
        own = [m for m in members if m in self.learned]
        if not own:
            return math.nan
        learned = np.column_stack([self.learned[m] for m in own])
        held_out = np.column_stack([self.held_out[m] for m in own])
        if self.task == "classes":
            mixed = held_out @ expectation_maximisation(learned)
            return float(-np.mean(np.log(np.clip(mixed, quality.LEAST, 1))))
        return float(np.sqrt(np.mean((held_out @ least_squares(learned)) ** 2)))


def expectation_maximisation(chances: Array) -> Array:
    """Weights of the best log score."""
    weights = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(PASSES):
        mixed = np.maximum(chances @ weights, 1e-300)
        new = weights * (chances / mixed[:, None]).mean(axis=0)
        if np.abs(new - weights).max() < 1e-5:
            break
        weights = new
    return weights / weights.sum()


def least_squares(errors: Array) -> Array:
    """Weights on the simplex of the least squared error, by accelerated projected gradients."""
    gram = errors.T @ errors
    steepest = np.linalg.eigvalsh(gram)[-1]
    weights = np.full(errors.shape[1], 1 / errors.shape[1])
    ahead, momentum = weights, 1.0
    for _ in range(PASSES):
        new = projected(ahead - gram @ ahead / steepest)
        later = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / later * (new - weights)
        weights, momentum = new, later
    return weights


def projected(point: Array) -> Array:
    """The nearest point of the simplex."""
    ordered = np.sort(point)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - excess[np.nonzero(ordered > excess)[0][-1]], 0)


def read(folders: Sequence[Path]) -> list[Kept]:
    """The splits that all folders have."""
    splits: dict[str, list[Kept]] = {}
    for folder in folders:
        for file in sorted(folder.glob("*.test.parquet")):
            splits.setdefault(file.name, []).append(kept(file))
    joined = []
    for parts in splits.values():
        if len(parts) == len(folders):
            learned = {m: v for part in parts for m, v in part.learned.items()}
            held_out = {m: v for part in parts for m, v in part.held_out.items()}
            joined.append(Kept(parts[0].table, parts[0].repeat, parts[0].task, learned, held_out))
    return joined


def kept(file: Path) -> Kept:
    """One split of one folder."""
    said, matrix = pd.read_parquet(file), pd.read_parquet(file.with_name(file.name.replace(".test.", ".oos.")))
    name, repeat = file.name.removesuffix(".test.parquet").rsplit("-", 1)
    folder = next(f for f in study.FOLDERS if name.startswith(f))
    table = f"{folder}/{name.removeprefix(folder + '-')}"
    columns = [c for c in matrix.columns[2:] if " without fold " not in c]
    classes = [c[2:-1] for c in said.columns if c.startswith("p(")]
    if not classes:
        learned = {c: (matrix[c] - matrix["target"]).to_numpy(float) for c in columns if c in said}
        return Kept(table, int(repeat), "numbers", learned, {c: (said[c] - said["truth"]).to_numpy(float) for c in learned})
    own = lambda frame, truth, m: frame[[f"{m}:{c}" for c in classes]].to_numpy(float)[np.arange(len(truth)), truth]  # noqa: E731
    seen, unseen = (pd.Index(classes).get_indexer(v.astype(str)) for v in (matrix["target"], said["truth"]))
    members = [m for m in dict.fromkeys(c.rsplit(":", 1)[0] for c in columns) if f"{m}:{classes[0]}" in said]
    learned = {m: own(matrix, seen, m) for m in members}
    return Kept(table, int(repeat), "classes", learned, {m: own(said, unseen, m) for m in members})


def worth(splits: Sequence[Kept], members: Sequence[str], whole: Sequence[float]) -> float:
    """The loss of the stack of some members as a multiple of that of all, over tables."""
    ratios: dict[str, list[float]] = {}
    for split, all_of in zip(splits, whole, strict=True):
        loss = split.loss(members)
        if loss > 0 and all_of > 0:
            ratios.setdefault(split.table, []).append(math.log(loss / all_of))
    return math.exp(np.mean([np.mean(own) for own in ratios.values()])) if ratios else math.inf


def choose(splits: Sequence[Kept], others: Sequence[Kept], first: Sequence[str], size: int) -> None:
    """Adds members one by one, each the one whose stack is best, and prints what each set is worth."""
    names = list(dict.fromkeys(m for split in splits for m in split.learned))
    whole = [split.loss(names) for split in splits]
    whole_of_others = [split.loss(names) for split in others]
    chosen = list(first)
    while len(chosen) < min(size, len(names)):
        candidates = [m for m in names if m not in chosen]
        worths = {m: worth(splits, [*chosen, m], whole) for m in candidates}
        chosen.append(min(worths, key=worths.__getitem__))
        elsewhere = f"{worth(others, chosen, whole_of_others):9.4f}" if others else ""
        print(f"{len(chosen):3} {worths[chosen[-1]]:9.4f} {elsewhere} {chosen[-1]}", flush=True)


def main() -> int:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="portfolio", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--task", choices=("classes", "numbers"), default="classes")
    parser.add_argument("--size", type=int, default=12)
    parser.add_argument("--from", nargs="*", default=[], dest="first", metavar="NAME", help="members to begin with")
    parser.add_argument("--half", choices=("develop", "both"), default="develop")
    asked = parser.parse_args()
    splits = [split for split in read(asked.folders) if split.task == asked.task]
    own = [split for split in splits if study.half_of(split.table) == "develop"]
    others = [split for split in splits if study.half_of(split.table) == "report"] if asked.half == "both" else []
    print(f"{len(own)} splits choose, {len(others)} others show; loss as a multiple of that of all members")
    choose(own, others, asked.first, asked.size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
