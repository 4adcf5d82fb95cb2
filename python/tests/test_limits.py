"""Effort, budget and limits of a stack."""

import numpy as np
import pytest

import dolmen


@pytest.fixture
def wave():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(120, 2))
    return x, 3 * x[:, 0] + np.sin(9 * x[:, 0]) + 0.1 * rng.normal(size=120)


def test_few_members_are_kept(wave):
    stack = dolmen.StackedRegressor(["ridge", "mean", "tree", "neighbours(k=5)"], max_members=2, keep_stack=True).fit(*wave)
    assert len(stack.model_.members()) <= 2
    assert stack.report_["limit"]["loss"]["mean"] >= -1e-9


def test_a_budget_that_is_long_enough_changes_nothing(wave):
    members = ["ridge", "tree"]
    free = dolmen.StackedRegressor(members).fit(*wave)
    within = dolmen.StackedRegressor(members, budget="1h").fit(*wave)
    assert np.array_equal(free.predict(wave[0]), within.predict(wave[0]))


def test_what_is_no_length_of_time_is_refused(wave):
    with pytest.raises(Exception, match="10m"):
        dolmen.StackedRegressor(["ridge"], budget="soon").fit(*wave)
