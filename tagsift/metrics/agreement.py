r"""How far annotators agree, and how reliable each of them is.

Votes are one integer per token and annotator, from 0 to the number of labels less one,
and −1 where an annotator did not label the token. All statistics take tokens one by one
and labels as names without order.

* Pairwise agreement: the share of equal labels among the tokens both labelled; Cohen's
  κ takes off what two annotators with the same habits would reach by chance.
* Fleiss' κ, with the mean over tokens where their numbers of votes differ.
* Krippendorff's α for nominal labels, which allows for missing votes.
* Dawid & Skene (1979): the true labels are hidden, every annotator has a confusion
  matrix, and both are estimated by expectation–maximisation. The confusion matrix of an
  annotator is drawn towards the pooled one by a few pseudo-votes, so that one who gave
  few labels is judged like the others until their own votes say more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import logsumexp

from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = [
    "DawidSkeneEstimate",
    "PairwiseAgreement",
    "dawid_skene",
    "encode_votes",
    "fleiss_kappa",
    "krippendorff_alpha",
    "pairwise_agreement",
    "vote_counts",
]


def encode_votes(
    votes: Sequence[Sequence[Sequence[Label | frozenset[str] | None]]],
    labels: Sequence[Label],
) -> IntArray:
    """Stack the votes of all sentences as label indices.

    Parameters
    ----------
    votes : sequence of sentences of tokens of votes
        One entry per annotator; None where an annotator did not label the token, and a
        set where one could not decide, which counts as no label here.
    labels : sequence of labels
        The label set and its order.

    Returns
    -------
    ndarray of shape (n_tokens, n_annotators)
        Label indices, −1 for a missing vote.
    """
    place: dict[Any, int] = {name: k for k, name in enumerate(labels)}
    place[None] = -1
    try:
        rows = [
            [-1 if isinstance(vote, frozenset) else place[vote] for vote in token]
            for sentence in votes
            for token in sentence
        ]
    except KeyError as error:
        raise InputError(
            f"the vote {error.args[0]!r} is not among the {len(labels)} labels; name "
            "it in the label set or correct it."
        ) from None
    if len({len(row) for row in rows}) > 1:
        raise InputError("every token needs one vote (or None) per annotator.")
    return np.array(rows, dtype=np.int64).reshape(len(rows), -1)  # [N, A]


def _check(votes: IntArray, n_labels: int) -> IntArray:
    """Check what every function here takes."""
    array = np.asarray(votes)  # [N, A]
    if array.ndim != 2 or array.dtype.kind not in "iu" or array.size == 0:
        raise InputError(
            "votes must be an integer array of shape (n_tokens, n_annotators) with "
            f"something in it; got {array.dtype} of shape {array.shape}."
        )
    if n_labels < 1:
        raise InputError("votes need a label to be for; the label set is empty.")
    if array.min() < -1 or array.max() >= n_labels:
        raise InputError(
            f"votes must lie between −1 (missing) and {n_labels - 1}; got values from "
            f"{array.min()} to {array.max()}."
        )
    return array.astype(np.int64)


def vote_counts(votes: IntArray, n_labels: int) -> FloatArray:
    """Number of votes for every label at every token, [N, L].

    Parameters
    ----------
    votes, n_labels : ndarray of shape (n_tokens, n_annotators), int
        As above.
    """
    array = _check(votes, n_labels)
    n_tokens = len(array)
    token, annotator = np.nonzero(array >= 0)  # [V], [V]
    cell = token * n_labels + array[token, annotator]  # [V]
    flat = np.bincount(cell, minlength=n_tokens * n_labels)  # [N·L]
    return flat.reshape(n_tokens, n_labels).astype(float)


def _one_hot(votes: IntArray, n_labels: int) -> csr_matrix:
    """Votes as a sparse 0/1 matrix with one column per annotator and label."""
    token, annotator = np.nonzero(votes >= 0)  # [V], [V]
    column = annotator * n_labels + votes[token, annotator]  # [V]
    shape = (len(votes), votes.shape[1] * n_labels)
    return csr_matrix((np.ones(len(token)), (token, column)), shape=shape)  # [N, A·L]


@dataclass(frozen=True)
class PairwiseAgreement:
    """Agreement of every pair of annotators.

    Parameters
    ----------
    shared : ndarray of shape (n_annotators, n_annotators)
        Tokens that both labelled.
    share : ndarray of shape (n_annotators, n_annotators)
        Share of those with the same label; NaN where there are none.
    kappa : ndarray of shape (n_annotators, n_annotators)
        Cohen's κ; NaN where it is not defined.
    """

    shared: IntArray
    share: FloatArray
    kappa: FloatArray

    @property
    def mean_share(self) -> float:
        """Share of equal labels over all pairs of votes for the same token."""
        above = np.triu_indices(len(self.shared), k=1)
        shared = self.shared[above]  # [P]
        if not shared.sum():
            return float("nan")
        equal = np.nan_to_num(self.share[above]) * shared  # [P]
        return float(equal.sum() / shared.sum())


def pairwise_agreement(votes: IntArray, n_labels: int) -> PairwiseAgreement:
    """Share of equal labels and Cohen's κ for every pair of annotators.

    Parameters
    ----------
    votes, n_labels : ndarray of shape (n_tokens, n_annotators), int
        As above.
    """
    array = _check(votes, n_labels)
    n_annotators = array.shape[1]
    hot = _one_hot(array, n_labels)  # [N, A·L]
    tables = np.asarray((hot.T @ hot).todense()).reshape(
        n_annotators, n_labels, n_annotators, n_labels
    )  # [A, L, A, L]
    shared = np.einsum("akbl->ab", tables)  # [A, A]
    equal = np.einsum("akbk->ab", tables)  # [A, A]
    mine = np.einsum("akbl->abk", tables)  # [A, A, L]  labels of a where b voted
    chance = np.einsum("abk,bak->ab", mine, mine)  # [A, A]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = equal / shared  # [A, A]
        by_chance = chance / shared**2  # [A, A]
        kappa = (share - by_chance) / (1.0 - by_chance)  # [A, A]
    kappa[~np.isfinite(kappa)] = np.nan
    return PairwiseAgreement(shared.astype(np.int64), share, kappa)


def _counts_of_pairs(votes: IntArray, n_labels: int) -> FloatArray:
    """Votes for every label, at the tokens with at least two votes, [N', L]."""
    counts = vote_counts(votes, n_labels)  # [N, L]
    return np.asarray(counts[counts.sum(axis=1) >= 2])


def fleiss_kappa(votes: IntArray, n_labels: int) -> float:
    """Fleiss' κ over the tokens with at least two votes; NaN where undefined.

    Parameters
    ----------
    votes, n_labels : ndarray of shape (n_tokens, n_annotators), int
        As above.
    """
    counts = _counts_of_pairs(votes, n_labels)  # [N', L]
    if not len(counts):
        return float("nan")
    total = counts.sum(axis=1)  # [N']
    agreed = (counts * (counts - 1)).sum(axis=1) / (total * (total - 1))  # [N']
    share = counts.sum(axis=0) / counts.sum()  # [L]
    chance = float((share**2).sum())
    if chance >= 1.0:
        return float("nan")
    return float((agreed.mean() - chance) / (1.0 - chance))


def krippendorff_alpha(votes: IntArray, n_labels: int) -> float:
    """Krippendorff's α for nominal labels and missing votes; NaN where undefined.

    Parameters
    ----------
    votes, n_labels : ndarray of shape (n_tokens, n_annotators), int
        As above.
    """
    counts = _counts_of_pairs(votes, n_labels)  # [N', L]
    if not len(counts):
        return float("nan")
    total = counts.sum(axis=1)  # [N']
    differing = (total**2 - (counts**2).sum(axis=1)) / (total - 1)  # [N']
    margins = counts.sum(axis=0)  # [L]
    size = margins.sum()
    expected = size**2 - (margins**2).sum()
    if expected == 0.0:
        return float("nan")
    return float(1.0 - (size - 1.0) * differing.sum() / expected)


@dataclass(frozen=True)
class DawidSkeneEstimate:
    """Hidden true labels and the habits of annotators, as estimated from votes.

    Parameters
    ----------
    prior : ndarray of shape (n_labels,)
        Share of every true label.
    confusion : ndarray of shape (n_annotators, n_labels, n_labels)
        Probability of the label given (last axis), by true label.
    posterior : ndarray of shape (n_tokens, n_labels)
        Probability of every true label; the prior where nobody voted.
    n_iter : int
        Rounds of expectation–maximisation.
    converged : bool
        Whether the posterior had stopped moving by then.
    """

    prior: FloatArray
    confusion: FloatArray
    posterior: FloatArray
    n_iter: int
    converged: bool

    def reliability(self, labels: BoolArray | None = None) -> FloatArray:
        """Chance that an annotator gives the true label of a token, [A].

        Parameters
        ----------
        labels : ndarray of bool, shape (n_labels,), optional
            Count only tokens whose true label is one of these.
        """
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
    votes, n_labels : ndarray of shape (n_tokens, n_annotators), int
        As above.
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
    array = _check(votes, n_labels)
    n_annotators = array.shape[1]
    hot = _one_hot(array, n_labels)  # [N, A·L]
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
        table = np.asarray(hot.T @ posterior).reshape(
            n_annotators, n_labels, n_labels
        )  # [A, V, K]
        table = table.transpose(0, 2, 1)  # [A, K, V]
        pooled = table.sum(axis=0) + 1.0 / n_labels  # [K, V]
        pooled /= pooled.sum(axis=1, keepdims=True)  # [K, V]
        confusion = table + strength * pooled  # [A, K, V]
        confusion /= confusion.sum(axis=2, keepdims=True)  # [A, K, V]
        weights = np.log(confusion).transpose(0, 2, 1)  # [A, V, K]
        scores = np.log(prior) + np.asarray(
            hot @ weights.reshape(-1, n_labels)
        )  # [N', K]
        updated = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))  # [N', K]
        moved = np.abs(updated - posterior).sum(axis=1)  # [N']
        converged = bool(moved.mean() <= tol)
        posterior = updated  # [N', K]
    full = np.tile(prior, (len(array), 1))  # [N, L]
    full[voted] = posterior
    return DawidSkeneEstimate(prior, confusion, full, n_iter, converged)
