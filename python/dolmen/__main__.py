"""The command line: `python -m dolmen`, or `dolmen`."""

import signal
import sys

from . import _dolmen


def main() -> int:
    """Runs the program with the words it was called by."""
    # The program has its own way to end when it is interrupted.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _dolmen.command_line(["dolmen", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
