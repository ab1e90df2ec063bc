"""Gold and predicted labels side by side: checked once, then counted as integers."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from tagsift.data import locate, offsets_of
from tagsift.errors import InputError
from tagsift.typing import BoolArray, IntArray, Label, Labels

__all__ = ["Tally", "check_pairs", "equal_labels", "label_indices", "label_order"]


@dataclass(frozen=True)
class Tally:
    """Counts of spans or labels, and precision, recall and F1 that follow from them."""

    n_gold: int
    n_predicted: int
    n_correct: int  # in gold and in the prediction

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


def check_pairs(
    gold: Sequence[Sized],
    predicted: Sequence[Sized],
    *,
    names: tuple[str, str] = ("gold", "predicted"),
) -> None:
    """Refuse two lists of sentences that cannot be compared token by token.

    The entries may be anything; `names` says what to call the two in the message.
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
        raise InputError("There is nothing to score; give at least one labelled token.")


def equal_labels(gold: Labels, predicted: Labels) -> BoolArray:
    """Tell at which of the stacked tokens two labellings agree, [N]."""
    check_pairs(gold, predicted)
    sentences = zip(gold, predicted, strict=True)
    pairs = (pair for sides in sentences for pair in zip(*sides, strict=True))
    return np.array([truth == label for truth, label in pairs], dtype=np.bool_)


def label_order(labels: Collection[Label]) -> tuple[Label, ...]:
    """Sort labels: numbers by value before names by spelling."""
    names = [label for label in labels if isinstance(label, str)]
    numbers = [label for label in labels if not isinstance(label, str)]
    return (*sorted(numbers), *sorted(names))


def label_indices(
    sentences: Labels, classes: Sequence[Label], *, name: str, strict: bool = True
) -> IntArray:
    """Stack the sentences and replace every label by its place in `classes`, [N].

    Labels that are not there are an error or, without `strict`, get −1.
    """
    place = {label: index for index, label in enumerate(classes)}
    if len(place) != len(classes):
        raise InputError("The classes must differ from each other; one is there twice.")
    flat = [label for sentence in sentences for label in sentence]
    places = np.array([place.get(label, -1) for label in flat], dtype=np.int64)  # [N]
    if strict and -1 in places:
        n = int(np.argmin(places))
        s, t = locate(n, offsets_of(map(len, sentences)))
        names = ", ".join(map(repr, classes[:12])) + ", …" * (len(classes) > 12)
        raise InputError(
            f"Sentence {s}, token {t} (counted from 0): the {name} label {flat[n]!r} "
            f"is not among the {len(classes)} known labels ({names}); name it in the "
            "label set or correct it."
        )
    return places
