"""A progress bar on standard error, drawn only when it is asked for."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sized
from typing import TypeVar

__all__ = ["progress"]

Item = TypeVar("Item")


def progress(
    items: Iterable[Item],
    title: str,
    *,
    enabled: bool = True,
    total: int | None = None,
) -> Generator[Item, None, None]:
    """Yield the items, drawing a bar with the time left while they are worked on.

    Parameters
    ----------
    items : iterable
        What to loop over; it may end before `total`.
    title : str
        What is being done, shown before the bar.
    enabled : bool
        Without it the items just pass through.
    total : int, optional
        Their number, where `items` has no length.

    Yields
    ------
    item
        The items in order.
    """
    if not enabled:
        yield from items
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    if total is None and isinstance(items, Sized):
        total = len(items)
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(title, total=total)
        for item in items:
            yield item
            bar.advance(task)
