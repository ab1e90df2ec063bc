"""What the looks of an audit teach: exact labels, and confidences fitted to them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from tagsift.chain.viterbi import max_expected_accuracy
from tagsift.cleaned.auditing.labels import AuditedLabels
from tagsift.cleaned.auditing.recalibration import Recalibration, fit_to_looks
from tagsift.cleaned.cleaned import Cleaned
from tagsift.data import allowed_transitions
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "Lesson",
    "calibration_errors",
    "inclusion_chances",
    "lesson",
    "recalibration",
    "refitted",
]

#: Parts of the looks, each judged by numbers that were fitted to the others.
_PARTS = 5
#: Bins of the calibration error.
_BINS = 15


class Lesson(NamedTuple):
    """The tokens of the sentences that were looked at."""

    token: IntArray  # [M]
    truth: IntArray  # [M]  the codes of their right labels
    weight: FloatArray  # [M]  inverse chances of being drawn, with a mean of 1
    look: IntArray  # [M]  the look that each belongs to

    def part(self, chosen: BoolArray) -> Lesson:
        """Some of the tokens."""
        token, truth, weight, look = self
        return Lesson(token[chosen], truth[chosen], weight[chosen], look[chosen])


def inclusion_chances(weights: FloatArray, n: int) -> FloatArray:
    r"""Chances of being among the first `n` drawn, nearly, [S].

    :math:`\pi_s = 1 - e^{-w_s t}` with the t at which they add up to n: exponential
    times with rates w put the sentences in order, and t is when n of them are over.
    """
    if n >= np.count_nonzero(weights):
        return np.where(weights > 0, 1.0, 0.0)

    def missing(t: float) -> float:
        return float(np.sum(-np.expm1(-weights * t)) - n)

    ceiling = 1.0
    while missing(ceiling) < 0:
        ceiling *= 2
    return np.asarray(-np.expm1(-weights * brentq(missing, 0.0, ceiling)))


def lesson(
    labels: AuditedLabels, weights: FloatArray, looks: IntArray, truth: list[IntArray]
) -> Lesson:
    """The tokens of the looks, with what each of them counts."""
    corpus = labels.corpus
    lengths = corpus.lengths[looks]  # [n]
    look = np.repeat(np.arange(len(looks)), lengths)  # [M]
    shift = corpus.bounds[looks] - (np.cumsum(lengths) - lengths)  # [n]
    token = np.arange(len(look)) + shift[look]  # [M]
    weight = (1 / inclusion_chances(weights, len(looks))[looks])[look]  # [M]
    right = np.concatenate([np.zeros(0, dtype=np.int64), *truth])
    return Lesson(token, right, weight / weight.mean(), look)


def recalibration(labels: AuditedLabels, of: Lesson) -> Recalibration:
    """Fit the confidences of the model to the looks."""
    shares = labels.marginals[~labels.settled].mean(axis=0)
    return fit_to_looks(
        labels.marginals[of.token],
        of.truth,
        of.weight,
        labels.corpus.outside,
        shares / shares.sum(),
    )


def calibration_errors(labels: AuditedLabels, of: Lesson) -> tuple[float, float]:
    """Calibration error on the looks, before and after confidences are fitted to them.

    The second is of looks that took no part in the fit, one fifth after the other.
    """
    before = labels.marginals[of.token]
    after = before.copy()
    for k in range(_PARTS):
        held = of.look % _PARTS == k
        if held.any() and not held.all():
            after[held] = recalibration(labels, of.part(~held))(before[held])
    return _error(before, of), _error(after, of)


def _error(marginals: FloatArray, of: Lesson) -> float:
    """Expected calibration error of the surest label, weighted."""
    best = marginals.argmax(axis=1)
    sure = marginals[np.arange(len(best)), best]
    bins = np.minimum((sure * _BINS).astype(int), _BINS - 1)
    gap = np.bincount(bins, of.weight * (sure - (best == of.truth)))
    return float(np.abs(gap).sum() / of.weight.sum())


def refitted(cleaned: Cleaned, labels: AuditedLabels, of: Lesson) -> Cleaned:
    """The result with exact labels where somebody looked, decoded anew."""
    width = len(cleaned.classes)
    if (of.truth >= width).any():
        name = labels.names[int(of.truth.max())]
        raise InputError(
            f"expected right labels that the model knows, found {name!r}; fit again "
            "with the answers as exact labels (Corpus.with_exact)."
        )
    marginals = recalibration(labels, of)(labels.marginals)[:, :width]
    marginals /= marginals.sum(axis=1, keepdims=True)
    marginals[labels.settled] = cleaned.confidences[labels.settled]
    marginals[of.token] = np.eye(width)[of.truth]
    scheme, bounds = cleaned.corpus.scheme, cleaned.corpus.bounds
    allowed = allowed_transitions(cleaned.classes, scheme)
    codes = max_expected_accuracy(marginals, bounds, allowed)
    exact = [list(row) for row in cleaned.corpus.exact or ()] or [
        [None] * int(length) for length in cleaned.corpus.lengths
    ]
    for n, code in zip(of.token.tolist(), of.truth.tolist(), strict=True):
        s = int(labels.sentence[n])
        exact[s][n - int(bounds[s])] = cleaned.classes[code]
    corpus = cleaned.corpus.with_exact(exact)
    return replace(cleaned, corpus=corpus, codes=codes, marginals=marginals)
