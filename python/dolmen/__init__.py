"""Dolmen combines models: it fits unlike models, keeps what each said about rows it had not seen, learns how to combine them, and hands back one
model better than its members, with the evidence.

>>> from dolmen import StackedClassifier                                       # doctest: +SKIP
>>> stack = StackedClassifier().fit(X, y)                                      # doctest: +SKIP
>>> stack.predict_proba(new), stack.weights_, stack.report_["check"]           # doctest: +SKIP

Estimators have scikit-learn's manners; `weigh` and `stack_oof` combine predictions from anywhere; `load` reads what the command line wrote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _dolmen, errors

__version__ = _dolmen.VERSION

# Estimators bring scikit-learn along: they are imported when they are asked for.
_PLACES = {
    "dolmen.stacked": ("StackedClassifier", "StackedDensity", "StackedRegressor"),
    "dolmen.oos": ("OutOfSample", "Weighing", "stack_oof", "weigh"),
    "dolmen.recipe": ("Comparison", "advise", "compare", "load"),
    "dolmen.density": ("Density",),
    "dolmen._learners": (
        "A2DE",
        "AODE",
        "AdaBoostClassifier",
        "AtomDensity",
        "AveragedDensity",
        "BMAAODE",
        "BaggingClassifier",
        "BaggingRegressor",
        "BayesClassifier",
        "DecisionTreeClassifier",
        "DecisionTreeRegressor",
        "DeepEnsembleClassifier",
        "DeepEnsembleRegressor",
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "GaussianDensity",
        "GaussianMixture",
        "GaussianProcessRegressor",
        "GradientBoostingClassifier",
        "GradientBoostingRegressor",
        "KNeighborsClassifier",
        "KNeighborsRegressor",
        "KernelDensity",
        "LMDODE",
        "LMGODE",
        "LogisticRegression",
        "MLPClassifier",
        "MLPRegressor",
        "MixtureOfExpertsClassifier",
        "MixtureOfExpertsRegressor",
        "NaiveBayes",
        "RandomForestClassifier",
        "RandomForestRegressor",
        "Ridge",
        "SVC",
        "SVR",
    ),
}
_HOME = {name: module for module, names in _PLACES.items() for name in names}

__all__ = ["__version__", "errors", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'dolmen' has no attribute '{name}'")
    import importlib

    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from ._learners import *  # noqa: F403
    from .density import Density
    from .oos import OutOfSample, Weighing, stack_oof, weigh
    from .recipe import Comparison, advise, compare, load
    from .stacked import StackedClassifier, StackedDensity, StackedRegressor
