"""Densities that can be taken apart: marginals, conditionals, probabilities and draws."""

from __future__ import annotations

from numbers import Integral, Number
from typing import Any

import numpy as np

from . import _dolmen, _rows

__all__ = ["Density"]

Step = tuple[str, Any]
"""What was done with a density: a method's name, and what it was given."""


class Density:
    """A density of numeric columns, as fitted, or what is left of one. Columns of data frames are found by name if the density has names of its own
    (`named`), and not those that an array's columns are given. Pickles hold the model that it comes from and the steps since (`made`)."""

    def __init__(self, density: _dolmen.Density, names: list[str], n_jobs: int | None = None, *, named: bool = True, made: Any = None):
        self._density, self.names, self.n_jobs, self.named, self._made = density, names, n_jobs, named, made

    def __reduce__(self) -> Any:
        if self._made is None:
            raise TypeError("a density can be pickled if it comes from an estimator")
        model, steps = self._made
        return _made_again, (model.to_bytes(), steps, self.n_jobs, self.named)

    def _left(self, density: _dolmen.Density, names: list[str], step: Step) -> Density:
        """What a step leaves of it."""
        made = None if self._made is None else (self._made[0], [*self._made[1], step])
        return Density(density, names, self.n_jobs, named=self.named, made=made)

    def __repr__(self) -> str:
        return f"Density({', '.join(self.names)})"

    def score_samples(self, X: Any) -> np.ndarray:
        """ln p of each row."""
        if _rows.is_frame(X):
            x = self._columns_of(X)
        else:
            # One column may come as a list of its values.
            x = _rows.rows_of_numbers(np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X)
        return self._density.log_density(x, _rows.manner(self.n_jobs))

    def marginal(self, columns: Any) -> Density:
        """The density of some columns, the others integrated out; columns by name or number."""
        places = [self._place(column) for column in ([columns] if isinstance(columns, (str, Number)) else columns)]
        return self._left(self._density.marginal(places), [self.names[j] for j in places], ("marginal", places))

    def conditional(self, given: dict[Any, float]) -> Density:
        """The density of the other columns, given the values of some: {column: value}."""
        if not hasattr(given, "items"):
            raise TypeError(f"given must be a dictionary of columns and their values, but is {given!r}")
        if len(given) == 0:
            raise ValueError("given must have the value of a column at least, but is empty")
        places = {self._place(column): float(value) for column, value in given.items()}
        rest = [name for j, name in enumerate(self.names) if j not in places]
        return self._left(self._density.conditional(sorted(places.items())), rest, ("conditional", places))

    def cdf(self, x: Any) -> np.ndarray:
        """The probability of a value of at most x, for a density of one column; a number for a number."""
        points = _rows.numbers(x)
        return self._density.cdf(points.ravel(), _rows.manner(self.n_jobs)).reshape(np.shape(x))[()]

    def ppf(self, p: Any) -> np.ndarray:
        """The value below which a share p lies, for a density of one column; a number for a number."""
        shares = _rows.numbers(p)
        return self._density.ppf(shares.ravel(), _rows.manner(self.n_jobs)).reshape(np.shape(p))[()]

    def sample(self, n_samples: int = 1, random_state: Any = None) -> np.ndarray:
        """Rows drawn from the density."""
        if not isinstance(n_samples, Integral):
            raise TypeError(f"n_samples must be a whole number, but is {n_samples!r}")
        if n_samples < 1:
            raise ValueError(f"n_samples must be at least 1, but is {n_samples}")
        seed = np.random.SeedSequence().entropy % _rows.SEEDS if random_state is None else _rows.seed(random_state)
        return self._density.sample(int(n_samples), seed, _rows.manner(self.n_jobs))

    def _place(self, column: Any) -> int:
        if isinstance(column, str):
            if column not in self.names:
                raise ValueError(f"no column '{column}'; there are {', '.join(self.names)}")
            return self.names.index(column)
        if not isinstance(column, Integral):
            raise TypeError(f"a column is called by its name or number, not by {column!r}")
        place = int(column)
        if not -len(self.names) <= place < len(self.names):
            raise ValueError(f"no column {place}; there are {len(self.names)}")
        return place % len(self.names)

    def _columns_of(self, frame: Any) -> np.ndarray:
        """The columns of a data frame that the density has, by name."""
        columns = _rows.named_columns(frame)
        if not self.named:
            return np.column_stack([_rows.numbers(values) for values in columns.values()])
        for name in self.names:
            if name not in columns:
                raise ValueError(f"no column '{name}' in the data frame, which has {', '.join(columns)}")
        return np.column_stack([_rows.numbers(columns[name]) for name in self.names])


def _made_again(model: bytes, steps: list[Step], n_jobs: int | None, named: bool) -> Density:
    """The density of a pickle. Whoever unpickles it trusts it already."""
    whole = _dolmen.Model.from_bytes(model, True)
    density = Density(whole.density(), [name for name, _ in whole.columns], n_jobs, named=named, made=(whole, []))
    for step, given in steps:
        density = getattr(density, step)(given)
    return density
