"""Files larger than memory: `python bench/blocks.py [--rows 30000000] [--program target/release/dolmen] [--folder DIR]`.

A folder of Parquet files of 10 columns of doubles, drawn from a density by the program itself in parts of a million rows, is predicted by a density of one Gaussian
and by a mixture, into nothing, CSV and Parquet, and scored. Each run is a process of its own on the page cache; told are seconds, those of all cores, rows per second and the peak of the process's memory,
for a tenth of the rows and for all: the peak must not grow with the rows, predictions kept by `score` aside.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PART = 1_000_000
COLUMNS = 10


def main() -> int:
    """Makes the data where they are not there yet, and measures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=30_000_000)
    parser.add_argument("--program", default="target/release/dolmen")
    parser.add_argument("--folder", help="where data are kept; a temporary folder if not given")
    asked = parser.parse_args()
    program = str(Path(asked.program).resolve())
    folder = Path(asked.folder or tempfile.mkdtemp(prefix="dolmen-blocks-"))
    try:
        prepare(program, folder, asked.rows)
        print(f"{'command':34} {'rows':>10} {'seconds':>8} {'CPU s':>8} {'rows/s':>8} {'peak MB':>8}")
        for rows, data in (max(asked.rows // 10, PART), "tenth"), (asked.rows, "all"):
            for model in "gaussian", "mixture":
                for words in runs(model, data):
                    seconds, cpu, peak = measured([program, *words, "-q"], folder)
                    shown = " ".join(words[:1] + [model] + words[3:])
                    print(f"{shown:34} {rows:10} {seconds:8.1f} {cpu:8.1f} {rows / seconds / 1e6:6.2f} M {peak:8.0f}", flush=True)
    finally:
        if not asked.folder:
            shutil.rmtree(folder)
    return 0


def runs(model: str, data: str) -> list[list[str]]:
    """What is measured of a model."""
    predict = ["predict", f"{model}.dolmen", data, "-o"]
    return [[*predict, "/dev/null"], [*predict, "out.csv"], [*predict, "out.parquet"], ["score", f"{model}.dolmen", data]]


def prepare(program: str, folder: Path, rows: int) -> None:
    """Models, a folder of all parts, and one of a tenth of them."""
    folder.mkdir(exist_ok=True)
    draw = random.Random(1)
    header = ",".join(f"x{j}" for j in range(COLUMNS))
    centre = lambda: 4 * draw.randrange(3)  # noqa: E731
    lines = (",".join(f"{c + draw.gauss(0, 1):.6f}" for c in [centre()] * COLUMNS) for _ in range(5000))
    (folder / "small.csv").write_text(header + "\n" + "\n".join(lines) + "\n")
    for name, spec in ("gaussian", "gaussian"), ("mixture", "mixture(components=3)"):
        call(program, folder, "fit", "small.csv", "-q", "--model", spec, "--alone", "-o", f"{name}.dolmen")
    for name in "all", "tenth":
        (folder / name).mkdir(exist_ok=True)
    parts = -(-rows // PART)
    for part in range(parts):
        file = folder / "all" / f"part-{part:04}.parquet"
        if not file.exists():
            call(program, folder, "sample", "mixture.dolmen", "--rows", str(PART), "--seed", str(part), "-q", "-o", str(file))
        if part < max(parts // 10, 1) and not (link := folder / "tenth" / file.name).exists():
            link.symlink_to(file)


def call(program: str, folder: Path, *words: str) -> None:
    """Runs the program; what it prints is of no interest."""
    subprocess.run([program, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def measured(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds, those of all cores, and peak memory in MB of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3


if __name__ == "__main__":
    sys.exit(main())
