"""The default `fit` on every table of a folder: `python bench/tables.py [--data FOLDER] [SET ...]`.

Each table is fitted as a density and, where it has a target, with that target, by the built program and nothing but its
defaults (and a limit of time). What came of it goes to TABLES.md: the time, the exit code, what was left out. A set is a
path below the folder without its extension, such as `papers/iris`; the folder's schema.csv says which column is the target
and which columns are categories. Sets that are named are run and printed only.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
PROGRAM = BENCH.parent / "target" / "release" / "dolmen"


@dataclass
class Table:
    """A data set: its file, its target if it has one, and the declared types of its columns."""

    name: str
    file: Path
    target: str | None
    types: dict[str, str]

    @property
    def has_classes(self) -> bool:
        """Whether the target is declared nominal."""
        return self.target is not None and self.types[self.target] == "nominal"


@dataclass
class Fit:
    """What came of one fit."""

    table: str
    task: str
    seconds: float
    code: int | None
    left_out: list[str]
    notes: list[str]
    failure: str


def tables(data: Path, names: list[str]) -> list[Table]:
    """The sets of a folder, smallest first."""
    columns: dict[str, list[dict[str, str]]] = {}
    with (data / "schema.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            columns.setdefault(row["set"], []).append(row)
    found = []
    for name, rows in columns.items():
        target = next((row["column"] for row in rows if row["role"] == "target"), None)
        file = data / f"{name}.csv"
        if file.exists() and (not names or name in names):
            found.append(Table(name, file, target, {row["column"]: row["type"] for row in rows}))
    if unknown := set(names) - {table.name for table in found}:
        sys.exit(f"no set {', '.join(sorted(unknown))} in {data}")
    return sorted(found, key=lambda table: table.file.stat().st_size)


def fits(table: Table) -> Iterable[tuple[str, list[str]]]:
    """The fits of a table: what each is called, and its arguments."""
    # A density is one of numbers: a table of categories only has none.
    inputs = [kind for column, kind in table.types.items() if column != table.target]
    if any(kind in ("numeric", "date") for kind in inputs):
        yield "density", ["--drop", table.target] if table.target else []
    if table.target:
        task = "classify" if table.has_classes else "regress"
        yield task, ["--target", table.target, "--task", task]


def fit(table: Table, task: str, arguments: list[str], asked: argparse.Namespace) -> Fit:
    """Runs one fit and reads what it says."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.dolmen"
        command = [asked.program, "fit", table.file, *arguments, "-o", model]
        if asked.threads:
            command += ["--threads", str(asked.threads)]
        start = time.perf_counter()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=asked.limit, check=False)
            code, out, err = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as expired:
            code, out, err = None, "", (expired.stderr or b"").decode(errors="replace")
        seconds = time.perf_counter() - start
        if code == 0 and not model.exists():
            code, err = -1, err + "\nerror: no model was written"
    notes = [line.removeprefix("note: ") for line in err.splitlines() if line.startswith("note: ")]
    left = [line.removeprefix("left out").strip() for line in out.splitlines() if line.startswith("left out")]
    errors = [line for line in err.splitlines() if line.startswith(("error: ", "thread "))]
    return Fit(table.name, task, seconds, code, left, notes, errors[-1] if errors else "")


def row(done: Fit) -> str:
    """One line of the list."""
    code = "time" if done.code is None else str(done.code)
    said = "; ".join([*done.notes, *done.left_out, *([done.failure] if done.failure else [])])
    said = said.replace("|", "\\|")
    return f"| {done.table} | {done.task} | {done.seconds:.1f} | {code} | {said} |"


def main() -> int:
    """Fits everything asked for; 0 if each fit ended with a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help="all unless named")
    parser.add_argument("--data", type=Path, default=os.environ.get("DOLMEN_DATA"), help="the folder of tables")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the built program")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one fit")
    parser.add_argument("--threads", type=int, help="threads of one fit")
    parser.add_argument("--most-bytes", type=int, help="leave larger files out")
    parser.add_argument("--output", type=Path, default=BENCH / "TABLES.md", help="where the list goes")
    asked = parser.parse_args()
    if asked.data is None:
        sys.exit("no tables: name their folder with --data or DOLMEN_DATA")
    done = []
    for table in tables(asked.data, asked.sets):
        if asked.most_bytes and table.file.stat().st_size > asked.most_bytes:
            continue
        for task, arguments in fits(table):
            done.append(fit(table, task, arguments, asked))
            print(row(done[-1]), flush=True)
    bad = [each for each in done if each.code != 0]
    whole = not asked.sets and not asked.most_bytes
    if whole:
        good = len(done) - len(bad)
        head = [
            "# The default `fit` on every table",
            "",
            f"{good} of {len(done)} fits ended with a model; at most {asked.limit:.0f} s each. Made by `python bench/tables.py`.",
            "",
            "| table | task | seconds | exit | left out, and what was said |",
            "| --- | --- | --- | --- | --- |",
        ]
        asked.output.write_text("\n".join([*head, *map(row, sorted(done, key=lambda each: each.table))]) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
