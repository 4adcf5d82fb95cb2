"""What can go wrong. Every message is the library's own; the cure, where one is known, follows on a line that begins with "hint:"."""

__all__ = ["DataError", "DolmenError", "FileError", "MemberError", "ParameterError"]


IN_PYTHON = {
    "--drop-failed": "drop_failed=True",
    "--all-columns": 'reading={"all_columns": True}',
    "--alone fits one member as it is, without folds": "its own class fits one member as it is, without folds",
    "--check none": 'check="none"',
    "--missing ": 'reading={"missing": [..]}: ',
    "add --log": "give log=True",
    "--log": "log=True",
    "--task classify": "a classifier",
    "--schema": 'reading={"types": {..}}',
}
"""What the command line's options are called here."""


def in_python(text: str) -> str:
    """A text of the library with the names that things have in Python."""
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
