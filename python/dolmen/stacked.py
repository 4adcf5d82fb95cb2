"""Stacks: members of any kind, combined by what they said about rows they had not seen, checked on rows held out."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _pictures, _rows
from ._estimator import Classifier, DensityEstimator, Estimator, Regressor
from ._learner import Learner, spec_of
from ._members import Objects, unfitted
from .oos import OutOfSample

__all__ = ["StackedClassifier", "StackedDensity", "StackedRegressor"]

PARAMETERS = """

    Parameters
    ----------
    members : list or None, default=None
        What is combined: specs such as ``"forest"`` or ``"boost(rate=0.05)"``, Dolmen's estimators, any other object with the methods of the task,
        or pairs of a name and one of these. None takes the usual members for rows like these.
    combiner : str, dict, list or None, default=None
        How they are combined; of several, the one that does best on rows held out. None takes the usual ones.
    folds : int or None, default=None
        Folds in which members predict rows they have not seen: 5, or 10 for densities.
    plan : str or None, default=None
        Any other way to hold rows out, such as ``"repeated(of=stratified(folds=5), repeats=3)"`` or ``"time(folds=5)"``.
    check : {"auto", "nested", "matrix", "none"}, default="auto"
        How the stack is compared with its best member and equal weights.
    final : {"refit", "average"}, default="refit"
        Whether members are fitted again on all rows, or the fits of the folds are averaged.
    calibration : {"temperature", "isotonic"} or None, default=None
        How class probabilities are calibrated.
    intervals : {"constant", "local"}, default="constant"
        How wide prediction intervals of numbers are.
    margin : float or None, default=None
        How far predictions of numbers may lie beyond the range of those learned from, in widths of that range; None is half a width with
        the usual members, and no bound with given ones.
    reach : float or None, default=None
        How far numeric inputs may lie beyond the range of those learned from, in widths of that range; None is half a width with the usual
        members, and no end with given ones.
    doubt : float or None, default=None
        The share of the class frequencies that is mixed into probabilities, so that no class is impossible; None is n ** -1.5 for n rows
        with the usual members, and nothing with given ones.
    effort : {"quick", "usual", "best"}, default="usual"
        How much work the fit may take, where members, folds or check are not given.
    budget : str, float or None, default=None
        How long the fit may take, such as ``"10m"`` or seconds: members that would not be done in time are left out.
    max_members : int or None, default=None
        Members at most that have weight: the best set of so many.
    predict_under : str, float or None, default=None
        How long the kept members may take together to predict one row, such as ``"1ms"``.
    keep_stack : bool, default=False
        Whether the stack is kept even if its best member, or equal weights, do better on rows held out.
    keep_all : bool, default=False
        Whether members without weight are fitted and kept, too.
    drop_failed : bool, default=False
        Whether members that cannot be fitted leave instead of stopping the fit.
    keep_matrix : bool, default=False
        Whether `oos_` is part of the model, in files and pickles, too.
    explain : bool, default=False
        Whether the importance of the inputs is measured, through the whole stack: kept members are fitted on the folds once more for it.
    member_jobs : int or None, default=None
        Processes in which Python objects are fitted, through joblib; None fits them on threads.
    reading : dict or None, default=None
        How data frames are read: the recipe's fields, such as ``{"all_columns": True, "drop": ["name"]}``.
    random_state, n_jobs, progress
        As for every estimator of Dolmen.

    Attributes
    ----------
    weights_, weight_errors_ : ndarray
        The members' weights and their standard errors, in the order of `member_names_`.
    oos_ : OutOfSample
        What every member said about rows it had not seen.
    report_ : dict
        The evidence: scores, weights, gains with standard errors, figures of the check.
    feature_importances_ : ndarray
        What the mean score of rows held out loses when an input is shuffled; with `explain=True`.
    """


def named(members: Any) -> list[tuple[str | None, Any]]:
    """Members with the names they were given, if they were."""
    if members is None:
        return []
    if isinstance(members, dict):
        return list(members.items())
    if not isinstance(members, (list, tuple)):
        members = [members]
    return [member if isinstance(member, tuple) and len(member) == 2 else (None, member) for member in members]


def _check_names(names: list[Any]) -> None:
    """Refuses names by which members could not be told apart, or their parameters not be set."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"a member's name must be a text, but is {name!r}")
        if "__" in name:
            raise ValueError(f"a member's name must not hold two underscores, which stand before its parameters, but is {name!r}")
        if names.count(name) > 1:
            raise ValueError(f"members must have different names, but two are called '{name}'")


def specs_of(members: Any, objects: Objects) -> list[Any]:
    """Members as a recipe names them; Python objects are put down in `objects`."""
    pairs = named(members)
    if members is not None and not pairs:
        raise ValueError("there are no members: None takes the usual ones")
    _check_names([name for name, _ in pairs if name is not None])
    specs = []
    for name, member in pairs:
        if not isinstance(member, (str, dict, Learner)):
            specs.append(objects.spec(member, name))
        elif name is None:
            specs.append(spec_of(member, objects))
        else:
            specs.append({"kind": "named", "of": spec_of(member, objects), "name": name})
    return specs


class Stacked(TransformerMixin, Estimator):
    """What stacks of all tasks share."""

    def __init__(
        self,
        members: Any = None,
        *,
        combiner: Any = None,
        folds: int | None = None,
        plan: str | None = None,
        check: str = "auto",
        final: str = "refit",
        calibration: str | None = None,
        intervals: str = "constant",
        margin: float | None = None,
        reach: float | None = None,
        doubt: float | None = None,
        effort: str = "usual",
        budget: str | float | None = None,
        max_members: int | None = None,
        predict_under: str | float | None = None,
        keep_stack: bool = False,
        keep_all: bool = False,
        drop_failed: bool = False,
        keep_matrix: bool = False,
        explain: bool = False,
        member_jobs: int | None = None,
        reading: dict[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | None = None,
    ) -> None:
        self.members = members
        self.combiner = combiner
        self.folds = folds
        self.plan = plan
        self.check = check
        self.final = final
        self.calibration = calibration
        self.intervals = intervals
        self.margin = margin
        self.reach = reach
        self.doubt = doubt
        self.effort = effort
        self.budget = budget
        self.max_members = max_members
        self.predict_under = predict_under
        self.keep_stack = keep_stack
        self.keep_all = keep_all
        self.drop_failed = drop_failed
        self.keep_matrix = keep_matrix
        self.explain = explain
        self.member_jobs = member_jobs
        self.reading = reading
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    # Members

    def _named(self) -> list[tuple[str | None, Any]]:
        """The members with the names they were given, if they were."""
        return named(self.members)

    def _recipe(self, objects: Objects) -> dict[str, Any]:
        combiners = self.combiner
        if combiners is None:
            combiners = []
        elif isinstance(combiners, (str, dict)):
            combiners = [combiners]
        return {
            "members": specs_of(self.members, objects),
            "combiners": spec_of(list(combiners)),
            "folds": self.folds,
            "plan": self.plan,
            "check": self.check,
            "ending": self.final,
            "calibration": self.calibration,
            "intervals": self.intervals,
            "margin": self.margin,
            "reach": self.reach,
            "doubt": self.doubt,
            "effort": self.effort,
            "budget": self.budget,
            "max_members": self.max_members,
            "predict_under": self.predict_under,
            "keep_stack": self.keep_stack,
            "keep_all": self.keep_all,
            "drop_failed": self.drop_failed,
            "keep_matrix": self.keep_matrix,
            "explain": self.explain,
            **self._reading(),
        }

    def _jobs_of_members(self) -> int | None:
        return self.member_jobs

    def __sklearn_clone__(self) -> Any:
        """The same stack unfitted: also with members that scikit-learn would not clone, such as CatBoost's."""
        made = type(self)(**unfitted(self.get_params(deep=False)))
        for name in ("_metadata_request", "_sklearn_output_config"):
            if hasattr(self, name):
                setattr(made, name, copy.deepcopy(getattr(self, name)))
        return made

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; of named members theirs, too, as ``name__parameter``."""
        found = super().get_params(deep=False)
        if deep:
            for name, member in self._named():
                if name is not None and hasattr(member, "get_params"):
                    found[name] = member
                    found.update({f"{name}__{key}": value for key, value in member.get_params().items()})
        return found

    def set_params(self, **params: Any) -> Any:
        """Sets parameters; those of named members as ``name__parameter``."""
        named = {name: member for name, member in self._named() if name is not None}
        own = {}
        for key, value in params.items():
            name, _, rest = key.partition("__")
            if rest and name in named:
                named[name].set_params(**{rest: value})
            elif key in named:
                self.members = [(other, value if other == key else member) for other, member in self._named()]
            else:
                own[key] = value
        return super().set_params(**own) if own else self

    # What was found

    def _weighed(self) -> list[dict[str, Any]]:
        return self.report_["members"]

    @property
    def member_names_(self) -> list[str]:
        """The members' names, in the order of the weights."""
        return [member["name"] for member in self._weighed()]

    @property
    def weights_(self) -> np.ndarray:
        """The members' weights; NaN where the combination has none."""
        return np.asarray([np.nan if member["weight"] is None else member["weight"] for member in self._weighed()])

    @property
    def weight_errors_(self) -> np.ndarray:
        """Their standard errors; NaN where they are not known."""
        return np.asarray([np.nan if member.get("se") is None else member["se"] for member in self._weighed()])

    @property
    def feature_importances_(self) -> np.ndarray:
        """What the mean score of rows held out loses when an input is shuffled. Inputs that are one thing share it."""
        found = (self.evidence_ or {}).get("importance")
        if found is None:
            raise AttributeError("importances of a stack are measured if explain=True")
        losses = {name: one["loss"]["mean"] for one in found["inputs"] for name in (one["name"], *one["columns"])}
        known = getattr(self, "feature_names_in_", None)
        return np.asarray([losses.get(name, 0.0) for name in (dict.fromkeys(self.model_.origins) if known is None else known)])

    @property
    def oos_(self) -> OutOfSample:
        """What every member said about rows it had not seen. It travels with pickles and files if `keep_matrix` says so."""
        check_is_fitted(self, "model_")
        matrix = getattr(self, "_matrix", None) or self.model_.matrix()
        if matrix is None:
            raise AttributeError("the out-of-sample matrix is not at hand: it stays with the object that was fitted")
        found = OutOfSample(matrix)
        if matrix.classes:
            # Labels as they were given: files know their spellings.
            found._classes = self._classes_in_order()
        return found

    def plot_weights(self, ax: Any = None, **look: Any) -> Any:
        """The weights with their intervals: on matplotlib's axes if it is there, else as a picture."""
        if ax is None and not _pictures.has_matplotlib():
            return self.plot("weights", **look)
        return _pictures.weight_bars(self.member_names_, self.weights_, self.weight_errors_, ax)

    def plot_scores(self, ax: Any = None, **look: Any) -> Any:
        """The members' scores on rows they had not seen: on matplotlib's axes if it is there, else as a picture."""
        if ax is None and not _pictures.has_matplotlib():
            return self.plot("scores", **look)
        return _pictures.score_bars(self.report_, ax)

    def transform(self, X: Any) -> np.ndarray:
        """What each member says about rows, side by side: inputs for a combiner of one's own."""
        rows = self._rows_to_use(X)
        said = self.model_.predict_members(rows, _rows.manner(self.n_jobs))
        return np.hstack([self._in_order(values) for _, values in said])

    def _in_order(self, values: np.ndarray) -> np.ndarray:
        return values

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The columns of `transform`: the members that are kept, with classes `member:class`."""
        check_is_fitted(self, "model_")
        names = [member["name"] for member in self.model_.members()]
        classes = getattr(self, "classes_", None)
        if classes is not None:
            names = [f"{name}:{label}" for name in names for label in classes]
        return np.asarray(names, dtype=object)


class StackedClassifier(Stacked, Classifier):
    __doc__ = "A classifier that combines others." + PARAMETERS

    def _in_order(self, values: np.ndarray) -> np.ndarray:
        return values[:, np.argsort(self._class_order)]


class StackedRegressor(Stacked, Regressor):
    __doc__ = "A regression that combines others, with prediction intervals." + PARAMETERS

    def predict_interval(self, X: Any, level: float = 0.9) -> np.ndarray:
        """Lower and upper ends of prediction intervals (CV+) that hold the truth in about this share of the rows."""
        rows = self._rows_to_use(X)
        return self.model_.predict_interval(rows, float(level), _rows.manner(self.n_jobs))


class StackedDensity(Stacked, DensityEstimator):
    __doc__ = "A density that combines others: the log score of rows held out decides their weights." + PARAMETERS
