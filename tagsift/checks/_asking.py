"""What the checks ask, and of which sentences: a tiny language and its requirements.

Every word has one label, so that any method can learn it from a dozen sentences; the
candidate sets add one wrong label to the tokens of most sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import numpy as np
from sklearn.base import clone

from tagsift.base import SequenceTagger, learnt
from tagsift.data import Corpus
from tagsift.errors import TagsiftError
from tagsift.typing import BoolArray, FloatArray

__all__ = [
    "LABELS",
    "LONG",
    "UNSEEN",
    "arrays",
    "fit_on",
    "fitted",
    "fresh",
    "full_sets",
    "gold",
    "masks",
    "refused",
    "require",
    "require_distributions",
    "same_arrays",
    "same_state",
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
    vocabulary = [word for words in _WORDS.values() for word in words]
    return [
        np.array([[*(w == k for k in vocabulary), 1.0] for w in words]) for words in X
    ]


def fresh(estimator: SequenceTagger, /, **params: Any) -> SequenceTagger:
    """Return an unfitted copy, with its cheaper settings for checks and `params`."""
    copy: SequenceTagger = clone(estimator)
    copy.set_params(**{**type(estimator)._check_params, **params})
    return copy


def fitted(estimator: SequenceTagger, **params: Any) -> SequenceTagger:
    """Return a copy fitted on the training sentences."""
    return fit_on(fresh(estimator, **params), *training(estimator))


def fit_on(model: SequenceTagger, X: Any, y: Any) -> SequenceTagger:
    """Fit a model on labels or sets of labels; to one of votes, somebody gave them."""
    if model.method.votes:
        blank = [[""] * len(labels) for labels in y]
        y = Corpus.from_lists(blank, votes={"somebody": y})
    return model.fit(X, y)


def require(condition: object, found: str = "") -> None:
    """Raise an `AssertionError`, with what was found, unless the condition holds."""
    if not condition:
        raise AssertionError(found)


def require_distributions(
    pieces: Sequence[FloatArray], X: Sequence[Sized], n_labels: int, case: str
) -> None:
    """Ask for one array [T, L] per sentence, with rows that are distributions."""
    require(isinstance(pieces, list), f"{case}: no list of arrays.")
    shapes = [piece.shape for piece in pieces]
    expected = [(len(words), n_labels) for words in X]
    require(shapes == expected, f"{case}: expected shapes {expected}, got {shapes}.")
    rows = np.concatenate([np.zeros((0, n_labels)), *pieces])  # [M, L]
    between = (rows >= 0).all() and (rows <= 1 + 1e-9).all()
    whole = np.allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-6)
    require(between and whole, f"{case}: rows are no distributions over the labels.")


@contextmanager
def refused(kind: type[TagsiftError], case: str, *mentions: str) -> Iterator[None]:
    """Ask for an error of that kind, in one clear sentence with these mentions."""
    try:
        yield
    except kind as error:
        text = str(error)
    except Exception as error:
        raise AssertionError(
            f"{case}: expected {kind.__name__}, got {type(error).__name__}: {error}"
        ) from error
    else:
        raise AssertionError(f"{case}: expected {kind.__name__}, nothing was raised.")
    clear = text.endswith(".") and "\n" not in text and len(text) < 400
    require(clear, f"{case}: the message is not one clear sentence: {text!r}.")
    for mention in mentions:
        require(mention in text, f"{case}: no mention of {mention!r} in {text!r}.")


def same_arrays(left: Iterable[Any], right: Iterable[Any]) -> bool:
    """Whether two lists of arrays are equal to the bit."""
    first, second = list(left), list(right)
    return len(first) == len(second) and all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(first, second, strict=True)
    )


def same_state(left: SequenceTagger, right: SequenceTagger) -> bool:
    """Whether two fitted estimators learnt the same arrays, to the bit."""
    (_, first), (_, second) = learnt(left), learnt(right)
    return first.keys() == second.keys() and same_arrays(
        map(np.asarray, first.values()), (np.asarray(second[name]) for name in first)
    )
