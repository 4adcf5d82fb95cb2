"""How good Dolmen's stacks are on real tables, next to their members and to scikit-learn's stacking.

`python bench/stacks.py --dolmen PROGRAM [--data DIR] [--sets NAME ..]` reads twenty tables of a folder of data sets (see
quality.py). Five times the rows are cut in halves, and each half is predicted from the other (5 x 2 cross-validation). Dolmen
fits its default stack with one command; scikit-learn's StackingClassifier or StackingRegressor gets counterparts of the
same members, five folds, and its default stacker (logistic regression, or ridge with its penalty chosen). Shown are the
means of the log loss (chances no smaller than 1e-15) or of the root mean square error, and the rank of Dolmen's stack
among its members, averaged over the ten halves.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import quality

REPEATS = 5
MANY_ROWS = 5000
"""Beyond these Dolmen's default library leaves out the support vector machine, and so does the peer's."""

SETS = (
    "classification/breast-w",
    "classification/credit-g",
    "classification/glass",
    "classification/heart-c",
    "classification/ionosphere",
    "classification/pima_diabetes",
    "classification/segment",
    "classification/sick",
    "classification/vehicle",
    "classification/vowel",
    "regression/auto-mpg",
    "regression/auto-price",
    "regression/boston",
    "regression/concrete",
    "regression/diabetes_efron",
    "regression/energy_efficiency",
    "regression/machine-cpu",
    "regression/servo",
    "regression/stock",
    "regression/winequality-red",
)


@dataclass(frozen=True)
class Losses:
    """One half predicted from the other."""

    stack: float
    members: Mapping[str, float]
    peer: float


def halves(data: quality.Set, repeat: int) -> NDArray[np.bool_]:
    """Which rows are in the first half; classes keep their shares."""
    order = np.random.default_rng(repeat).permutation(len(data.y))
    if data.task == "classes":
        order = order[np.argsort(data.y.astype(str).to_numpy()[order], kind="stable")]
    first = np.zeros(len(data.y), dtype=bool)
    first[order[::2]] = True
    return first


def dolmen(program: Path, data: quality.Set, train: NDArray[np.bool_]) -> tuple[float, dict[str, float]]:
    """The losses of the default stack and its members on the rows that are not for training."""
    table = pd.concat([data.x, data.y], axis=1)
    figure = "log_loss" if data.task == "classes" else "rmse"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table[train].to_csv(place / "train.csv", index=False)
        table[~train].to_csv(place / "test.csv", index=False)
        pd.Series(data.types, name="type").rename_axis("column").to_csv(place / "schema.csv")
        task = "classify" if data.task == "classes" else "regress"
        fit = ["fit", place / "train.csv", "--target", str(data.y.name), "--task", task]
        run(program, *fit, "--schema", place / "schema.csv", "-o", place / "m.dolmen")
        told = json.loads(run(program, "score", place / "m.dolmen", place / "test.csv"))
    # An infinite loss, of a member that was sure of the wrong class, is null in JSON.
    number = lambda figures: math.inf if figures[figure] is None else figures[figure]  # noqa: E731
    return number(told["figures"]), {member["name"]: number(member["figures"]) for member in told["members"]}


def run(program: Path, *arguments: Any) -> str:
    """What the program says, as JSON."""
    command = [str(program), *map(str, arguments), "--quiet", "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def peers(task: str, rows: int) -> list[tuple[str, Any]]:
    """The members' counterparts."""
    from sklearn import compose, ensemble, linear_model, naive_bayes, neighbors, neural_network, preprocessing, svm

    network = {"hidden_layer_sizes": (32,), "early_stopping": True, "random_state": 0}
    if task == "classes":
        members: list[tuple[str, Any]] = [
            ("logistic", linear_model.LogisticRegression(max_iter=1000)),
            ("neighbours 5", neighbors.KNeighborsClassifier(5)),
            ("neighbours 25", neighbors.KNeighborsClassifier(25)),
            ("forest", ensemble.RandomForestClassifier(200, random_state=0)),
            ("extra trees", ensemble.ExtraTreesClassifier(200, random_state=0)),
            ("boosting", ensemble.HistGradientBoostingClassifier(random_state=0)),
            ("network", neural_network.MLPClassifier(**network)),
            ("bayes", naive_bayes.GaussianNB()),
        ]
        machine: Any = svm.SVC(probability=True, random_state=0)
    else:

        def scaled(model: Any) -> Any:
            # Steps of a network and the margin of support vectors are in units of the target.
            return compose.TransformedTargetRegressor(model, transformer=preprocessing.StandardScaler())

        members = [
            ("ridge", linear_model.RidgeCV(np.logspace(-3, 3, 13))),
            ("neighbours 5", neighbors.KNeighborsRegressor(5)),
            ("neighbours 25", neighbors.KNeighborsRegressor(25)),
            ("forest", ensemble.RandomForestRegressor(200, max_features=1 / 3, random_state=0)),
            ("extra trees", ensemble.ExtraTreesRegressor(200, random_state=0)),
            ("boosting", ensemble.HistGradientBoostingRegressor(random_state=0)),
            ("network", scaled(neural_network.MLPRegressor(**network))),
        ]
        machine = scaled(svm.SVR())
    return members + ([("svm", machine)] if rows <= MANY_ROWS else [])


def peer(data: quality.Set, train: NDArray[np.bool_]) -> float:
    """The loss of scikit-learn's stack."""
    from sklearn import ensemble

    members = peers(data.task, int(train.sum()))

    def stack(_task: str) -> Any:
        kind = ensemble.StackingClassifier if data.task == "classes" else ensemble.StackingRegressor
        return kind(members, cv=5)

    learner = quality.Learner("stack", "", stack)
    held_out = quality.Set(data.path, data.x[~train], data.y[~train], data.nominal, data.types, data.folds)
    if data.task == "classes":
        model = quality.pipeline(data, learner).fit(data.x[train], data.y[train].astype(str))
        return quality.log_loss(held_out, model.predict_proba(held_out.x), list(model.classes_))
    model = quality.pipeline(data, learner).fit(data.x[train], data.y[train].to_numpy(float))
    return quality.root_mean_square(held_out, model.predict(held_out.x))


def rank(losses: Losses) -> dict[str, float]:
    """The ranks of stack and members, 1 the best, ties shared."""
    all_losses = pd.Series({"stack": losses.stack, **losses.members})
    return all_losses.rank().to_dict()


def compare(program: Path, root: Path, sets: Sequence[str], *, alone: bool) -> None:
    """Prints a line for every set, then the mean ranks and the score of wins."""
    print(f"{'set':32} {'stack':>9} {'best member':>12} {'peer':>9} {'ratio':>7} {'rank':>6}")
    ranks: dict[str, dict[str, list[float]]] = {"classes": {}, "numbers": {}}
    wins = {"classes": 0, "numbers": 0}
    for name in sets:
        data = quality.read(root, name)
        found: list[Losses] = []
        for repeat in range(REPEATS):
            first = halves(data, repeat)
            for train in (first, ~first):
                stack, members = dolmen(program, data, train)
                found.append(Losses(stack, members, np.nan if alone else peer(data, train)))
        for losses in found:
            for member, place in rank(losses).items():
                ranks[data.task].setdefault(member, []).append(place)
        own = np.mean([losses.stack for losses in found])
        best = min(np.mean([losses.members[m] for losses in found]) for m in found[0].members)
        theirs = np.mean([losses.peer for losses in found])
        wins[data.task] += own < theirs
        place = np.mean([rank(losses)["stack"] for losses in found])
        print(f"{name:32} {own:9.4g} {best:12.4g} {theirs:9.4g} {own / theirs:7.3f} {place:6.2f}", flush=True)
    for task, members in ranks.items():
        if members:
            ordered = sorted((np.mean(places), member) for member, places in members.items())
            print(f"mean ranks, {task}: " + ", ".join(f"{member} {place:.2f}" for place, member in ordered))
            print(f"better than the peer on {wins[task]} sets of {task}")


def main() -> int:
    """Reads the command line; without data there is nothing to do, which is no failure."""
    parser = argparse.ArgumentParser(prog="stacks", description=__doc__.splitlines()[0])
    parser.add_argument("--dolmen", type=Path, default=Path("target/release/dolmen"), help="the program")
    parser.add_argument("--data", type=Path, default=os.environ.get("DOLMEN_DATA"), help="the folder of data sets")
    parser.add_argument("--sets", nargs="*", default=SETS, metavar="NAME")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    asked = parser.parse_args()
    if asked.data is None or not (Path(asked.data) / "schema.csv").is_file():
        print("no data: name the folder of data sets with --data or DOLMEN_DATA", file=sys.stderr)
        return 0
    warnings.simplefilter("ignore")
    compare(asked.dolmen.resolve(), Path(asked.data), asked.sets, alone=asked.alone)
    return 0


if __name__ == "__main__":
    sys.exit(main())
