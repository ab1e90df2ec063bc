"""Sparse rows by their column numbers alone, where every column has one value.

Indicators are 1 where they are, or a constant of their group: four bytes an entry
instead of twelve, in memory and on disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.typing import FloatArray, IntArray

__all__ = ["CompactRows", "compact"]

_ones = np.ones(0)  # [nnz], as many as any matrix has needed


@dataclass(frozen=True)
class CompactRows:
    """A sparse matrix whose entries are the values of their columns."""

    indices: IntArray  # [nnz], column of every entry, row by row
    indptr: IntArray  # [N+1], where each row begins
    values: FloatArray  # [D]

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.indptr) - 1, len(self.values)

    @property
    def T(self) -> _Turned:  # noqa: N802
        return _Turned(self)

    def rows(self) -> Any:
        """The same matrix as SciPy knows it, [N, D]."""
        parts = (self.values[self.indices], self.indices, self.indptr)
        return sp.csr_matrix(parts, shape=self.shape)

    def pattern(self) -> Any:
        """The matrix with 1 for every entry; all of them share these ones, [N, D]."""
        global _ones
        n = len(self.indices)
        if len(_ones) < n:
            _ones = np.ones(n)
        indices, indptr = np.asarray(self.indices), np.asarray(self.indptr)
        return sp.csr_matrix((_ones[:n], indices, indptr), shape=self.shape)

    def __matmul__(self, weights: FloatArray) -> FloatArray:
        return np.asarray(self.pattern() @ (self.values[:, None] * weights))  # [N, L]


@dataclass(frozen=True)
class _Turned:
    """The transposed matrix."""

    rows: CompactRows

    def __matmul__(self, G: FloatArray) -> FloatArray:
        products = np.asarray(self.rows.pattern().T @ G)  # [D, L]
        products *= self.rows.values[:, None]
        return products


def compact(rows: Any) -> Any:
    """The rows by their column numbers; as they are where a column has two values."""
    values = np.ones(rows.shape[1])  # [D]
    values[rows.indices] = rows.data
    if not np.array_equal(values[rows.indices], rows.data):
        return rows
    return CompactRows(rows.indices.astype(np.int32), rows.indptr, values)
