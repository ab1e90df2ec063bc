r"""The best label sequence of every sentence, all sentences at once.

Ordinary Viterbi over sums of scores. Equation (31) of the paper runs the same recursion
over the weighted scores of Equation (30), sums of probabilities, not of logarithms:

.. math::

    g_i(y_{i-1}, y_i) = \tau_i(y_i) S(y_i, x_i) + \tau(y_{i-1}, y_i) S(y_{i-1}, y_i),
    \qquad \delta_t(s) = \max_y [\delta_{t-1}(y) + g_t(y, s)]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tagsift.backend import namespace
from tagsift.chain.layout import ChainLayout
from tagsift.chain.potentials import Allowed, Potentials
from tagsift.errors import InputError
from tagsift.typing import Array, BoolArray, FloatArray, IntArray

__all__ = [
    "max_expected_accuracy",
    "neighbour_factor",
    "non_candidate",
    "transition_factor",
    "viterbi",
    "weighted_viterbi",
]

#: What breaking the tag scheme once costs, in labels expected to be right.
_BROKEN = 30.0


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
            if bool(xp.any(value == -np.inf)):
                bad = int(layout.sentences[n + int(xp.argmin(value))])
                raise InputError(
                    f"sentence {bad}: no label sequence satisfies the mask and the "
                    "banned transitions together; loosen one of them."
                )
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


def max_expected_accuracy(
    marginals: FloatArray, offsets: IntArray, allowed: Allowed | None = None
) -> IntArray:
    """Label sequence with most labels expected to be right, in stacked order, [N].

    Marginals [N, L] are 0 outside the candidates, which are never left. What is not
    allowed is taken only where the candidates leave nothing else.
    """
    U = np.where(marginals > 0, marginals, -np.inf)  # [N, L]
    free = np.ones(U.shape[1], dtype=bool)  # [L]
    between, first, last = allowed or (np.outer(free, free), free, free)
    layout = ChainLayout.from_offsets(offsets)
    start, end = (np.where(part, 0.0, -_BROKEN) for part in (first, last))  # [L]
    T = np.where(between, 0.0, -_BROKEN)  # [L, L]
    labels: IntArray = viterbi(U, T, layout, start=start, end=end)  # [N]
    return labels


def non_candidate(
    U: FloatArray, T: FloatArray, mask: BoolArray, layout: ChainLayout
) -> tuple[IntArray, BoolArray]:
    """Best label sequence that leaves its candidate sets at least once (D3).

    Viterbi over pairs (flag, label); the flag rises once a token has taken a label
    outside its set, and the sequence must end with the flag up. Every step is one
    maximum over [B, L, L], B being the sentences that still run. The way back asks
    again which predecessor gave a value, for one label per sentence, which is L times
    less work than to store all answers. With the labels [N] comes whether there is such
    a sequence, [S'] as in ``layout.sentences``: there is none where all sets are full.
    """
    steps, n_labels = layout.steps, U.shape[1]
    packed, inside = U[layout.order], mask[layout.order]  # [N, L]
    score = np.empty((len(packed), 2, n_labels), dtype=packed.dtype)  # [N, 2, L]
    score[:, 0] = np.where(inside, packed, -np.inf)  # [N, L]  flag down
    score[:, 1] = np.where(inside, -np.inf, packed)  # [N, L]  flag up
    for lo, hi, before in layout.steps_after_first:
        rows, last = slice(lo, hi), score[before : before + hi - lo]  # [B, 2, L]
        best = (last[..., None] + T).max(axis=2)  # [B, 2, L]
        down, up = best[:, 0], best[:, 1]  # [B, L]
        np.maximum(down, up, out=up, where=~inside[rows])
        score[rows, 0] += down
        score[rows, 1] = up + packed[rows]
    labels = np.empty(len(packed), dtype=np.int64)  # [N]
    found = np.empty(layout.n_sentences, dtype=bool)  # [S']
    flag = label = np.empty(0, dtype=np.int64)  # [B]
    columns = T.T  # [L, L]
    for t in range(layout.max_length - 1, -1, -1):
        here, running = score[steps[t] : steps[t + 1]], len(label)
        ending = here[running:, 1]  # [B', L]  these sentences end at t
        found[running : len(here)] = ending.max(axis=1, initial=-np.inf) > -np.inf
        # A running sentence came from the flag that its next token allows.
        onward = here[:running] + columns[label][:, None, :]  # [B, 2, L]
        leaves = ~inside[steps[t + 1] + np.arange(running), label]  # [B]
        np.copyto(onward[:, 0], -np.inf, where=((flag == 1) & ~leaves)[:, None])
        np.copyto(onward[:, 1], -np.inf, where=(flag == 0)[:, None])
        back = onward.max(axis=1).argmax(axis=1)  # [B]
        raised = onward[np.arange(running), :, back].argmax(axis=1)  # [B]
        label = np.concatenate([back, ending.argmax(axis=1)])  # [B]
        flag = np.concatenate([raised, np.ones(len(ending), dtype=np.int64)])  # [B]
        labels[steps[t] : steps[t + 1]] = label
    return layout.unpack(labels), found


def neighbour_factor(
    neighbours: IntArray,
    confidences: FloatArray,
    mask: BoolArray,
    *,
    floor: str = "uniform",
) -> FloatArray:
    r"""Equation (29), Reading R5: confidence of every label at every new token, [M, L].

    The mean confidence c_k(y) of the nearest training tokens k, by their numbers
    [M, Q]; for a label that is none of their candidates [N, L], the mean over all
    labels, ``Σ_k Σ_y' c_k(y') / (K |Y|)``. As printed (the floor ``"literal"``) this
    lacks the division by the number of labels and equals 1, the largest value there is.
    """
    n_labels = confidences.shape[1]
    mean = confidences[neighbours].mean(axis=1)  # [M, L]
    seen = mask[neighbours].any(axis=1)  # [M, L]
    rest = mean.sum(axis=1, keepdims=True)  # [M, 1]
    if floor == "uniform":
        rest = rest / n_labels  # [M, 1]
    factor: FloatArray = np.where(seen, mean, rest)  # [M, L]
    return factor


def transition_factor(sums: FloatArray, counts: FloatArray) -> FloatArray:
    """Mean confidence τ(y, y') of a transition; 0 where it never occurs (R7)."""
    return np.where(counts > 0, sums / np.maximum(counts, 1.0), 0.0)  # [L, L]


def weighted_viterbi(
    emission: FloatArray,
    transition: FloatArray,
    layout: ChainLayout,
    *,
    tau: FloatArray | None = None,
    tau_T: FloatArray | None = None,
) -> IntArray:
    """Label sentences by the recursion (31) over the scores (30); by default τ is 1."""
    unary = emission if tau is None else tau * emission  # [N, L]  Eq. (30), first term
    pair = transition if tau_T is None else tau_T * transition  # [L, L]  second term
    labels: IntArray = viterbi(unary, pair, layout)  # [N]  Eq. (31)
    return labels
