"""Stacked tokens: where sentences begin, and to which of them a token belongs."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from tagsift.typing import IntArray

__all__ = ["locate", "offsets_of", "place_of", "split_at"]


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


def split_at(stacked: Any, offsets: IntArray) -> list[Any]:
    """Cut an array over stacked tokens into one piece per sentence."""
    return [stacked[first:last] for first, last in pairwise(offsets)]
