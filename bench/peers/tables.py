"""Python's readers of CSV files.

`python peers/tables.py READER TEXT NUMBERS ROWS COLUMNS` times reading TEXT into columns of f64, then counts the
cells that differ from those in NUMBERS (raw little-endian f64, column after column).
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import contest

Columns = Iterable[NDArray[np.float64]]
Reader = tuple[str, Callable[[], Any], Callable[[Any], Columns]]


def pandas(file: str) -> Reader:
    """The C reader of pandas as it comes."""
    import pandas as pd

    return f"pandas {pd.__version__}", lambda: pd.read_csv(file, engine="c"), lambda t: t.to_numpy().T


def polars(file: str) -> Reader:
    """Polars; its threads are set by the environment."""
    import polars as pl

    return f"Polars {pl.__version__}", lambda: pl.read_csv(file), lambda t: (c.to_numpy() for c in t.get_columns())


def pyarrow(file: str) -> Reader:
    """PyArrow on one thread."""
    import pyarrow as pa
    from pyarrow import csv

    options = csv.ReadOptions(use_threads=False)
    return f"PyArrow {pa.__version__}", lambda: csv.read_csv(file, options), lambda t: (c.to_numpy() for c in t.columns)


READERS = {"pandas": pandas, "polars": polars, "pyarrow": pyarrow}


def race(arguments: list[str]) -> None:
    """Times the reader and says how it went."""
    reader, text, numbers, rows, columns = arguments
    version, read, take_columns = READERS[reader](text)
    table, cost = contest.timed(read)
    truth = np.fromfile(numbers, dtype="<f8").reshape(int(columns), int(rows))
    wrong = sum(int((got != true).sum()) for got, true in zip(take_columns(table), truth, strict=True))
    contest.tell(cost, version, {"wrong cells": wrong})


if __name__ == "__main__":
    contest.main(race)
