"""The default stack with its nested check, by one build of the program and another: `python bench/nested.py PROGRAM [PROGRAM ...]`.

The table has 2000 rows of 20 standard normal columns; the number is the sum of the first three, a wave of the fourth, a product of
the fifth and the sixth, and noise; the class says whether it is above 0. Each program fits both with nothing but its defaults
and `--check nested`, and predicts 200 000 rows with the model. Processor time of all threads, the best of three runs.
"""

import math
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROWS, MANY, COLUMNS, RUNS = 2000, 200_000, 20, 3


def write(path: Path, rows: int, seed: int) -> None:
    """Makes a table with both targets."""
    draw = random.Random(seed)
    with path.open("w") as file:
        file.write(",".join(f"x{j}" for j in range(COLUMNS)) + ",number,class\n")
        for _ in range(rows):
            x = [draw.gauss(0, 1) for _ in range(COLUMNS)]
            y = x[0] + x[1] + x[2] + 2 * math.sin(2 * x[3]) + x[4] * x[5] + draw.gauss(0, 1)
            file.write(",".join(f"{v:.4f}" for v in x) + f",{y:.4f},{'above' if y > 0 else 'below'}\n")


def spent(command: list[str]) -> float:
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measures every program on the same tables."""
    programs = sys.argv[1:] or sys.exit(__doc__)
    print("| program | target | fit, CPU s | predict 200 000 rows, CPU s | model, kB |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "table.csv", ROWS, 1)
        write(folder / "many.csv", MANY, 2)
        for program in programs:
            for target, other in ("class", "number"), ("number", "class"):
                model = str(folder / "m.dolmen")
                fit = [program, "fit", str(folder / "table.csv"), "--target", target, "--drop", other, "--check", "nested", "-q"]
                predict = [program, "predict", model, str(folder / "many.csv"), "-q", "-o", str(folder / "p.csv")]
                fitted = min(spent([*fit, "-o", model]) for _ in range(RUNS))
                predicted = min(spent(predict) for _ in range(RUNS))
                size = os.path.getsize(model) / 1e3
                print(f"| {program} | {target} | {fitted:.2f} | {predicted:.2f} | {size:.0f} |", flush=True)


if __name__ == "__main__":
    main()
