"""The features of many sentences as they are kept for long, in memory or on disk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.data import offsets_of
from tagsift.features.compact import CompactRows, compact
from tagsift.features.matrix import FeatureMatrix
from tagsift.typing import IntArray

__all__ = ["PackedFeatures"]


@dataclass(frozen=True)
class PackedFeatures:
    """Sparse blocks side by side, in the fewest bytes, and dense ones as they are."""

    columns: tuple[tuple[str, int, bool], ...]  # name, width and kind of every block
    rows: Any  # [N, D], the sparse blocks: `CompactRows`, or csr; None without any
    dense: tuple[Any, ...]
    offsets: IntArray  # [S+1]

    @classmethod
    def of(cls, features: FeatureMatrix) -> PackedFeatures:
        sparse, dense = features.sparse, features.dense
        rows = None if sparse is None else sparse.stacked()  # [N, D]
        if rows is not None:
            rows.sum_duplicates()
            rows.eliminate_zeros()
        return cls(
            features.columns,
            None if rows is None else compact(rows),
            () if dense is None else dense.blocks,
            features.offsets,
        )

    @property
    def lengths(self) -> IntArray:
        """Number of tokens of every sentence, [S]."""
        return np.diff(self.offsets)

    def side_by_side(self) -> FeatureMatrix:
        """All sparse columns as one block, and the dense blocks after it."""
        names = ["sparse"] * (self.rows is not None)
        names += [name for name, _, sparse in self.columns if not sparse]
        blocks = () if self.rows is None else (self._csr(),)
        return FeatureMatrix(tuple(names), (*blocks, *self.dense), self.offsets)

    def open(self) -> FeatureMatrix:
        return self._blocks(self._csr(), self.dense, self.offsets)

    def take_sequences(self, indices: Iterable[int]) -> FeatureMatrix:
        """Features of the chosen sentences, in the order given."""
        chosen = np.asarray(list(indices), dtype=np.int64)  # [S']
        offsets = offsets_of(self.lengths[chosen])  # [S'+1]
        first = np.repeat(self.offsets[chosen] - offsets[:-1], self.lengths[chosen])
        rows = first + np.arange(offsets[-1])  # [N']
        sparse = None if self.rows is None else self._csr()[rows]
        return self._blocks(sparse, tuple(block[rows] for block in self.dense), offsets)

    def _csr(self) -> Any:
        return self.rows.rows() if isinstance(self.rows, CompactRows) else self.rows

    def _blocks(
        self, sparse: Any, dense: tuple[Any, ...], offsets: IntArray
    ) -> FeatureMatrix:
        blocks, column, others = [], 0, iter(dense)
        for _, width, is_sparse in self.columns:
            if is_sparse:
                blocks.append(sp.csr_matrix(sparse[:, column : column + width]))
                column += width
            else:
                blocks.append(next(others))
        names = tuple(name for name, _, _ in self.columns)
        return FeatureMatrix(names, tuple(blocks), offsets)
