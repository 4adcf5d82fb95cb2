"""The one-dependence family on real tables, as in Table 1 of Cerquides & Lopez de Mantaras (2005).

`python bench/one_dependence.py --dolmen PROGRAM [--data DIR]` reads 44 tables of a folder of data sets (see quality.py), each
10 times cut into 10 stratified folds, and counts wins, draws and losses of pairs of methods, two-sided at 95 %: by the paired
t-test on the 100 folds, as the paper does it, and by the corrected resampled t-test. The paper used 38 sets that it
does not name; left out here are the largest sets, the tiny ones and halves of others. Nominal columns are those that the
folder's `schema.csv` declares. "Reference" is a plain NumPy implementation on 30 sets.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd

import results

SETS = (
    "anneal audiology autos banana banknote_authentication breast-cancer breast-w breast_cancer_wdbc bridges-version2 colic "
    "credit-a credit-g credit_scoring cylinder-bands glass heart-c heart-h heart-statlog hepatitis hypothyroid ionosphere "
    "labor led7digit liver-disorders monk-2 mushroom phishing pima_diabetes postoperative primary-tumor promoters segment "
    "sick soybean spectfheart sponge tae vehicle vertebral-column-3c vote vowel waveform-5000 wheat_seeds wine"
).split()

AODE, AODE30, BMA, LMG, LMD = "aode", "aode(threshold=30)", "bma-aode", "lmg-ode", "lmd-ode"
FIGURES = ("auc", "error", "log_loss")
PAIRS = {
    "AODE0 - AODE30": (AODE, AODE30, ("6/21/3", "7/21/2", "12/16/2"), ("7/24/7", "10/22/6", "13/18/7")),
    "AODE0 - BMAAODE": (AODE, BMA, ("20/7/3", "24/3/3", "24/4/2"), ("26/11/1", "25/8/5", "29/4/5")),
    "MAPLMG - AODE0": (LMG, AODE, ("9/18/3", "14/15/1", "21/4/5"), ("12/20/6", "18/18/2", "29/5/4")),
    "MAPLMD - AODE0": (LMD, AODE, ("9/11/10", "10/12/8", "16/5/9"), ("14/9/15", "17/11/10", "26/6/6")),
}
"""The two methods of each pair, and what the reference and the paper found for AUC, error and log p."""


def main() -> None:
    """Compares the methods on all sets and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dolmen", required=True, help="the program")
    parser.add_argument("--data", default=os.environ.get("DOLMEN_DATA"), help="the folder of data sets")
    asked = parser.parse_args()
    if asked.data is None or not (Path(asked.data) / "schema.csv").is_file():
        sys.exit("no data sets: name their folder with --data or DOLMEN_DATA")
    with tempfile.TemporaryDirectory() as folder:
        files = [declared(Path(asked.data), name, Path(folder)) for name in SETS]
        print(table(compare(asked.dolmen, files)))


def declared(root: Path, name: str, folder: Path) -> Path:
    """A copy of a set in which the cells of nominal columns are no numbers, without rows that have no class."""
    path = root / "classification" / f"{name}.csv"
    schema = pd.read_csv(root / "schema.csv")
    own = schema[schema["set"] == f"classification/{name}"]
    nominal = own[own["type"] == "nominal"]["column"]
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    cells = cells[cells.iloc[:, -1] != ""]
    for column in nominal:
        known = cells[column] != ""
        cells.loc[known, column] = "=" + cells.loc[known, column]
    copy = folder / path.name
    cells.to_csv(copy, index=False)
    return copy


def compare(program: str, files: list[Path]) -> dict[str, Any]:
    """What the program says of the sets."""
    # Those that are first in a pair come first.
    models = [word for spec in (LMG, LMD, AODE, AODE30, BMA) for word in ("--model", spec)]
    protocol = ["--target-last", "--task", "classify", "--members-only", "--outer-folds", "10"]
    command = [program, "compare", *map(str, files), *protocol, *models, "--format", "json"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def table(found: dict[str, Any]) -> str:
    """Wins, draws and losses, beside those of the reference and of the paper."""
    tallies = {(t["first"], t["second"], t["figure"]): t for t in found["tallies"]}
    rows = [["pair", "", "AUC", "error rate", "log p"]]
    for pair, (first, second, reference, paper) in PAIRS.items():
        told = [tallies[first, second, figure] for figure in FIGURES]
        for name, key in (("Dolmen", "outcomes"), ("corrected", "corrected_outcomes")):
            rows.append([pair if name == "Dolmen" else "", name, *("/".join(map(str, t[key])) for t in told)])
        rows += [["", "reference", *reference], ["", "paper", *paper]]
    return results.aligned(rows)


if __name__ == "__main__":
    main()
