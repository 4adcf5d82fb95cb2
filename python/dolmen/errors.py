"""What can go wrong. Every message is the library's own; the cure, where one is known, follows on a line that begins with "hint:"."""

__all__ = ["DataError", "DolmenError", "FileError", "MemberError", "ParameterError"]


class DolmenError(Exception):
    """Anything that Dolmen complains about."""


class ParameterError(DolmenError, ValueError):
    """A parameter is outside its range, misspelt, or contradicts another."""


class DataError(DolmenError, ValueError):
    """The rows cannot be used as they are; says where."""


class MemberError(DolmenError, ValueError):
    """A member of a stack could not be fitted. `__cause__` is what a Python member raised."""


class FileError(DolmenError, ValueError):
    """A file is foreign, damaged, or from a newer version."""
