"""Averaged one-dependence estimators: 10-fold cross-validation and a fit, and the weights of their MAP mixture.

The 50 000 rows have 20 attributes of 5 values and 3 classes: given the class each attribute depends on the one before it,
all tables drawn uniformly. `letter` is UCI's letter set (20 000 rows, 16 attributes of 16 values, 26 classes), if its
`letter.csv` lies in the folder that DOLMEN_DATA names or in `.data`, else a stand-in of the same shape made by the same
recipe. Row i is in fold i mod 10. WEKA smooths its estimates otherwise, so error and log loss differ a little. It is timed as it
starts, and once more after it has done the whole work once, so that its code is compiled.
"""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import labelled
import points
import race

ERROR, LOSS = "error", "log loss"
WEKA = Path("/usr/share/java/weka.jar")


def lane(scale: float) -> Iterator[race.Lane]:
    """A heat for each data set, and one for the weights, the data made."""
    made = make(max(int(50_000 * scale), 500), 20, 5, 3)
    yield heat(made, 5, 3, "50k x 20")
    yield heat(letter() or make(max(int(20_000 * scale), 500), 16, 16, 26), 16, 26, "letter")
    yield race.Lane(
        title=f"MAP weights of 20 one-dependence estimators (lmg-ode) from {made.rows} rows, 3 starts and the best alone: the whole fit.",
        contestants=[race.dolmen("aode", "fit", "lmg-ode", *made.arguments, 5, 3)],
        goals=[race.within_seconds(5)],
        rounds=3,
        heat="lmg weights",
    )


def heat(data: points.Points, values: int, classes: int, name: str) -> race.Lane:
    """Cross-validation and fit of AODE on one data set."""
    sizes = (*data.arguments, values, classes)
    return race.Lane(
        title=f"AODE, 10-fold CV and one fit: {data.rows} rows, {data.columns - 1} attributes, {classes} classes.",
        contestants=[
            race.dolmen("aode", "cv", "aode", *sizes),
            weka("WEKA AODE", *sizes),
            weka("WEKA AODE, warmed up", *sizes, "warm"),
        ],
        goals=[
            race.times_faster_than("WEKA AODE", 10),
            labelled.no_worse_than("WEKA AODE", ERROR, 0.002),
            labelled.no_worse_than("WEKA AODE", LOSS, 0.01),
        ],
        rounds=3,
        heat=name,
    )


def weka(name: str, *arguments: str | int | Path) -> race.Contestant:
    """WEKA's AODE, if Debian's package weka is installed."""
    if not WEKA.exists():
        return race.Contestant(name, ("Debian package weka",))
    command = ("java", "-Xmx4g", "-cp", str(WEKA), "peers/Aode.java", *map(str, arguments))
    return race.Contestant(name, command, limit=300.0)


def make(rows: int, attributes: int, values: int, classes: int) -> points.Points:
    """Writes rows of the recipe, codes and the class last, unless an earlier race has left them."""
    path = race.DATA / f"chain_{rows}x{attributes}_{values}_{classes}_seed31.f64"
    if not path.exists():
        race.DATA.mkdir(exist_ok=True)
        rng = np.random.default_rng(31)
        label = rng.integers(classes, size=rows)
        columns = [rng.integers(values, size=rows)]
        for _ in range(attributes - 1):
            tables = rng.dirichlet(np.ones(values), size=(classes, values)).cumsum(axis=2)
            chosen = tables[label, columns[-1]]
            columns.append(np.minimum((chosen < rng.random((rows, 1))).sum(axis=1), values - 1))
        write(path, np.column_stack([*columns, label]))
    return points.Points(path, rows, 0, attributes + 1)


def letter() -> points.Points | None:
    """UCI's letter set, if it is there."""
    folders = [Path(os.environ.get("DOLMEN_DATA", "")), race.DATA]
    files = [file for folder in folders for file in (folder / "letter.csv", folder / "classification/letter.csv")]
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        return None
    with found.open(encoding="utf-8") as text:
        _, *rows = csv.reader(text)
    table = [[*map(float, row[:-1]), ord(row[-1]) - ord("A")] for row in rows]
    path = race.DATA / "letter.f64"
    race.DATA.mkdir(exist_ok=True)
    write(path, np.array(table))
    return points.Points(path, len(table), 0, 17)


def write(path: Path, matrix: np.ndarray) -> None:
    """Writes a matrix so that a half-written file is never taken for a whole one."""
    unfinished = path.with_suffix(f".{os.getpid()}")
    matrix.astype("<f8").tofile(unfinished)
    unfinished.rename(path)
