"""The features of many sentences: named blocks of columns over stacked tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.data.offsets import offsets_of
from tagsift.errors import InputError
from tagsift.typing import FloatArray, IntArray

__all__ = ["FeatureMatrix"]


@dataclass(frozen=True)
class FeatureMatrix:
    """Feature blocks of stacked tokens, and where each sentence begins.

    Parameters
    ----------
    names : tuple of str
        The name of every block (feature group).
    blocks : tuple of csr_matrix or ndarray
        One matrix of shape (n_tokens, n_columns) per name, sparse or dense.
    offsets : ndarray of shape (n_sequences + 1,)
        Sentence ``s`` owns the rows ``offsets[s]:offsets[s + 1]``.
    """

    names: tuple[str, ...]
    blocks: tuple[Any, ...]
    offsets: IntArray

    def __post_init__(self) -> None:
        if len(self.names) != len(self.blocks) or not self.names:
            raise InputError(
                f"a FeatureMatrix needs one name per block and at least one block; "
                f"got {len(self.names)} names and {len(self.blocks)} blocks."
            )
        for name, block in zip(self.names, self.blocks, strict=True):
            if block.shape[0] != self.n_tokens:
                raise InputError(
                    f"feature block {name!r} has {block.shape[0]} rows, the sentences "
                    f"have {self.n_tokens} tokens."
                )

    @property
    def n_tokens(self) -> int:
        """Number of stacked tokens, N."""
        return int(self.offsets[-1])

    @property
    def n_sequences(self) -> int:
        """Number of sentences, S, empty ones included."""
        return len(self.offsets) - 1

    @property
    def n_features(self) -> int:
        """Number of columns of all blocks, D."""
        return sum(int(block.shape[1]) for block in self.blocks)

    @property
    def columns(self) -> tuple[tuple[str, int, bool], ...]:
        """Name and width of every block, and whether it is sparse."""
        return tuple(
            (name, int(block.shape[1]), sp.issparse(block))
            for name, block in zip(self.names, self.blocks, strict=True)
        )

    @property
    def lengths(self) -> IntArray:
        """Number of tokens of every sentence, [S]."""
        return np.diff(self.offsets)

    @property
    def sparse(self) -> FeatureMatrix | None:
        """The sparse blocks only, or None where there are none."""
        return self._select(sparse=True)

    @property
    def dense(self) -> FeatureMatrix | None:
        """The dense blocks only, or None where there are none."""
        return self._select(sparse=False)

    def _select(self, *, sparse: bool) -> FeatureMatrix | None:
        kept = [k for k, (_, _, kind) in enumerate(self.columns) if kind == sparse]
        names = tuple(self.names[k] for k in kept)
        blocks = tuple(self.blocks[k] for k in kept)
        return FeatureMatrix(names, blocks, self.offsets) if kept else None

    def block(self, name: str) -> Any:
        """Return the block called `name`."""
        return self.blocks[self.names.index(name)]

    def stacked(self) -> Any:
        """All blocks side by side: csr of shape [N, D], or dense if all blocks are."""
        if self.sparse is None:
            return np.hstack([np.asarray(block, dtype=float) for block in self.blocks])
        rows = [sp.csr_matrix(block, dtype=float) for block in self.blocks]
        return sp.hstack(rows, format="csr")

    def rows_of(self, sequences: IntArray) -> IntArray:
        """Rows of the chosen sentences, in the order given, [N']."""
        lengths = self.lengths[sequences]  # [S']
        offsets = offsets_of(lengths)  # [S'+1]
        first = np.repeat(self.offsets[sequences] - offsets[:-1], lengths)  # [N']
        return first + np.arange(offsets[-1])  # [N']

    def take_sequences(self, indices: Iterable[int]) -> FeatureMatrix:
        """Features of the chosen sentences, in the order given."""
        chosen = np.asarray(list(indices), dtype=np.int64)  # [S']
        rows = self.rows_of(chosen)  # [N']
        blocks = tuple(block[rows] for block in self.blocks)
        return FeatureMatrix(self.names, blocks, offsets_of(self.lengths[chosen]))

    def split(self, stacked: FloatArray | IntArray) -> list[Any]:
        """Cut an array over stacked tokens back into one piece per sentence."""
        return [stacked[first:last] for first, last in pairwise(self.offsets)]
