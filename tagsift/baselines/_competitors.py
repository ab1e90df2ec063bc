"""Which label sequences compete with the reward, and the batches that decode them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tagsift.chain.decoders import non_candidate
from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import viterbi
from tagsift.data.offsets import offsets_of
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["Batch", "Term"]


@dataclass(frozen=True)
class Term:
    """One hinge per sentence: which sequences compete, and by which task loss."""

    decoder: Literal["free", "candidate", "non_candidate"]  # the set G_b
    weight: float  # c_b, the same for all sentences
    loss: FloatArray  # [N, L]  Δ_b(y) is the sum of loss[t, y_t]


class Batch:
    """Sentences that are decoded by one call."""

    def __init__(self, offsets: IntArray, mask: BoolArray, sentences: IntArray) -> None:
        lengths = offsets[sentences + 1] - offsets[sentences]  # [B]
        self.sentences = sentences
        self.starts = offsets_of(lengths)  # [B+1]
        owner = np.repeat(np.arange(len(sentences)), lengths)  # [N']
        self.joined = owner[1:] == owner[:-1]  # [N'-1]
        first = offsets[sentences] - self.starts[:-1]  # [B]
        self.tokens = first[owner] + np.arange(self.starts[-1])  # [N']
        self.mask = mask[self.tokens]  # [N', L]
        self.layout = ChainLayout.from_offsets(self.starts)

    def part(self, i: int) -> slice:
        """Where the tokens of the i-th sentence lie inside the batch."""
        return slice(self.starts[i], self.starts[i + 1])

    def sum(self, values: FloatArray) -> FloatArray:
        """Sum a value of every token over each sentence, [B]."""
        return np.add.reduceat(values, self.starts[:-1])

    def score(self, labels: IntArray, U: FloatArray, A: FloatArray) -> FloatArray:
        """Score of one label sequence per sentence, [B]."""
        values = U[np.arange(len(labels)), labels]  # [N']
        values[1:] += self.joined * A[labels[:-1], labels[1:]]  # [N'-1]
        return self.sum(values)

    def decode(
        self, term: Term, U: FloatArray, A: FloatArray
    ) -> tuple[IntArray, FloatArray]:
        """Best competitor of every sentence and its score, −∞ where there is none."""
        U = U + term.loss[self.tokens]  # [N', L]
        if term.decoder == "non_candidate":
            labels, exists = non_candidate(U, A, self.mask, self.layout)
            found = np.empty_like(exists)  # [B]
            found[self.layout.sentences] = exists
            return labels, np.where(found, self.score(labels, U, A), -np.inf)
        mask = self.mask if term.decoder == "candidate" else None  # [N', L]
        labels = viterbi(U, A, self.layout, mask=mask)  # [N']
        return labels, self.score(labels, U, A)
