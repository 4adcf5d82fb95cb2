"""Writes `dolmen/_learners.py` from the library's own parameter documentation: `python generate.py`, or `--check` to see that it is up to date."""

from __future__ import annotations

import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

from dolmen import _dolmen

TARGET = Path(__file__).parent / "dolmen" / "_learners.py"
WIDTH = 150

CLASSES = [
    ("GaussianDensity", "gaussian", "density", ()),
    ("GaussianMixture", "mixture", "density", ("MixtureAttributes",)),
    ("KernelDensity", "kernel", "density", ("KernelAttributes",)),
    ("AtomDensity", "atoms", "density", ()),
    ("AveragedDensity", "averaged", "density", ()),
    ("LogisticRegression", "logistic", "classification", ("LinearAttributes",)),
    ("KNeighborsClassifier", "neighbours", "classification", ()),
    ("SVC", "svm", "classification", ()),
    ("MLPClassifier", "network", "classification", ()),
    ("DeepEnsembleClassifier", "deep-ensemble", "classification", ()),
    ("DecisionTreeClassifier", "tree", "classification", ("Importances",)),
    ("RandomForestClassifier", "forest", "classification", ("Importances",)),
    ("ExtraTreesClassifier", "extra-trees", "classification", ("Importances",)),
    ("GradientBoostingClassifier", "boost", "classification", ("Importances",)),
    ("AdaBoostClassifier", "adaboost", "classification", ("Importances",)),
    ("BaggingClassifier", "averaged", "classification", ()),
    ("MixtureOfExpertsClassifier", "experts", "classification", ()),
    ("NaiveBayes", "naive-bayes", "classification", ()),
    ("AODE", "aode", "classification", ()),
    ("A2DE", "a2de", "classification", ()),
    ("BMAAODE", "bma-aode", "classification", ()),
    ("LMDODE", "lmd-ode", "classification", ()),
    ("LMGODE", "lmg-ode", "classification", ()),
    ("BayesClassifier", "bayes", "classification", ()),
    ("Ridge", "ridge", "regression", ("LinearAttributes",)),
    ("KNeighborsRegressor", "neighbours", "regression", ()),
    ("SVR", "svm", "regression", ()),
    ("GaussianProcessRegressor", "gaussian-process", "regression", ()),
    ("MLPRegressor", "network", "regression", ()),
    ("DeepEnsembleRegressor", "deep-ensemble", "regression", ()),
    ("DecisionTreeRegressor", "tree", "regression", ("Importances",)),
    ("RandomForestRegressor", "forest", "regression", ("Importances",)),
    ("ExtraTreesRegressor", "extra-trees", "regression", ("Importances",)),
    ("GradientBoostingRegressor", "boost", "regression", ("Importances",)),
    ("BaggingRegressor", "averaged", "regression", ()),
    ("MixtureOfExpertsRegressor", "experts", "regression", ()),
]
"""Class, kind, task, and what else it can do."""

BASES = {"density": "DensityLearner", "classification": "ClassificationLearner", "regression": "RegressionLearner"}

GIVEN = {
    "AveragedDensity": {"of": "mixture(components=4)"},
    "BayesClassifier": {"density": "mixture(components=1)"},
    "BaggingClassifier": {"of": "tree"},
    "BaggingRegressor": {"of": "tree"},
}
"""Defaults in Python of what the library wants to be given: scikit-learn wants every estimator to be made without arguments."""

HEAD = '''\
"""Single learners. Written by `generate.py` from the library's documentation of its parameters: change it there."""

from __future__ import annotations

from typing import Any

from ._attributes import KernelAttributes, LinearAttributes, MixtureAttributes
from ._learner import ClassificationLearner, DensityLearner, Importances, RegressionLearner

'''

MANNERS = [
    ("reading", "dict[str, Any] | None", "None", 'How data frames are read: the recipe\'s fields, such as {"all_columns": True}.'),
    ("random_state", "Any", "None", "Seed of everything random: a number, a generator, or None for 0. The same seed gives the same bits."),
    ("n_jobs", "int | None", "None", "Threads; None and -1 are all cores. Results do not depend on it."),
    ("progress", "bool | None", "None", "Whether a bar is shown; None shows one in notebooks."),
]


def learners() -> dict[tuple[str, str], dict[str, Any]]:
    """The library's learners by kind and task."""
    return {(entry["kind"], section["task"]): entry for section in _dolmen.catalogue() for entry in section["learners"]}


def spelled(name: str) -> str:
    """A parameter's name in Python."""
    return f"{name}_" if keyword.iskeyword(name) else name


def literal(value: Any) -> str:
    """A default; lists become tuples, which nobody can change."""
    return repr(tuple(value)) if isinstance(value, list) else repr(value)


def hint(kind: Any) -> str:
    """The type of a parameter in Python."""
    if isinstance(kind, str):
        return {"whole": "int", "number": "float", "flag": "bool", "text": "str", "model": "Any"}[kind]
    ((name, of),) = kind.items()
    if name == "one-of":
        return "str"
    if name == "list-of":
        return f"Sequence[{hint(of)}]" if hint(of) != "Any" else "Any"
    if name == "either":
        return " | ".join(dict.fromkeys(hint(part) for part in of))
    return "dict[str, Any]"


def parameters(name: str, entry: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Name, type, default and meaning of all parameters."""
    found = []
    for parameter in entry["parameters"]:
        default = GIVEN.get(name, {}).get(parameter["name"], parameter["default"])
        kind = hint(parameter["kind"])
        if default is None and "Any" not in kind:
            kind += " | None"
        about = parameter["about"]
        allowed = parameter["allowed"]
        meaning = f"{about.rstrip()} ({allowed})" if allowed != "model" else f"{about.rstrip()} (a spec, or an estimator)"
        found.append((spelled(parameter["name"]), kind, literal(default), meaning))
    return found + MANNERS


def written(name: str, entry: dict[str, Any], task: str, more: tuple[str, ...]) -> str:
    """The class of a learner."""
    every = parameters(name, entry)
    bases = ", ".join([*more, BASES[task]])
    about = entry["about"][0].upper() + entry["about"][1:]
    lines = [f"class {name}({bases}):", f'    """{about}.', "", "    Parameters", "    ----------"]
    for parameter, kind, default, meaning in every:
        lines.append(f"    {parameter} : {kind}, default={default}")
        lines.extend(textwrap.wrap(meaning, WIDTH - 8, initial_indent=" " * 8, subsequent_indent=" " * 8, break_long_words=False))
    lines += ['    """', "", f'    _kind = "{entry["kind"]}"']
    renamed = {spelled(p["name"]): p["name"] for p in entry["parameters"] if spelled(p["name"]) != p["name"]}
    if renamed:
        lines.append(f"    _spelled = {renamed!r}".replace("'", '"'))
    given = tuple(GIVEN.get(name, ()))
    if given:
        lines.append(f"    _given = {given!r}".replace("'", '"'))
    lines += ["", "    def __init__(", "        self,", "        *,"]
    lines += [f"        {parameter}: {kind} = {default}," .replace("'", '"') for parameter, kind, default, _ in every]
    lines += ["    ) -> None:"]
    lines += [f"        self.{parameter} = {parameter}" for parameter, *_ in every]
    return "\n".join(lines) + "\n"


def module() -> str:
    """The whole file."""
    known = learners()
    classes = [written(name, known[kind, task], task, more) for name, kind, task, more in CLASSES]
    names = ",\n".join(f'    "{name}"' for name in sorted(name for name, *_ in CLASSES))
    body = "\n\n".join(classes)
    head = HEAD.replace("from typing import Any\n", "from collections.abc import Sequence\nfrom typing import Any\n")
    return f"{head}__all__ = [\n{names},\n]\n\n\n{body}"


def main() -> int:
    """Writes the file, or checks it."""
    text = module()
    if "--check" in sys.argv:
        if TARGET.read_text() != text:
            print("dolmen/_learners.py is not what the library's documentation says: run python/generate.py", file=sys.stderr)
            return 1
        return 0
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
