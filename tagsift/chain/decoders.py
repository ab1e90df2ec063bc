"""The four decoders of the max-margin methods, each over all sentences at once.

========================  =====================================================
`free` (D1)               best label sequence: ordinary Viterbi
`candidate` (D2)          best sequence inside the candidate sets
`non_candidate` (D3)      best sequence that leaves the sets at least once
`mean_feature` (D4)       label and transition counts averaged over the sets
========================  =====================================================

All take the unary scores U [N, L] of stacked tokens (with the task loss added where the
decoding is loss-augmented), the transition scores T [L, L] and a `ChainLayout`. Every
step of a recursion is one maximum over [B, L, L], B being the sentences that still run.
The forward pass keeps values only; the way back asks again which predecessor gave the
value, for one label per sentence, which is L times less work than to store all answers.
"""

from __future__ import annotations

import numpy as np

from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import viterbi
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["candidate", "free", "mean_feature", "non_candidate"]


def free(U: FloatArray, T: FloatArray, layout: ChainLayout) -> IntArray:
    """Best label sequence of every sentence (D1).

    Parameters
    ----------
    U : ndarray of shape (n_tokens, n_labels)
        Unary scores of stacked tokens.
    T : ndarray of shape (n_labels, n_labels)
        ``T[a, b]`` scores label a followed by b.
    layout : ChainLayout
        Where the sentences lie.

    Returns
    -------
    labels : ndarray of shape (n_tokens,)
        In stacked order; ties go to the lowest label.
    """
    return np.asarray(viterbi(U, T, layout), dtype=np.int64)  # [N]


def candidate(
    U: FloatArray, T: FloatArray, mask: BoolArray, layout: ChainLayout
) -> IntArray:
    """Best label sequence inside the candidate sets (D2).

    Parameters
    ----------
    U, T, layout
        As in `free`.
    mask : ndarray of bool, shape (n_tokens, n_labels)
        The candidate sets; none is empty.

    Returns
    -------
    labels : ndarray of shape (n_tokens,)
        In stacked order.
    """
    return np.asarray(viterbi(U, T, layout, mask=mask), dtype=np.int64)  # [N]


def non_candidate(
    U: FloatArray, T: FloatArray, mask: BoolArray, layout: ChainLayout
) -> tuple[IntArray, BoolArray]:
    """Best label sequence that leaves its candidate sets at least once (D3).

    Viterbi over pairs (flag, label); the flag rises once a token has taken a label
    outside its set, and the sequence must end with the flag up.

    Parameters
    ----------
    U, T, mask, layout
        As in `candidate`.

    Returns
    -------
    labels : ndarray of shape (n_tokens,)
        In stacked order; meaningless for sentences that are not found.
    found : ndarray of bool, shape (n_non_empty,)
        In the order of ``layout.sentences``; False where all sets are full, so that
        no such sequence exists.
    """
    steps, n_labels = layout.steps, U.shape[1]
    packed, inside = U[layout.order], mask[layout.order]  # [N, L]
    score = np.empty((len(packed), 2, n_labels), dtype=packed.dtype)  # [N, 2, L]
    score[:, 0] = np.where(inside, packed, -np.inf)  # [N, L]  flag down
    score[:, 1] = np.where(inside, -np.inf, packed)  # [N, L]  flag up
    for t in range(1, layout.max_length):
        rows = slice(steps[t], steps[t + 1])
        last = score[steps[t - 1] : steps[t - 1] + steps[t + 1] - steps[t]]
        best = (last[..., None] + T).max(axis=2)  # [B, 2, L]
        down, up = best[:, 0], best[:, 1]  # [B, L]
        np.maximum(down, up, out=up, where=~inside[rows])
        score[rows, 0] += down
        score[rows, 1] = up + packed[rows]
    labels = np.empty(len(packed), dtype=np.int64)  # [N]
    found = np.empty(len(layout.sentences), dtype=bool)  # [S']
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


def mean_feature(mask: BoolArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Label and transition counts averaged over all candidate sequences (D4).

    The candidate sequences are a product set, so that their uniform distribution has
    independent tokens: P = mask / row sums, and a transition has the probability of its
    two ends.

    Parameters
    ----------
    mask : ndarray of bool, shape (n_tokens, n_labels)
        The candidate sets of stacked tokens.
    offsets : ndarray of shape (n_sequences + 1,)
        Where the sentences begin.

    Returns
    -------
    P : ndarray of shape (n_tokens, n_labels)
        Mean label indicators: the mean unary feature of a sentence is ``P.T @ X``.
    pairs : ndarray of shape (n_sequences, n_labels, n_labels)
        Mean number of transitions of every sentence.
    """
    P = mask / mask.sum(axis=1, keepdims=True)  # [N, L]
    pairs = np.zeros((len(offsets) - 1, P.shape[1], P.shape[1]))  # [S, L, L]
    for s in range(len(pairs)):
        rows = P[offsets[s] : offsets[s + 1]]  # [T, L]
        pairs[s] = rows[:-1].T @ rows[1:]
    return P, pairs
