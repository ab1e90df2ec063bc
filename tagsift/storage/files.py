"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import IO, Any

from tagsift.errors import DataError

__all__ = ["atomic_write", "check_writable"]


@contextlib.contextmanager
def atomic_write(path: str | PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path` and move it into place on success.

    Whatever stops the writer (an error, Ctrl-C, a full disk, a kill), `path` is either
    as it was before or complete. A link is followed; a device or a pipe is written to
    as it stands, for it cannot be replaced; ``-`` is standard output.
    """
    named = Path(path)
    if str(path) == "-":
        yield sys.stdout if "b" not in mode else sys.stdout.buffer
        sys.stdout.flush()
        return
    how: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    try:
        _refuse_unwritable(named)
        if named.exists() and not named.is_file():
            with open(named, mode, **how) as stream:
                yield stream
            return
        target = Path(os.path.realpath(named))
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name[:40]}.", suffix=".part", dir=target.parent
        )
        temporary = Path(name)
        try:
            with os.fdopen(handle, mode, **how) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            _adopt_mode(temporary, target)
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
    except BrokenPipeError:  # the reader has gone: no fault of the file
        raise
    except OSError as error:
        raise DataError(_os_sentence(error), named) from error


def check_writable(path: str | PathLike[str]) -> None:
    """Refuse a path that `atomic_write` could not write to, and leave no trace."""
    named = Path(path)
    if str(path) == "-":
        return
    try:
        _refuse_unwritable(named)
        if named.is_file() or not named.exists():
            with tempfile.TemporaryFile(dir=Path(os.path.realpath(named)).parent):
                pass
    except OSError as error:
        raise DataError(_os_sentence(error), named) from error


def _refuse_unwritable(named: Path) -> None:
    if named.is_dir():
        raise DataError("expected a file to write, found a directory.", named)
    if named.exists() and not os.access(named, os.W_OK):
        raise PermissionError(errno.EACCES, "permission denied")


def _adopt_mode(temporary: Path, target: Path) -> None:
    """Give the new file the permissions of the old one, or the usual ones."""
    if target.exists():
        os.chmod(temporary, target.stat().st_mode & 0o7777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)


def _os_sentence(error: OSError) -> str:
    reason = (error.strerror or str(error)).lower()
    return f"cannot write the file ({reason}); nothing was left behind."
