"""Fitted attributes under the names that scikit-learn's users know."""

from __future__ import annotations

from typing import Any

import numpy as np


class MixtureAttributes:
    """Of Gaussian mixtures."""

    @property
    def weights_(self) -> np.ndarray:
        """The components' weights."""
        return np.asarray(self._fitted_parameters()["weights"])

    @property
    def means_(self) -> np.ndarray:
        """The components' means, in the units of the data."""
        return np.asarray(self._fitted_parameters()["means"])

    @property
    def covariances_(self) -> np.ndarray:
        """The components' covariances, in the units of the data."""
        return np.asarray(self._fitted_parameters()["covariances"])

    @property
    def n_components_(self) -> int:
        """How many components there are."""
        return len(self.weights_)

    @property
    def converged_(self) -> bool | None:
        """Whether EM reached its tolerance."""
        return self.model_.members()[0]["converged"]


class KernelAttributes:
    """Of kernel densities."""

    @property
    def bandwidth_(self) -> np.ndarray:
        """The bandwidth of each column, in the units of the data."""
        return np.asarray(self._fitted_parameters()["bandwidth"])


class LinearAttributes:
    """Of linear models."""

    @property
    def coef_(self) -> Any:
        """The coefficients of the columns that the encoder makes of the inputs, as many as inputs where all are numbers; of classes a row for each."""
        return np.asarray(self._fitted_parameters()["coefficients"])

    @property
    def intercept_(self) -> Any:
        """The intercept, or one for each class."""
        found = self._fitted_parameters()
        return np.asarray(found["intercept"] if "intercept" in found else found["intercepts"])
