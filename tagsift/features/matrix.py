"""The features of many sentences: named blocks of columns over stacked tokens.

`checked` is the door for ready ones: finite numbers in canonical form, or one sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.data import locate, offsets_of, place_of, split_at
from tagsift.errors import InputError
from tagsift.typing import FloatArray, IntArray

__all__ = ["LARGEST", "FeatureMatrix", "checked"]

#: Larger features lose all digits, or overflow, when they are multiplied and added.
LARGEST = 1e30


@dataclass(frozen=True)
class FeatureMatrix:
    """Feature blocks of stacked tokens, and where each sentence begins."""

    names: tuple[str, ...]  # of every block (feature group)
    blocks: tuple[Any, ...]  # a matrix of N rows per name, sparse or dense
    offsets: IntArray  # [S+1], sentence ``s`` owns the rows ``offsets[s]:offsets[s+1]``

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
        chosen = [k for k, (_, _, kind) in enumerate(self.columns) if kind == sparse]
        names = tuple(self.names[k] for k in chosen)
        blocks = tuple(self.blocks[k] for k in chosen)
        return FeatureMatrix(names, blocks, self.offsets) if chosen else None

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
        return split_at(stacked, self.offsets)


def checked(features: FeatureMatrix) -> FeatureMatrix:
    """Refuse features that no method can use, and bring the others into one form.

    Sparse blocks become compressed rows with rising column numbers, each named once;
    what is in that form already is not copied.
    """
    offsets = np.asarray(features.offsets)  # [S+1]
    steps = np.diff(offsets)  # [S]
    if offsets.dtype.kind not in "iu" or offsets[0] != 0 or (steps < 0).any():
        raise InputError(
            "the offsets of a FeatureMatrix must be whole numbers that rise from 0; "
            f"found {offsets.dtype} from {offsets[0]}."
        )
    blocks = tuple(
        _sparse(name, block) if sp.issparse(block) else _dense(name, block)
        for name, block in zip(features.names, features.blocks, strict=True)
    )
    if features.n_tokens and not sum(block.shape[1] for block in blocks):
        raise InputError(
            "the features have no column; give at least one number each, or a smaller "
            "min_count where it has left out all."
        )
    for name, block in zip(features.names, blocks, strict=True):
        _check_values(name, block, offsets)
    return FeatureMatrix(features.names, blocks, offsets)


def _dense(name: str, block: Any) -> Any:
    array = np.asarray(block)
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(
            f"the features {name!r} must be a matrix of numbers, one row per token; "
            f"got an array of shape {array.shape} and type {array.dtype}."
        )
    return array


def _sparse(name: str, block: Any) -> Any:
    try:
        if block.dtype.kind not in "fiub":
            raise ValueError(f"numbers of the type {block.dtype}")
        rows = sp.csr_matrix(block)
        if (np.diff(rows.indptr) < 0).any():  # scipy does not look where nnz < 0
            raise ValueError("index pointer values must not fall")
        # A fresh matrix does not believe what the old one thought of its order.
        rows = sp.csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape)
        rows.check_format(full_check=True)
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
    except (ValueError, IndexError) as error:
        raise InputError(
            f"the sparse features {name!r} are damaged ({error}); build the matrix "
            "again."
        ) from error
    return rows


def _check_values(name: str, block: Any, offsets: Any) -> None:
    values = block.data if sp.issparse(block) else block.ravel()
    if values.dtype.kind != "f":
        return
    inside = np.abs(values) <= min(LARGEST, float(np.finfo(values.dtype).max))
    if inside.all():
        return
    k = int(np.argmin(inside))
    if sp.issparse(block):
        n, d = locate(k, block.indptr)[0], block.indices[k]
    else:
        n, d = divmod(k, block.shape[1])
    raise InputError(
        f"{place_of(n, offsets)}: feature {d} of {name!r} is {values[k]}; every "
        f"feature must be a finite number, and none above {LARGEST:g}."
    )
