r"""Dawid & Skene (1979): hidden true labels, and a confusion matrix per annotator.

Both are estimated by expectation–maximisation, token by token. The confusion matrix of
an annotator is drawn towards the pooled one by a few pseudo-votes, so that one who gave
few labels is judged like the others until their own votes say more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from tagsift.annotators.agreement import checked_votes, one_hot, vote_counts
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["DawidSkeneEstimate", "dawid_skene"]


@dataclass(frozen=True)
class DawidSkeneEstimate:
    """Hidden true labels and the habits of annotators, as estimated from votes."""

    prior: FloatArray  # [L]  share of every true label
    confusion: FloatArray  # [A, L, L]  chance of a vote (last axis), by true label
    posterior: FloatArray  # [N, L]  of the true labels; the prior where nobody voted
    n_iter: int  # rounds of expectation–maximisation
    converged: bool  # whether the posterior had stopped moving by then

    def reliability(self, labels: BoolArray | None = None) -> FloatArray:
        """Chance of the true label where the truth is one of `labels`, [A]."""
        weight = self.prior if labels is None else self.prior * labels  # [L]
        right = np.einsum("akk->ak", self.confusion)  # [A, L]
        if not weight.sum():
            return np.full(len(right), np.nan)
        return np.asarray(right @ weight / weight.sum())  # [A]


def dawid_skene(
    votes: IntArray,
    n_labels: int,
    *,
    strength: float = 10.0,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> DawidSkeneEstimate:
    r"""Estimate true labels and annotators' confusion matrices from votes alone.

    Parameters
    ----------
    votes : ndarray of shape (n_tokens, n_annotators)
        Label indices, −1 for a missing vote.
    n_labels : int
        Labels.
    strength : float
        Pseudo-votes, per true label, that draw an annotator's confusion matrix towards
        the pooled one.
    max_iter : int
        Most rounds, at least 1.
    tol : float
        Stop when the posteriors of a token move by no more than this on average.

    Notes
    -----
    With :math:`q_n(k)` the posterior and :math:`n_a(k, v)` the expected number of
    tokens of truth k that annotator a labelled v,

    .. math::

        \pi_a(k, v) = \frac{n_a(k, v) + s\,\bar\pi(k, v)}
                           {\sum_{v'} n_a(k, v') + s},
        \qquad
        \bar\pi(k, v) \propto \textstyle\sum_a n_a(k, v) + 1 / L .

    It starts from the shares of the votes.
    """
    array = checked_votes(votes, n_labels)
    hot = one_hot(array, n_labels)  # [N, A·L]
    counts = vote_counts(array, n_labels)  # [N, L]
    voted = counts.sum(axis=1) > 0  # [N]
    if not voted.any():
        raise InputError("nobody labelled any token: there is nothing to estimate.")
    hot, counts = hot[voted], counts[voted]  # [N', A·L], [N', L]
    posterior = counts / counts.sum(axis=1, keepdims=True)  # [N', L]
    n_iter, converged = 0, False
    while not n_iter or not (converged or n_iter >= max_iter):
        n_iter += 1
        prior = (posterior.sum(axis=0) + 1.0 / n_labels) / (len(posterior) + 1.0)  # [L]
        table = np.asarray(hot.T @ posterior)  # [A·V, K]
        table = table.reshape(-1, n_labels, n_labels).transpose(0, 2, 1)  # [A, K, V]
        pooled = table.sum(axis=0) + 1.0 / n_labels  # [K, V]
        pooled /= pooled.sum(axis=1, keepdims=True)  # [K, V]
        confusion = table + strength * pooled  # [A, K, V]
        confusion /= confusion.sum(axis=2, keepdims=True)  # [A, K, V]
        weights = np.log(confusion).transpose(0, 2, 1)  # [A, V, K]
        votes_say = np.asarray(hot @ weights.reshape(-1, n_labels))  # [N', K]
        updated = softmax(np.log(prior) + votes_say, axis=1)  # [N', K]
        moved = np.abs(updated - posterior).sum(axis=1)  # [N']
        converged = bool(moved.mean() <= tol)
        posterior = updated  # [N', K]
    full = np.tile(prior, (len(array), 1))  # [N, L]
    full[voted] = posterior
    return DawidSkeneEstimate(prior, confusion, full, n_iter, converged)
