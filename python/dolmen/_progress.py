"""A bar that tells how far a fit has come: tqdm's, in notebooks and on request."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[float, str, "float | None"], None]


def in_notebook() -> bool:
    """Whether the interpreter is a notebook's."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return type(found).__name__ == "ZMQInteractiveShell"


@contextmanager
def listening(progress: bool | None, what: str) -> Iterator[Listener | None]:
    """A listener while work goes on: if asked for, or in a notebook if nothing is said."""
    if not (in_notebook() if progress is None else progress):
        yield None
        return
    try:
        with warnings.catch_warnings():
            # Nobody asked for the bar in a notebook: it draws letters where it has no widgets, and need not say so.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError:
        if progress:
            warnings.warn("progress bars need tqdm: pip install tqdm", stacklevel=5)
        yield None
        return
    # The unit is the one text of a bar that stands as it was given: a postfix begins with a comma.
    form = "{desc}: {percentage:3.0f} %|{bar}| {unit}"
    with tqdm(total=1.0, desc=what, bar_format=form, unit="", leave=False) as bar:

        def listen(share: float, last: str, left: float | None) -> None:
            rest = f"{left:.0f} s left" if left and left >= 1.0 else ""
            bar.unit = ", ".join(part for part in (last, rest) if part)
            bar.update(share - bar.n)

        yield listen
