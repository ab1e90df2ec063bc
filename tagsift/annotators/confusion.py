r"""How annotators err: the chance of a vote, given the truth and the vote before.

.. math::

    \pi_a(v \mid y, v') \propto C_a[y, v', v] + \kappa \, \bar\pi[y, v', v]

C_a counts the votes of annotator a under the current labels. π̄ is pooled over the
annotators of the same kind (people, or sources that abstain), itself drawn to the
pooled table without context, and that one to a diagonal: whoever has labelled little is
judged like the others.

People who go on with a span say little new at its second token, and the vote before
tells so. Models read every token anew: the logarithms of their tables are averaged with
those of the tables that know no context, and so is the evidence.
"""

from __future__ import annotations

import numpy as np

from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import BoolArray, FloatArray

__all__ = ["confusion_tables", "count_votes", "vote_evidence"]


def count_votes(labels: FloatArray, table: VoteTable) -> FloatArray:
    """Count votes by annotator, probable truth, vote before and vote, [A, L, B, L]."""
    weight = np.where(table.exact >= 0, CONSTANTS.exact, 1.0)[:, None]  # [N, 1]
    shape = (table.n_annotators, table.n_contexts, table.n_labels, -1)
    counts = np.asarray(table.cells @ (weight * labels)).reshape(shape)  # [A,B,L,L]
    return np.ascontiguousarray(counts.transpose(0, 3, 1, 2))  # [A, L, B, L]


def confusion_tables(
    counts: FloatArray,
    abstains: BoolArray,
    strength: float = 20.0,
    context: FloatArray | float = 1.0,
) -> FloatArray:
    """Log chance of a vote, by annotator, truth and vote before, [A, L, B, L].

    `strength` is κ, the pseudo-votes of the pooled table in that of each annotator, and
    `context` the share of the table with context, of each or of all, [A]; the rest is
    that without. Chances need not add up to 1 where both take part.
    """
    c, n_labels = CONSTANTS, counts.shape[1]
    log_pi = np.empty_like(counts)  # [A, L, B, L]
    shares = np.broadcast_to(context, len(counts))  # [A]
    for kind in (abstains, ~abstains):
        pooled = counts[kind].sum(axis=0)  # [L, B, L]
        plain = pooled.sum(axis=1) + c.diagonal * np.eye(n_labels) + c.any_label
        plain /= plain.sum(axis=1, keepdims=True)  # [L, L]
        pooled = _drawn(pooled, plain[:, None], c.pooled)  # [L, B, L]
        log_pi[kind] = np.log(_drawn(counts[kind], pooled, strength))
        anew = kind & (shares < 1)  # [A]
        if anew.any():
            alone = np.log(_drawn(counts[anew].sum(axis=2), plain, strength))
            share = shares[anew, None, None, None]  # [A', 1, 1, 1]
            log_pi[anew] = share * log_pi[anew] + (1 - share) * alone[:, :, None]
    return log_pi


def _drawn(counts: FloatArray, towards: FloatArray, strength: float) -> FloatArray:
    """Chances from counts and `strength` pseudo-counts of other chances, [..., L]."""
    drawn = counts + strength * towards  # [..., L]
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def vote_evidence(
    log_pi: FloatArray, table: VoteTable, weights: FloatArray | None = None
) -> FloatArray:
    """Log-likelihood of the votes on every token under every label, [N, L]."""
    by_cell = log_pi.transpose(0, 2, 3, 1)  # [A, B, L, L]
    if weights is not None:
        by_cell = by_cell * weights[:, None, None, None]
    flat = by_cell.reshape(-1, table.n_labels)  # [A·B·L, L]
    e = np.asarray(table.cells.T @ flat)  # [N, L]
    return e + _sets_beyond_shares(log_pi, table, weights)


def _sets_beyond_shares(
    log_pi: FloatArray, table: VoteTable, weights: FloatArray | None
) -> FloatArray | float:
    """What sets add: the log of a sum over their labels, for the mean of the logs."""
    token, annotator, vote = table.token, table.annotator, table.code  # [K] each
    several = np.flatnonzero(vote >= table.n_labels)  # [K']
    if not len(several):
        return 0.0
    more = np.zeros((table.n_tokens, table.n_labels))  # [N, L]
    for k in several:
        names = np.flatnonzero(table.members[vote[k]])  # [L']
        rows = log_pi[annotator[k], :, table.before[k]][:, names]  # [L, L']
        gain = np.logaddexp.reduce(rows, axis=1) - rows.mean(axis=1)  # [L]
        more[token[k]] += gain if weights is None else weights[annotator[k]] * gain
    return more
