"""Tiny sentences for the checks.

Every word of the little language has one label, so that any method can learn it from a
dozen sentences; the candidate sets add one wrong label to the tokens of most sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import cycle

import numpy as np

from tagsift.base import SequenceTagger
from tagsift.typing import BoolArray, FloatArray

__all__ = [
    "LABELS",
    "LONG",
    "UNSEEN",
    "arrays",
    "full_sets",
    "gold",
    "masks",
    "sentences",
    "training",
]

_WORDS = {
    "B-NP": ("the", "a", "every"),
    "I-NP": ("dog", "cat", "bird", "tree"),
    "B-VP": ("sees", "likes", "hears"),
    "O": ("often", "and", "."),
}
_PATTERNS = (
    "B-NP I-NP B-VP B-NP I-NP O",
    "B-NP I-NP O B-VP O",
    "B-NP I-NP O B-NP I-NP B-VP",
    "O B-NP I-NP B-VP",
)
#: The label set, sorted as estimators sort it by default.
LABELS = tuple(sorted(_WORDS))
#: Sentences of words that no training sentence has, of several lengths.
UNSEEN = [["Zebras", "graze", "quietly"], ["1999"], ["über", "字", "'s", "?", "—"]]


def gold() -> list[list[str]]:
    """Labels of the training sentences."""
    return [pattern.split() for pattern in _PATTERNS * 3]


def sentences() -> list[list[str]]:
    """Words of the training sentences; the first four hold every label."""
    words = {label: cycle(choices) for label, choices in _WORDS.items()}
    return [[next(words[label]) for label in labels] for labels in gold()]


#: A sentence far longer than any in training.
LONG = [word for words in sentences() for word in words] * 6


def training(
    estimator: SequenceTagger,
) -> tuple[list[list[str]], list[list[frozenset[str]]]]:
    """Sentences and sets: every third sentence (or every one) is exact, others not."""
    rng = np.random.default_rng(7)
    y = []
    for s, labels in enumerate(gold()):
        exact = estimator.method.exact_only or s % 3 == 0
        more = 0 if exact else len(labels)
        wrong = [LABELS[k] for k in rng.integers(len(LABELS), size=more)]
        y.append([frozenset(k) for k in zip(labels, wrong or labels, strict=True)])
    return sentences(), y


def full_sets(X: Iterable[Sequence[str]]) -> list[list[frozenset[str]]]:
    """Sets of all labels: tokens of which nothing is known."""
    return [[frozenset(LABELS)] * len(words) for words in X]


def masks(y: Iterable[Sequence[frozenset[str]]]) -> list[BoolArray]:
    """Candidate sets as masks, [T, L] each."""
    return [np.array([[k in entry for k in LABELS] for entry in row]) for row in y]


def arrays(X: Iterable[Sequence[str]]) -> list[FloatArray]:
    """Sentences as arrays [T, D]: one column per word, and a constant one."""
    known = [word for words in _WORDS.values() for word in words]
    return [np.array([[*(w == k for k in known), 1.0] for w in words]) for words in X]
