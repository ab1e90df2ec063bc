"""What can be asked for, and the cells that each table or figure needs."""

from __future__ import annotations

from collections.abc import Callable

from tagsift.errors import InputError
from tagsift.experiments.figures import FIGURE_OF
from tagsift.experiments.grid import Cell
from tagsift.experiments.results import GOLD

__all__ = ["TARGETS", "needed"]

_TASK_OF = {f"figure-{number}": task for task, number in FIGURE_OF.items()}


def _figure_9(cell: Cell) -> bool:
    lists = cell.cl in (2, 3) and cell.p == 0.5
    return _head(cell) and (cell.r is not None or lists or cell.method == GOLD)


def _head(cell: Cell) -> bool:
    return cell.subset == "head" and not cell.watch


_NEEDS: dict[str, Callable[[Cell], bool]] = {
    "table-1": lambda cell: False,
    "table-2": lambda cell: (
        _head(cell) and cell.method == "sgppsl" and cell.cl is not None
    ),
    "table-3": lambda cell: _head(cell) and cell.method == "sgppsl" and cell.cl == 3,
    "figure-5": lambda cell: bool(cell.watch),
    **{
        name: lambda cell, task=task: (  # type: ignore[misc]
            _head(cell) and cell.task == task and cell.r is None
        )
        for name, task in _TASK_OF.items()
    },
    "figure-9": _figure_9,
    "all": lambda cell: True,
}

#: Everything that can be asked for, in the order of the paper.
TARGETS: tuple[str, ...] = (
    "table-1", "table-2", "table-3",
    "figure-5", "figure-6", "figure-7", "figure-8", "figure-9", "all",
)  # fmt: skip


def needed(target: str) -> Callable[[Cell], bool]:
    """Return a test that tells which cells a table or figure needs.

    Parameters
    ----------
    target : str
        One of `TARGETS`.
    """
    if target not in _NEEDS:
        raise InputError(f"expected one of {', '.join(TARGETS)}, found {target!r}.")
    return _NEEDS[target]
