"""Tiny sentences for the checks, and the few helpers that all of them use.

Every word of the little language has one label, so that any method can learn it from a
dozen sentences; the candidate sets add one wrong label to the tokens of most sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from tagsift.base import SequenceTagger
from tagsift.base.saving import learnt
from tagsift.errors import TagsiftError
from tagsift.metrics import equal_labels
from tagsift.typing import FloatArray

__all__ = [
    "LABELS",
    "UNSEEN",
    "agreement",
    "arrays",
    "expect_error",
    "fitted",
    "fresh",
    "gold",
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

_N_SENTENCES = 12


def gold() -> list[list[str]]:
    """Labels of the training sentences."""
    return [_PATTERNS[s % len(_PATTERNS)].split() for s in range(_N_SENTENCES)]


def sentences() -> list[list[str]]:
    """Words of the training sentences; the first four hold every label."""
    turn = dict.fromkeys(_WORDS, 0)
    written = []
    for labels in gold():
        words = []
        for label in labels:
            choices = _WORDS[label]
            words.append(choices[turn[label] % len(choices)])
            turn[label] += 1
        written.append(words)
    return written


def _candidates() -> list[list[frozenset[str]]]:
    """Candidate sets: every third sentence is exact, the others have pairs."""
    rng = np.random.default_rng(7)
    return [
        [
            frozenset([label])
            if s % 3 == 0
            else frozenset([label, LABELS[rng.integers(len(LABELS))]])
            for label in labels
        ]
        for s, labels in enumerate(gold())
    ]


def training(
    estimator: SequenceTagger,
) -> tuple[list[list[str]], list[list[frozenset[str]]]]:
    """Sentences and candidate sets; exact ones where the method asks for them."""
    if estimator.method.exact_only:
        return sentences(), [[frozenset([k]) for k in labels] for labels in gold()]
    return sentences(), _candidates()


def arrays(X: Iterable[Sequence[str]]) -> list[FloatArray]:
    """Sentences as arrays [T, D]: one column per word, and a constant one."""
    order = {
        word: k
        for k, word in enumerate(word for words in _WORDS.values() for word in words)
    }
    pieces = []
    for words in X:
        piece = np.zeros((len(words), len(order) + 1))  # [T, D]
        piece[:, -1] = 1.0
        for t, word in enumerate(words):
            if word in order:
                piece[t, order[word]] = 1.0
        pieces.append(piece)
    return pieces


def fresh(estimator: SequenceTagger, /, **params: Any) -> SequenceTagger:
    """Return an unfitted copy, with its cheaper settings for checks and `params`."""
    copy: SequenceTagger = clone(estimator)
    copy.set_params(**{**type(estimator)._check_params, **params})
    return copy


def fitted(estimator: SequenceTagger, **params: Any) -> SequenceTagger:
    """Return a copy fitted on the training sentences."""
    X, y = training(estimator)
    return fresh(estimator, **params).fit(X, y)


def require(condition: object, found: str = "") -> None:
    """Raise an `AssertionError` unless the condition holds, under ``-O`` too.

    The docstring of a check says what is asked for; `found` what was found instead,
    where there is more to say.
    """
    if not condition:
        raise AssertionError(found)


def require_distributions(
    pieces: Sequence[FloatArray], lengths: Sequence[int], n_labels: int, case: str
) -> None:
    """Ask for one array [T, L] per sentence, with rows that are distributions."""
    require(isinstance(pieces, list), f"{case}: no list of arrays.")
    shapes = [piece.shape for piece in pieces]
    expected = [(length, n_labels) for length in lengths]
    require(shapes == expected, f"{case}: expected shapes {expected}, got {shapes}.")
    rows = np.concatenate([np.zeros((0, n_labels)), *pieces])  # [M, L]
    between = (rows >= 0).all() and (rows <= 1 + 1e-9).all()
    whole = np.allclose(rows.sum(axis=1), 1.0, rtol=0, atol=1e-6)
    require(between and whole, f"{case}: rows are no distributions over the labels.")


def expect_error(
    kind: type[TagsiftError], call: Callable[[], object], case: str, *mentions: str
) -> None:
    """Ask that `call` raises `kind` with one clear sentence.

    Parameters
    ----------
    kind : type
        The class of the error.
    call : callable
        What must fail.
    case : str
        What is wrong with it, for the message of the check.
    mentions : str
        What the sentence must contain.
    """
    try:
        call()
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


def agreement(left: list[list[Any]], right: list[list[Any]]) -> float:
    """Share of tokens with the same label."""
    return float(equal_labels(left, right).mean())
