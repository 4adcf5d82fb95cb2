"""The library's own calls: a table and a recipe in, a model with its evidence out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from . import _dolmen, _rows
from ._learner import spec_of
from ._progress import listening

__all__ = ["Comparison", "advise", "compare", "load"]


def load(path: str | Path, *, trust: bool = False) -> Any:
    """The estimator of a model file, written by Python or by the command line.

    A file with Python members holds pickles, and reading those runs what is in them: it is only read with `trust=True`. Classes are whole numbers
    or truth values if all their names are spelled so, else texts.
    """
    return estimator_of(_dolmen.Model.read(Path(path), trust))


def estimator_of(model: _dolmen.Model) -> Any:
    """The estimator around a fitted model."""
    from ._estimator import Classifier, DensityEstimator, Regressor
    from .stacked import StackedClassifier, StackedDensity, StackedRegressor

    kinds: dict[str, type] = {
        "density": StackedDensity,
        "classification": StackedClassifier,
        "joint": StackedClassifier,
        "regression": StackedRegressor,
    }
    recipe = model.recipe() or {}
    same = ("folds", "plan", "check", "calibration", "intervals", "keep_stack", "keep_all", "keep_matrix", "drop_failed", "explain")
    same += ("effort", "budget", "max_members", "predict_under")
    given = {name: recipe[name] for name in same if recipe.get(name) is not None}
    estimator: Classifier | Regressor | DensityEstimator = kinds[model.task](
        recipe.get("members") or None,
        combiner=recipe.get("combiners") or None,
        random_state=recipe.get("seed"),
        final=recipe.get("ending") or "refit",
        **given,
    )
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


class Comparison(dict):
    """What a comparison found: scores split by split, means, paired tests. A dictionary that can be drawn."""

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

    `members` are specs or Dolmen's estimators; further keywords are fields of the recipe (combiners, folds, plan, check, ..). Numbers to predict
    are taken for classes with `task="classify"`.
    """
    versus = {"repeats": repeats, "test_rows": test_rows, "outer_folds": outer_folds, "members_only": members_only}
    rows, truth, keys, recipe = _given(X, y, members, sample_weight, groups, times, task, random_state, recipe)
    with listening(progress, "compare") as listener:
        return Comparison(_dolmen.compare(recipe, versus, rows, truth, keys, _rows.manner(n_jobs, listener)))


def advise(
    X: Any, y: Any = None, *, task: str | None = None, random_state: Any = 0, n_jobs: int | None = None, **recipe: Any
) -> dict[str, Any]:
    """Which ensemble suits the rows, and why, from a probe of a second or two."""
    rows, truth, keys, recipe = _given(X, y, None, None, None, None, task, random_state, recipe)
    return _dolmen.advise(recipe, rows, truth, keys, _rows.manner(n_jobs))


def _given(
    x: Any, y: Any, members: Any, sample_weight: Any, groups: Any, times: Any, task: str | None, seed: Any, recipe: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any], dict[str, Any]]:
    rows = _rows.table(x) if _rows.is_frame(x) else _rows.rows_of_numbers(x)
    count = rows.rows if isinstance(rows, _dolmen.Table) else len(rows)
    truth, name = None, None
    if y is not None:
        name = getattr(y, "name", None)
        name = name if isinstance(name, str) and name else "y"
        y = np.asarray(y).ravel()
        if len(y) != count:
            raise ValueError(f"y: expected {count} values, one for each row, found {len(y)}")
        if y.dtype.kind not in "iuf" or task in ("classify", "joint"):
            classes, codes = np.unique(y, return_inverse=True)
            truth, task = (_rows.spelled(classes), codes.astype(np.uint32)), task or "classify"
        else:
            truth, task = _rows.numbers(y), task or "regress"
    if members is not None:
        recipe["members"] = spec_of([members] if isinstance(members, str) else list(members))
    keys = _rows.keys(count, sample_weight, groups, times)
    return rows, truth, keys, {"seed": _rows.seed(seed), "target": name, "task": task, **recipe}
