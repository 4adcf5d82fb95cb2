"""Single learners as estimators: their parameters are those of the library, fitted as they are, without folds or combiner."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._estimator import Classifier, DensityEstimator, Regressor, arrays
from ._members import Objects

MANNERS = ("reading", "random_state", "n_jobs", "progress")
"""Parameters that are no part of a spec."""


def spec_of(value: Any, objects: Objects | None = None, task: str | None = None) -> Any:
    """A value of a spec: numbers and texts as they are, estimators as the specs they are. Python objects are put down in `objects`, where they can
    be used."""
    if isinstance(value, Learner):
        return value._spec(objects)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple, np.ndarray)):
        return [spec_of(part, objects, task) for part in value]
    if isinstance(value, dict):
        return {name: spec_of(part, objects, task) for name, part in value.items()}
    if hasattr(value, "fit"):
        if objects is None:
            raise TypeError(f"{type(value).__name__} is a Python object, and only specs and Dolmen's single learners can be used here")
        return objects.spec(value, task=task)
    return value


class Learner:
    """A learner by its kind; the parameters that differ from the default make its spec."""

    _kind: ClassVar[str]
    _spelled: ClassVar[dict[str, str]] = {}
    """Parameters that Python cannot spell as the library does."""
    _given: ClassVar[tuple[str, ...]] = ()
    """Parameters that the library has no default for: always part of the spec."""

    def _spec(self, objects: Objects | None = None) -> dict[str, Any]:
        defaults = self._defaults()
        spec: dict[str, Any] = {"kind": self._kind}
        for name, value in self.get_params(deep=False).items():
            if name in MANNERS:
                continue
            value = spec_of(value, objects, "density" if name == "density" else None)
            if value is None or (name not in self._given and value == spec_of(defaults[name])):
                continue
            spec[self._spelled.get(name, name)] = value
        return spec

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        return {name: parameter.default for name, parameter in _signature(cls).items()}

    def _recipe(self, objects: Objects) -> dict[str, Any]:
        return {"members": [self._spec(objects)], "alone": True, **self._reading()}

    def _repr_html_(self) -> str:
        # What is known of a learner alone is what it looks like.
        picture = self.plot().svg if self.__sklearn_is_fitted__() and self.pictures_ else ""
        return super()._repr_html_() + picture

    def _fitted_parameters(self) -> dict[str, Any]:
        """What the one model consists of, behind whatever wraps it."""
        check_is_fitted(self, "model_")
        found = arrays(self.model_.parameters())
        while "models" in found or "model" in found:
            found = found["models"][0] if "models" in found else found["model"]
        return found

    def _series(self, name: str) -> np.ndarray | None:
        check_is_fitted(self, "model_")
        for series in self.model_.members()[0]["series"]:
            if series["name"] == name:
                return np.asarray(series["values"])
        return None


def _signature(cls: type) -> dict[str, Any]:
    import inspect

    parameters = inspect.signature(cls.__init__).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "self"}


class ClassificationLearner(Learner, Classifier):
    """A single classifier."""


class RegressionLearner(Learner, Regressor):
    """A single regression."""


class DensityLearner(Learner, DensityEstimator):
    """A single density."""


class Importances:
    """For learners that know how much each input matters."""

    @property
    def feature_importances_(self) -> np.ndarray:
        """How much each input matters to the model; they sum to 1 unless they are by permutation."""
        found = self._series("importance")
        if found is None:
            raise AttributeError(f"this {type(self).__name__} has no importances")
        return self._per_feature(found)
