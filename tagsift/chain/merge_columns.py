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

__all__ = [
    "ColumnGroups",
    "canonical",
    "column_sums",
    "merge_columns",
    "n_different",
]


@dataclass(frozen=True)
class ColumnGroups:
    """Columns that are identical, with empty ones left out."""

    group: IntArray  # [D], group of every original column, −1 for an empty one
    size: IntArray  # [G], number of copies
    first: IntArray  # [G], a column of every group

    @classmethod
    def of_sums(cls, sums: FloatArray) -> ColumnGroups:
        """Group the columns whose `column_sums` are equal in every bit."""
        _, first, group = np.unique(
            sums, axis=0, return_index=True, return_inverse=True
        )
        return cls._filled(group.reshape(-1), first, sums[:, 0])

    @classmethod
    def apart(cls, sums: FloatArray) -> ColumnGroups:
        """Leave out the empty columns, and group nothing."""
        each = np.arange(len(sums))  # [D]
        return cls._filled(each, each, sums[:, 0])

    @classmethod
    def _filled(
        cls, group: IntArray, first: IntArray, counts: FloatArray
    ) -> ColumnGroups:
        filled = counts[first] > 0  # [G]
        renumbered = np.where(filled, np.cumsum(filled) - 1, -1)  # [G]
        size = np.bincount(group, minlength=len(first))[filled]  # [G']
        return cls(renumbered[group], size, first[filled])

    @property
    def n_groups(self) -> int:
        return len(self.size)

    def take(self, columns: Any) -> Any:
        """One column of every group times the root of its number of copies, [N, G]."""
        X = columns[:, self.first] @ sp.diags(np.sqrt(self.size))  # [N, G]
        return sp.csr_matrix(X)

    def take_rows(self, rows: Any) -> Any:
        """As `take`, of a matrix by rows, without turning it, [N, G]."""
        place = np.full(rows.shape[1], -1)  # [D]
        place[self.first] = np.arange(self.n_groups)
        at = place[rows.indices]  # [nnz]
        grouped = at >= 0  # [nnz]
        indptr = np.concatenate([[0], np.cumsum(grouped)])[rows.indptr]  # [N+1]
        data = rows.data[grouped] * np.sqrt(self.size)[at[grouped]]  # [nnz']
        shape = rows.shape[0], self.n_groups
        return sp.csr_matrix((data, at[grouped].astype(np.int32), indptr), shape=shape)

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


def merge_columns(matrix: Any) -> tuple[ColumnGroups, Any]:
    """Group the identical columns of a sparse matrix; with one of each group."""
    columns = canonical(matrix)  # [N, D]
    sums = column_sums(columns)  # [D, 3]
    groups = ColumnGroups.of_sums(sums)
    if n_different(columns, groups):
        groups = ColumnGroups.apart(sums)
    return groups, groups.take(columns)  # [N, G]


def canonical(matrix: Any) -> Any:
    """Sparse columns in which every entry stands once and none is 0."""
    columns = sp.csc_matrix(matrix, dtype=float, copy=True)  # [N, D]
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


def column_sums(matrix: Any, seed: int = 0) -> FloatArray:
    """Entries of every column, and two random sums of them, [D, 3].

    Identical columns have identical random sums, in every bit; so have the totals over
    several matrices, each with a seed of its own.
    """
    keys = np.random.default_rng(seed).random((matrix.shape[0], 2))  # [N, 2]
    counts = matrix.getnnz(axis=0)  # [D]
    return np.column_stack([counts, matrix.T @ keys])  # [D, 3]


def n_different(columns: Any, groups: ColumnGroups) -> int:
    """How many columns are not those that stand for their groups."""
    twin = np.arange(columns.shape[1])  # [D], an empty column stands for itself
    filled = groups.group >= 0  # [D]
    twin[filled] = groups.first[groups.group[filled]]
    counts, starts = np.diff(columns.indptr), columns.indptr[:-1]  # [D], [D]
    unlike = int((counts != counts[twin]).sum())
    if unlike:
        return unlike
    there = np.arange(columns.nnz) + np.repeat(starts[twin] - starts, counts)  # [nnz]
    differ = columns.indices != columns.indices[there]  # [nnz]
    differ |= columns.data != columns.data[there]
    return int(differ.sum())
