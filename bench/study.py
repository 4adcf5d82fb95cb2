"""The study of quality: Dolmen's stack beside other people's, on many tables and repeated splits, cost beside quality.

`python bench/study.py run [--who NAME ..] [--dolmen PROGRAM --called NAME --flags ".."] [--rows MOST] [--half develop|report]`
fits whatever is not in the file of outcomes yet, small tables first, and can be interrupted and begun again at any time.
`python bench/study.py show [--who NAME ..]` prints the table, mean ranks with the critical difference, wins and losses, cost, and how honest
Dolmen's own estimates were; with `--keep` it is written into RESULTS.md.

A split holds out a third of the rows, drawn by seed within the classes. Tables are halved by a hash of their names: what is developed on one
half is reported on the other. Several versions of Dolmen, or the same with other flags, are told apart by what they are `--called`.
"""

import argparse
import hashlib
import json
import math
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import quality
import race
import ranks
import stacks

OUTCOMES = race.DATA / "study.jsonl"
REPEATS = 3
FEWEST_ROWS = 50
"""Tables with fewer rows say next to nothing about anybody."""
FOLDERS = ("classification", "regression", "large")

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """One table, and which of its rows are learned from."""

    name: str
    repeat: int
    data: quality.Set
    train: Mask

    @property
    def held_out(self) -> quality.Set:
        """The rows that are predicted."""
        out = ~self.train
        d = self.data
        return quality.Set(d.path, d.x[out], d.y[out], d.nominal, d.types, d.folds[out])


@dataclass(frozen=True)
class Outcome:
    """What one contestant did on one split."""

    table: str
    repeat: int
    who: str
    task: str
    rows: int
    loss: float
    """Log loss, or the root mean square error."""
    error: float | None = None
    auc: float | None = None
    cpu: float = math.nan
    """Seconds of the processor for the fit."""
    seconds: float = math.nan
    best_member: float | None = None
    """The loss of the member that turned out best."""
    gain: float | None = None
    gain_error: float | None = None
    """By how much the mean score is above that of this member, with the standard error of the pairs."""
    claimed: float | None = None
    claimed_error: float | None = None
    """The loss expected by its own check, with its standard error; of numbers the mean square."""
    realised_error: float | None = None
    """The standard error of the loss on the rows held out; of numbers that of the mean square."""
    kept: str = ""
    failure: str = ""


def tables(root: Path, folders: Sequence[str], most: int, half: str | None, fewest: int = FEWEST_ROWS) -> list[tuple[str, int]]:
    """The tables with a target, by their rows."""
    schema = pd.read_csv(root / "schema.csv")
    with_target = set(schema[schema["role"] == "target"]["set"])
    found = []
    for folder in folders:
        for path in sorted((root / folder).glob("*.csv")):
            name = f"{folder}/{path.stem}"
            if name not in with_target:
                continue
            with path.open("rb") as file:
                rows = sum(1 for _ in file) - 1
            if fewest <= rows <= most and half in (None, half_of(name)):
                found.append((name, rows))
    return sorted(found, key=lambda pair: pair[1])


def half_of(name: str) -> str:
    """Which half of the tables this one is in."""
    return "develop" if hashlib.sha1(name.encode()).digest()[0] % 2 == 0 else "report"


def split(root: Path, name: str, repeat: int) -> Split:
    """A split; classes keep their shares, and each has a row to be learned from."""
    data = quality.read(root, name)
    order = np.random.default_rng([repeat, *hashlib.sha1(name.encode()).digest()[:4]]).permutation(len(data.y))
    if data.task == "classes":
        order = order[np.argsort(data.y.astype(str).to_numpy()[order], kind="stable")]
    train = np.ones(len(data.y), dtype=bool)
    train[order[2::3]] = False
    if data.task == "classes":
        train |= ~data.y.isin(data.y[train].unique()).to_numpy()
    return Split(name, repeat, data, train)


# Contestants


def children() -> float:
    """Seconds of the processor that programs started from here have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def dolmen(it: Split, program: Path, flags: Sequence[str], keep: Path | None) -> Mapping[str, Any]:
    """Dolmen's program. With a folder to keep them in, the matrix and what every member says of the rows held out stay there."""
    table = pd.concat([it.data.x, it.data.y], axis=1)
    figure = "log_loss" if it.data.task == "classes" else "rmse"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table[it.train].to_csv(place / "train.csv", index=False)
        table[~it.train].to_csv(place / "test.csv", index=False)
        pd.Series(it.data.types, name="type").rename_axis("column").to_csv(place / "schema.csv")
        task = "classify" if it.data.task == "classes" else "regress"
        fit = ["fit", place / "train.csv", "--target", str(it.data.y.name), "--task", task, *flags]
        fit += ["--schema", place / "schema.csv", "--all-columns", "--allow-unconverged", "-o", place / "m.dolmen"]
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            kept = keep / f"{it.name.replace('/', '-')}-{it.repeat}"
            matrix = kept.with_suffix(".oos.parquet")
            matrix.unlink(missing_ok=True)
            fit += ["--keep-all", "--oos", matrix]
        started, used = time.perf_counter(), children()
        report = json.loads(stacks.run(program, *fit))
        cost = {"seconds": time.perf_counter() - started, "cpu": children() - used}
        scored = json.loads(stacks.run(program, "score", place / "m.dolmen", place / "test.csv"))
        said = place / "said.csv"
        told = ["--members"] if keep is not None else []
        stacks.run(program, "predict", place / "m.dolmen", place / "test.csv", "-o", said, *told)
        predicted = pd.read_csv(said)
        if keep is not None:
            predicted["truth"] = it.held_out.y.to_numpy()
            predicted.to_parquet(kept.with_suffix(".test.parquet"))
            kept.with_suffix(".report.json").write_text(json.dumps(report), encoding="utf-8")
    members = [number(member["figures"].get(figure)) for member in scored.get("members", [])]
    check = report.get("check") or {}
    claimed = check.get("stack") or {}
    if report.get("kept") not in ("stack", None) and check:
        claimed = check["uniform"] if report["kept"] == "uniform" else check["best_member"]
    columns = [c for c in predicted.columns if c.startswith("p(")]
    classes = as_spelt([c[2:-1] for c in columns], it)
    values = predicted[columns or ["mean"]].to_numpy(float)
    gain = scored.get("gain_over_best") or {}
    return cost | {
        "told": (values, classes),
        "best_member": min(members, default=None),
        "gain": gain.get("mean"),
        "gain_error": gain.get("se"),
        "claimed": -claimed["mean"] if claimed.get("mean") is not None else None,
        "claimed_error": claimed.get("se"),
        "kept": report.get("kept", ""),
    }


def as_spelt(classes: Sequence[str], it: Split) -> list[str]:
    """Names of classes as pandas writes them: Dolmen has one spelling of truth values."""
    written = {name.lower(): name for name in it.data.y.astype(str).unique() if name.lower() in ("true", "false")}
    return [written.get(name.lower(), name) for name in classes]


def number(value: Any) -> float:
    """A figure; what JSON cannot hold is infinite."""
    return math.inf if value is None or isinstance(value, str) else float(value)


def estimator(build: Callable[[quality.Set, Mask], Any]) -> Callable[[Split], Mapping[str, Any]]:
    """A contestant with scikit-learn's manners, fitted on one thread."""

    def fit(it: Split) -> Mapping[str, Any]:
        data, classes = it.data, it.data.task == "classes"
        y = data.y[it.train].astype(str).to_numpy() if classes else data.y[it.train].to_numpy(float)
        model = build(data, it.train)
        started, used = time.perf_counter(), time.process_time()
        model.fit(data.x[it.train], y)
        cost = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used}
        x = it.held_out.x
        said = model.predict_proba(x) if classes else model.predict(x)[:, None]
        return cost | {"told": (np.asarray(said, float), [str(c) for c in model.classes_] if classes else [])}

    return fit


class Coded:
    """A booster that wants classes as codes."""

    def __init__(self, model: Any, prepare: Callable[[pd.DataFrame], Any]) -> None:
        """Takes the model, and what brings rows into the form it reads."""
        self.model, self.prepare = model, prepare

    def fit(self, x: pd.DataFrame, y: NDArray[Any]) -> None:
        """Fits; numbers are taken as they are."""
        if y.dtype.kind in "OUST":
            self.classes_, y = np.unique(y.astype(str), return_inverse=True)
        self.model.fit(self.prepare(x), y)

    def predict_proba(self, x: pd.DataFrame) -> NDArray[np.float64]:
        """Chances of the classes."""
        return self.model.predict_proba(self.prepare(x))

    def predict(self, x: pd.DataFrame) -> NDArray[np.float64]:
        """Numbers."""
        return np.asarray(self.model.predict(self.prepare(x))).ravel()


def categories(data: quality.Set) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Rows with columns of categories, the levels of the whole table."""
    types = {c: pd.CategoricalDtype(sorted(data.x[c].dropna().astype(str).unique())) for c in data.nominal}

    def prepare(x: pd.DataFrame) -> pd.DataFrame:
        x = x.copy()
        for column, levels in types.items():
            x[column] = x[column].where(x[column].isna(), x[column].astype(str)).astype(levels)
        return x

    return prepare


def lightgbm(data: quality.Set, _train: Mask) -> Any:
    """LightGBM as it comes, with its own handling of categories and holes."""
    import lightgbm

    kind = lightgbm.LGBMClassifier if data.task == "classes" else lightgbm.LGBMRegressor
    clean = categories(data)
    # LightGBM allows no brackets in names.
    return Coded(kind(n_jobs=1, verbose=-1), lambda x: clean(x).set_axis([f"x{i}" for i in range(x.shape[1])], axis=1))


def xgboost(data: quality.Set, _train: Mask) -> Any:
    """XGBoost as it comes, with its own handling of categories and holes."""
    import xgboost

    kind = xgboost.XGBClassifier if data.task == "classes" else xgboost.XGBRegressor
    clean = categories(data)
    settings = {"n_jobs": 1, "enable_categorical": True}
    return Coded(kind(**settings), lambda x: clean(x).set_axis([f"x{i}" for i in range(x.shape[1])], axis=1))


def catboost(data: quality.Set, _train: Mask) -> Any:
    """CatBoost as it comes, with its ordered statistics of categories."""
    import catboost

    kind = catboost.CatBoostClassifier if data.task == "classes" else catboost.CatBoostRegressor
    settings = {"verbose": False, "thread_count": 1, "allow_writing_files": False, "random_seed": 0}

    def prepare(x: pd.DataFrame) -> pd.DataFrame:
        x = x.copy()
        x[data.nominal] = x[data.nominal].astype(object).where(x[data.nominal].notna(), "missing").astype(str)
        return x

    return Coded(kind(cat_features=data.nominal, **settings), prepare)


def stacking(data: quality.Set, train: Mask) -> Any:
    """scikit-learn's stacking of counterparts of Dolmen's members, five folds, its default stacker."""
    from sklearn import ensemble

    members = stacks.peers(data.task, int(train.sum()))
    kind = ensemble.StackingClassifier if data.task == "classes" else ensemble.StackingRegressor
    return quality.pipeline(data, quality.Learner("stack", "", lambda _task: kind(members, cv=5)))


def autogluon(it: Split) -> Mapping[str, Any]:
    """AutoGluon's best quality in an environment of its own: the variable AUTOGLUON_PYTHON names its interpreter."""
    table = pd.concat([it.data.x, it.data.y], axis=1)
    for column in it.data.nominal:
        table[column] = table[column].astype(object)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table[it.train].to_csv(place / "train.csv", index=False)
        table[~it.train].to_csv(place / "test.csv", index=False)
        started, used = time.perf_counter(), children()
        seconds = os.environ.get("AUTOGLUON_SECONDS", "300")
        arguments = [os.environ["AUTOGLUON_PYTHON"], str(race.BENCH / "peers" / "autogluon_best.py"), folder]
        subprocess.run([*arguments, str(it.data.y.name), it.data.task, seconds], check=True, capture_output=True)
        cost = {"seconds": time.perf_counter() - started, "cpu": children() - used}
        said = pd.read_csv(place / "said.csv")
    return cost | {"told": (said.to_numpy(float), list(said.columns) if it.data.task == "classes" else [])}


PEERS: Mapping[str, Callable[[Split], Mapping[str, Any]]] = {
    "scikit-learn stacking": estimator(stacking),
    "LightGBM": estimator(lightgbm),
    "CatBoost": estimator(catboost),
    "XGBoost": estimator(xgboost),
    "AutoGluon": autogluon,
}


# Outcomes


def judged(it: Split, who: str, said: Mapping[str, Any]) -> Outcome:
    """The outcome of what a contestant said."""
    (predicted, classes), held_out = said["told"], it.held_out
    common = {key: said[key] for key in said if key != "told"} | {"table": it.name, "repeat": it.repeat, "who": who}
    common |= {"task": it.data.task, "rows": int(it.train.sum())}
    if it.data.task == "numbers":
        squares = (held_out.y.to_numpy(float) - predicted[:, 0]) ** 2
        return Outcome(loss=float(np.sqrt(squares.mean())), realised_error=standard_error(squares), **common)
    truth = held_out.y.astype(str)
    places = pd.Index(classes).get_indexer(truth)
    own = np.where(places < 0, 0.0, predicted[np.arange(len(places)), places])
    logs = -np.log(np.clip(own, quality.LEAST, 1))
    error = float(np.mean(predicted.argmax(axis=1) != places))
    return Outcome(
        loss=float(logs.mean()), error=error, auc=area(predicted, places), realised_error=standard_error(logs), **common
    )


def standard_error(values: NDArray[np.float64]) -> float:
    """The standard error of a mean."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def area(chances: NDArray[np.float64], places: NDArray[np.int64]) -> float | None:
    """The mean over classes of the area under the curve of one class against the others."""
    from sklearn.metrics import roc_auc_score

    areas = []
    for c in range(chances.shape[1]):
        own = places == c
        if own.any() and not own.all():
            areas.append(roc_auc_score(own, chances[:, c]))
    return float(np.mean(areas)) if areas else None


def known(file: Path) -> list[Outcome]:
    """All outcomes there are."""
    if not file.is_file():
        return []
    return [Outcome(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines() if line]


def run(asked: argparse.Namespace) -> None:
    """Fits what is not known yet; every outcome is written at once."""
    file = asked.outcomes
    file.parent.mkdir(parents=True, exist_ok=True)
    done = {(o.table, o.repeat, o.who) for o in known(file) if not o.failure}
    contestants: dict[str, Callable[[Split], Mapping[str, Any]]] = {}
    for who in asked.who or [asked.called]:
        if who == asked.called:
            program, flags = asked.dolmen.resolve(), shlex.split(asked.flags)
            contestants[who] = lambda it: dolmen(it, program, flags, asked.keep)
        else:
            contestants[who] = PEERS[who]
    for name, rows in tables(asked.data, asked.folders, asked.rows, asked.half, asked.fewest):
        for repeat in range(asked.first, asked.first + asked.repeats):
            missing = [who for who in contestants if (name, repeat, who) not in done]
            if not missing:
                continue
            it = split(asked.data, name, repeat)
            for who in missing:
                try:
                    outcome = judged(it, who, contestants[who](it))
                except Exception as failure:
                    text = str(failure).splitlines()[0][:300] if str(failure) else type(failure).__name__
                    outcome = Outcome(name, repeat, who, it.data.task, rows, math.inf, failure=text)
                with file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(asdict(outcome)) + "\n")
                print(
                    f"{name:34} {repeat} {who:24} {outcome.loss:9.5g} {outcome.cpu:8.1f}s {outcome.failure}", flush=True
                )


# What is shown


@dataclass
class Study:
    """Outcomes of contestants on the splits that all of them have."""

    who: Sequence[str]
    outcomes: Sequence[Outcome]
    by_table: dict[str, dict[str, list[Outcome]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Keeps the splits that everybody has."""
        splits: dict[tuple[str, int], dict[str, Outcome]] = {}
        for o in self.outcomes:
            if o.who in self.who:
                splits.setdefault((o.table, o.repeat), {})[o.who] = o
        for (table, _), all_of in sorted(splits.items()):
            if len(all_of) == len(self.who):
                own = self.by_table.setdefault(table, {who: [] for who in self.who})
                for who in self.who:
                    own[who].append(all_of[who])

    def means(self, figure: str) -> pd.DataFrame:
        """A figure of each table and contestant, the mean over splits; tables without it are left out."""
        cell = lambda own: [getattr(o, figure) for o in own]  # noqa: E731
        rows = {table: {who: cell(own[who]) for who in self.who} for table, own in self.by_table.items()}
        whole = {t: r for t, r in rows.items() if all(v is not None for c in r.values() for v in c)}
        return pd.DataFrame({t: {w: float(np.mean(c)) for w, c in r.items()} for t, r in whole.items()}).T[
            list(self.who)
        ]


def shown(study: Study) -> Iterator[str]:
    """The study as Markdown."""
    import results

    losses = study.means("loss")
    splits = sum(len(own[study.who[0]]) for own in study.by_table.values())
    yield f"{len(losses)} tables, {splits} splits; log loss or root mean square error, the mean over the splits of a table.\n"
    rows = [["table", "rows", *study.who]]
    for table, line in losses.iterrows():
        best = line.min()
        count = study.by_table[str(table)][study.who[0]][0].rows
        mark = lambda v, best=best: f"**{v:.4g}**" if v == best else f"{v:.4g}"  # noqa: E731
        rows.append([str(table), str(count), *(mark(v) for v in line)])
    yield results.aligned(rows) + "\n"
    yield ranks.standing({who: losses[who].to_numpy() for who in study.who}) + "\n"
    for figure, name, sign in (("error", "error rate", 1), ("auc", "1 - AUC", -1)):
        other = study.means(figure)
        if len(other):
            told = ", ".join(f"{who} {v if sign > 0 else 1 - v:.4f}" for who, v in other.mean().items())
            yield f"- mean {name} on {len(other)} tables of classes: {told}"
    cost = {who: sum(o.cpu for own in study.by_table.values() for o in own[who]) for who in study.who}
    yield "- CPU seconds of all fits: " + ", ".join(f"{who} {cost[who]:.0f}" for who in study.who)
    for who in study.who:
        yield from own_words(who, [o for own in study.by_table.values() for o in own[who]])


def own_words(who: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """How a contestant that says what it expects did beside that, and beside its best member."""
    z = []
    for o in outcomes:
        if o.claimed is None or not o.claimed_error or not o.realised_error or not math.isfinite(o.loss):
            continue
        realised = o.loss if o.task == "classes" else o.loss**2
        z.append((realised - o.claimed) / math.hypot(o.claimed_error, o.realised_error))
    if z:
        yield (
            f"- {who}, realised less claimed in standard errors: median {np.median(z):+.2f}, mean {np.mean(z):+.2f}, "
            f"spread {np.std(z):.2f}, {np.mean(np.abs(z) > 2):.0%} beyond 2, {len(z)} fits"
        )
    yield from behind_members(who, [o for o in outcomes if o.best_member and math.isfinite(o.loss)])


def behind_members(who: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Where a contestant is more than 5 % behind the member that turned out best, and where that is more than the luck of the rows held out: the gain over that
    member, summed over splits, lies two of its standard errors below 0. The member is picked by these very rows, which makes it look better than it is.
    """
    by_table: dict[str, list[Outcome]] = {}
    for o in outcomes:
        by_table.setdefault(o.table, []).append(o)
    far, sure = {}, set()
    for table, own in by_table.items():
        behind = float(np.mean([o.loss / o.best_member - 1 for o in own if o.best_member]))
        if behind <= 0.05:
            continue
        far[table] = behind
        pairs = [(o.gain, o.gain_error) for o in own if o.gain is not None and o.gain_error is not None]
        if pairs and sum(gain for gain, _ in pairs) < -2 * math.hypot(*(error for _, error in pairs)):
            sure.add(table)
    if by_table:
        told = ", ".join(f"{t} {v:+.0%}{' (*)' if t in sure else ''}" for t, v in sorted(far.items(), key=lambda p: -p[1]))
        yield (
            f"- {who}, more than 5 % behind the kept member that turned out best: {len(far)} of {len(by_table)} tables; by more than two "
            f"standard errors of the difference (*): {len(sure)}. {told}"
        )


def show(asked: argparse.Namespace) -> None:
    """Prints the study, and keeps it if asked to."""
    import results

    outcomes = [o for o in known(asked.outcomes) if asked.half in (None, half_of(o.table)) and o.rows <= asked.rows]
    outcomes = [o for o in outcomes if o.table.split("/")[0] in asked.folders]
    who = asked.who or sorted({o.who for o in outcomes})
    text = "\n".join(shown(Study(who, outcomes)))
    print(text)
    if asked.write:
        results.keep(asked.write, f"## {asked.write}\n\n{text}\n")


def main() -> int:
    """Reads the command line; without data there is nothing to do, which is no failure."""
    parser = argparse.ArgumentParser(prog="study", description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("run", "show"))
    parser.add_argument("--data", type=Path, default=os.environ.get("DOLMEN_DATA"), help="the folder of data sets")
    parser.add_argument("--outcomes", type=Path, default=OUTCOMES, help="the file of outcomes")
    parser.add_argument("--who", nargs="*", metavar="NAME", help=f"contestants: {', '.join(PEERS)}, or what Dolmen is called")
    parser.add_argument("--dolmen", type=Path, default=Path("target/release/dolmen"), help="the program")
    parser.add_argument("--called", default=race.DOLMEN, help="the name of this Dolmen among the outcomes")
    parser.add_argument("--flags", default="", help="further options of `dolmen fit`")
    parser.add_argument("--keep", type=Path, help="a folder for matrices and members' predictions, for studies of combiners")
    parser.add_argument("--folders", nargs="*", default=FOLDERS, help="folders of tables; those of `anomaly`, `density` and `papers` were never chosen on")
    parser.add_argument("--rows", type=int, default=10**9, help="the most rows of a table")
    parser.add_argument("--fewest", type=int, default=FEWEST_ROWS, help="the fewest rows of a table")
    parser.add_argument("--half", choices=("develop", "report"), help="one half of the tables only")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="how many splits of each table")
    parser.add_argument("--first", type=int, default=0, help="the number of the first split: others than before are fresh ones")
    parser.add_argument("--write", metavar="SECTION", help="the section of RESULTS.md that is rewritten")
    asked = parser.parse_args()
    if asked.data is None or not (Path(asked.data) / "schema.csv").is_file():
        print("no data: name the folder of data sets with --data or DOLMEN_DATA", file=sys.stderr)
        return 0
    asked.data = Path(asked.data)
    warnings.simplefilter("ignore")
    # Peers are fitted on one thread; they read this when they are loaded, and threads of theirs that spin take minutes on a busy machine.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    run(asked) if asked.what == "run" else show(asked)
    return 0


if __name__ == "__main__":
    sys.exit(main())
