"""Python objects as members of a stack.

Anything with `fit` and `predict_proba`, `predict` or `score_samples` may be one: scikit-learn's estimators and pipelines, LightGBM, XGBoost,
CatBoost. The library calls these wrappers fold by fold with plain arrays; they clone the object, show it rows of the kind that the stack was
given, and bring what it says into the order the library expects.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

Fields = list[tuple[str, "list[str] | None"]]

SPEAKS = {"density": "score_samples", "classification": "predict_proba", "regression": "predict"}
"""The method by which an object answers, by task."""


TRUTHS = ["false", "true"]
"""Levels of a column of truth values."""

NOT_ONE = 1e-3
"""Probabilities whose sum is further from 1 are none; single precision comes much nearer."""


class Objects(dict[str, tuple[Any, str]]):
    """The Python objects that a recipe speaks of, by name: each with the task it is to do."""

    def __init__(self, task: str):
        super().__init__()
        self.task = task

    def spec(self, estimator: Any, name: str | None = None, task: str | None = None) -> dict[str, Any]:
        """The spec by which a recipe names an object, which is put down here."""
        if isinstance(estimator, type):
            raise TypeError(f"{estimator.__name__} is a class: give an object of it, {estimator.__name__}()")
        name = name or type(estimator).__name__
        if name in self:
            name = next(f"{name}-{i}" for i in range(2, len(self) + 3) if f"{name}-{i}" not in self)
        self[name] = (estimator, task or self.task)
        return {"kind": "python", "name": name}


class Member:
    """An object that is not fitted, with what it needs to know of the task."""

    def __init__(self, name: str, estimator: Any, task: str, classes: np.ndarray | None, frame: str | None, jobs: int | None):
        method = SPEAKS[task]
        if not hasattr(estimator, "fit") or not hasattr(estimator, method):
            raise TypeError(f"member '{name}' ({type(estimator).__name__}) has no {method if hasattr(estimator, 'fit') else 'fit'}, which a member of a {task} stack needs")
        self.name, self.estimator, self.task = name, estimator, task
        self.classes, self.frame, self.jobs = classes, _frame_for(estimator, frame), jobs
        self.heard: list[BaseException] = []
        """What it raised: the library keeps the words only."""

    @property
    def in_processes(self) -> bool:
        """Whether folds are fitted in processes of their own."""
        return self.jobs is not None

    def fit(self, x: np.ndarray, fields: Fields, truth: np.ndarray | None, weights: np.ndarray | None) -> FittedMember:
        """Fits a clone of the object."""
        try:
            return self._fitted(x, fields, truth, weights)
        except Exception as error:
            self.heard.append(error)
            raise

    def _fitted(self, x: np.ndarray, fields: Fields, truth: np.ndarray | None, weights: np.ndarray | None) -> FittedMember:
        estimator, named = _clone(self.estimator), {}
        if weights is not None:
            keyword = _weights_keyword(estimator)
            if keyword is not None:
                named[keyword] = weights
            elif np.all(weights == np.floor(weights)):
                # Whole weights, such as a bootstrap's, are rows that are there as often.
                rows = np.repeat(np.arange(len(x)), weights.astype(int))
                x, truth = x[rows], None if truth is None else truth[rows]
            else:
                raise TypeError(f"member '{self.name}' ({type(estimator).__name__}) takes no sample_weight, but the rows have weights")
        arguments: list[Any] = [shown(x, fields, self.frame)]
        known = None
        if truth is not None and self.classes is not None and "xgboost" in _libraries(estimator):
            # It takes no labels but 0, 1, .. without a gap.
            present, truth = np.unique(truth, return_inverse=True)
            known = self.classes[present]
        elif truth is not None and self.classes is not None:
            truth = self.classes[truth]
        estimator.fit(*arguments, *([] if truth is None else [truth]), **named)
        return FittedMember(estimator, self.task, self.classes, known, self.frame, fields, self.heard)

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
        answers: list[np.ndarray | str] = []
        for answer in Parallel(n_jobs=self.jobs)(fits):
            if isinstance(answer, Failed):
                self.heard.extend([] if answer.error is None else [answer.error])
                answer = answer.text
            answers.append(answer)
        return answers


class Failed:
    """What a fit in another process raised, as far as it can be sent."""

    def __init__(self, error: Exception):
        self.text = f"{type(error).__name__}: {error}"
        try:
            pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
            self.error: Exception | None = error
        except Exception:  # noqa: BLE001 - whatever it is, it cannot be sent
            self.error = None


def _one_split(
    member: Member,
    x: np.ndarray,
    fields: Fields,
    truth: np.ndarray | None,
    weights: np.ndarray | None,
    train: np.ndarray,
    test: np.ndarray,
) -> np.ndarray | Failed:
    def rows(values: np.ndarray | None) -> np.ndarray | None:
        return None if values is None else values[train]

    try:
        return member.fit(x[train], fields, rows(truth), rows(weights)).predict(x[test])
    except Exception as error:  # noqa: BLE001 - whatever an object raises is the failure of a member
        return Failed(error)


class FittedMember:
    """A fitted object that takes arrays and gives arrays."""

    def __init__(
        self,
        estimator: Any,
        task: str,
        classes: np.ndarray | None,
        known: np.ndarray | None,
        frame: str | None,
        fields: Fields,
        heard: list[BaseException],
    ):
        self.estimator, self.task = estimator, task
        self.classes, self.known, self.frame, self.fields = classes, known, frame, fields
        self.heard = heard

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "heard": []}

    def predict(self, x: np.ndarray) -> np.ndarray:
        """One row of values after the other."""
        try:
            return self._predicted(x)
        except Exception as error:
            self.heard.append(error)
            raise

    def _predicted(self, x: np.ndarray) -> np.ndarray:
        said = np.asarray(getattr(self.estimator, SPEAKS[self.task])(shown(x, self.fields, self.frame)))
        if self.classes is None:
            return np.ascontiguousarray(said, dtype=np.float64).ravel()
        # A fold may lack a class, and objects order classes as they like.
        whole = np.zeros((len(x), len(self.classes)))
        known = getattr(self.estimator, "classes_", None) if self.known is None else self.known
        known = self.classes if known is None else np.asarray(known)
        if said.shape != (len(x), len(known)):
            raise ValueError(f"predict_proba gave an array of shape {said.shape}, but there are {len(x)} rows and {len(known)} classes")
        # Some call classes by their spellings, whatever they were given.
        place = {str(label): i for i, label in enumerate(self.classes.tolist())}
        place |= {label: i for i, label in enumerate(self.classes.tolist())}
        whole[:, [place[label] for label in known.tolist()]] = said
        totals = whole.sum(axis=1)
        if not (np.all(whole >= 0.0) and np.all(np.abs(totals - 1.0) < NOT_ONE)):
            row = int(np.argmax(~((whole >= 0.0).all(axis=1) & (np.abs(totals - 1.0) < NOT_ONE))))
            raise ValueError(f"predict_proba gave {whole[row].tolist()} for a row: no probabilities that sum to 1")
        return whole.ravel()

    def dumps(self) -> bytes:
        """The object as it is stored."""
        try:
            return pickle.dumps(self, protocol=5)
        except (pickle.PicklingError, AttributeError) as error:
            # On a worker of a cluster there is no `__main__` by which to name a class that a notebook has made.
            try:
                import cloudpickle
            except ImportError:
                raise error from None
            return cloudpickle.dumps(self, protocol=5)


def loads(state: bytes) -> FittedMember:
    """An object as it was stored. Runs what is in the pickle: only for files that are trusted."""
    return pickle.loads(state)  # noqa: S301 - the caller has said that it trusts the file


def shown(x: np.ndarray, fields: Fields, frame: str | None) -> Any:
    """Rows as the object is to see them: a data frame of the kind that the stack was given, or the array itself."""
    if frame is None:
        return x
    if frame == "pandas":
        try:
            import pandas
        except ImportError:
            raise ImportError("members see tables of this kind as pandas data frames: install pandas") from None
    columns = {name: _column(x[:, j], levels, frame) for j, (name, levels) in enumerate(fields)}
    if frame == "polars":
        import polars

        return polars.DataFrame(columns)
    return pandas.DataFrame(columns)


def _column(values: np.ndarray, levels: list[str] | None, frame: str) -> Any:
    if levels is None:
        return values
    # Codes beyond the last level stand for what was not seen, NaN for what is missing.
    codes = np.where(np.isnan(values) | (values >= len(levels)), -1, values).astype(int)
    if levels == TRUTHS:
        # Truth values are what they were; missing ones need a number that stands for nothing.
        return codes.astype(bool) if np.all(codes >= 0) else np.where(codes < 0, np.nan, codes)
    if frame == "polars":
        import polars

        texts = [levels[code] if code >= 0 else None for code in codes]
        return polars.Series(texts, dtype=polars.Enum(levels))
    import pandas

    return pandas.Categorical.from_codes(codes, categories=levels)


def unfitted(value: Any) -> Any:
    """An object as it was before it was fitted, or a list, a pair or a mapping of such."""
    if isinstance(value, (list, tuple)):
        return type(value)(unfitted(part) for part in value)
    if isinstance(value, dict):
        return {name: unfitted(part) for name, part in value.items()}
    return _clone(value) if hasattr(value, "fit") else copy.deepcopy(value)


def _clone(estimator: Any) -> Any:
    if hasattr(estimator, "get_params"):
        from sklearn.base import clone

        try:
            return clone(estimator)
        except RuntimeError:
            # Some change the parameters they are made with, which scikit-learn does not bear: CatBoost its lists of columns.
            pass
    try:
        return copy.deepcopy(estimator)
    except Exception as error:
        name = type(estimator).__name__
        raise TypeError(f"{name} cannot be copied for each fold: it has no get_params by which to make another, and {error}") from error


def _frame_for(estimator: Any, frame: str | None) -> str | None:
    """The kind of frame that an object can take: these end the process where a frame of Polars has categories."""
    return "pandas" if frame == "polars" and not _libraries(estimator).isdisjoint(("lightgbm", "catboost")) else frame


def _libraries(estimator: Any) -> set[str]:
    """The packages that an object and its parts come from."""
    return {cls.__module__.partition(".")[0] for part in _parts(estimator) for cls in type(part).__mro__}


def _parts(estimator: Any) -> Iterator[Any]:
    """An object and those it hands the rows on to: the last step of a pipeline, what a search fits."""
    while estimator is not None:
        yield estimator
        steps = getattr(estimator, "steps", None)
        estimator = steps[-1][1] if steps else getattr(estimator, "estimator", None)


def _weights_keyword(estimator: Any) -> str | None:
    """How `fit` is told of the rows' weights: a pipeline hands them to its last step, other wrappers to what they wrap."""
    from sklearn import get_config

    keyword = "sample_weight"
    for part in _parts(estimator):
        try:
            parameters = inspect.signature(part.fit).parameters
        except (AttributeError, TypeError, ValueError):
            return None
        if "sample_weight" in parameters:
            return keyword
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
            return None
        if getattr(part, "steps", None) and not get_config()["enable_metadata_routing"]:
            keyword = f"{keyword.removesuffix('sample_weight')}{part.steps[-1][0]}__sample_weight"
    return None
