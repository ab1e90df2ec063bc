r"""Weighted Viterbi: the paper's decoder, and the factors that weight its scores.

Equation (29), Reading R5, is what the training confidences say about a new token,

.. math::

    \tau_i(y) = \begin{cases}
      \frac{1}{K_i} \sum_k c_k(y) & y \in \mathcal{Y}_i \\
      \frac{1}{|\mathcal{Y}|} \frac{1}{K_i} \sum_k \sum_{y'} c_k(y') & \text{otherwise}
    \end{cases}

with the K nearest training tokens k and the set Y_i of their candidate labels. As
printed the second case lacks the division by the number of labels and equals 1, the
largest value there is. Equations (30)–(31):

.. math::

    g_i(y_{i-1}, y_i) = \tau_i(y_i) S(y_i, x_i) + \tau(y_{i-1}, y_i) S(y_{i-1}, y_i),
    \qquad \delta_t(s) = \max_y [\delta_{t-1}(y) + g_t(y, s)]

Sums of probabilities, not of their logarithms; with τ ≡ 1 it is the paper's plain
Viterbi. The first token of a sentence has no transition term.
"""

from __future__ import annotations

import numpy as np

from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import viterbi
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["neighbour_factor", "transition_factor", "weighted_viterbi"]


def neighbour_factor(
    neighbours: IntArray,
    confidences: FloatArray,
    mask: BoolArray,
    *,
    floor: str = "uniform",
) -> FloatArray:
    """Equation (29): confidence of every label at every new token, [M, L].

    From the confidences and candidate sets [N, L] of the training tokens, by the
    numbers of the nearest ones [M, Q]. The floor ``"literal"`` is the second case as
    printed.
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
