r"""Who knows and who spams: the annotator model of MACE.

With chance θ_a annotator a gives the true label, else one drawn from a distribution ξ_a
of their own,

.. math:: p(v \mid y) = \theta_a [v = y] + (1 - \theta_a) \, \xi_a(v).

So few numbers tell a careless annotator from a good one even in a small corpus, and
where most are careless.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import FloatArray

__all__ = ["mace"]


def mace(
    table: VoteTable,
    shares: FloatArray,
    n_steps: int = 50,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Probability of every label of every token, beginning with the shares, [N, L].

    θ and ξ are estimated by expectation–maximisation; a vote of annotator a counts
    `weights[a]` times. Where nobody says anything the shares stay.
    """
    n_annotators, n_labels = table.n_annotators, table.n_labels
    silent = np.bincount(table.spoken[0], minlength=table.n_tokens) == 0  # [N]
    if silent.all():
        return shares
    posterior, theta = shares, np.full(n_annotators, 0.8)  # [N, L], [A]
    xi = np.full((n_annotators, n_labels), 1.0 / n_labels)  # [A, L]
    for _ in range(n_steps):
        theta, xi = _m_step(table, posterior, theta, xi)
        prior = posterior[~silent].mean(axis=0)  # [L], of tokens with a vote
        posterior = _e_step(table, theta, xi, prior, weights)
    return np.where(silent[:, None], shares, posterior)  # [N, L]


def _m_step(
    table: VoteTable, posterior: FloatArray, theta: FloatArray, xi: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """θ, [A], and ξ, [A, L]: where a vote is the truth, it was known or drawn."""
    token, annotator, vote, part = table.spoken  # [E] each
    smooth, (n, n_labels) = CONSTANTS.mace, xi.shape
    drawn = (1 - theta[annotator]) * xi[annotator, vote]  # [E]
    by_knowing = theta[annotator] / (theta[annotator] + drawn)  # [E]
    right = part * posterior[token, vote] * by_knowing  # [E]
    of_right, of_all = (np.bincount(annotator, x, n) for x in (right, part))  # [A]
    cell = annotator * n_labels + vote  # [E]
    counts = np.bincount(cell, part - right, n * n_labels) + smooth / n_labels
    counts = counts.reshape(n, n_labels)  # [A, L]
    theta = (of_right + smooth) / (of_all + 2 * smooth)
    return theta, np.asarray(counts / counts.sum(axis=1, keepdims=True))


def _e_step(
    table: VoteTable,
    theta: FloatArray,
    xi: FloatArray,
    prior: FloatArray,
    weights: FloatArray | None,
) -> FloatArray:
    """Posterior of the labels, [N, L]."""
    token, annotator, vote, part = table.spoken  # [E] each
    shape = table.n_tokens, table.n_labels
    worth = part if weights is None else part * weights[annotator]  # [E]
    drawn = (1 - theta[annotator]) * xi[annotator, vote]  # [E]
    other = np.bincount(token, worth * np.log(drawn), shape[0])  # [N]
    gain = worth * np.log1p(theta[annotator] / drawn)  # [E]
    gains = np.bincount(token * shape[1] + vote, gain, shape[0] * shape[1])
    scores = gains.reshape(shape) + other[:, None]  # [N, L]
    log_prior = np.log(np.maximum(prior, 1e-9))  # [L]
    return np.asarray(softmax(scores + log_prior + table.pinned, axis=1))
