"""Stacked tokens: where sentences begin, and to which of them a token belongs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tagsift.typing import IntArray

__all__ = ["locate", "offsets_of", "place_of"]


def offsets_of(lengths: Iterable[int]) -> IntArray:
    """Where sentences of the given lengths begin, and where the last one ends.

    Examples
    --------
    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    return np.cumsum([0, *lengths], dtype=np.int64)  # [S+1]


def locate(n: int, offsets: IntArray) -> tuple[int, int]:
    """Sentence and position of stacked token `n`, both counted from 0.

    Examples
    --------
    >>> locate(2, offsets_of([2, 0, 3]))
    (2, 0)
    """
    s = int(np.searchsorted(offsets, n, side="right")) - 1
    return s, int(n - offsets[s])


def place_of(n: int, offsets: IntArray) -> str:
    """Name the place of stacked token `n` in a message."""
    s, t = locate(n, offsets)
    return f"sentence {s}, token {t}"
