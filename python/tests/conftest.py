"""Tables that tests share."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="session")
def blobs():
    """Two clouds in two columns."""
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal([0, 0], 1.0, (80, 2)), rng.normal([5, 3], [0.5, 1.5], (60, 2))])
