"""What can go wrong. Every message is the library's own; the cure, where one is known, follows on a line that begins with "hint:"."""

import re

__all__ = ["DataError", "DolmenError", "FileError", "MemberError", "ParameterError"]


WITH_VALUES = [
    (r"--drop '([^']*)' leaves it out", r"if not, leave '\1' out"),
    (r"--target '([^']*)' if", r'y="\1" if'),
    (r"--inputs '([^']*)' if", r'inputs=["\1"] if'),
    (r"--schema '([^']*)=(\w+)'", r'reading={"types": {"\1": "\2"}}'),
    (r"--memory (\S+) is", r'memory="\1" is'),
    (r"--missing '([^']*)'", r'reading={"missing": ["\1"]}'),
    (r"--drop '([^']*)'", r'reading={"drop": ["\1"]}'),
    # A Python member that fails is named once.
    (r"^(member '([^']*)' failed in split \d+): data: (?:\2: )?", r"\1: "),
    (r"^([^:]+): \1: ", r"\1: "),
    # The kinds by which recipes speak of Python objects and of names are spelled by nobody.
    (r", python(, named)?, but is", ", but is"),
]
"""What the command line's options are called here, with the values that were named."""

IN_PYTHON = {
    "alone must be given with exactly one member, but is with": "an estimator fits one model, and several stand in a stack: its lists of values give",
    "fit with --keep-matrix, or with --oos FILE.parquet, and": "fit with keep_matrix=True and",
    "--members-only": "members_only=True",
    "--drop COLUMN leaves one out": "leave out columns that hold none",
    "--drop leaves out columns, also all of": "leave out the columns of",
    "--plan ": "plan=",
    "--inputs COLUMN": "inputs=[..]",
    "with --target and --log": "with y and log=True",
    "or leave out --target and": "or leave out y and",
    "--target": "y",
    "--drop-failed": "drop_failed=True",
    "(--memory)": "(memory=..)",
    "fewer columns (--keep)": "fewer columns",
    "--all-columns": 'reading={"all_columns": True}',
    "--alone fits one member as it is, without folds": "its own class fits one member as it is, without folds",
    "(--alone, --check none or": '(check="none" or',
    "--check none": 'check="none"',
    "--missing": 'reading={"missing": [..]}',
    "add --log": "give log=True",
    "--log": "log=True",
    "--task classify": "a classifier",
    "--schema": 'reading={"types": {..}}',
}
"""What they are called without."""


def in_python(text: str) -> str:
    """A text of the library with the names that things have in Python."""
    for option, name in WITH_VALUES:
        text = re.sub(option, name, text)
    for option, name in IN_PYTHON.items():
        text = text.replace(option, name)
    return text


class DolmenError(Exception):
    """Anything that Dolmen complains about."""

    def __init__(self, message: str = "") -> None:
        super().__init__(in_python(message))


class ParameterError(DolmenError, ValueError):
    """A parameter is outside its range, misspelt, or contradicts another."""


class DataError(DolmenError, ValueError):
    """The rows cannot be used as they are; says where."""


class MemberError(DolmenError, ValueError):
    """A member of a stack could not be fitted. `__cause__` is what a Python member raised."""


class FileError(DolmenError, ValueError):
    """A file is foreign, damaged, or from a newer version."""
