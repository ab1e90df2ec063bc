"""Every error and warning that tagsift raises on purpose.

One sentence each: what was expected, what was found, where, and what to do.

.. code-block:: text

    TagsiftError
    ├── DataError            (ValueError)      a file cannot be read as asked
    ├── InputError           (ValueError)      Python input breaks the contract
    ├── ModelFileError       (ValueError)      a model file is damaged or too new
    ├── NotSupportedError    (AttributeError)  the method does not offer this
    ├── NotFittedError       (ValueError, AttributeError)
    ├── ResourceError        (MemoryError)     the work would not fit
    └── MissingExtraError    (ImportError)     an optional package is absent

    TagsiftWarning (UserWarning)
    ├── ConvergenceWarning   a solver stopped early
    ├── NumericalWarning     jitter was added, or an answer means little
    └── ScaleWarning         a method takes long, or took its large-data variant
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike, fspath
from typing import Any

from tagsift._version import __version__

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "InputError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "NotSupportedError",
    "NumericalWarning",
    "ResourceError",
    "ScaleWarning",
    "TagsiftError",
    "TagsiftWarning",
]


#: Characters of a message.
_LONGEST = 480


class TagsiftError(Exception):
    """Base class of all errors that tagsift raises on purpose."""


class DataError(TagsiftError, ValueError):
    """A data file is not what its reader expects; lines are counted from 1."""

    def __init__(
        self,
        message: str,
        path: str | PathLike[str] | None = None,
        line: int | None = None,
    ) -> None:
        if len(message) > _LONGEST:  # it quotes a cell that has no end
            message = f"{message[: _LONGEST // 2]} … {message[-_LONGEST // 3 :]}"
        self.message = message
        self.path = None if path is None else fspath(path)
        self.line = line
        where = "" if self.path is None else self.path
        if line is not None:
            where = f"{where}, line {line}" if where else f"line {line}"
        super().__init__(f"{where}: {message}" if where else message)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.path, self.line)


class InputError(TagsiftError, ValueError):
    """Input given from Python breaks the contract of the function."""


class ModelFileError(TagsiftError, ValueError):
    """A model file is damaged, altered, or of a format this version cannot read."""


class NotSupportedError(TagsiftError, AttributeError):
    """The method does not offer what was asked of it."""


class NotFittedError(TagsiftError, ValueError, AttributeError):
    """The estimator has not been fitted yet."""


class ResourceError(TagsiftError, MemoryError):
    """The work asked for would not fit into the memory there is."""


class MissingExtraError(TagsiftError, ImportError):
    """An optional package is needed and not installed."""

    @classmethod
    def for_package(cls, package: str, *, extra: str, what: str) -> MissingExtraError:
        """Build the sentence that names the package and the extra that brings it."""
        return cls(
            f"{what} needs the package {package!r}, which is not installed; "
            f"install it with: {cls.remedy(extra)}."
        )

    @classmethod
    def imported(cls, package: str, *, extra: str, what: str) -> Any:
        """Import an optional package, or say how to get it."""
        try:
            return import_module(package)
        except ImportError as error:
            raise cls.for_package(package, extra=extra, what=what) from error

    @staticmethod
    def remedy(extra: str, tick: str = "") -> str:
        """Commands that bring an extra, in ticks: pip finds tagsift on no index."""
        wheel = f"tagsift-{__version__}-py3-none-any.whl"
        return (
            f"{tick}pip install '.[{extra}]'{tick} in a clone of tagsift, or "
            f"{tick}pip install '{wheel}[{extra}]'{tick} beside its wheel"
        )


class TagsiftWarning(UserWarning):
    """Base class of all warnings that tagsift gives."""


class ConvergenceWarning(TagsiftWarning):
    """A solver stopped before it had converged."""


class NumericalWarning(TagsiftWarning):
    """Numerical help was needed, or the answer means little."""


class ScaleWarning(TagsiftWarning):
    """A method takes long, or took its large-data variant; the message says why."""
