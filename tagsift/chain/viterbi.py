"""The best label sequence of every sentence, all sentences at once.

Ordinary Viterbi over sums of scores. Equation (31) of the paper runs the same recursion
over the weighted scores of Equation (30).
"""

from __future__ import annotations

import numpy as np

from tagsift.backend import asarray, namespace
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Potentials
from tagsift.errors import InputError
from tagsift.typing import Array

__all__ = ["viterbi"]


def viterbi(
    U: Array,
    T: Array,
    layout: ChainLayout,
    *,
    start: Array | None = None,
    end: Array | None = None,
    mask: Array | None = None,
    allowed: Array | None = None,
    allowed_start: Array | None = None,
    allowed_end: Array | None = None,
) -> Array:
    """Label sequence of the highest score per sentence.

    Where several label sequences share the highest score, the last label is the lowest
    index possible, then the label before it, and so on.

    Parameters
    ----------
    U, T, layout, start, end, mask
        As in `tagsift.chain.potentials.Potentials.gather`.
    allowed : array of bool, shape (n_labels, n_labels), optional
        Which label may follow which: False is a ban, whatever the scores.
    allowed_start, allowed_end : array of bool, shape (n_labels,), optional
        Which labels may begin and end a sentence.

    Returns
    -------
    array of int, shape (n_tokens,)
        Label indices in stacked order.
    """
    xp = namespace(U)
    T = _ban(T, allowed)  # [L, L]
    start = _ban(_or_zero(start, allowed_start, T), allowed_start)  # [L]
    end = _ban(_or_zero(end, allowed_end, T), allowed_end)  # [L]
    potentials = Potentials.gather(U, T, layout, start=start, end=end, mask=mask)
    best, back = _forward(potentials)  # [N, L], [N, L]
    steps = layout.steps.tolist()
    labels = xp.zeros_like(back[:, 0])  # [N], packed
    everyone = xp.arange(len(layout.sentences), device=U.device)  # [S']
    for t in range(layout.max_length - 1, -1, -1):
        lo, hi = steps[t], steps[t + 1]
        n = steps[t + 2] - hi if t + 1 < layout.max_length else 0
        if n:
            after = labels[hi : hi + n]  # [S_{t+1}]
            labels[lo : lo + n] = back[hi : hi + n][everyone[:n], after]
        if lo + n < hi:
            value, labels[lo + n : hi] = _best_label(best[lo + n : hi])
            _check(value, layout.sentences[n : hi - lo])
    return potentials.unpack(labels)


def _forward(potentials: Potentials) -> tuple[Array, Array]:
    """Best score of every beginning that ends in a label, and the label before it."""
    W, T, layout = potentials.W, potentials.T, potentials.layout
    xp = namespace(W)
    best = W  # [N, L], overwritten step by step
    back = xp.zeros(W.shape, dtype=xp.int64, device=W.device)  # [N, L]
    steps = layout.steps.tolist()
    for t in range(1, layout.max_length):
        lo, hi, before = steps[t], steps[t + 1], steps[t - 1]
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


def _ban(scores: Array | None, allowed: Array | None) -> Array | None:
    """Scores with −inf where something is not allowed."""
    if allowed is None or scores is None:
        return scores
    xp = namespace(scores)
    permitted = asarray(allowed, like=scores)
    return xp.where(permitted, scores, xp.full_like(scores, -np.inf))


def _or_zero(scores: Array | None, allowed: Array | None, T: Array) -> Array | None:
    """Zero scores where there are bans and no scores to put them into."""
    if scores is None and allowed is not None:
        return namespace(T).zeros_like(T[0])  # [L]
    return None if scores is None else asarray(scores, like=T)  # [L]


def _check(value: Array, sentences: Array) -> None:
    """Stop where no label sequence is allowed."""
    xp = namespace(value)
    if bool(xp.any(value == -np.inf)):
        bad = int(sentences[int(xp.argmin(value))])
        raise InputError(
            f"sentence {bad}: no label sequence satisfies the mask and the banned "
            "transitions together; loosen one of them."
        )
