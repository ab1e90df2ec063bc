r"""Dawid & Skene (1979): hidden true labels, and a confusion matrix per annotator.

Both are estimated by expectation–maximisation, token by token. The confusion matrix of
an annotator is drawn towards the pooled one by a few pseudo-votes, so that one who gave
few labels is judged like the others until their own votes say more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import softmax

from tagsift.data.annotators import Votes
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray

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
    votes: Votes,
    n_tokens: int,
    n_annotators: int,
    n_labels: int,
    *,
    part: FloatArray | None = None,
    strength: float = 10.0,
    max_iter: int = 200,
    tol: float = 1e-6,
) -> DawidSkeneEstimate:
    r"""Estimate true labels and annotators' confusion matrices from votes alone.

    A vote for several labels is one of each with its `part`, [K]. From the shares of
    the votes on, until posteriors move by no more than `tol` a token, with q_n(k) the
    posterior, n_a(k, v) the expected tokens of truth k that annotator a labelled v, and
    `strength` s,

    .. math::

        \pi_a(k, v) = \frac{n_a(k, v) + s\,\bar\pi(k, v)}
                           {\sum_{v'} n_a(k, v') + s},
        \qquad
        \bar\pi(k, v) \propto \textstyle\sum_a n_a(k, v) + 1 / L .
    """
    token, annotator, label = votes  # [K] each
    _, place = np.unique(token, return_inverse=True)  # [K], among tokens with votes
    if not len(token):
        raise InputError("nobody labelled any token: there is nothing to estimate.")
    n_voted, width = int(place.max()) + 1, n_annotators * n_labels
    column = annotator * n_labels + label  # [K]
    share = np.ones(len(column)) if part is None else part  # [K]
    hot = csr_matrix((share, (place, column)), (n_voted, width))
    counts = np.bincount(place * n_labels + label, share, n_voted * n_labels)
    counts = counts.reshape(n_voted, n_labels)  # [N', L]
    posterior = counts / counts.sum(axis=1, keepdims=True)  # [N', L]
    n_iter, converged = 0, False
    while not n_iter or not (converged or n_iter >= max_iter):
        n_iter += 1
        prior, confusion = _m_step(hot, posterior, strength)  # [L], [A, K, V]
        updated = _e_step(hot, prior, confusion)  # [N', K]
        change = np.abs(updated - posterior).sum(axis=1)  # [N']
        converged = bool(change.mean() <= tol)
        posterior = updated  # [N', K]
    full = np.tile(prior, (n_tokens, 1))  # [N, L]
    full[np.unique(token)] = posterior
    return DawidSkeneEstimate(prior, confusion, full, n_iter, converged)


def _m_step(
    hot: csr_matrix, posterior: FloatArray, strength: float
) -> tuple[FloatArray, FloatArray]:
    """Shares of the true labels, [L], and confusion matrices, [A, K, V]."""
    n_labels = posterior.shape[1]
    prior = (posterior.sum(axis=0) + 1.0 / n_labels) / (len(posterior) + 1.0)  # [L]
    counts = np.asarray(hot.T @ posterior)  # [A·V, K]
    counts = counts.reshape(-1, n_labels, n_labels).transpose(0, 2, 1)  # [A, K, V]
    pooled = counts.sum(axis=0) + 1.0 / n_labels  # [K, V]
    pooled /= pooled.sum(axis=1, keepdims=True)  # [K, V]
    confusion = counts + strength * pooled  # [A, K, V]
    confusion /= confusion.sum(axis=2, keepdims=True)  # [A, K, V]
    return np.asarray(prior), np.asarray(confusion)


def _e_step(hot: csr_matrix, prior: FloatArray, confusion: FloatArray) -> FloatArray:
    """Posterior of the true labels, [N', K]."""
    weights = np.log(confusion).transpose(0, 2, 1)  # [A, V, K]
    evidence = np.asarray(hot @ weights.reshape(-1, len(prior)))  # [N', K]
    return np.asarray(softmax(np.log(prior) + evidence, axis=1))
