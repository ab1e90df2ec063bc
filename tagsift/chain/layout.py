"""How the tokens of many sentences are ordered so that each chain step is one product.

Sentences are sorted by length, longest first, and their tokens packed by position: all
first tokens, then all second tokens, and so on. The sentences that are still running at
step t are then always a prefix of those running at step t − 1, so a recursion over
positions works on whole slices, without padding and without masks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tagsift.data.offsets import offsets_of
from tagsift.typing import IntArray

__all__ = ["ChainLayout", "neighbours"]


@dataclass(frozen=True)
class ChainLayout:
    """Packed, time-major order of stacked tokens.

    Parameters
    ----------
    order : ndarray of shape (n_tokens,)
        ``order[k]`` is the stacked token at packed position ``k``.
    steps : ndarray of shape (max_length + 1,)
        Packed rows ``steps[t]:steps[t + 1]`` are the ``t``-th tokens.
    sentences : ndarray of shape (n_non_empty,)
        Sorted position → sentence number; empty sentences are left out.
    """

    order: IntArray
    steps: IntArray
    sentences: IntArray

    @classmethod
    def from_offsets(cls, offsets: IntArray) -> ChainLayout:
        """Lay out the sentences that begin at ``offsets[:-1]``."""
        offsets = np.asarray(offsets, dtype=np.int64)  # [S+1]
        lengths = np.diff(offsets)  # [S]
        by_length = np.argsort(-lengths, kind="stable")  # [S]
        sentences = by_length[lengths[by_length] > 0]  # [S']
        kept = lengths[sentences]  # [S']
        longest = int(kept[0]) if len(kept) else 0
        counts = np.searchsorted(-kept, -np.arange(longest), side="left")  # [T]
        steps = offsets_of(counts)  # [T+1]
        starts = offsets[sentences]  # [S']
        order = np.empty(int(steps[-1]), dtype=np.int64)  # [N]
        for t in range(longest):
            order[steps[t] : steps[t + 1]] = starts[: counts[t]] + t
        return cls(order, steps, sentences)

    @property
    def n_tokens(self) -> int:
        """Number of tokens, N."""
        return len(self.order)

    @property
    def max_length(self) -> int:
        """Length of the longest sentence."""
        return len(self.steps) - 1

    @property
    def counts(self) -> IntArray:
        """Sentences still running at every step, [T]."""
        return np.diff(self.steps)

    def pack(self, stacked: IntArray) -> IntArray:
        """Reorder a NumPy array over stacked tokens into packed order."""
        return stacked[self.order]

    def unpack(self, packed: IntArray) -> IntArray:
        """Undo `pack`."""
        stacked = np.empty_like(packed)
        stacked[self.order] = packed
        return stacked


def neighbours(offsets: IntArray) -> IntArray:
    """Stacked tokens that have a left neighbour in their sentence, [P]."""
    has_left = np.ones(int(offsets[-1]), dtype=bool)  # [N]
    starts = offsets[:-1][np.diff(offsets) > 0]  # [S']
    has_left[starts] = False
    return np.flatnonzero(has_left)  # [P]
