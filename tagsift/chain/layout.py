"""How the tokens of many sentences are ordered so that each chain step is one product.

Sentences are sorted by length, longest first, and their tokens packed by position: all
first tokens, then all second tokens, and so on. The sentences that are still running at
step t are then always a prefix of those running at step t − 1, so a recursion over
positions works on whole slices, without padding and without masks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tagsift.backend import asarray, namespace
from tagsift.data import offsets_of
from tagsift.typing import Array, BoolArray, IntArray

__all__ = ["ChainLayout", "neighbours"]


@dataclass(frozen=True)
class ChainLayout:
    """Packed, time-major order of stacked tokens."""

    order: IntArray  # [N], the stacked token at every packed position
    steps: IntArray  # [T+1], packed rows steps[t]:steps[t + 1] are the t-th tokens
    sentences: IntArray  # [S'], sorted position → sentence number, without empty ones

    @classmethod
    def from_offsets(cls, offsets: IntArray) -> ChainLayout:
        """Lay out the sentences that begin at ``offsets[:-1]``."""
        offsets = np.asarray(offsets, dtype=np.int64)  # [S+1]
        lengths = np.diff(offsets)  # [S]
        by_length = np.argsort(-lengths, kind="stable")  # [S]
        sentences = by_length[lengths[by_length] > 0]  # [S']
        in_order = lengths[sentences]  # [S']
        longest = int(in_order[0]) if len(in_order) else 0
        counts = np.searchsorted(-in_order, -np.arange(longest), side="left")  # [T]
        steps = offsets_of(counts)  # [T+1]
        starts = offsets[sentences]  # [S']
        order = np.empty(int(steps[-1]), dtype=np.int64)  # [N]
        for t in range(longest):
            order[steps[t] : steps[t + 1]] = starts[: counts[t]] + t
        return cls(order, steps, sentences)

    @property
    def n_tokens(self) -> int:
        return len(self.order)

    @property
    def n_sentences(self) -> int:
        """Sentences that are not empty, S'; the first packed rows begin them."""
        return len(self.sentences)

    @property
    def max_length(self) -> int:
        return len(self.steps) - 1

    @cached_property
    def steps_after_first(self) -> list[tuple[int, int, int]]:
        """Of each step but the first, its packed rows and where the last one began."""
        steps = self.steps.tolist()
        return list(zip(steps[1:], steps[2:], steps, strict=False))

    @cached_property
    def token_sentences(self) -> IntArray:
        """Position in `sentences` of the sentence of every packed token, [N]."""
        first: IntArray = np.repeat(self.steps[:-1], np.diff(self.steps))  # [N]
        return np.arange(self.n_tokens) - first  # [N]

    @cached_property
    def lengths(self) -> IntArray:
        """Tokens of every sentence in the order of `sentences`, [S']."""
        return np.bincount(self.token_sentences, minlength=self.n_sentences)  # [S']

    @cached_property
    def last_tokens(self) -> IntArray:
        """Packed positions of the last tokens, one per sentence, [S']."""
        return self.steps[self.lengths - 1] + np.arange(self.n_sentences)  # [S']

    def take(self, chosen: BoolArray) -> tuple[IntArray, ChainLayout]:
        """Lay out some of the sentences; with the packed rows of their tokens."""
        rows = np.flatnonzero(chosen[self.token_sentences])  # [N']
        return rows, ChainLayout.from_offsets(offsets_of(self.lengths[chosen]))

    def unpack(self, packed: Array) -> Array:
        """Bring an array over packed tokens back to stacked order."""
        inverse = np.empty_like(self.order)  # [N]
        inverse[self.order] = np.arange(self.n_tokens)
        return namespace(packed).take(packed, asarray(inverse, like=packed), axis=0)


def neighbours(offsets: IntArray) -> IntArray:
    """Stacked tokens that have a left neighbour in their sentence, [P]."""
    has_left = np.ones(int(offsets[-1]), dtype=bool)  # [N]
    starts = offsets[:-1][np.diff(offsets) > 0]  # [S']
    has_left[starts] = False
    return np.flatnonzero(has_left)  # [P]
