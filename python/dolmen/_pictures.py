"""Pictures of models and weighings: SVG that notebooks show, drawn on matplotlib's axes where that is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Picture:
    """A picture as SVG. Notebooks show it; `save` writes it; `str` is its text."""

    def __init__(self, svg: str):
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg)} characters of SVG)"

    def save(self, path: str | Path) -> None:
        """Writes the SVG file."""
        Path(path).write_text(self.svg, encoding="utf-8")


def has_matplotlib() -> bool:
    """Whether matplotlib can be had."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def look(kind: str | None = None, *, input: Any = None, member: str | None = None, theme: str = "auto", width: float = 720.0) -> dict[str, Any]:
    """How a picture is to look, as the library takes it."""
    if theme not in ("auto", "light", "dark"):
        raise ValueError(f"theme must be auto, light or dark, but is {theme!r}")
    if input is not None and not isinstance(input, str):
        input = ",".join(str(name) for name in input)
    return {"kind": kind, "input": input, "member": member, "theme": theme, "width": float(width)}


def weight_bars(names: list[str], weights: Any, errors: Any, ax: Any = None) -> Any:
    """Weights with their standard errors on matplotlib's axes."""
    import matplotlib.pyplot as plt
    import numpy as np

    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 0.6 + 0.32 * len(names)), layout="constrained")
    errors = np.nan_to_num(np.asarray(errors, dtype=float))
    ax.barh(range(len(names)), weights, xerr=errors, color="#0072B2", ecolor="#555555", capsize=2)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("weight (bars: one standard error)")
    return ax


def score_bars(report: dict[str, Any], ax: Any = None) -> Any:
    """The members' scores alone on matplotlib's axes."""
    import matplotlib.pyplot as plt

    members = [member for member in report["members"] if member.get("score") is not None]
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 0.6 + 0.32 * len(members)), layout="constrained")
    ax.plot([member["score"] for member in members], range(len(members)), "o", color="#0072B2")
    ax.set_yticks(range(len(members)), [member["name"] for member in members])
    ax.invert_yaxis()
    ax.set_xlabel("score on rows not seen, higher is better")
    return ax
