"""The scores of a chain, gathered into one matrix over packed tokens.

Start and end scores, evidence and candidate masks are all scores of single tokens, so
they are folded into the unary scores once; every recursion then knows one matrix of
unary scores and one of transitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from tagsift.backend import asarray, namespace
from tagsift.chain.layout import ChainLayout
from tagsift.data.offsets import offsets_of
from tagsift.typing import Array, BoolArray, IntArray

__all__ = [
    "Potentials",
    "last_tokens",
    "log_evidence",
    "row_max",
    "sentence_lengths",
    "take_sentences",
    "token_sentences",
]


@dataclass(frozen=True)
class Potentials:
    """Log-potentials of all sentences in packed order.

    Parameters
    ----------
    W : array of shape (n_tokens, n_labels)
        Unary scores in packed order, with start, end and evidence added; −inf where
        the mask forbids.
    T : array of shape (n_labels, n_labels)
        ``T[a, b]`` scores label ``a`` followed by ``b``; −inf is a ban.
    layout : ChainLayout
        The packed order.
    weights : array of shape (n_sentences,), optional
        How often every sentence counts in sums over sentences, in the order of
        ``layout.sentences``; once by default.
    """

    W: Array
    T: Array
    layout: ChainLayout
    weights: Array | None = None

    @classmethod
    def gather(
        cls,
        U: Array,
        T: Array,
        layout: ChainLayout,
        *,
        start: Array | None = None,
        end: Array | None = None,
        mask: Array | None = None,
        evidence: Array | None = None,
    ) -> Potentials:
        """Fold every score into one matrix.

        Parameters
        ----------
        U : array of shape (n_tokens, n_labels)
            Unary scores in stacked order; −inf forbids a label.
        T : array of shape (n_labels, n_labels)
            ``T[a, b]`` scores label ``a`` followed by ``b``; −inf forbids it.
        layout : ChainLayout
            The sentences.
        start, end : array of shape (n_labels,), optional
            Scores of the first and of the last label of a sentence.
        mask : array of bool, shape (n_tokens, n_labels), optional
            The labels each token may take.
        evidence : array of shape (n_tokens, n_labels), optional
            Log-likelihood of what is known of a token under every label (the votes of
            annotators, say), added to `U`; −inf forbids.
        """
        xp = namespace(U)
        order = asarray(layout.order, like=U)  # [N]
        W = xp.take(U, order, axis=0)  # [N, L], a copy
        if evidence is not None:
            W += xp.take(asarray(evidence, like=U), order, axis=0)  # [N, L]
        if start is not None:
            W[: len(layout.sentences)] += asarray(start, like=U)  # [S', L]
        if end is not None:
            last = asarray(last_tokens(layout), like=U)  # [S']
            W[last] += asarray(end, like=U)  # [S', L]
        if mask is not None:
            allowed = xp.take(asarray(mask, like=U), order, axis=0)  # [N, L]
            W = xp.where(allowed, W, xp.full_like(W, -np.inf))  # [N, L]
        return cls(W, T, layout)

    def unpack(self, packed: Array) -> Array:
        """Bring an array over packed tokens back to stacked order."""
        inverse = np.empty_like(self.layout.order)  # [N]
        inverse[self.layout.order] = np.arange(self.layout.n_tokens)
        return namespace(packed).take(packed, asarray(inverse, like=packed), axis=0)


def log_evidence(known: Array) -> Array:
    """Log evidence of every label; a mask of candidates becomes 0 and −inf."""
    known = np.asarray(known)
    if known.dtype != np.bool_:
        return known
    return np.where(known, 0.0, -np.inf)


def row_max(W: Array) -> Array:
    """Largest entry of every row, 0 for rows without a finite one; shape (N,)."""
    xp = namespace(W)
    # Labels are few: one pass a column is faster than a reduction along rows.
    top = reduce(xp.maximum, (W[:, label] for label in range(W.shape[1])))  # [N]
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))  # [N]


def sentence_lengths(layout: ChainLayout) -> IntArray:
    """Tokens of every sentence in the order of ``layout.sentences``; shape (S',)."""
    waiting = -np.arange(len(layout.sentences))  # [S']
    return np.searchsorted(-layout.counts, waiting, side="left").astype(np.int64)


def token_sentences(layout: ChainLayout) -> IntArray:
    """Of every packed token, which of ``layout.sentences`` it is in; shape (N,)."""
    first: IntArray = np.repeat(layout.steps[:-1], layout.counts)  # [N]
    return np.arange(layout.n_tokens) - first  # [N]


def last_tokens(layout: ChainLayout) -> IntArray:
    """Packed positions of the last tokens, one per sentence; shape (S',)."""
    n = len(layout.sentences)
    return layout.steps[sentence_lengths(layout) - 1] + np.arange(n)  # [S']


def take_sentences(
    layout: ChainLayout, chosen: BoolArray
) -> tuple[IntArray, ChainLayout]:
    """Lay out some of the sentences by themselves.

    Parameters
    ----------
    layout : ChainLayout
        The layout of all.
    chosen : ndarray of bool, shape (S',)
        Which sentences, in the order of ``layout.sentences``.

    Returns
    -------
    rows : ndarray of shape (N',)
        Packed rows of their tokens: already the packed order of the new layout.
    sub : ChainLayout
        The chosen sentences, in unchanged order, stacked one after the other.
    """
    lengths = sentence_lengths(layout)[chosen]  # [S'']
    rows = np.flatnonzero(chosen[token_sentences(layout)])  # [N']
    return rows, ChainLayout.from_offsets(offsets_of(lengths))
