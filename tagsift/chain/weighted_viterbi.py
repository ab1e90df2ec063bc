r"""Weighted Viterbi: the paper's decoder over sums of weighted scores.

Equations (30)–(31):

.. math::

    g_i(y_{i-1}, y_i) = \tau_i(y_i) S(y_i, x_i) + \tau(y_{i-1}, y_i) S(y_{i-1}, y_i),
    \qquad \delta_t(s) = \max_y [\delta_{t-1}(y) + g_t(y, s)]

Sums of probabilities, not of their logarithms; with τ ≡ 1 it is the paper's plain
Viterbi. The first token of a sentence has no transition term.
"""

from __future__ import annotations

from tagsift.chain.layout import ChainLayout
from tagsift.chain.viterbi import viterbi
from tagsift.typing import FloatArray, IntArray

__all__ = ["weighted_viterbi"]


def weighted_viterbi(
    emission: FloatArray,
    transition: FloatArray,
    layout: ChainLayout,
    *,
    tau: FloatArray | None = None,
    tau_T: FloatArray | None = None,
) -> IntArray:
    """Label every sentence by the recursion (31) over the scores (30).

    Parameters
    ----------
    emission : ndarray of shape (n_tokens, n_labels)
        S(y, x), Equation (27).
    transition : ndarray of shape (n_labels, n_labels)
        S(y, y'), Equation (28).
    layout : ChainLayout
        The sentences.
    tau : ndarray of shape (n_tokens, n_labels), optional
        Confidence factors of the tokens, Equation (29); 1 where not given.
    tau_T : ndarray of shape (n_labels, n_labels), optional
        Confidence factors of the transitions; 1 where not given.

    Returns
    -------
    ndarray of int, shape (n_tokens,)
        Label indices in stacked order.
    """
    unary = emission if tau is None else tau * emission  # [N, L]  Eq. (30), first term
    pair = transition if tau_T is None else tau_T * transition  # [L, L]  second term
    labels: IntArray = viterbi(unary, pair, layout)  # [N]  Eq. (31)
    return labels
