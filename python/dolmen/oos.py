"""The out-of-sample matrix, and the best combination of predictions made anywhere."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _dolmen, _rows

__all__ = ["OutOfSample", "Weighing", "stack_oof", "weigh"]


class OutOfSample:
    """What every member said about rows it had not seen: kept, saved, and combined in any way."""

    def __init__(self, matrix: _dolmen.Matrix):
        self._matrix = matrix

    @classmethod
    def from_arrays(cls, members: Mapping[str, Any], y: Any = None, *, log: bool = False, sample_weight: Any = None) -> OutOfSample:
        """A matrix of predictions one has: for each member an array of numbers, of class probabilities (rows x classes), or of (log) densities.

        With classes, the columns are in the order of the sorted classes; arrays of one column of two classes hold the second one's probability.
        Arrays of doubles in C order are not copied.
        """
        if not members:
            raise ValueError("there are no members to combine")
        truth, classes = _truth(y, list(members.values()))
        for name, values in members.items():
            if y is not None and len(values) != np.size(y):
                raise ValueError(f"member '{name}' has {len(values)} rows, but y has {np.size(y)}")
        if any(len(values) == 0 for values in members.values()):
            raise ValueError("there are no rows to weigh the members by")
        arrays = [(str(name), _column(name, values, classes)) for name, values in members.items()]
        weights = None if sample_weight is None else _rows.numbers(sample_weight).ravel()
        if y is None and not log:
            with np.errstate(divide="ignore", invalid="ignore"):
                arrays = [(name, np.log(_not_negative(name, values))) for name, values in arrays]
        if classes is not None and not log:
            _check_sums(arrays)
        matrix = _dolmen.Matrix.from_arrays(arrays, truth, log and y is not None, weights, _rows.manner())
        found = cls(matrix)
        if classes is not None:
            found._classes = classes
        return found

    @classmethod
    def read(cls, path: str | Path) -> OutOfSample:
        """Reads the Parquet file that `dolmen fit --oos` or `write` made."""
        return cls(_dolmen.Matrix.read(Path(path), _rows.manner()))

    def write(self, path: str | Path) -> None:
        """Writes a Parquet file that `dolmen weigh` and `dolmen fit --oos` read."""
        self._matrix.write(Path(path))

    @property
    def task(self) -> str:
        """What the members predict."""
        return self._matrix.task

    @property
    def members(self) -> list[str]:
        """The members' names."""
        return self._matrix.members

    @property
    def rows(self) -> np.ndarray:
        """Each row's place in the table it came from: rows never held out are not here."""
        return np.asarray(self._matrix.table_rows)

    @property
    def classes(self) -> np.ndarray:
        """The classes, in the order of the members' columns."""
        return getattr(self, "_classes", None) if hasattr(self, "_classes") else _rows.unspelled(self._matrix.classes)

    @property
    def y(self) -> np.ndarray | None:
        """What the rows really were."""
        truth = self._matrix.truth()
        return self.classes[truth] if truth is not None and self._matrix.classes else truth

    def __getitem__(self, member: str) -> np.ndarray:
        """What a member said: one number for each row, or one for each class."""
        if member not in self.members:
            raise KeyError(member)
        values = self._matrix.column(self.members.index(member))
        return values.ravel() if values.shape[1] == 1 else values

    def __contains__(self, member: object) -> bool:
        return member in self.members

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __len__(self) -> int:
        return self._matrix.rows

    def __repr__(self) -> str:
        return f"OutOfSample({len(self)} rows, {self.task}: {', '.join(self.members)})"

    def to_pandas(self) -> Any:
        """A data frame with one column for each member, `member:class` with classes, and the truth as `y`."""
        import pandas

        columns: dict[str, Any] = {}
        for name in self.members:
            values = self[name]
            if values.ndim == 1:
                columns[name] = values
            else:
                columns.update({f"{name}:{label}": values[:, c] for c, label in enumerate(self.classes)})
        if self.y is not None:
            columns["y"] = self.y
        return pandas.DataFrame(columns, index=self.rows)

    @classmethod
    def from_pandas(cls, frame: Any, y: str | None = "y", *, log: bool = False) -> OutOfSample:
        """The matrix of such a data frame, or of any table of predictions that `dolmen weigh` reads."""
        if y is None or y not in _rows.table(frame).names:
            return cls._of_frame(frame, None, log, None)
        return cls._of_frame(*_without(frame, y), log, None)

    @classmethod
    def _of_frame(cls, frame: Any, y: Any, log: bool, sample_weight: Any) -> OutOfSample:
        table = _rows.table(frame)
        with_classes = y is not None and any(":" in name for name in table.names)
        if y is not None and not with_classes:
            columns = _rows.named_columns(frame)
            if _truth(y, list(columns.values()))[1] is not None:
                # Of two classes, probabilities of the second: as in a mapping of such arrays.
                return cls.from_arrays(columns, y, log=log, sample_weight=sample_weight)
        truth = None if y is None else _truth(y, [], classes=with_classes)[0]
        weights = None if sample_weight is None else _rows.numbers(sample_weight).ravel()
        recipe = {
            "log": log,
            "target": None if y is None else _rows.free_name("y", table.names),
            "weights": None if weights is None else _rows.free_name("weights", table.names),
        }
        found, notes = _dolmen.Matrix.from_table(recipe, table, truth, weights, _rows.manner())
        for note in notes:
            warnings.warn(note, stacklevel=3)
        return cls(found)

    def __reduce__(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "matrix.parquet"
            self.write(path)
            return _of_bytes, (path.read_bytes(), getattr(self, "_classes", None))

    def weigh(self, method: Any = None, *, random_state: Any = 0, n_jobs: int | None = None, **options: Any) -> Weighing:
        """The best combination of the members; see `dolmen.weigh`."""
        methods = [] if method is None else [method] if isinstance(method, (str, dict)) else list(method)
        log = options.pop("log", self.task in ("density", "joint"))
        recipe = {"seed": _rows.seed(random_state), "methods": methods, "log": log, **options}
        if self.task != "density":
            recipe["target"] = "y"
        weighed = self._matrix.weigh(recipe, None, _rows.manner(n_jobs))
        return Weighing(weighed, self.classes if self._matrix.classes else None)


class Weighing:
    """How predictions are best combined: weights with standard errors, the certificate, gains, and the combined predictions."""

    def __init__(self, weighed: _dolmen.Weighed, classes: np.ndarray | None):
        self._weighed, self._classes = weighed, classes
        self.report: dict[str, Any] = weighed.report()
        self._columns: dict[str, np.ndarray] = weighed.columns()

    @property
    def members(self) -> list[str]:
        """The members' names."""
        return [member["name"] for member in self.report["members"]]

    @property
    def weights(self) -> np.ndarray:
        """Their weights; NaN where the combination has none."""
        return np.asarray([np.nan if m["weight"] is None else m["weight"] for m in self.report["members"]])

    @property
    def weight_errors(self) -> np.ndarray:
        """The weights' standard errors; NaN where they are not known."""
        return np.asarray([np.nan if m.get("se") is None else m["se"] for m in self.report["members"]])

    @property
    def gap(self) -> float | None:
        """No weights score better by more than this, per row."""
        return self.report.get("gap")

    @property
    def predictions(self) -> np.ndarray:
        """The combined predictions: numbers, log densities, or class probabilities in the order of the classes."""
        if self._classes is not None:
            return np.column_stack([values for name, values in self._columns.items() if name.startswith("p(")])
        return next(iter(self._columns.values()))

    def plot(self, kind: str | None = None, **look: Any) -> Any:
        """A picture: the weights if nothing else is named."""
        from ._pictures import Picture
        from ._pictures import look as seen

        return Picture(self._weighed.draw(seen(kind, **look)))

    def plot_weights(self, ax: Any = None, **look: Any) -> Any:
        """The weights: on matplotlib's axes if it is there, else as a picture."""
        from . import _pictures

        if ax is None and not _pictures.has_matplotlib():
            return self.plot("weights", **look)
        return _pictures.weight_bars(self.members, self.weights, self.weight_errors, ax)

    def _repr_html_(self) -> str:
        return self._weighed.summary_html()

    def __repr__(self) -> str:
        lines = [f"{m['name']:<24} {m['weight']:.4f}" for m in self.report["members"] if m["weight"] is not None]
        return "\n".join(["Weighing", *lines])


def weigh(matrix: Any, y: Any = None, method: Any = None, log: bool = False, *, sample_weight: Any = None, **options: Any) -> Weighing:
    """The best combination of predictions made anywhere, with exact, certified weights.

    Parameters
    ----------
    matrix : array, data frame or mapping
        What each member said about rows it had not seen: a column for each member. With classes a mapping from names to arrays (rows x classes),
        or a data frame with columns `member:class`.
    y : array or str, optional
        What the rows really were, or the column of the data frame that says so: classes or numbers. Without it, columns are densities, or probabilities of what was seen.
    method : str, dict or list, optional
        `simplex` (the exact optimum) if not given; any combiner of `dolmen learners`; of several the one that does best on rows held out.
    log : bool, default=False
        Whether the columns hold logarithms.
    sample_weight : array, optional
        The rows' weights; only their ratios matter.
    **options
        Further fields of the library's recipe: calibration, interval, prior, errors, draws, random_state, n_jobs.
    """
    if isinstance(matrix, OutOfSample):
        if y is not None or sample_weight is not None:
            raise TypeError("an OutOfSample has its own truth and weights: y and sample_weight are for predictions without")
        return matrix.weigh(method, **options)
    if isinstance(y, str):
        if not _rows.is_frame(matrix):
            raise TypeError("y must be what the rows were; the name of a column is for data frames")
        matrix, y = _without(matrix, y)
    if _rows.is_frame(matrix):
        return OutOfSample._of_frame(matrix, y, log, sample_weight).weigh(method, **options)
    if not isinstance(matrix, Mapping):
        values = np.asarray(matrix, dtype=np.float64)
        if values.ndim != 2:
            hint = "what members say of classes comes as a mapping from their names to arrays (rows x classes)"
            raise ValueError(f"the matrix must have two dimensions, rows and members, but has {values.ndim}\nhint: {hint}")
        matrix = {f"member {m + 1}": values[:, m] for m in range(values.shape[1])}
    return OutOfSample.from_arrays(matrix, y, log=log, sample_weight=sample_weight).weigh(method, **options)


def stack_oof(y: Any, predictions: Mapping[str, Any], method: Any = None, **options: Any) -> Weighing:
    """Combines out-of-fold predictions one already has: `stack_oof(y, {"lgbm": oof1, "cat": oof2})`.

    For classes, arrays hold probabilities: rows x classes in the order of the sorted classes, or those of the second of two classes.
    """
    return weigh(predictions, y, method, **options)


def _truth(y: Any, said: list[Any], classes: bool | None = None) -> tuple[Any, np.ndarray | None]:
    """The truth as the library takes it, and the classes if there are any. Numbers are classes where members give several columns, and two whole
    numbers where all of them give probabilities."""
    if y is None:
        return None, None
    y = np.asarray(_rows.plain_labels(y)).ravel()
    gone = _rows.first_missing(y)
    if gone is not None:
        raise ValueError(f"y: row {gone} has no value")
    if classes is None:
        several = any(len(np.shape(values)) == 2 and np.shape(values)[1] > 1 for values in said)
        few = y.dtype.kind in "iub" and len(np.unique(y)) == 2 and all(_are_probabilities(values) for values in said)
        classes = several or y.dtype.kind not in "iuf" or few
    if not classes:
        return _rows.numbers(y), None
    found, codes = np.unique(y, return_inverse=True)
    names = _rows.spelled(found)
    order = np.asarray(_dolmen.class_order(names))
    if not np.array_equal(order, np.arange(len(order))):
        raise ValueError("class names that are numbers must be given as numbers: as texts they sort in another way")
    return (names, codes.astype(np.uint32).ravel()), found


def _without(frame: Any, name: str) -> tuple[Any, np.ndarray]:
    """A data frame without one of its columns, and that column."""
    columns = _rows.named_columns(frame)
    if name not in columns:
        raise ValueError(f"no column '{name}' in the data frame, which has {', '.join(columns)}")
    if len(columns) == 1:
        raise ValueError(f"there are no members to combine beside the column '{name}'")
    import narwhals.stable.v1 as narwhals

    return narwhals.from_native(frame, eager_only=True).drop(name).to_native(), columns[name]


def _of_bytes(file: bytes, classes: np.ndarray | None) -> OutOfSample:
    """The matrix of a pickle."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.parquet"
        path.write_bytes(file)
        found = OutOfSample.read(path)
    if classes is not None:
        found._classes = classes
    return found


def _are_probabilities(values: Any) -> bool:
    values = np.asarray(values, dtype=np.float64)
    return bool(np.all((values >= 0) & (values <= 1)))


def _column(name: Any, values: Any, classes: np.ndarray | None) -> np.ndarray:
    if classes is not None and _rows.is_frame(values):
        values = _in_order(name, _rows.named_columns(values), classes)
    values = _rows.numbers(values)
    if classes is None:
        return np.ascontiguousarray(values.reshape(len(values), -1))
    if values.ndim == 1 or values.shape[1] == 1:
        if len(classes) != 2:
            raise ValueError(f"member '{name}' has one column, but there are {len(classes)} classes: give their probabilities side by side")
        second = values.ravel()
        return np.column_stack([1.0 - second, second])
    if values.shape[1] != len(classes):
        raise ValueError(f"member '{name}' has {values.shape[1]} columns, but there are {len(classes)} classes")
    return values


def _check_sums(arrays: list[tuple[str, np.ndarray]]) -> None:
    """Probabilities of the classes must sum to 1, up to the rounding of what was printed."""
    for name, values in arrays:
        wrong = ~((values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1.0) <= 0.01))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"member '{name}' gives {values[row].tolist()} in row {row}: no probabilities that sum to 1")


def _in_order(name: Any, columns: dict[str, np.ndarray], classes: np.ndarray) -> np.ndarray:
    """Columns that are called by the classes, `p(class)` or `member:class`, in the order of the classes; those without names of their own stay."""
    arrays = list(columns.values())
    if len(arrays) < 2 or list(columns) == [str(place) for place in range(len(arrays))]:
        return np.column_stack(arrays)
    wanted = _rows.spelled(classes)
    plain = str.lower if classes.dtype.kind == "b" else str
    found = {plain(called): values for called, values in columns.items()}
    for form in ("{}", "p({})", f"{name}:{{}}"):
        names = [plain(form.format(label)) for label in wanted]
        if sorted(names) == sorted(found):
            return np.column_stack([found[called] for called in names])
    raise ValueError(f"member '{name}' has the columns {', '.join(columns)}, but the classes are {', '.join(wanted)}: call the columns by the classes")


def _not_negative(name: str, values: np.ndarray) -> np.ndarray:
    if np.any(values < 0):
        raise ValueError(f"member '{name}' has a negative density; for logarithms give log=True")
    return values


