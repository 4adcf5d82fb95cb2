"""Reading a CSV file of numbers: 1 000 000 rows of 10 columns, 0.21 GB of text.

Column c is standard normal times 10^(c - 5), every number written with as few digits as give it back exactly. The
quality is the number of cells that differ from the number written. The file is read once before the race, so that all
find it in the page cache.
"""

import os
from pathlib import Path

import numpy as np

import race

COLUMNS = 10
WRONG = "wrong cells"


def lane(scale: float) -> race.Lane:
    """The lane, its data made."""
    rows = max(int(1_000_000 * scale), 100)
    text, numbers = make(rows)
    text.read_bytes()
    arguments = (text, numbers, rows, COLUMNS)
    return race.Lane(
        title=f"Reading {COLUMNS} columns of {rows} numbers from CSV.",
        contestants=[
            race.dolmen("csv", *arguments),
            race.python("pandas", "tables.py", "pandas", *arguments),
            race.python("Polars", "tables.py", "polars", *arguments),
            race.python("PyArrow", "tables.py", "pyarrow", *arguments),
        ],
        goals=[
            race.times_faster_than("pandas", 1),
            race.within_memory("peak memory 3 times the numbers", 3 * rows * COLUMNS * 8 / 1e6),
            race.within_quality(WRONG, 0),
        ],
    )


def make(rows: int) -> tuple[Path, Path]:
    """Writes the numbers as text and as raw f64, column after column, unless an earlier race has left them."""
    text = race.DATA / f"numbers_{rows}x{COLUMNS}_seed4.csv"
    numbers = text.with_suffix(".f64")
    if not text.exists():
        from pyarrow import csv, table

        race.DATA.mkdir(exist_ok=True)
        rng = np.random.default_rng(4)
        columns = {f"x{c + 1}": 10.0 ** (c - 5) * rng.standard_normal(rows) for c in range(COLUMNS)}
        np.stack(list(columns.values())).astype("<f8").tofile(numbers)
        unfinished = text.with_suffix(f".{os.getpid()}")
        csv.write_csv(table(columns), unfinished)
        unfinished.rename(text)
    return text, numbers
