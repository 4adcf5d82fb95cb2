"""scikit-learn's own checks of every estimator. What is expected to fail is listed with its reason."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import dolmen
from dolmen import _learners

# Only ratios of weights matter, so a weight of 2 is not the same as the row twice: limits and penalties that speak of rows see other numbers of
# them. Folds, bootstraps and held-out rows inside learners are drawn by place, and repeating rows draws others.
WEIGHTS = "weights are relative: a row of weight 2 is not that row twice"
WEIGHTED = {"check_sample_weight_equivalence_on_dense_data": WEIGHTS}
HONEST = {"AtomDensity", "AveragedDensity", "BayesClassifier", "GaussianMixture", "KernelDensity"}
"""Estimators for which it makes no difference on the table of that check."""

SINGULAR = "densities of columns that depend on one another are refused with the reason"
FEW = {
    "GaussianDensity": ("check_estimators_pickle", "check_pipeline_consistency"),
    "KernelDensity": ("check_estimators_pickle",),
    "StackedDensity": ("check_estimators_pickle", "check_pipeline_consistency"),
}

QUICK = {
    "MLPClassifier": {"hidden": (8,), "epochs": 60},
    "MLPRegressor": {"hidden": (8,), "epochs": 60},
    "DeepEnsembleClassifier": {"hidden": (8,), "epochs": 60, "copies": 2},
    "DeepEnsembleRegressor": {"hidden": (8,), "epochs": 60, "copies": 2},
    "RandomForestClassifier": {"trees": 20},
    "RandomForestRegressor": {"trees": 20},
    "ExtraTreesClassifier": {"trees": 20},
    "ExtraTreesRegressor": {"trees": 20},
    "GradientBoostingClassifier": {"rounds": 20, "min_leaf": 5.0},
    "GradientBoostingRegressor": {"rounds": 20, "min_leaf": 5.0},
}
"""Smaller than the defaults, for speed; boosting with leaves that suit tables of thirty rows."""


def estimators():
    for name in _learners.__all__:
        yield getattr(dolmen, name)(**QUICK.get(name, {}))
    yield dolmen.StackedClassifier(["logistic", "naive-bayes", "tree(depth=3)"], folds=3)
    yield dolmen.StackedRegressor(["ridge", "tree(depth=3)", "neighbours(k=5)"], folds=3)
    yield dolmen.StackedDensity(["gaussian", "kernel", "mixture(components=2)"], folds=3)


def expected_to_fail(estimator):
    name = type(estimator).__name__
    return {**({} if name in HONEST else WEIGHTED), **dict.fromkeys(FEW.get(name, ()), SINGULAR)}


# Strict: what is expected to fail and does not is taken off the lists.
@parametrize_with_checks(list(estimators()), expected_failed_checks=expected_to_fail, xfail_strict=True)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", _learners.__all__)
def test_every_parameter_reaches_the_library(name):
    """A value that the library refuses is refused under its own name: no parameter is lost on the way."""
    import numpy as np

    estimator = getattr(dolmen, name)()
    x = np.random.default_rng(0).normal(size=(30, 3))
    y = np.arange(30) % 2 if estimator._task == "classification" else x.sum(axis=1)
    for parameter in set(estimator.get_params()) - {"reading", "random_state", "n_jobs", "progress"}:
        wrong = getattr(dolmen, name)(**{parameter: {"no": "such"}})
        with pytest.raises((ValueError, TypeError)):
            wrong.fit(x, y)
