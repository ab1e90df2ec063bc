r"""How sure text and votes together may be: a factor T of all their scores.

Text and votes share errors, so that the sum of both is too sure by itself: confidences
are marginals of T (f + τ e). What everybody gets wrong is seen by nobody, and no vote
that is left out tells of it; but the more votes on spans contradict the labels, and the
more the text believes the votes, the more there is of it:

.. math:: T = T_0 \, (\tau^* d^2)^{-1/6} \le 1,

with τ* the weight of the votes that the text prefers (`vote_weight`), and d the share
of the votes on spans that differ from the label. Both come from the corpus in hand,
without a known label. Where no token has votes of several annotators T is that of a
typical corpus, d = τ* = 1/2.
"""

from __future__ import annotations

import numpy as np

from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import FloatArray, IntArray

__all__ = ["confidence_temperature", "contradiction"]


def confidence_temperature(
    labels: IntArray, table: VoteTable, weights: FloatArray, preferred: float
) -> float:
    """T for labels, [N], weights of annotators, [A], and the preferred τ* of votes."""
    c = CONSTANTS
    d, n = contradiction(labels, table, weights)
    own = n / (n + c.typical_tokens)
    d, weight = (own * x + (1 - own) * 0.5 for x in (d, preferred))
    shared = weight * max(d, c.least_contradiction) ** 2
    return float(min(c.temperature * shared ** (-1 / 6), 1.0))


def contradiction(
    labels: IntArray, table: VoteTable, weights: FloatArray
) -> tuple[float, int]:
    """Share d of the votes on spans that differ from the label, and of how many tokens.

    Those count that more than one annotator has labelled; copies are one annotator.
    """
    weight = weights[table.annotator]  # [K]
    open_ = (table.exact < 0) & (labels != table.outside)  # [N]
    asked = open_ & (table.sum_by_token(weight) > 1 + 1e-9)  # [N]
    if not asked.any():
        return 0.0, 0
    heard = np.where(asked[table.token], weight, 0.0)  # [K]
    agrees = table.members[table.code, labels[table.token]]  # [K]
    return 1.0 - float((heard * agrees).sum() / heard.sum()), int(asked.sum())
