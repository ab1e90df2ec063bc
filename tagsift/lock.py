"""One process at a time works in a folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from tagsift.errors import DataError

try:
    import fcntl
except ImportError:  # no such thing on this system: nothing is locked
    fcntl = None  # type: ignore[assignment]

__all__ = ["exclusive"]

_NAME = ".lock"


@contextlib.contextmanager
def exclusive(folder: str | PathLike[str]) -> Iterator[None]:
    """Keep other processes that ask likewise out of a folder.

    The system gives the lock back when the process ends, however it ends, so that none
    is left behind; the file ``.lock`` in the folder only says who has it.

    Parameters
    ----------
    folder : path-like
        Made where it is missing.

    Raises
    ------
    DataError
        Where another process, which is named, works in the folder.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle = os.open(place / _NAME, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot work in the folder ({reason}).", place) from error
    with os.fdopen(handle, "r+", encoding="ascii", errors="replace") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise DataError(
                    f"another run works in this folder (process {file.read(20)!r}); "
                    "wait for its end, or give another folder.",
                    place,
                ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
