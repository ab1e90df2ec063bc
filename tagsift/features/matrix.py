"""The features of many sentences: named blocks of columns over stacked tokens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
        return self._select(sp.issparse)

    @property
    def dense(self) -> FeatureMatrix | None:
        """The dense blocks only, or None where there are none."""
        return self._select(lambda block: not sp.issparse(block))

    def _select(self, wanted: Any) -> FeatureMatrix | None:
        kept = [
            (name, block)
            for name, block in zip(self.names, self.blocks, strict=True)
            if wanted(block)
        ]
        if not kept:
            return None
        names, blocks = zip(*kept, strict=True)
        return FeatureMatrix(tuple(names), tuple(blocks), self.offsets)

    def block(self, name: str) -> Any:
        """Return the block called `name`."""
        return self.blocks[self.names.index(name)]

    def stacked(self) -> Any:
        """All blocks side by side: csr of shape [N, D], or dense if all blocks are."""
        if all(not sp.issparse(block) for block in self.blocks):
            return np.hstack([np.asarray(block, dtype=float) for block in self.blocks])
        return sp.hstack(
            [sp.csr_matrix(block, dtype=float) for block in self.blocks], format="csr"
        )

    def take_sequences(self, indices: Iterable[int]) -> FeatureMatrix:
        """Features of the chosen sentences, in the order given."""
        chosen = np.asarray(list(indices), dtype=np.int64)  # [S']
        lengths = self.lengths[chosen]  # [S']
        offsets = offsets_of(lengths)  # [S'+1]
        rows = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(
            offsets[-1]
        )  # [N']
        return FeatureMatrix(
            self.names, tuple(block[rows] for block in self.blocks), offsets
        )

    def split(self, stacked: FloatArray | IntArray) -> list[Any]:
        """Cut an array over stacked tokens back into one piece per sentence."""
        return [
            stacked[self.offsets[s] : self.offsets[s + 1]]
            for s in range(self.n_sequences)
        ]
