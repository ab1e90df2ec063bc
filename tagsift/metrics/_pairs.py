"""Gold and predicted labels side by side: checked once, then counted as integers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence, Sized
from dataclasses import dataclass

import numpy as np

from tagsift.errors import InputError
from tagsift.typing import BoolArray, IntArray, Label

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
        raise InputError(
            "There is nothing to score: no sentence has a token. Give at least one "
            "labelled token."
        )


def equal_labels(
    gold: Sequence[Sequence[Label]], predicted: Sequence[Sequence[Label]]
) -> BoolArray:
    """Tell at which of the stacked tokens two labellings agree, [N]."""
    sentences = zip(gold, predicted, strict=True)
    pairs = (pair for sides in sentences for pair in zip(*sides, strict=True))
    return np.array([truth == label for truth, label in pairs], dtype=np.bool_)


def label_order(labels: Collection[Label]) -> tuple[Label, ...]:
    """Sort labels: numbers by value before names by spelling."""
    names = [label for label in labels if isinstance(label, str)]
    numbers = [label for label in labels if not isinstance(label, str)]
    return (*sorted(numbers), *sorted(names))


def label_indices(
    sentences: Sequence[Sequence[Label]],
    classes: Sequence[Label],
    *,
    name: str,
    missing: int | None = None,
) -> IntArray:
    """Stack the sentences and replace every label by its place in `classes`.

    Labels that are not there get the index `missing`, or an error where that is None.
    """
    place = {label: index for index, label in enumerate(classes)}
    if len(place) != len(classes):
        raise InputError("The classes must differ from each other; one is there twice.")
    if missing is not None:
        place = defaultdict(lambda: missing, place)
    try:
        flat = [place[label] for sentence in sentences for label in sentence]
    except KeyError:
        raise _unknown(sentences, place, name) from None
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
