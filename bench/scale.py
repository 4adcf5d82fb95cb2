"""Files larger than memory: `python bench/scale.py PROGRAM [ROWS ...]`.

The table has 10 standard normal columns around one of four centres, written as Parquet in row groups of 2^20 rows. The stack is a Gaussian and two mixtures
on 3 folds. Each number of rows is fitted block by block under an address space of 1.5 GB, and in memory without that limit where the machine holds it; seconds are
those of the wall, memory is the largest resident size. The weights of both must agree.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

COLUMNS, GROUP, LIMIT = 10, 1 << 20, 1_500_000_000
MEMBERS = ["gaussian", "mixture(components=4,restarts=1,iterations=10)", "mixture(components=8,restarts=1,iterations=10)"]


def write(path: Path, rows: int) -> None:
    """Makes the table, a row group at a time."""
    draw = np.random.default_rng(1)
    schema = pyarrow.schema([(f"x{j}", pyarrow.float64()) for j in range(COLUMNS)])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as file:
        for first in range(0, rows, GROUP):
            count = min(GROUP, rows - first)
            centre = 3.0 * draw.integers(0, 4, count)
            columns = [centre * (j % 2) + draw.standard_normal(count) for j in range(COLUMNS)]
            file.write_table(pyarrow.table(columns, schema=schema), row_group_size=GROUP)


def run(program: str, path: Path, memory: str, limit: int | None) -> tuple[float, float, list[float]]:
    """Seconds, resident bytes and weights of a fit."""
    command = [program, "fit", str(path), "--plan", "hashed(folds=3)", "--check", "matrix", "--keep-stack", "--memory", memory, "-q", "--format", "json"]
    for member in MEMBERS:
        command += ["--model", member]
    limited = (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) if limit else None
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=limited) as process:
        text = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} ended with {status}")
    weights = [member["weight"] for member in json.loads(text)["members"]]
    return time.monotonic() - start, used.ru_maxrss * 1024, weights


def main() -> None:
    """Measures every number of rows."""
    program, *rows = sys.argv[1:] or sys.exit(__doc__)
    print("| rows | blocks, s | blocks, MB | in memory, s | in memory, MB | ratio | largest difference of a weight |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        for count in map(int, rows or ["100000", "1000000", "10000000", "30000000"]):
            path = Path(name) / "table.parquet"
            write(path, count)
            run_blocks = run(program, path, "400M" if count > 1_000_000 else "5M", LIMIT)
            whole = run(program, path, "1T", None)
            off = max(abs(a - b) for a, b in zip(run_blocks[2], whole[2], strict=True))
            cells = [count, f"{run_blocks[0]:.1f}", f"{run_blocks[1] / 1e6:.0f}", f"{whole[0]:.1f}", f"{whole[1] / 1e6:.0f}"]
            print("| " + " | ".join(map(str, cells)) + f" | {run_blocks[0] / whole[0]:.2f} | {off:.1e} |", flush=True)
            path.unlink()


if __name__ == "__main__":
    main()
