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
    n_tokens, n_people, n_labels = table.n_tokens, table.n_annotators, table.n_labels
    token, annotator, vote, part = table.spoken  # [E] each
    silent = np.bincount(token, minlength=n_tokens) == 0  # [N]
    if silent.all():
        return shares
    smooth = CONSTANTS.mace
    worth = part if weights is None else part * weights[annotator]  # [E]
    of_all = np.bincount(annotator, part, n_people)  # [A]
    posterior = shares  # [N, L]
    knows = np.full(n_people, 0.8)  # [A]
    spam = np.full((n_people, n_labels), 1.0 / n_labels)  # [A, L]
    by_chance = (1 - knows[annotator]) * spam[annotator, vote]  # [K]
    for _ in range(n_steps):
        # Where the vote is the truth, it was known or spammed; else it was spammed.
        known = knows[annotator] / (knows[annotator] + by_chance)  # [K]
        right = part * posterior[token, vote] * known  # [E]
        of_right = np.bincount(annotator, right, n_people)  # [A]
        knows = (of_right + smooth) / (of_all + 2 * smooth)
        cell = annotator * n_labels + vote  # [K]
        spam = np.bincount(cell, part - right, n_people * n_labels) + smooth / n_labels
        spam = np.asarray(spam.reshape(n_people, n_labels))  # [A, L]
        spam = np.asarray(spam / spam.sum(axis=1, keepdims=True))
        prior = posterior[~silent].mean(axis=0)  # [L], of tokens with a vote
        by_chance = (1 - knows[annotator]) * spam[annotator, vote]  # [K]
        other = np.bincount(token, worth * np.log(by_chance), n_tokens)  # [N]
        gain = worth * np.log1p(knows[annotator] / by_chance)  # [K]
        gains = np.bincount(token * n_labels + vote, gain, n_tokens * n_labels)
        scores = gains.reshape(n_tokens, n_labels) + other[:, None]  # [N, L]
        log_prior = np.log(np.maximum(prior, 1e-9))  # [L]
        posterior = softmax(scores + log_prior + table.pinned, axis=1)
    return np.where(silent[:, None], shares, posterior)  # [N, L]
