"""What a fit works on once the input has been checked: arrays, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import log_evidence
from tagsift.data import detect_scheme
from tagsift.features.matrix import FeatureMatrix
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["TrainingSet", "scheme_of"]


@dataclass(frozen=True)
class TrainingSet:
    """Features of stacked training tokens, and what is known of their labels.

    The lattices read `log_evidence`; the max-margin and token-wise methods read the
    mask of the labels that have any.

    Parameters
    ----------
    features : FeatureMatrix
        Feature blocks, with the offsets of the sentences.
    mask : ndarray of bool, shape (n_tokens, n_labels)
        The candidate set of every token.
    classes : tuple
        The labels, in column order.
    scheme : str
        The tag scheme of the labels.
    seed : int
        Seed of everything random in the fit.
    evidence : ndarray of shape (n_tokens, n_labels), optional
        Log-likelihood of what is known of a token under every label, up to a constant
        per token; −inf where the mask is False. By default 0 inside the mask: a
        candidate set speaks for its labels alike.
    sample_weight : ndarray of shape (n_sentences,), optional
        How much every sentence counts; 1 by default.
    """

    features: FeatureMatrix
    mask: BoolArray
    classes: tuple[Label, ...]
    scheme: str
    seed: int
    evidence: FloatArray | None = None
    sample_weight: FloatArray | None = None

    @property
    def offsets(self) -> IntArray:
        """Where each sentence begins, [S + 1]."""
        return self.features.offsets

    @property
    def n_tokens(self) -> int:
        """Number of stacked tokens, N."""
        return self.features.n_tokens

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return len(self.classes)

    @cached_property
    def log_evidence(self) -> FloatArray:
        """Evidence of every label: as given, or 0 in the mask and −inf outside."""
        found = self.mask if self.evidence is None else self.evidence  # [N, L]
        return np.asarray(log_evidence(found))  # [N, L]

    @cached_property
    def shares(self) -> FloatArray:
        """What a token's evidence says of it alone: rows sum to 1, [N, L]."""
        if self.evidence is None:
            return np.asarray(self.mask / self.mask.sum(axis=1, keepdims=True))
        top = self.evidence.max(axis=1, keepdims=True)  # [N, 1]
        weights = np.exp(self.evidence - top)  # [N, L]
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))  # [N, L]

    @cached_property
    def layout(self) -> ChainLayout:
        """Packed order of the tokens for the chain recursions."""
        return ChainLayout.from_offsets(self.offsets)

    @cached_property
    def exact(self) -> BoolArray:
        """Whether a token's candidate set is a singleton, [N]."""
        exact: BoolArray = self.mask.sum(axis=1) == 1  # [N]
        return exact

    @cached_property
    def exact_sequences(self) -> BoolArray:
        """Whether every token of a (non-empty) sentence is exact, [S]."""
        lengths = self.features.lengths  # [S]
        ambiguous = np.concatenate([[0], np.cumsum(~self.exact)])  # [N + 1]
        inside = ambiguous[self.offsets[1:]] - ambiguous[self.offsets[:-1]]  # [S]
        exact: BoolArray = (inside == 0) & (lengths > 0)  # [S]
        return exact

    def take_sequences(self, indices: Iterable[int]) -> TrainingSet:
        """Keep the chosen sentences, in the order given."""
        chosen = list(indices)
        rows = [
            np.arange(self.offsets[s], self.offsets[s + 1], dtype=np.int64)
            for s in chosen
        ]
        kept = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)  # [N']
        return replace(
            self,
            features=self.features.take_sequences(chosen),
            mask=self.mask[kept],
            evidence=None if self.evidence is None else self.evidence[kept],
            sample_weight=(
                None if self.sample_weight is None else self.sample_weight[chosen]
            ),
        )

    def draw(self, n_tokens: int, *, stream: int) -> TrainingSet:
        """Seeded draw of sentences that hold about `n_tokens` tokens, in their order.

        Where there are no more than that, all of them: the training set itself.
        """
        if self.n_tokens <= n_tokens:
            return self
        rng = np.random.default_rng([self.seed, stream])
        order = rng.permutation(self.features.n_sequences)  # [S]
        total = np.cumsum(self.features.lengths[order])  # [S]
        enough = int(np.searchsorted(total, n_tokens)) + 1
        return self.take_sequences(np.sort(order[:enough]))


def scheme_of(train: TrainingSet) -> str:
    """Find the scheme from the label set and exactly labelled sentences only."""
    names = [str(name) for name in train.classes]
    chosen = train.mask.argmax(axis=1)  # [N]
    sequences = (
        [names[k] for k in chosen[train.offsets[s] : train.offsets[s + 1]]]
        for s in np.flatnonzero(train.exact_sequences)
    )
    return detect_scheme(sequences, names)
