"""How good Dolmen's learners are on real tables, next to their counterparts elsewhere.

`python bench/quality.py [--data DIR] [--sets NAME ..] [--learners NAME ..]` (or the variable DOLMEN_DATA) reads twelve tables
of a folder of data sets: `classification/*.csv`, `regression/*.csv` and `large/*.csv`, target last, with a `schema.csv` that
says which columns are nominal. Every learner predicts the rows of five fixed folds from the others; shown is the log
loss (chances no smaller than 1e-15) or the root mean square error of both sides over all rows, and Dolmen's as a multiple of
the peer's; more than 2 % above is marked. A run of all sets and learners is kept in RESULTS.md. Peers get what a user would give them: imputed medians and most frequent
levels, indicators of categories (codes for LightGBM), standardised numbers.

A learner enters by a line in LEARNERS.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import race
import results

Array = NDArray[np.float64]

FOLDS = 5
MARK = 1.02
LEAST = 1e-15

SETS = (
    "classification/sick",
    "classification/credit-g",
    "classification/vehicle",
    "classification/spambase",
    "classification/waveform-5000",
    "classification/soybean",
    "large/online_shoppers",
    "large/higgs_sample_7500",
    "regression/concrete",
    "regression/auto-mpg",
    "regression/kin8nm",
    "regression/california-housing",
)
"""Small and large, numbers and categories, complete and with holes, two classes and many."""


def forest(task: str, *, extra: bool = False) -> Any:
    """scikit-learn's forests."""
    from sklearn import ensemble

    kind = ("ExtraTrees" if extra else "RandomForest") + ("Classifier" if task == "classes" else "Regressor")
    settings = {} if task == "classes" or extra else {"max_features": 1 / 3}
    return getattr(ensemble, kind)(200, random_state=0, **settings)


def adaboost(_task: str) -> Any:
    """scikit-learn's AdaBoost of stumps."""
    from sklearn.ensemble import AdaBoostClassifier

    return AdaBoostClassifier(n_estimators=50)


def boosting(task: str) -> Any:
    """LightGBM."""
    import lightgbm

    kind = lightgbm.LGBMClassifier if task == "classes" else lightgbm.LGBMRegressor
    return kind(n_estimators=100, num_leaves=31, learning_rate=0.1, n_jobs=1, verbose=-1)


def tree(task: str) -> Any:
    """scikit-learn's CART with leaves of 20 rows."""
    from sklearn import tree

    kind = tree.DecisionTreeClassifier if task == "classes" else tree.DecisionTreeRegressor
    return kind(min_samples_leaf=20, random_state=0)


def ridge(_task: str) -> Any:
    """scikit-learn's ridge regression."""
    from sklearn.linear_model import Ridge

    return Ridge(1.0)


def logistic(_task: str) -> Any:
    """scikit-learn's logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0, max_iter=2000)


def neighbours(task: str) -> Any:
    """scikit-learn's nearest neighbours."""
    from sklearn import neighbors

    kind = neighbors.KNeighborsClassifier if task == "classes" else neighbors.KNeighborsRegressor
    return kind(15)


def svm(task: str, *, kernel: str = "rbf") -> Any:
    """scikit-learn's support vector machines, numbers on one scale."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    if task == "classes":
        return SVC(kernel=kernel, probability=True, random_state=0, cache_size=200)
    return TransformedTargetRegressor(SVR(kernel=kernel, cache_size=200), transformer=StandardScaler())


def network(task: str) -> Any:
    """scikit-learn's multilayer perceptron with early stopping, numbers on one scale."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.preprocessing import StandardScaler

    settings = {"hidden_layer_sizes": (32,), "learning_rate_init": 2e-3, "early_stopping": True}
    settings |= {"n_iter_no_change": 15, "random_state": 0}
    if task == "classes":
        return MLPClassifier(**settings)
    return TransformedTargetRegressor(MLPRegressor(**settings), transformer=StandardScaler())


@dataclass(frozen=True)
class Learner:
    """Dolmen's spec, the peer's estimator, and which tasks both can do."""

    name: str
    spec: str
    peer: Callable[[str], Any]
    tasks: Sequence[str] = ("classes", "numbers")
    one_hot: bool = True


LEARNERS = (
    Learner("forest", "forest(trees=200)", forest),
    Learner("extra-trees", "extra-trees(trees=200)", lambda task: forest(task, extra=True)),
    Learner("adaboost", "adaboost(rounds=50)", adaboost, tasks=("classes",)),
    Learner("boost", "boost(rounds=100, leaves=31, rate=0.1)", boosting, one_hot=False),
    Learner("tree", "tree(min_leaf=20, alpha=0)", tree),
    Learner("ridge", "ridge(lambda=1)", ridge, tasks=("numbers",)),
    Learner("logistic", "logistic(lambda=1)", logistic, tasks=("classes",)),
    Learner("neighbours", "neighbours(k=15)", neighbours),
    Learner("svm, rbf", "svm(kernel=rbf)", svm),
    Learner("svm, linear", "svm(kernel=linear)", lambda task: svm(task, kernel="linear")),
    Learner("network", "network(hidden=32)", network),
)


@dataclass(frozen=True)
class Set:
    """A table with its task, the columns that hold categories, and each row's fold."""

    path: Path
    x: pd.DataFrame
    y: pd.Series
    nominal: list[str]
    types: Mapping[str, str]
    folds: NDArray[np.int64]

    @property
    def task(self) -> str:
        """classes or numbers."""
        return "classes" if self.types[str(self.y.name)] == "nominal" else "numbers"


def read(root: Path, name: str) -> Set:
    """Reads a set; folds are drawn by seed, within the classes where there are some."""
    table = pd.read_csv(root / f"{name}.csv", keep_default_na=False, na_values=[""], low_memory=False)
    schema = pd.read_csv(root / "schema.csv")
    types = dict(schema[schema["set"] == name][["column", "type"]].itertuples(index=False))
    target = table.columns[-1]
    # A row without truth can be neither learned from nor judged.
    table = table[table[target].notna()].reset_index(drop=True)
    for column in [column for column in table.columns if types[column] == "date"]:
        # Not every peer reads dates: all get their days since 1970.
        table[column] = (pd.to_datetime(table[column]) - pd.Timestamp(0)) / pd.Timedelta(days=1)
        types[column] = "numeric"
    nominal = [column for column in table.columns[:-1] if types[column] == "nominal"]
    table[nominal] = table[nominal].astype(object)
    order = np.random.default_rng(0).permutation(len(table))
    if types[target] == "nominal":
        order = order[np.argsort(table[target].astype(str).to_numpy()[order], kind="stable")]
    folds = np.empty(len(table), dtype=np.int64)
    folds[order] = np.arange(len(table)) % FOLDS
    return Set(root / f"{name}.csv", table.drop(columns=target), table[target], nominal, types, folds)


def dolmen(data: Set, specs: Sequence[str]) -> list[tuple[float | None, str]]:
    """The losses of Dolmen's learners, or what they complained of."""
    with tempfile.TemporaryDirectory() as folder:
        folds, schema = Path(folder) / "folds", Path(folder) / "schema.csv"
        folds.write_text("\n".join(map(str, data.folds)), encoding="ascii")
        pd.Series(data.types, name="type").rename_axis("column").to_csv(schema)
        command = race.dolmen("folds", data.task, data.path, schema, folds, *specs, threads=2).command
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [(None, done.stderr.strip().splitlines()[-1])] * len(specs)
    told = json.loads(done.stdout)
    return [(loss(data, said), "") if "error" not in said else (None, said["error"]) for said in told]


def loss(data: Set, said: Mapping[str, Any]) -> float:
    """The loss of predictions that come row after row; the classes are in the order of their names."""
    predictions = np.array(said["predictions"], dtype=float).reshape(-1, said["width"])
    if data.task == "numbers":
        return root_mean_square(data, predictions[:, 0])
    return log_loss(data, predictions, sorted(set(data.y.astype(str))))


def root_mean_square(data: Set, predictions: Array) -> float:
    """The root mean square error."""
    return float(np.sqrt(np.mean((data.y.to_numpy(float) - predictions) ** 2)))


def log_loss(data: Set, chances: Array, classes: Sequence[str]) -> float:
    """Minus the mean log chance of the rows' classes."""
    own = chances[np.arange(len(chances)), pd.Index(classes).get_indexer(data.y.astype(str))]
    return float(-np.mean(np.log(np.clip(own, LEAST, 1))))


def peer(data: Set, learner: Learner) -> float:
    """The loss of the counterpart, fitted behind the preparation a user would choose."""
    classes = sorted(set(data.y.astype(str)))
    y = data.y.astype(str).to_numpy() if data.task == "classes" else data.y.to_numpy(float)
    predictions = np.zeros((len(y), len(classes) if data.task == "classes" else 1))
    for fold in range(FOLDS):
        train, test = data.folds != fold, data.folds == fold
        model = pipeline(data, learner).fit(data.x[train], y[train])
        if data.task == "classes":
            places = pd.Index(classes).get_indexer(model.classes_)
            predictions[np.ix_(test, places)] = model.predict_proba(data.x[test])
        else:
            predictions[test, 0] = model.predict(data.x[test])
    return log_loss(data, predictions, classes) if data.task == "classes" else root_mean_square(data, predictions[:, 0])


def pipeline(data: Set, learner: Learner) -> Any:
    """The estimator with its preparation."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    numeric = [column for column in data.x.columns if column not in data.nominal]
    if learner.one_hot:
        coder: Any = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    else:
        coder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    prepared = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numeric),
            ("categories", make_pipeline(SimpleImputer(strategy="most_frequent"), coder), data.nominal),
        ]
    )
    return make_pipeline(prepared, learner.peer(data.task))


@dataclass(frozen=True)
class Line:
    """A set, a learner, and the losses of both sides; or what Dolmen complained of."""

    name: str
    learner: str
    own: float | None
    peer: float | None
    complaint: str = ""

    @property
    def ratio(self) -> float:
        """Dolmen's loss as a multiple of the peer's; infinite where it failed."""
        return self.own / self.peer if self.own is not None and self.peer else float("inf")

    def cells(self) -> list[str]:
        """The line in words and numbers."""
        if self.own is None or self.peer is None:
            return [self.name, self.learner, self.complaint, "", ""]
        mark = " <<" if self.ratio > MARK else ""
        return [self.name, self.learner, f"{self.own:.5g}", f"{self.peer:.5g}", f"{self.ratio:.3f}{mark}"]


def compare(root: Path, sets: Sequence[str], learners: Sequence[Learner]) -> list[Line]:
    """Prints and returns a line for every set and learner."""
    lines = []
    for name in sets:
        data = read(root, name)
        chosen = [learner for learner in learners if data.task in learner.tasks]
        ours = dolmen(data, [learner.spec for learner in chosen])
        for learner, (own, complaint) in zip(chosen, ours, strict=True):
            theirs = peer(data, learner) if own is not None else None
            lines.append(Line(name, learner.name, own, theirs, complaint))
            print("{:32} {:14} {:>10} {:>10} {:>7}".format(*lines[-1].cells()), flush=True)
    return lines


def section(lines: Sequence[Line]) -> str:
    """The section of RESULTS.md."""
    rows = [["set", "learner", "Dolmen", "peer", "ratio"], *(line.cells() for line in lines)]
    head = "Log loss or root mean square error of five folds, beside LightGBM (boost) or scikit-learn with like parameters."
    within = sum(line.ratio <= MARK for line in lines)
    verdict = f"- {within} of {len(lines)} within {MARK - 1:.0%} of the peer, or better"
    return f"## quality\n\n{head}\n\n{results.aligned(rows)}\n\n{verdict}\n"


def main() -> int:
    """Reads the command line; without data there is nothing to do, which is no failure."""
    parser = argparse.ArgumentParser(prog="quality", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("DOLMEN_DATA"), help="the folder of data sets")
    parser.add_argument("--sets", nargs="*", default=SETS, metavar="NAME")
    parser.add_argument("--learners", nargs="*", metavar="NAME", help=", ".join(learner.name for learner in LEARNERS))
    asked = parser.parse_args()
    if asked.data is None or not (Path(asked.data) / "schema.csv").is_file():
        print("no data: name the folder of data sets with --data or DOLMEN_DATA", file=sys.stderr)
        return 0
    warnings.simplefilter("ignore")
    chosen = [learner for learner in LEARNERS if not asked.learners or learner.name in asked.learners]
    lines = compare(Path(asked.data), asked.sets, chosen)
    print(f"{sum(line.ratio > MARK for line in lines)} more than {MARK - 1:.0%} above the peer")
    if tuple(asked.sets) == SETS and len(chosen) == len(LEARNERS):
        results.keep("quality", section(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
