"""Gold and predicted labels side by side: checked once, then counted as integers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from tagsift.data.offsets import offsets_of
from tagsift.errors import InputError
from tagsift.typing import BoolArray, IntArray, Label

__all__ = [
    "Pairs",
    "Tally",
    "check_pairs",
    "encode",
    "equal_labels",
    "label_indices",
    "label_order",
]


@dataclass(frozen=True)
class Tally:
    """Counts of spans or labels, and precision, recall and F1 that follow from them.

    Parameters
    ----------
    n_gold, n_predicted, n_correct : int
        How many in gold, in the prediction, and in both.
    """

    n_gold: int
    n_predicted: int
    n_correct: int

    @property
    def precision(self) -> float:
        """Share of the predicted ones that are right."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold ones that were found."""
        return self.n_correct / self.n_gold if self.n_gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        both = self.n_gold + self.n_predicted
        return 2 * self.n_correct / both if both else 0.0


@dataclass(frozen=True)
class Pairs:
    """Labels of the same tokens from two sources, as indices.

    Parameters
    ----------
    labels : tuple
        Label names; index ``i`` below means ``labels[i]``.
    gold, predicted : ndarray of shape (n_tokens,)
        Label indices of the stacked tokens.
    offsets : ndarray of shape (n_sentences + 1,)
        Sentence ``s`` is ``offsets[s]:offsets[s + 1]``.
    """

    labels: tuple[Label, ...]
    gold: IntArray
    predicted: IntArray
    offsets: IntArray


def check_pairs(
    gold: Sequence[Sized],
    predicted: Sequence[Sized],
    *,
    names: tuple[str, str] = ("gold", "predicted"),
) -> None:
    """Refuse two lists of sentences that cannot be compared token by token.

    Parameters
    ----------
    gold, predicted : sequences of sequences
        One entry per token, whatever the entries are.
    names : tuple of str
        What to call the two in the message.
    """
    first, second = names
    for name, side in zip(names, (gold, predicted), strict=True):
        if isinstance(side, str) or any(isinstance(sentence, str) for sentence in side):
            raise InputError(
                f"The {name} labels must be a list of sentences, each a list of "
                "labels; found a string where a sentence was expected. Wrap a single "
                "sentence in a list."
            )
    if len(gold) != len(predicted):
        raise InputError(
            f"The {first} labels have {len(gold)} sentences and the {second} labels "
            f"{len(predicted)}; give both for the same sentences."
        )
    for number, (left, right) in enumerate(zip(gold, predicted, strict=True)):
        if len(left) != len(right):
            raise InputError(
                f"Sentence {number} (counted from 0) has {len(left)} {first} labels "
                f"and {len(right)} {second} labels; give one of each per token."
            )
    if not any(len(sentence) for sentence in gold):
        raise InputError(
            "There is nothing to score: no sentence has a token. Give at least one "
            "labelled token."
        )


def equal_labels(
    gold: Sequence[Sequence[Label]], predicted: Sequence[Sequence[Label]]
) -> BoolArray:
    """Tell at which of the stacked tokens two labellings agree, [N]."""
    return np.array(
        [
            truth == label
            for truths, labels in zip(gold, predicted, strict=True)
            for truth, label in zip(truths, labels, strict=True)
        ],
        dtype=np.bool_,
    )


def label_order(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Sort labels: numbers by value before names by spelling."""
    return tuple(
        sorted(
            labels,
            key=lambda label: (
                (1, 0, label) if isinstance(label, str) else (0, label, "")
            ),
        )
    )


def label_indices(
    sentences: Sequence[Sequence[Label]],
    classes: Sequence[Label],
    *,
    name: str,
    missing: int | None = None,
) -> IntArray:
    """Stack the sentences and replace every label by its place in `classes`.

    Parameters
    ----------
    sentences : sequence of sequences of labels
        The labels.
    classes : sequence of labels
        The known labels, in order.
    name : str
        What to call these labels in the message.
    missing : int, optional
        The index to give to labels that are not in `classes`; an error without it.

    Returns
    -------
    ndarray of shape (n_tokens,)
        Label indices.
    """
    place = {label: index for index, label in enumerate(classes)}
    if len(place) != len(classes):
        raise InputError("The classes must differ from each other; one is there twice.")
    try:
        flat = [place[label] for sentence in sentences for label in sentence]
    except KeyError:
        if missing is None:
            raise _unknown(sentences, place, name) from None
        flat = [
            place.get(label, missing) for sentence in sentences for label in sentence
        ]
    return np.array(flat, dtype=np.int64)  # [N]


def _unknown(
    sentences: Sequence[Sequence[Label]], place: dict[Label, int], name: str
) -> InputError:
    """Say where the first unknown label stands."""
    sentence, token, label = next(
        (s, t, label)
        for s, labels in enumerate(sentences)
        for t, label in enumerate(labels)
        if label not in place
    )
    known = [repr(known) for known in place]
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return InputError(
        f"Sentence {sentence}, token {token} (counted from 0): the {name} label "
        f"{label!r} is not among the {len(known)} known labels ({shown}); name it in "
        "the label set or correct it."
    )


def encode(
    gold: Sequence[Sequence[Label]],
    predicted: Sequence[Sequence[Label]],
    labels: Sequence[Label] | None = None,
) -> Pairs:
    """Check two labellings of the same sentences and turn them into indices.

    Parameters
    ----------
    gold, predicted : sequences of sequences of labels
        The truth and the labels to judge.
    labels : sequence of labels, optional
        The label set and its order; an error names the first label outside it. The
        default is the sorted union.

    Returns
    -------
    Pairs
        Indices over stacked tokens.
    """
    check_pairs(gold, predicted)
    if labels is None:
        seen: set[Label] = set()
        for side in (gold, predicted):
            seen.update(*side)
        labels = label_order(seen)
    return Pairs(
        tuple(labels),
        label_indices(gold, labels, name="gold"),
        label_indices(predicted, labels, name="predicted"),
        offsets_of(map(len, gold)),
    )
