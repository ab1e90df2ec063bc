"""Nearest neighbours among feature rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from tagsift.features.distances import Reference, row_norms
from tagsift.typing import FloatArray, IntArray

__all__ = ["nearest"]

#: Squared distances are rounded to this fraction of the largest squared length, so that
#: equal distances stay equal whatever the order of summation.
_GRAIN = 1e-12


def nearest(
    reference: Reference, Z: Any, k: int, *, same: bool = False
) -> tuple[IntArray, FloatArray]:
    """Numbers and distances of the k nearest reference rows of each row of `Z`.

    Nearest first; ties go to the lower number. Where `Z` is the reference itself
    (`same`), a row is no neighbour of itself, though its duplicates are.
    """
    k = min(k, reference.n_rows - int(same))
    indices = np.empty((Z.shape[0], k), dtype=np.int64)  # [M, k]
    distances = np.empty((Z.shape[0], k))  # [M, k]
    if k == 0:
        return indices, distances
    squares = np.concatenate([reference.squares, row_norms(Z)])  # [N+M]
    largest = float(squares.max(initial=0.0))
    grain = _GRAIN * largest if largest > 0 else 1.0
    for part, squared in reference.blocks(Z):
        grains = np.rint(squared / grain)  # [block, N]
        rows = np.arange(len(grains))  # [block]
        if same:
            grains[rows, part.start + rows] = np.inf
        chosen = _lowest(grains, k)  # [block, k]
        indices[part] = chosen
        distances[part] = np.sqrt(grains[rows[:, None], chosen] * grain)  # [block, k]
    return indices, distances


def _lowest(values: FloatArray, k: int) -> IntArray:
    """Columns of the k lowest values of every row, by value and then by column."""
    rows = np.arange(len(values))[:, None]  # [M, 1]
    chosen = np.argpartition(values, k - 1, axis=1)[:, :k]  # [M, k]
    bound = values[rows, chosen].max(axis=1)  # [M]
    tied = np.flatnonzero((values <= bound[:, None]).sum(axis=1) > k)  # rows
    for i in tied:
        columns = np.flatnonzero(values[i] <= bound[i])
        chosen[i] = columns[np.argsort(values[i, columns], kind="stable")[:k]]
    chosen.sort(axis=1)
    order = np.argsort(values[rows, chosen], axis=1, kind="stable")  # [M, k]
    return np.asarray(chosen[rows, order], dtype=np.int64)  # [M, k]
