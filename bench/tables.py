"""The default `fit` on every table of a folder: `python bench/tables.py [--data FOLDER] [SET ...]`.

Each table is fitted as a density and, where it has a target, with that target, by the built program and nothing but its
defaults (and a limit of processor time, which does not depend on what else the machine does). What came of it goes to
TABLES.md, fit by fit: the time, the exit code, what was left out; what stands there from an earlier run is kept with
`--resume`. A set is a path below the folder without its extension, such as `papers/iris`; the folder's schema.csv says which
column is the target and which columns are categories. Sets that are named are run and printed only.
"""

import argparse
import csv
import os
import resource
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
    cpu_seconds: float
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
        command = ["bash", "-c", f'ulimit -t {asked.limit}; exec "$@"', "fit", *map(str, command)]
        start, spent = time.perf_counter(), processor_time()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        seconds, spent = time.perf_counter() - start, processor_time() - spent
        code, out, err = done.returncode, done.stdout, done.stderr
        if code == 0 and not model.exists():
            code, err = -1, err + "\nerror: no model was written"
        if code < 0 and spent >= asked.limit:
            code = None
    notes = [line.removeprefix("note: ") for line in err.splitlines() if line.startswith("note: ")]
    left = [line.removeprefix("left out").strip() for line in out.splitlines() if line.startswith("left out")]
    errors = [line for line in err.splitlines() if line.startswith(("error: ", "thread "))]
    return Fit(table.name, task, seconds, spent, code, left, notes, errors[-1] if errors else "")


def processor_time() -> float:
    """Seconds that the programs started so far have taken, on all cores."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def row(done: Fit) -> str:
    """One line of the list."""
    code = "time" if done.code is None else str(done.code)
    said = "; ".join([*done.notes, *done.left_out, *([done.failure] if done.failure else [])])
    said = said.replace("|", "\\|")
    return f"| {done.table} | {done.task} | {done.seconds:.1f} | {done.cpu_seconds:.1f} | {code} | {said} |"


def key(line: str) -> tuple[str, str]:
    """The table and the task of a line of the list."""
    cells = line.split(" | ")
    return cells[0].removeprefix("| "), cells[1]


def listed(output: Path) -> dict[tuple[str, str], str]:
    """The lines of an earlier list."""
    lines = output.read_text().splitlines() if output.exists() else []
    return {key(line): line for line in lines if line.startswith("| ") and "/" in line.split(" | ")[0]}


def keep(lines: dict[tuple[str, str], str], asked: argparse.Namespace) -> None:
    """Writes the list."""
    version = subprocess.run([asked.program, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    good = sum(line.split(" | ")[4] == "0" for line in lines.values())
    head = [
        "# The default `fit` on every table",
        "",
        f"{good} of {len(lines)} fits ended with a model; at most {asked.limit} s of processor time each. Made by "
        f"`python bench/tables.py` with {version}{asked.remark}.",
        "",
        "| table | task | seconds | CPU s | exit | left out, and what was said |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    asked.output.write_text("\n".join([*head, *(lines[at] for at in sorted(lines))]) + "\n")


def main() -> int:
    """Fits everything asked for; 0 if each fit ended with a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help="all unless named")
    parser.add_argument("--data", type=Path, default=os.environ.get("DOLMEN_DATA"), help="the folder of tables")
    parser.add_argument("--program", type=Path, default=PROGRAM, help="the built program")
    parser.add_argument("--limit", type=int, default=1200, help="seconds of processor time for one fit")
    parser.add_argument("--threads", type=int, help="threads of one fit")
    parser.add_argument("--most-bytes", type=int, help="leave larger files out")
    parser.add_argument("--output", type=Path, default=BENCH / "TABLES.md", help="where the list goes")
    parser.add_argument("--resume", action="store_true", help="keep what the list has already")
    parser.add_argument("--remark", default="", help="what the list should say of the program and the machine")
    asked = parser.parse_args()
    if asked.data is None:
        sys.exit("no tables: name their folder with --data or DOLMEN_DATA")
    lines = listed(asked.output) if asked.resume else {}
    failed = False
    for table in tables(asked.data, asked.sets):
        if asked.most_bytes and table.file.stat().st_size > asked.most_bytes:
            continue
        for task, arguments in fits(table):
            if (table.name, task) in lines:
                continue
            done = fit(table, task, arguments, asked)
            lines[table.name, task] = row(done)
            failed |= done.code != 0
            print(lines[table.name, task], flush=True)
            if not asked.sets:
                keep(lines, asked)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
