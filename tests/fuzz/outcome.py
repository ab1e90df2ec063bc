"""What a case may end with, and what is a failure."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tagsift.cli import main
from tagsift.errors import TagsiftError, TagsiftWarning

#: A number that is none, standing by itself; no word of the cases looks like it.
_NOT_A_NUMBER = re.compile(r"(?i)(?<![^\s=\"':,|(\[])[-+]?(nan|inf|infinity)(?![\w.-])")
_OLD = "what was there before"


class CaseError(Exception):
    """A case ended as none may."""


def command(*arguments: Any, stdin: bytes = b"", out: Path | None = None) -> int:
    """Run the command line in this process and look at what it left.

    Parameters
    ----------
    arguments : str or path
        What follows ``tagsift``.
    stdin : bytes
        What standard input holds.
    out : Path, optional
        The file named by ``-o``; it must be untouched where the command fails.
    """
    before = _OLD if out is not None and len(arguments) % 2 else None
    if before is not None:
        out.write_text(before, encoding="utf-8")
    kept = sys.stdin, sys.stdout, sys.stderr
    streams = [
        io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (stdin, b"", b"")
    ]
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        status = main([str(argument) for argument in arguments])
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    shown, said = (_read(stream) for stream in streams[1:])
    _look(status, shown, said)
    if out is not None and out.is_file():
        text = out.read_bytes().decode("utf-8", "replace")
        if status == 2 and text != before:
            raise CaseError(f"status 2, and yet {out.name} was written")
        if status == 0 and text[:8].isprintable() and _NOT_A_NUMBER.search(text):
            raise CaseError(f"status 0 with a NaN in {out.name}")
    elif before is not None:
        raise CaseError(f"status {status}, and {out.name} is gone")
    return status


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    data: bytes = stream.buffer.getvalue()  # type: ignore[attr-defined]
    return data.decode("utf-8", "replace")


def _look(status: int, shown: str, said: str) -> None:
    """Judge the status and the two texts of a command."""
    if status not in (0, 1, 2):
        raise CaseError(f"status {status}: {said[-300:]}")
    for bad in ("fault in tagsift", "Traceback (most", "not enough memory"):
        if bad in said:
            raise CaseError(said[-600:])
    if status == 2 and "Usage:" not in shown + said:
        last = said.rstrip("\n").rpartition("\n")[2]
        if not re.match(r"tagsift: error: .{10}", last):
            raise CaseError(f"status 2 without one sentence: {said[-300:]!r}")
    if status == 0 and (found := _NOT_A_NUMBER.search(shown)):
        start = max(found.start() - 60, 0)
        raise CaseError(f"status 0 with a NaN: {shown[start : found.end() + 20]!r}")


def attempt(work: Callable[[], Any]) -> Any:
    """Run a call of the Python interface: an answer without NaN, or a clear error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", TagsiftWarning)
        try:
            answer = work()
        except TagsiftError as error:
            if len(str(error)) < 10:
                raise CaseError(f"an error without a sentence: {error!r}") from error
            return None
    for array in _arrays(answer):
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise CaseError("numbers that are none in the answer")
    return answer


def _arrays(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, float):
        yield np.asarray(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _arrays(item)
