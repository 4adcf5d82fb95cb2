"""The library's own calls: a table and a recipe in, a model with its evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _dolmen, _rows
from ._estimator import frame_of
from ._members import Member, Objects
from ._progress import listening
from .stacked import specs_of

__all__ = ["Comparison", "advise", "compare", "load"]


def load(path: str | Path, *, trust: bool = False) -> Any:
    """The estimator of a model file, written by Python or by the command line: a stack, or the class of a learner that was fitted as it is.

    A file with Python members holds pickles, and reading those runs what is in them: it is only read with `trust=True`. Classes are whole numbers
    or truth values if all their names are spelled so, else texts.
    """
    return estimator_of(_dolmen.Model.read(Path(path), trust))


def estimator_of(model: _dolmen.Model) -> Any:
    """The estimator around a fitted model: of a learner that was fitted as it is its own class, else a stack."""
    recipe = model.recipe() or {}
    task = "classification" if model.task == "joint" else model.task
    # What was left at its default is not said again: it decides nothing.
    reading = {name: value for name, value in (recipe.get("reading") or {}).items() if value} or None
    manner = {"reading": reading, "random_state": recipe.get("seed")}
    estimator = _learner_of(task, recipe, manner) or _stack_of(task, recipe, manner)
    estimator.model_ = model
    if model.classes:
        estimator.classes_ = np.sort(_rows.unspelled(model.classes))
        estimator._class_order = np.asarray(_dolmen.class_order(_rows.spelled(estimator.classes_)))
    estimator._of_file = True
    inputs = list(dict.fromkeys(model.origins))
    estimator.n_features_in_ = len(inputs)
    if estimator._by_name():
        estimator.feature_names_in_ = np.asarray(inputs, dtype=object)
    return estimator


def _learner_of(task: str, recipe: dict[str, Any], manner: dict[str, Any]) -> Any:
    """The learner that a recipe fits as it is; None if it fits a stack, or there is no class of the learner."""
    return _learner(task, _dolmen.spec(recipe["members"][0]), **manner) if recipe.get("alone") else None


def _learner(task: str, spec: dict[str, Any], **manner: Any) -> Any:
    """The estimator of a spec that is taken apart, if there is a class of it: the learners that it is made of are estimators, too."""
    from . import _learners

    classes = (getattr(_learners, name) for name in _learners.__all__)
    found = next((cls for cls in classes if (cls._kind, cls._task) == (spec["kind"], task)), None)
    if found is None:
        return None
    names = {theirs: ours for ours, theirs in found._spelled.items()}
    parameters = {}
    for name, value in spec.items():
        if isinstance(value, dict) and "kind" in value:
            value = _learner("density" if name == "density" else task, value) or value
        parameters[names.get(name, name)] = value
    # Earlier versions took parameters that mean nothing for the task: files of theirs are read without them. The kind is none either.
    known = found._defaults()
    parameters = {name: value for name, value in parameters.items() if name in known}
    return found(**parameters, **manner)


def _stack_of(task: str, recipe: dict[str, Any], manner: dict[str, Any]) -> Any:
    """The stack that a recipe fits."""
    from .stacked import StackedClassifier, StackedDensity, StackedRegressor

    kinds: dict[str, type] = {"density": StackedDensity, "classification": StackedClassifier, "regression": StackedRegressor}
    same = ("folds", "plan", "check", "calibration", "intervals", "margin", "reach", "doubt", "keep_stack", "keep_all", "keep_matrix", "drop_failed", "explain")
    same += ("effort", "budget", "max_members", "predict_under")
    given = {name: recipe[name] for name in same if recipe.get(name) is not None}
    return kinds[task](
        recipe.get("members") or None,
        combiner=recipe.get("combiners") or None,
        final=recipe.get("ending") or "refit",
        **given,
        **manner,
    )


class Comparison(dict):
    """What a comparison found: scores split by split, means, paired tests. A dictionary that can be drawn, and is in notebooks."""

    def _repr_html_(self) -> str:
        return self.plot().svg

    def plot(self, kind: str | None = None, **look: Any) -> Any:
        """A picture: methods by mean and interval, or another kind that suits."""
        from . import _pictures

        return _pictures.Picture(_dolmen.draw_comparison(dict(self), _pictures.look(kind, **look)))


def compare(
    X: Any,
    y: Any = None,
    members: Any = None,
    *,
    repeats: int | None = None,
    test_rows: int | None = None,
    outer_folds: int | None = None,
    members_only: bool = False,
    sample_weight: Any = None,
    groups: Any = None,
    times: Any = None,
    task: str | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **recipe: Any,
) -> Comparison:
    """Is stacking worth it here? The stack beside choosing, averaging and every member, on repeated splits, with paired tests.

    `members` are those of a stack, with names or without; further keywords are fields of the recipe (combiners, folds, plan, check, ..). Numbers to
    predict are taken for classes with `task="classify"`.
    """
    versus = {"repeats": repeats, "test_rows": test_rows, "outer_folds": outer_folds, "members_only": members_only}
    given = _given(X, y, sample_weight, groups, times, task, random_state, recipe)
    objects = Objects(given.task)
    if members is not None:
        given.recipe["members"] = specs_of(members, objects)
    wrapped = {name: Member(name, *one, given.classes, frame_of(X), None) for name, one in objects.items()}
    with listening(progress, "compare") as listener:
        manner = _rows.manner(n_jobs, listener)
        return Comparison(_dolmen.compare(given.recipe, versus, given.rows, given.truth, given.keys, manner, wrapped or None))


def advise(
    X: Any, y: Any = None, *, task: str | None = None, random_state: Any = 0, n_jobs: int | None = None, **recipe: Any
) -> dict[str, Any]:
    """Which ensemble suits the rows, and why, from a probe of a second or two."""
    given = _given(X, y, None, None, None, task, random_state, recipe)
    return _dolmen.advise(given.recipe, given.rows, given.truth, given.keys, _rows.manner(n_jobs))


class _Given(NamedTuple):
    """What a call is given, as the library takes it."""

    rows: Any
    truth: Any
    keys: dict[str, Any]
    recipe: dict[str, Any]
    task: str
    classes: np.ndarray | None
    """The classes in the library's order, if there are any."""


def _given(x: Any, y: Any, sample_weight: Any, groups: Any, times: Any, task: str | None, seed: Any, recipe: dict[str, Any]) -> _Given:
    rows = _rows.table(x) if _rows.is_frame(x) else _rows.rows_of_numbers(x)
    count, taken = (rows.rows, rows.names) if isinstance(rows, _dolmen.Table) else (len(rows), [])
    keys = _rows.keys(count, sample_weight, groups, times)
    recipe = {"seed": _rows.seed(seed), **recipe}
    if y is None:
        return _Given(rows, None, keys, {"target": None, "task": task, **recipe}, "density", None)
    name = getattr(y, "name", None)
    target = _rows.free_name(name if isinstance(name, str) and name else "y", taken)
    y = np.asarray(_rows.plain_labels(y)).ravel()
    if len(y) != count:
        raise ValueError(f"y: expected {count} values, one for each row, found {len(y)}")
    gone = _rows.first_missing(y)
    if gone is not None:
        raise ValueError(f"y: row {gone} has no value")
    if y.dtype.kind in "iuf" and task not in ("classify", "joint"):
        return _Given(rows, _rows.numbers(y), keys, {"target": target, "task": task or "regress", **recipe}, "regression", None)
    classes, codes = np.unique(y, return_inverse=True)
    names = _rows.spelled(classes)
    in_order = classes[np.asarray(_dolmen.class_order(names))]
    recipe = {"target": target, "task": task or "classify", **recipe}
    return _Given(rows, (names, codes.astype(np.uint32)), keys, recipe, "classification", in_order)
