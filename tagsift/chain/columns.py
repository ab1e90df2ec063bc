"""Identical columns of a sparse matrix as one, for models with a quadratic penalty.

Many indicators of rare words and affixes stand on exactly the same tokens. The gradient
treats such columns alike, so from equal starts their weights stay equal. k columns of
weight w are worth one column multiplied by √k of weight √k·w: the scores are the same,
the squared norm is the same, and the change of parameters is orthogonal, so that every
step of a gradient method is the same too. Only the work is less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.typing import FloatArray, IntArray

__all__ = ["MergedColumns"]


@dataclass(frozen=True)
class MergedColumns:
    """A sparse matrix with identical columns merged and empty ones left out."""

    X: Any  # [N, G], distinct columns, each times the root of its number of copies
    group: IntArray  # [D], group of every original column, −1 for an empty one
    size: IntArray  # [G], number of copies

    @classmethod
    def of(cls, matrix: Any) -> MergedColumns:
        """Merge the identical columns of a sparse matrix."""
        columns = sp.csc_matrix(matrix, dtype=float, copy=True)  # [N, D]
        columns.sum_duplicates()
        columns.eliminate_zeros()
        counts = np.diff(columns.indptr)  # [D]
        # Identical columns have identical random sums, in every bit.
        keys = np.random.default_rng(0).random((columns.shape[0], 2))  # [N, 2]
        sums = np.column_stack([counts, sp.csr_matrix(columns.T) @ keys])  # [D, 3]
        _, first, group = np.unique(
            sums, axis=0, return_index=True, return_inverse=True
        )
        group = group.reshape(-1)  # [D]
        if not _identical(columns, first[group]):
            first = group = np.arange(len(counts))  # [D], nothing merged
        filled = counts[first] > 0  # [G]
        renumbered = np.where(filled, np.cumsum(filled) - 1, -1)  # [G]
        size = np.bincount(group, minlength=len(first))[filled]  # [G']
        X = columns[:, first[filled]] @ sp.diags(np.sqrt(size))  # [N, G']
        return cls(sp.csr_matrix(X), renumbered[group], size)

    @property
    def n_groups(self) -> int:
        """Number of distinct columns."""
        return len(self.size)

    def expand(self, weights: FloatArray) -> FloatArray:
        """Weights of the original columns, from those of the groups, [D, L]."""
        each = weights / np.sqrt(self.size)[:, None]  # [G, L]
        empty = np.zeros((1, weights.shape[1]))  # [1, L], found at −1
        return np.concatenate([each, empty])[self.group]  # [D, L]

    def merge(self, weights: FloatArray) -> FloatArray:
        """Undo `expand`; copies that differ give their mean, [G, L]."""
        filled = self.group >= 0  # [D]
        total = np.zeros((self.n_groups, weights.shape[1]))  # [G, L]
        np.add.at(total, self.group[filled], weights[filled])
        return total / np.sqrt(self.size)[:, None]  # [G, L]


def _identical(columns: Any, representative: IntArray) -> bool:
    """Tell whether all columns equal their representatives, which are as long."""
    counts = np.diff(columns.indptr)  # [D]
    starts = columns.indptr[:-1]  # [D]
    shift = np.repeat(starts[representative] - starts, counts)  # [nnz]
    twin = np.arange(columns.nnz) + shift  # [nnz]
    return bool(
        np.array_equal(columns.indices, columns.indices[twin])
        and np.array_equal(columns.data, columns.data[twin])
    )
