"""What all estimators share: scikit-learn's manners around one call into the library."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from contextvars import ContextVar
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _dolmen, _pictures, _rows
from ._members import Member, Objects
from ._pictures import Picture
from ._progress import listening
from .errors import DolmenError, in_python

LEAST_ROWS = 2

ELSEWHERE: ContextVar[Any] = ContextVar("elsewhere", default=None)
"""Who does the members' fits, if it is not this process: `dolmen.dask.workers`."""


class Estimator(BaseEstimator):
    """An estimator whose fit is one recipe.

    A subclass has the parameters `reading` (how data frames are read: the recipe's fields, such as `{"all_columns": True}`), `random_state` (None is 0: fits are reproducible), `n_jobs` (None and -1 are all cores; results do not depend
    on it) and `progress` (True shows a bar; None does so in notebooks), and says in `_recipe` what else decides the fit.
    """

    _task: str

    def _recipe(self, objects: Objects) -> dict[str, Any]:
        """What decides the fit; Python objects among the members are put down in `objects`."""
        raise NotImplementedError

    def _reading(self) -> dict[str, Any]:
        """How data frames are read, if that was said."""
        if self.reading is None:
            return {}
        if not isinstance(self.reading, Mapping):
            raise TypeError(f'reading must be a dictionary such as {{"all_columns": True}}, but is {self.reading!r}')
        return {"reading": dict(self.reading)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    # Fitting

    def _fit(self, x: Any, y: Any, sample_weight: Any, groups: Any, times: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return self._fitted_to(x, y, sample_weight, groups, times)
        except BaseException:
            # What was fitted before stays whole: its classes and columns go with its model.
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _fitted_to(self, x: Any, y: Any, sample_weight: Any, groups: Any, times: Any) -> Any:
        rows = self._rows_to_fit(x)
        count = rows.rows if isinstance(rows, _dolmen.Table) else len(rows)
        truth, name = self._truth(y, count)
        if name is not None and isinstance(rows, _dolmen.Table):
            name = _rows.free_name(name, rows.names)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, np.empty((count, 1)))
        keys = _rows.keys(count, sample_weight, groups, times)
        objects = Objects(self._task)
        recipe = {"seed": _rows.seed(self.random_state), "target": name, **self._recipe(objects)}
        if self._task == "classification":
            recipe.setdefault("task", "classify")
        elif self._task == "regression":
            recipe.setdefault("task", "regress")
        members = {name: self._member(name, *given, frame_of(x)) for name, given in objects.items()}
        with listening(self.progress, type(self).__name__) as listener:
            elsewhere = ELSEWHERE.get()
            # An array goes as it was understood; a mask would be lost on the way.
            sent = x if isinstance(rows, _dolmen.Table) else rows
            doer = None if elsewhere is None else elsewhere.doer(recipe, sent, truth, keys, members or None)
            manner = _rows.manner(self.n_jobs if elsewhere is None else elsewhere.threads, listener)
            try:
                self.model_, matrix = _dolmen.fit(recipe, rows, truth, keys, members or None, None, manner, doer)
            except DolmenError as error:
                cause = _heard(members, str(error))
                if cause is None:
                    raise
                raise error from cause
            finally:
                if doer is not None:
                    doer.stop()
        self._matrix = matrix
        self._of_frame = isinstance(rows, _dolmen.Table)
        self._tell(self.model_.report())
        return self

    def _member(self, name: str, estimator: Any, task: str, frame: str | None) -> Member:
        """A Python object as the library calls it."""
        classes = self._classes_in_order() if task == "classification" else None
        return Member(name, estimator, task, classes, frame, self._jobs_of_members())

    def _rows_to_fit(self, x: Any) -> Any:
        if _rows.is_frame(x):
            table = _rows.table(x)
            self._check_columns(x, table, reset=True)
            _rows.check_rows(table, LEAST_ROWS)
            return table
        return self._array(x, ensure_min_samples=LEAST_ROWS)

    def _rows_to_use(self, x: Any) -> Any:
        check_is_fitted(self, "model_")
        if _rows.is_frame(x):
            table = _rows.table(x, [name for name, levels in self.model_.columns if levels is None])
            # A file does not say in which order its table had the columns, nor which others: the library finds those it needs.
            if not getattr(self, "_of_file", False):
                self._check_columns(x, table, reset=False)
            _rows.check_rows(table, 1)
            if self._by_name():
                return table
            x = _rows.array_of(x)
        elif self._by_name() and not self._all_numbers() and np.ndim(x) == 2:
            kinds = "texts, categories or dates"
            raise ValueError(f"{type(self).__name__} was fitted to a data frame with {kinds}: it needs one to predict, too")
        return self._array(x, reset=False)

    def _check_columns(self, x: Any, table: _dolmen.Table, *, reset: bool) -> None:
        """Keeps the columns' names, or compares them with those that were kept."""
        validate_data(self, _rows.with_names(x, table.names), skip_check_array=True, reset=reset)

    def _array(self, x: Any, **checks: Any) -> np.ndarray:
        """Numbers as the library takes them: the same array, if it is one of doubles in C order."""
        _rows.refuse_dates(x)
        _rows.refuse_mapping(x)
        if isinstance(x, np.ma.MaskedArray):
            x = x.astype(np.float64).filled(np.nan)
        try:
            return validate_data(self, x, dtype=np.float64, order="C", ensure_all_finite="allow-nan", **checks)
        except (TypeError, ValueError) as error:
            if not _rows.holds_objects(x):
                raise
            raise type(error)(f"{error}\nhint: {_rows.FRAME_HINT}") from None

    def _by_name(self) -> bool:
        """Whether the model knows its columns by name: arrays have none, and are given x1, x2, .. A file does not say which it was."""
        if hasattr(self, "_of_frame"):
            return self._of_frame
        return [name for name, _ in self.model_.columns] != [f"x{j + 1}" for j in range(len(self.model_.columns))]

    def _all_numbers(self) -> bool:
        """Whether the model's columns are the numbers of the frame, one for one."""
        names = [name for name, levels in self.model_.columns if levels is None]
        return names == list(getattr(self, "feature_names_in_", names)) and len(names) == len(self.model_.columns)

    def _truth(self, y: Any, rows: int) -> tuple[Any, str | None]:
        return None, None

    def _require_y(self, y: Any) -> None:
        if y is None:
            name = type(self).__name__
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")

    def _classes_in_order(self) -> np.ndarray | None:
        return None

    def _jobs_of_members(self) -> int | None:
        return None

    def _tell(self, report: dict[str, Any]) -> None:
        """Warns of what the fit has to say to the user."""
        for note in report.get("data_notes") or []:
            _warn(in_python(note))
        for text in report.get("left_out") or []:
            _warn(f"a member was left out: {in_python(text)}")
        if report.get("combination_converged") is False:
            from sklearn.exceptions import ConvergenceWarning

            _warn("the search for the combination missed its tolerance", ConvergenceWarning)

    # Using

    def _predicted(self, x: Any) -> np.ndarray:
        rows = self._rows_to_use(x)
        values, unseen = self.model_.predict(rows, _rows.manner(self.n_jobs))
        for found in unseen:
            levels = ", ".join(found["levels"][:3])
            _warn(f"column '{found['column']}' has {found['rows']} rows with categories not seen in the fit: {levels}")
        return values

    def score_report(self, X: Any, y: Any = None) -> dict[str, Any]:
        """How good the model is on rows with known truth, beside its members, with standard errors: what `dolmen score` shows."""
        rows = self._rows_to_use(X)
        count = rows.rows if isinstance(rows, _dolmen.Table) else len(rows)
        return self.model_.score(rows, self._known(y, count), _rows.manner(self.n_jobs))

    def _score_sums(self, X: Any, y: Any = None) -> _dolmen.ScoreSums:
        """What a part of the rows says of the model, to be merged with what others say."""
        rows = self._rows_to_use(X)
        count = rows.rows if isinstance(rows, _dolmen.Table) else len(rows)
        return _dolmen.ScoreSums.of(self.model_, rows, self._known(y, count), _rows.manner(1))

    def _known(self, y: Any, rows: int) -> Any:
        return None

    @property
    def report_(self) -> dict[str, Any]:
        """What the fit says of itself: members, weights, the check and its figures."""
        check_is_fitted(self, "model_")
        return self.model_.report()

    @property
    def evidence_(self) -> dict[str, Any] | None:
        """How predictions of rows that were held out did, summed up as curves and counts: what the pictures show."""
        check_is_fitted(self, "model_")
        return self.model_.evidence()

    def _per_feature(self, values: Any) -> np.ndarray:
        """Numbers of the model's columns summed over the columns that came of one feature; 0 for those that were left out."""
        sums: dict[str, float] = dict.fromkeys(getattr(self, "feature_names_in_", []), 0.0)
        for name, value in zip(self.model_.origins, values, strict=True):
            sums[name] = sums.get(name, 0.0) + value
        return np.asarray(list(sums.values()))

    @property
    def recipe_(self) -> str:
        """What decided the fit, as the TOML file that `dolmen fit --recipe` takes."""
        check_is_fitted(self, "model_")
        return self.model_.recipe_toml()

    @property
    def parameters_(self) -> dict[str, Any]:
        """What the model consists of: means, coefficients, trees."""
        check_is_fitted(self, "model_")
        return arrays(self.model_.parameters())

    def plot(self, kind: str | None = None, **look: Any) -> Picture:
        """A picture of the model: the most telling one, or one of `pictures_`. `input`, `member`, `theme` and `width` as for `dolmen plot`."""
        check_is_fitted(self, "model_")
        if kind is None and not self.pictures_:
            raise ValueError(f"there is no picture of this {type(self).__name__}: stacks, densities, trees, networks and experts have some, see pictures_")
        return Picture(self.model_.draw(_pictures.look(kind, **look)))

    @property
    def pictures_(self) -> dict[str, str]:
        """The pictures that suit the model, and what they show."""
        check_is_fitted(self, "model_")
        return dict(self.model_.kinds())

    def report_html(self, path: str | Path | None = None, title: str | None = None) -> str:
        """The report as one self-contained page, written to a file if one is named."""
        check_is_fitted(self, "model_")
        page = self.model_.page(title)
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        if not self.__sklearn_is_fitted__():
            return super()._repr_html_()
        return self.model_.summary_html()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        # Notebooks ask for this first; scikit-learn's would show the diagram of the parameters.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def save(self, path: str | Path) -> None:
        """Writes the model file that the command line reads, too."""
        check_is_fitted(self, "model_")
        self.model_.save(Path(path))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "model_" in state:
            state = {**state, "model_": state["model_"].to_bytes()}
        # The matrix is evidence of the fit at hand; what predicts travels.
        state.pop("_matrix", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("model_"), bytes):
            # Whoever unpickles this trusts it already.
            state = {**state, "model_": _dolmen.Model.from_bytes(state["model_"], True)}
        super().__setstate__(state)


def _warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the line that called this package, through however many of its methods."""
    frame, depth = sys._getframe(1), 2
    while frame is not None and frame.f_globals.get("__name__", "").startswith(f"{__package__}."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


def _heard(members: dict[str, Member], message: str) -> BaseException | None:
    """What the Python object raised that a message of the library is about."""
    about = (member.heard[0] for name, member in members.items() if member.heard and f"'{name}'" in message)
    return next(about, None)


def frame_of(x: Any) -> str | None:
    """The kind of data frame that members are shown."""
    if not _rows.is_frame(x):
        return None
    return "polars" if type(x).__module__.startswith("polars") else "pandas"


def arrays(value: Any) -> Any:
    """Parameters with arrays where the library has numbers with a shape."""
    if isinstance(value, dict):
        if set(value) == {"shape", "values"}:
            return np.asarray(value["values"]).reshape(value["shape"])
        return {name: arrays(part) for name, part in value.items()}
    if isinstance(value, list):
        return [arrays(part) for part in value]
    return value


class Classifier(ClassifierMixin, Estimator):
    """A classifier: `predict`, `predict_proba`, `predict_log_proba`."""

    _task = "classification"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, times: Any = None) -> Any:
        """Fits the model.

        `groups` are never torn apart by any split; with `times` no row is predicted by a model that saw a later one. Of `sample_weight` only the
        ratios matter.
        """
        return self._fit(X, y, sample_weight, groups, times)

    def _truth(self, y: Any, rows: int) -> tuple[Any, str | None]:
        self._require_y(y)
        name = getattr(y, "name", None)
        y = column_or_1d(_rows.plain_labels(y), warn=True)
        check_consistent_length(np.empty(rows), y)
        _refuse_missing(y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"The target has only one class: {_rows.spelled(self.classes_)[0]}")
        return self._levels_and_codes(codes), name if isinstance(name, str) and name else "y"

    def _levels_and_codes(self, codes: np.ndarray) -> tuple[list[str], np.ndarray]:
        names = _rows.spelled(self.classes_)
        self._class_order = np.asarray(_dolmen.class_order(names))
        place = np.argsort(self._class_order).astype(np.uint32)
        return [names[i] for i in self._class_order], np.ascontiguousarray(place[codes])

    def _known(self, y: Any, rows: int) -> Any:
        self._require_y(y)
        y = column_or_1d(_rows.plain_labels(y))
        check_consistent_length(np.empty(rows), y)
        _refuse_missing(y)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        labels, inverse = np.unique(y, return_inverse=True)
        unknown = [label for label in labels.tolist() if label not in place]
        if unknown:
            raise ValueError(f"y has classes that the model does not know: {', '.join(str(label) for label in unknown[:3])}")
        return self._levels_and_codes(np.asarray([place[label] for label in labels.tolist()])[inverse])

    def _classes_in_order(self) -> np.ndarray:
        return self.classes_[self._class_order]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of `classes_`."""
        predicted = self._predicted(X)
        return predicted[:, np.argsort(self._class_order)]

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Their logarithms."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]


class Regressor(RegressorMixin, Estimator):
    """A regression: `predict`, and prediction intervals of stacks."""

    _task = "regression"

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, times: Any = None) -> Any:
        """Fits the model.

        `groups` are never torn apart by any split; with `times` no row is predicted by a model that saw a later one. Of `sample_weight` only the
        ratios matter.
        """
        return self._fit(X, y, sample_weight, groups, times)

    def _truth(self, y: Any, rows: int) -> tuple[Any, str | None]:
        self._require_y(y)
        name = getattr(y, "name", None)
        return self._known(y, rows), name if isinstance(name, str) and name else "y"

    def _known(self, y: Any, rows: int) -> Any:
        self._require_y(y)
        y = column_or_1d(y, warn=True)
        check_consistent_length(np.empty(rows), y)
        if y.dtype.kind in "mM":
            raise TypeError("y holds dates or times, which are no numbers to predict: give numbers, such as the days since a date")
        y = _rows.numbers(y)
        _refuse_missing(y)
        return y

    def predict(self, X: Any) -> np.ndarray:
        """The expected value of each row."""
        return self._predicted(X).ravel()


class DensityEstimator(DensityMixin, Estimator):
    """A density: ln p of rows, draws, marginals, conditionals, anomaly scores."""

    _task = "density"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, times: Any = None) -> Any:
        """Fits the density of the rows; `y` is not looked at."""
        return self._fit(X, None, sample_weight, groups, times)

    def score_samples(self, X: Any) -> np.ndarray:
        """ln p of each row."""
        return self._predicted(X).ravel()

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of ln p over the rows."""
        return float(np.mean(self.score_samples(X)))

    def anomaly_scores(self, X: Any) -> np.ndarray:
        """-ln p of each row: the higher, the stranger."""
        return -self.score_samples(X)

    @property
    def density_(self) -> Any:
        """The density as an object with `marginal`, `conditional`, `cdf`, `ppf` and `sample`."""
        from .density import Density

        check_is_fitted(self, "model_")
        names = [name for name, _ in self.model_.columns]
        return Density(self.model_.density(), names, self.n_jobs, named=self._by_name(), made=(self.model_, []))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows drawn from the density."""
        return self.density_.sample(n_samples, random_state=random_state)

    def marginal(self, columns: Any) -> Any:
        """The density of some columns, the others integrated out; columns by name or number."""
        return self.density_.marginal(columns)

    def conditional(self, given: dict[Any, float]) -> Any:
        """The density of the other columns, given the values of some: {column: value}."""
        return self.density_.conditional(given)

    def cdf(self, x: Any) -> np.ndarray:
        """The probability of a value of at most x, for a density of one column."""
        return self.density_.cdf(x)

    def ppf(self, p: Any) -> np.ndarray:
        """The value below which a share p lies, for a density of one column."""
        return self.density_.ppf(p)


def _refuse_missing(y: np.ndarray) -> None:
    gone = _rows.first_missing(y)
    if gone is not None:
        raise ValueError(f"Input y contains NaN or None: row {gone} has no value")
    if y.dtype.kind == "O":
        kinds = {"text" if isinstance(label, str) else "number" if isinstance(label, Number) else type(label).__name__ for label in y}
        if len(kinds) > 1:
            raise ValueError(f"Input y mixes labels of unlike types: {', '.join(sorted(kinds))}")
    if y.dtype.kind == "f" and np.isinf(y).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
