"""Token-level scores: accuracy, whole sentences, and F1 averaged over labels.

Two averages of the F1 per label are kept apart, because the paper does not say which
one it reports. A precision, recall or F1 whose denominator is zero is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tagsift.metrics._pairs import (
    Tally,
    check_pairs,
    equal_labels,
    label_indices,
    label_order,
)
from tagsift.typing import IntArray, Label, Labels

__all__ = ["TokenScores", "confusion_matrix", "token_accuracy", "token_scores"]


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
    gold: Labels, predicted: Labels, labels: Sequence[Label] | None = None
) -> tuple[tuple[Label, ...], IntArray]:
    """Count how often every gold label (row) was given every predicted label (column).

    The names of rows and columns come first: `labels`, or the sorted union.
    """
    check_pairs(gold, predicted)
    if labels is None:
        labels = label_order({label for side in (*gold, *predicted) for label in side})
    n_labels = len(labels)
    rows = label_indices(gold, labels, name="gold")  # [N]
    columns = label_indices(predicted, labels, name="predicted")  # [N]
    counts = np.bincount(rows * n_labels + columns, minlength=n_labels**2)  # [L·L]
    return tuple(labels), counts.reshape(n_labels, n_labels)  # [L, L]


def token_accuracy(gold: Labels, predicted: Labels) -> float:
    """Share of tokens with the right label."""
    return float(equal_labels(gold, predicted).mean())


def token_scores(
    gold: Labels, predicted: Labels, labels: Sequence[Label] | None = None
) -> TokenScores:
    """Score predicted labels token by token.

    `labels` is the label set and its order; the sorted union by default.

    Examples
    --------
    >>> scores = token_scores([["A", "A", "B"]], [["A", "B", "B"]])
    >>> round(scores.accuracy, 3), round(scores.macro_f1, 3)
    (0.667, 0.667)
    """
    names, confusion = confusion_matrix(gold, predicted, labels)  # [L, L]
    correct = np.diagonal(confusion)  # [L]
    support = confusion.sum(axis=1)  # [L]
    table = np.stack([support, confusion.sum(axis=0), correct], axis=1)  # [L, 3]
    tallies = [Tally(*row) for row in table.tolist()]
    f1 = np.array([tally.f1 for tally in tallies])  # [L]
    pairs = zip(gold, predicted, strict=True)
    whole = [list(truths) == list(guess) for truths, guess in pairs if len(truths)]
    return TokenScores(
        accuracy=float(correct.sum() / support.sum()),
        sentence_accuracy=float(np.mean(whole)),
        weighted_f1=float((f1 * support).sum() / support.sum()),
        macro_f1=float(f1[support > 0].mean()),
        per_label=dict(zip(names, tallies, strict=True)),
        n_tokens=int(support.sum()),
        n_sentences=len(whole),
    )
