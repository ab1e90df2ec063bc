"""The scores of a chain, gathered into one matrix over packed tokens.

Start and end scores, evidence and candidate masks are all scores of single tokens, so
they are folded into the unary scores once; every recursion then knows one matrix of
unary scores and one of transitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np

from tagsift.backend import asarray, namespace
from tagsift.chain.layout import ChainLayout
from tagsift.typing import Array, BoolArray

__all__ = ["Allowed", "Potentials", "log_evidence", "row_max"]

#: Which label may follow which, and which may begin and end a sentence.
Allowed: TypeAlias = tuple[BoolArray, BoolArray, BoolArray]


@dataclass(frozen=True)
class Potentials:
    """Log-potentials of all sentences in packed order; −inf is a ban."""

    W: Array  # [N, L], unary scores with all that is known of single tokens added
    T: Array  # [L, L], T[a, b] scores label a followed by b
    layout: ChainLayout
    weights: Array | None = None  # [S'], how much every sentence counts; 1 by default

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
        allowed: Allowed | None = None,
    ) -> Potentials:
        """Fold every score into one matrix.

        Beside the unary scores U [N, L], in stacked order, and the transitions T there
        may be scores of the first and of the last label [L], the labels that each token
        may take, or the log-likelihood of what is known of it under every label (the
        votes of annotators, say) [N, L], and what a tag scheme allows.
        """
        xp = namespace(U)
        order = asarray(layout.order, like=U)  # [N]
        W = xp.take(U, order, axis=0)  # [N, L], a copy
        if evidence is not None:
            W += xp.take(asarray(evidence, like=U), order, axis=0)  # [N, L]
        if start is not None:
            W[: layout.n_sentences] += asarray(start, like=U)  # [S', L]
        if end is not None:
            W[asarray(layout.last_tokens, like=U)] += asarray(end, like=U)  # [S', L]
        if mask is not None:
            inside = xp.take(asarray(mask, like=U), order, axis=0)  # [N, L]
            W = xp.where(inside, W, xp.full_like(W, -np.inf))  # [N, L]
        if allowed is not None:
            between, first, last = (asarray(log_evidence(k), like=U) for k in allowed)
            T = T + between  # [L, L]
            W[: layout.n_sentences] += first  # [S', L]
            W[asarray(layout.last_tokens, like=U)] += last  # [S', L]
        return cls(W, T, layout)


def log_evidence(known: Array) -> Array:
    """Log evidence of every label; a mask of candidates becomes 0 and −inf."""
    known = np.asarray(known)
    if known.dtype != np.bool_:
        return known
    return np.where(known, 0.0, -np.inf)


def row_max(W: Array) -> Array:
    """Largest entry of every row, 0 for rows without a finite one, [N]."""
    xp = namespace(W)
    # Labels are few: one pass a column is faster than a reduction along rows.
    top = reduce(xp.maximum, (W[:, label] for label in range(W.shape[1])))  # [N]
    return xp.where(xp.isfinite(top), top, xp.zeros_like(top))  # [N]
