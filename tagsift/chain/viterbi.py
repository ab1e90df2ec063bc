"""The best label sequence of every sentence, all sentences at once.

Ordinary Viterbi over sums of scores. Equation (31) of the paper runs the same recursion
over the weighted scores of Equation (30).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagsift.backend import namespace
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Potentials
from tagsift.errors import InputError
from tagsift.typing import Array

__all__ = ["viterbi"]


def viterbi(U: Array, T: Array, layout: ChainLayout, **scores: Any) -> Array:
    """Label sequence of the highest score per sentence, in stacked order, [N].

    Where several label sequences share the highest score, the last label is the lowest
    index possible, then the label before it, and so on. Further scores, and what is
    allowed, as in `Potentials.gather`.
    """
    xp = namespace(U)
    potentials = Potentials.gather(U, T, layout, **scores)
    best, back = _forward(potentials)  # [N, L], [N, L]
    steps = layout.steps.tolist()
    labels = xp.zeros_like(back[:, 0])  # [N], packed
    everyone = xp.arange(layout.n_sentences, device=U.device)  # [S']
    for t in range(layout.max_length - 1, -1, -1):
        lo, hi = steps[t], steps[t + 1]
        n = steps[t + 2] - hi if t + 1 < layout.max_length else 0
        if n:
            after = labels[hi : hi + n]  # [S_{t+1}]
            labels[lo : lo + n] = back[hi : hi + n][everyone[:n], after]
        if lo + n < hi:
            value, labels[lo + n : hi] = _best_label(best[lo + n : hi])
            _check(value, layout.sentences[n : hi - lo])
    return layout.unpack(labels)


def _forward(potentials: Potentials) -> tuple[Array, Array]:
    """Best score of every beginning that ends in a label, and the label before it."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    best = W  # [N, L], overwritten step by step
    back = xp.zeros(W.shape, dtype=xp.int64, device=W.device)  # [N, L]
    for lo, hi, before in layout.steps_after_first:
        previous = best[before : before + hi - lo]  # [S_t, L]
        value = previous[:, :1] + T[0]  # [S_t, L]
        chosen = back[lo:hi]  # [S_t, L]
        for label in range(1, T.shape[0]):
            rival = previous[:, label : label + 1] + T[label]  # [S_t, L]
            chosen[rival > value] = label  # strictly: ties keep the lowest index
            value = xp.maximum(value, rival)  # [S_t, L]
        best[lo:hi] += value
    return best, back


def _best_label(scores: Array) -> tuple[Array, Array]:
    """Maximum of every row and the lowest index that reaches it."""
    xp = namespace(scores)
    value = scores[:, 0]  # [S]
    chosen = xp.zeros(value.shape, dtype=xp.int64, device=scores.device)  # [S]
    for label in range(1, scores.shape[1]):
        chosen[scores[:, label] > value] = label
        value = xp.maximum(value, scores[:, label])  # [S]
    return value, chosen


def _check(value: Array, sentences: Array) -> None:
    """Stop where no label sequence is allowed."""
    xp = namespace(value)
    if bool(xp.any(value == -np.inf)):
        bad = int(sentences[int(xp.argmin(value))])
        raise InputError(
            f"sentence {bad}: no label sequence satisfies the mask and the banned "
            "transitions together; loosen one of them."
        )
