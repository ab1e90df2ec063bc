"""Token-level scores: accuracy, whole sentences, and F1 averaged over labels.

Two averages of the F1 per label are kept apart, because the paper does not say which
one it reports:

* token-weighted F1: every label, including ``O``, weighted by how often it is gold;
* token-macro F1: the plain mean over the labels that occur in gold.

A precision, recall or F1 whose denominator is zero is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagsift.metrics._pairs import Pairs, Tally, encode
from tagsift.typing import IntArray, Label

__all__ = [
    "TokenScores",
    "confusion_matrix",
    "token_accuracy",
    "token_scores",
]


@dataclass(frozen=True)
class TokenScores:
    """What is counted token by token."""

    accuracy: float  # share of tokens with the right label
    sentence_accuracy: float  # share of sentences, empty ones aside, without an error
    weighted_f1: float  # F1 per label, weighted by gold support, ``O`` included
    macro_f1: float  # unweighted mean of the F1 of the labels present in gold
    per_label: dict[Label, Tally]  # every label of the label set, in its order
    n_tokens: int
    n_sentences: int  # empty ones are not counted


def confusion_matrix(
    gold: Sequence[Sequence[Label]],
    predicted: Sequence[Sequence[Label]],
    labels: Sequence[Label] | None = None,
) -> tuple[tuple[Label, ...], IntArray]:
    """Count how often every gold label was given every predicted label."""
    pairs = encode(gold, predicted, labels)
    return pairs.labels, _confusion(pairs)


def _confusion(pairs: Pairs) -> IntArray:
    n_labels = len(pairs.labels)
    cells = pairs.gold * n_labels + pairs.predicted  # [N]
    counts = np.bincount(cells, minlength=n_labels**2)  # [L·L]
    return counts.reshape(n_labels, n_labels).astype(np.int64)  # [L, L]


def token_accuracy(
    gold: Sequence[Sequence[Label]], predicted: Sequence[Sequence[Label]]
) -> float:
    """Share of tokens with the right label."""
    pairs = encode(gold, predicted)
    return float((pairs.gold == pairs.predicted).mean())


def token_scores(
    gold: Sequence[Sequence[Label]],
    predicted: Sequence[Sequence[Label]],
    labels: Sequence[Label] | None = None,
) -> TokenScores:
    """Score predicted labels token by token.

    Parameters
    ----------
    gold, predicted : sequences of sequences of labels
        The truth and the labels to judge.
    labels : sequence of labels, optional
        The label set and its order; the sorted union by default.

    Returns
    -------
    TokenScores
        Accuracies and the two averages of F1.

    Examples
    --------
    >>> scores = token_scores([["A", "A", "B"]], [["A", "B", "B"]])
    >>> round(scores.accuracy, 3), round(scores.macro_f1, 3)
    (0.667, 0.667)
    """
    pairs = encode(gold, predicted, labels)
    counts = _confusion(pairs)  # [L, L]
    correct = np.diagonal(counts)  # [L]
    support = counts.sum(axis=1)  # [L]
    given = counts.sum(axis=0)  # [L]
    per_label = {
        label: Tally(*numbers)
        for label, *numbers in zip(
            pairs.labels,
            support.tolist(),
            given.tolist(),
            correct.tolist(),
            strict=True,
        )
    }
    f1 = np.array([counts.f1 for counts in per_label.values()])  # [L]

    wrong = np.concatenate([[0], np.cumsum(pairs.gold != pairs.predicted)])  # [N+1]
    in_sentence = np.diff(wrong[pairs.offsets])  # [S]
    filled = np.diff(pairs.offsets) > 0  # [S]
    return TokenScores(
        accuracy=float(correct.sum() / support.sum()),
        sentence_accuracy=float((in_sentence[filled] == 0).mean()),
        weighted_f1=float((f1 * support).sum() / support.sum()),
        macro_f1=float(f1[support > 0].mean()),
        per_label=per_label,
        n_tokens=int(support.sum()),
        n_sentences=int(filled.sum()),
    )
