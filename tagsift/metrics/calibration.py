"""How far the probabilities of labels can be trusted.

Every function takes stacked tokens: probabilities ``[N, L]``, whose rows sum to 1, and
the column of the true label ``[N]``, with −1 for a truth that has no column (its
probability is then 0).

The calibration error (ECE) is top-label, in equal-width bins, closed on the right. The
risk at coverage k/N is the share of wrong labels among the k most confident tokens;
those of equal confidence are taken in random order on average, so that the curve does
not depend on how the file is sorted. AURC is its mean over k = 1 … N.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = [
    "CLIP",
    "CalibrationScores",
    "Reliability",
    "RiskCoverage",
    "brier_score",
    "calibration_scores",
    "log_loss",
    "reliability",
    "risk_coverage",
    "stack_marginals",
    "top_label",
]

#: Probabilities below this count as this in the negative log-likelihood.
CLIP = 1e-15
#: How far the probabilities of a token may sum away from 1.
_SUM_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Reliability:
    """The table behind a reliability diagram: bins closed on the right."""

    edges: FloatArray  # [B+1], borders of the bins
    counts: IntArray  # [B], tokens in every bin
    confidence: FloatArray  # [B], their mean confidence; NaN in an empty bin
    accuracy: FloatArray  # [B], share of right labels; NaN in an empty bin

    @property
    def _gaps(self) -> FloatArray:
        """Difference of accuracy and confidence, 0 in empty bins, [B]."""
        return np.nan_to_num(np.abs(self.accuracy - self.confidence))

    @property
    def ece(self) -> float:
        """Expected calibration error: gaps weighted by the tokens in each bin."""
        return float((self._gaps * self.counts).sum() / self.counts.sum())

    @property
    def mce(self) -> float:
        """Maximum calibration error: the largest gap of a bin that holds a token."""
        return float(self._gaps.max())


@dataclass(frozen=True)
class RiskCoverage:
    """Share of wrong labels among the most confident tokens."""

    coverage: FloatArray  # k/N for k = 1 … N
    risk: FloatArray  # expected share of wrong labels among the k most confident tokens

    @property
    def aurc(self) -> float:
        """Area under the curve: the mean risk over all coverages."""
        return float(self.risk.mean())

    def risk_at(self, coverage: float) -> float:
        """Risk when (at least) this share of the tokens is kept."""
        if not 0.0 < coverage <= 1.0:
            raise InputError(f"Coverage must be above 0 and at most 1; got {coverage}.")
        n_tokens = int(np.ceil(coverage * len(self.risk) - 1e-9))
        return float(self.risk[max(n_tokens, 1) - 1])


@dataclass(frozen=True)
class CalibrationScores:
    """How far the marginals can be trusted."""

    brier: float  # summed over labels, between 0 and 2
    nll: float  # mean negative log-probability of the truth, in nats
    reliability: Reliability
    risk_coverage: RiskCoverage

    @property
    def ece(self) -> float:
        """Expected calibration error of the top label."""
        return self.reliability.ece

    @property
    def aurc(self) -> float:
        """Area under the risk–coverage curve of the top label."""
        return self.risk_coverage.aurc


def calibration_scores(
    probabilities: ArrayLike, truth: ArrayLike, *, n_bins: int = 15
) -> CalibrationScores:
    """All scores of probabilities [N, L], given the column of every truth [N].

    A truth without a column is −1, and of probability 0, here and below.
    """
    return CalibrationScores(
        brier_score(probabilities, truth),
        log_loss(probabilities, truth),
        reliability(probabilities, truth, n_bins=n_bins),
        risk_coverage(*top_label(probabilities, truth)),
    )


def stack_marginals(
    marginals: Sequence[ArrayLike], lengths: Sequence[int], n_labels: int
) -> FloatArray:
    """Stack the marginals [T, L] of all sentences, checking shapes and sums, [N, L]."""
    if len(marginals) != len(lengths):
        raise InputError(
            f"There are marginals for {len(marginals)} sentences and labels for "
            f"{len(lengths)}; give both for the same sentences."
        )
    parts = [np.zeros((0, n_labels))]
    for number, (part, length) in enumerate(zip(marginals, lengths, strict=True)):
        array = np.asarray(part, dtype=np.float64)  # [T, L]
        if length == 0 and array.size == 0:
            continue
        if array.shape != (length, n_labels):
            raise InputError(
                f"Sentence {number} (counted from 0): expected marginals of shape "
                f"({length}, {n_labels}), one row per token and one column per class; "
                f"got {array.shape}."
            )
        _check_rows(array, f"Sentence {number}, token")
        parts.append(array)
    return np.concatenate(parts)  # [N, L]


def _check_rows(probabilities: FloatArray, where: str) -> None:
    with np.errstate(invalid="ignore"):
        total = probabilities.sum(axis=1)  # [N]
        bad = ~(np.abs(total - 1.0) <= _SUM_TOLERANCE)  # [N]
        bad |= (probabilities < 0.0).any(axis=1)  # [N]
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"{where} {row} (counted from 0): the probabilities must be at least 0 and "
            f"sum to 1; the smallest is {probabilities[row].min():.6g} and they sum to "
            f"{total[row]:.6g}. Give marginals, not scores."
        )


def _check(probabilities: ArrayLike, truth: ArrayLike) -> tuple[FloatArray, IntArray]:
    array = np.asarray(probabilities, dtype=np.float64)  # [N, L]
    index = np.asarray(truth)  # [N]
    if array.ndim != 2 or index.shape != array.shape[:1] or not len(array):
        raise InputError(
            "Expected probabilities of shape (n_tokens, n_labels) and one true label "
            f"index per token, for at least one token; got shapes {array.shape} and "
            f"{index.shape}."
        )
    if index.dtype.kind not in "iu" or index.min() < -1 or index.max() >= len(array[0]):
        raise InputError(
            f"The true labels must be column numbers from 0 to {len(array[0]) - 1} (or "
            f"−1: no column); got {index.dtype} values from {index.min()} to "
            f"{index.max()}."
        )
    _check_rows(array, "Token")
    return array, index.astype(np.int64)


def top_label(
    probabilities: ArrayLike, truth: ArrayLike
) -> tuple[FloatArray, BoolArray]:
    """Confidence of the most probable label of every token, and whether it is right."""
    array, index = _check(probabilities, truth)
    return np.minimum(array.max(axis=1), 1.0), array.argmax(axis=1) == index


def reliability(
    probabilities: ArrayLike, truth: ArrayLike, *, n_bins: int = 15
) -> Reliability:
    """Sort tokens by the largest of their probabilities [N, L] into equal bins.

    In each, confidence is compared with accuracy: whether the true column [N] is it.
    """
    if n_bins < 1:
        raise InputError(f"The number of bins must be at least 1; got {n_bins!r}.")
    confidence, correct = top_label(probabilities, truth)
    edges = np.linspace(0.0, 1.0, n_bins + 1)  # [B+1]
    bins = np.searchsorted(edges[1:-1], confidence, side="left")  # [N]
    counts = np.bincount(bins, minlength=n_bins)  # [B]
    with np.errstate(invalid="ignore"):
        mean_confidence = np.bincount(bins, confidence, n_bins) / counts  # [B]
        accuracy = np.bincount(bins, correct, n_bins) / counts  # [B]
    return Reliability(edges, counts.astype(np.int64), mean_confidence, accuracy)


def brier_score(probabilities: ArrayLike, truth: ArrayLike) -> float:
    """Squared difference of probabilities [N, L] and truth [N], summed over labels.

    The mean over tokens: 0 when sure and right everywhere, 2 when sure and wrong.
    """
    array, index = _check(probabilities, truth)
    squares = (array**2).sum(axis=1)  # [N]
    return float((squares - 2.0 * _of_truth(array, index) + 1.0).mean())


def log_loss(probabilities: ArrayLike, truth: ArrayLike) -> float:
    """Mean negative log-probability [N, L] of the true column [N] (NLL), in nats."""
    of_truth = _of_truth(*_check(probabilities, truth))  # [N]
    return float(-np.log(np.clip(of_truth, CLIP, 1.0)).mean())


def _of_truth(array: FloatArray, index: IntArray) -> FloatArray:
    """Probability of the true label of every token, [N]."""
    return np.where(index >= 0, array[np.arange(len(index)), index], 0.0)  # [N]


def risk_coverage(confidence: ArrayLike, correct: ArrayLike) -> RiskCoverage:
    """Risk–coverage curve: how wrong the most confident tokens are.

    `confidence` is larger for surer tokens, `correct` whether each label is right.
    """
    scores = np.asarray(confidence, dtype=np.float64)  # [N]
    wrong = ~np.asarray(correct, dtype=np.bool_)  # [N]
    if scores.ndim != 1 or scores.shape != wrong.shape or not len(scores):
        raise InputError(
            "Expected one confidence and one verdict per token, for at least one "
            f"token; got shapes {scores.shape} and {wrong.shape}."
        )
    if np.isnan(scores).any():
        raise InputError("A confidence is NaN; give a number for every token.")
    _, group = np.unique(-scores, return_inverse=True)  # [N], 0 = surest
    sizes = np.bincount(group)  # [G]
    rates = np.bincount(group, wrong) / sizes  # [G]
    errors = np.cumsum(np.repeat(rates, sizes))  # [N]
    taken = np.arange(1, len(scores) + 1)  # [N]
    return RiskCoverage(taken / len(scores), np.clip(errors / taken, 0.0, 1.0))
