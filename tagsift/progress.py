"""Progress and warnings on standard error: a bar on a terminal, else plain lines."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from tagsift.errors import TagsiftWarning
from tagsift.visible import visible

__all__ = ["progress", "stage", "warn_user"]

#: Code that stands between a warning and the line of the user that brought it about.
_OURS = (os.path.dirname(__file__), contextlib.__file__)

Item = TypeVar("Item")

#: Seconds between the plain lines about one loop.
_PAUSE = 10.0
_STARTED = time.monotonic()


def stage(title: str, *, enabled: bool = True) -> None:
    """Say what begins now, where no bar can be drawn."""
    if enabled and not sys.stderr.isatty():
        elapsed = time.monotonic() - _STARTED
        line = f"tagsift: {elapsed:7.1f} s: {visible(title)}"
        print(line, file=sys.stderr, flush=True)


def progress(
    items: Iterable[Item], title: str, *, enabled: bool = True, total: int | None = None
) -> Iterator[Item]:
    """Yield the items, and show how far the work on them has come.

    On a terminal it draws a bar with the time left; elsewhere it prints a line at the
    start and one every ten seconds.
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    if not enabled:
        yield from items
    elif sys.stderr.isatty():
        yield from _bar(items, title, total)
    else:
        yield from _lines(items, title, total)


def _lines(items: Iterable[Item], title: str, total: int | None) -> Iterator[Item]:
    stage(title)
    start = last = time.monotonic()
    for number, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - last >= _PAUSE:
            last = now
            left = (now - start) / number * (total - number) if total else 0.0
            rest = f" of {total}, at most {left:.0f} s more" if total else ""
            stage(f"{title}: {number}{rest}")


def _bar(items: Iterable[Item], title: str, total: int | None) -> Iterator[Item]:
    from rich import progress as bars
    from rich.console import Console

    bar = bars.Progress(
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        yield from bar.track(items, total, description=title)


def warn_user(message: str, category: type[TagsiftWarning]) -> None:
    """Warn as of the line outside this package that called into it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
