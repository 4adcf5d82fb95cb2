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
        from tqdm.auto import tqdm
    except ImportError:
        if progress:
            warnings.warn("progress bars need tqdm: pip install tqdm", stacklevel=5)
        yield None
        return
    form = "{desc}: {percentage:3.0f} %|{bar}| {postfix}"
    with tqdm(total=1.0, desc=what, bar_format=form, leave=False) as bar:

        def listen(share: float, last: str, left: float | None) -> None:
            rest = f", {left:.0f} s left" if left else ""
            bar.set_postfix_str(f"{last}{rest}", refresh=False)
            bar.update(share - bar.n)

        yield listen
