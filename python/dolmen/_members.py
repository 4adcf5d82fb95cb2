"""Python objects as members of a stack.

Anything with `fit` and `predict_proba`, `predict` or `score_samples` may be one: scikit-learn's estimators and pipelines, LightGBM, XGBoost,
CatBoost. The library calls these wrappers fold by fold with plain arrays; they clone the object, show it rows of the kind that the stack was
given, and bring what it says into the order the library expects.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from typing import Any

import numpy as np

Fields = list[tuple[str, "list[str] | None"]]

SPEAKS = {"density": "score_samples", "classification": "predict_proba", "regression": "predict"}
"""The method by which an object answers, by task."""


NOT_ONE = 1e-3
"""Probabilities whose sum is further from 1 are none; single precision comes much nearer."""


class Member:
    """An object that is not fitted, with what it needs to know of the task."""

    def __init__(self, name: str, estimator: Any, task: str, classes: np.ndarray | None, frame: str | None, jobs: int | None):
        method = SPEAKS[task]
        if not hasattr(estimator, "fit") or not hasattr(estimator, method):
            raise TypeError(f"member '{name}' ({type(estimator).__name__}) has no {method if hasattr(estimator, 'fit') else 'fit'}, which a member of a {task} stack needs")
        self.name, self.estimator, self.task = name, estimator, task
        self.classes, self.frame, self.jobs = classes, frame, jobs

    @property
    def in_processes(self) -> bool:
        """Whether folds are fitted in processes of their own."""
        return self.jobs is not None

    def fit(self, x: np.ndarray, fields: Fields, truth: np.ndarray | None, weights: np.ndarray | None) -> FittedMember:
        """Fits a clone of the object."""
        estimator = _clone(self.estimator)
        arguments: list[Any] = [shown(x, fields, self.frame)]
        if truth is not None:
            arguments.append(truth if self.classes is None else self.classes[truth])
        named = {}
        if weights is not None:
            if not _takes_weights(estimator):
                raise TypeError(f"member '{self.name}' ({type(estimator).__name__}) takes no sample_weight, but the rows have weights")
            named["sample_weight"] = weights
        estimator.fit(*arguments, **named)
        return FittedMember(estimator, self.task, self.classes, self.frame, fields)

    def out_of_sample(
        self,
        x: np.ndarray,
        fields: Fields,
        truth: np.ndarray | None,
        weights: np.ndarray | None,
        splits: list[tuple[np.ndarray, np.ndarray]],
    ) -> list[np.ndarray | str]:
        """What clones say about the rows of each split that they have not seen; a text where one failed."""
        from joblib import Parallel, delayed

        fits = (delayed(_one_split)(self, x, fields, truth, weights, train, test) for train, test in splits)
        return list(Parallel(n_jobs=self.jobs)(fits))


def _one_split(
    member: Member,
    x: np.ndarray,
    fields: Fields,
    truth: np.ndarray | None,
    weights: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
) -> np.ndarray | str:
    def rows(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[train]

    try:
        return member.fit(x[train], fields, rows(truth), rows(weights)).predict(x[test])
    except Exception as error:  # noqa: BLE001 - whatever an object raises is the failure of a member
        return f"{type(error).__name__}: {error}"


class FittedMember:
    """A fitted object that takes arrays and gives arrays."""

    def __init__(self, estimator: Any, task: str, classes: np.ndarray | None, frame: str | None, fields: Fields):
        self.estimator, self.task = estimator, task
        self.classes, self.frame, self.fields = classes, frame, fields

    def predict(self, x: np.ndarray) -> np.ndarray:
        """One row of values after the other."""
        said = np.asarray(getattr(self.estimator, SPEAKS[self.task])(shown(x, self.fields, self.frame)))
        if self.classes is None:
            return np.ascontiguousarray(said, dtype=np.float64).ravel()
        # A fold may lack a class, and objects order classes as they like.
        whole = np.zeros((len(x), len(self.classes)))
        known = getattr(self.estimator, "classes_", None)
        known = self.classes if known is None else np.asarray(known)
        place = {label: i for i, label in enumerate(self.classes.tolist())}
        columns = [place[label] for label in known.tolist()]
        whole[:, columns] = said
        totals = whole.sum(axis=1)
        if not (np.all(whole >= 0.0) and np.all(np.abs(totals - 1.0) < NOT_ONE)):
            row = int(np.argmax(~((whole >= 0.0).all(axis=1) & (np.abs(totals - 1.0) < NOT_ONE))))
            raise ValueError(f"predict_proba gave {whole[row].tolist()} for a row: no probabilities that sum to 1")
        return whole.ravel()

    def dumps(self) -> bytes:
        """The object as it is stored."""
        return pickle.dumps(self, protocol=5)


def loads(state: bytes) -> FittedMember:
    """An object as it was stored. Runs what is in the pickle: only for files that are trusted."""
    return pickle.loads(state)  # noqa: S301 - the caller has said that it trusts the file


def shown(x: np.ndarray, fields: Fields, frame: str | None) -> Any:
    """Rows as the object is to see them: a data frame of the kind that the stack was given, or the array itself."""
    if frame is None:
        return x
    columns = {name: _column(x[:, j], levels, frame) for j, (name, levels) in enumerate(fields)}
    if frame == "polars":
        import polars

        return polars.DataFrame(columns)
    import pandas

    return pandas.DataFrame(columns)


def _column(values: np.ndarray, levels: list[str] | None, frame: str) -> Any:
    if levels is None:
        return values
    # Codes beyond the last level stand for what was not seen, NaN for what is missing.
    codes = np.where(np.isnan(values) | (values >= len(levels)), -1, values).astype(int)
    if frame == "polars":
        import polars

        texts = [levels[code] if code >= 0 else None for code in codes]
        return polars.Series(texts, dtype=polars.Enum(levels))
    import pandas

    return pandas.Categorical.from_codes(codes, categories=levels)


def _clone(estimator: Any) -> Any:
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        return clone(estimator)
    return copy.deepcopy(estimator)


def _takes_weights(estimator: Any) -> bool:
    try:
        return "sample_weight" in inspect.signature(estimator.fit).parameters
    except (TypeError, ValueError):
        return False
