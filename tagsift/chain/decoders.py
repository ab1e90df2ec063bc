"""The decoders of the max-margin methods, each over all sentences at once.

========================  =====================================================
`viterbi` (D1)            best label sequence
`viterbi`, `mask` (D2)    best sequence inside the candidate sets
`non_candidate` (D3)      best sequence that leaves the sets at least once
`mean_feature` (D4)       label and transition counts averaged over the sets
========================  =====================================================

The first two stand in `tagsift.chain.viterbi`. Unary scores U [N, L] of stacked tokens
have the task loss added where the decoding is loss-augmented.
"""

from __future__ import annotations

import numpy as np

from tagsift.chain.layout import ChainLayout
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["mean_feature", "non_candidate"]


def non_candidate(
    U: FloatArray, T: FloatArray, mask: BoolArray, layout: ChainLayout
) -> tuple[IntArray, BoolArray]:
    """Best label sequence that leaves its candidate sets at least once (D3).

    Viterbi over pairs (flag, label); the flag rises once a token has taken a label
    outside its set, and the sequence must end with the flag up. Every step is one
    maximum over [B, L, L], B being the sentences that still run. The forward pass keeps
    values only; the way back asks again which predecessor gave the value, for one label
    per sentence, which is L times less work than to store all answers. With the labels
    [N] comes whether there is such a sequence, [S'] as in ``layout.sentences``: there
    is none where all sets are full.
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


def mean_feature(mask: BoolArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Label and transition counts averaged over all candidate sequences (D4).

    The candidate sequences are a product set, so that their uniform distribution has
    independent tokens: P = mask / row sums, and a transition has the probability of its
    two ends. The mean unary feature of a sentence is ``P.T @ X``.
    """
    P = mask / mask.sum(axis=1, keepdims=True)  # [N, L]
    pairs = np.zeros((len(offsets) - 1, P.shape[1], P.shape[1]))  # [S, L, L]
    for s in range(len(pairs)):
        rows = P[offsets[s] : offsets[s + 1]]  # [T, L]
        pairs[s] = rows[:-1].T @ rows[1:]
    return P, pairs
