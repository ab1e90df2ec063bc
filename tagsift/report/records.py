"""What a report on a tagger starts from: tagged text, and training labels recovered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tagsift.data.offsets import locate, offsets_of
from tagsift.errors import InputError
from tagsift.metrics import (
    Recovery,
    Scores,
    ambiguous_tokens,
    doubt,
    equal_labels,
    evaluate,
    label_indices,
    rank_tokens,
    recovery,
)
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["Cleaned", "Tagged"]


@dataclass(frozen=True)
class Tagged:
    """Text with true and given labels.

    Parameters
    ----------
    tokens : sequence of sequences of str
        The words.
    gold, predicted : sequences of sequences of labels
        The truth and the labels given.
    classes : sequence of labels
        The label set.
    marginals : sequence of arrays of shape (length, n_labels), optional
        Probabilities of all labels.
    scheme : str
        How the tags are written.
    """

    tokens: Sequence[Sequence[str]]
    gold: Sequence[Sequence[Label]]
    predicted: Sequence[Sequence[Label]]
    classes: Sequence[Label]
    marginals: Sequence[npt.ArrayLike] | None = None
    scheme: str = "auto"

    def scores(self) -> Scores:
        """Every score of the labels given; unknown gold labels count as wrong."""
        return evaluate(
            self.gold,
            self.predicted,
            scheme=self.scheme,
            marginals=self.marginals,
            classes=self.classes,
            unknown="wrong",
        )

    def example(self) -> tuple[int, FloatArray]:
        """Return the sentence worth drawing, the least sure of good length.

        Returns
        -------
        number : int
            Counted from 0.
        marginals : ndarray of shape (length, n_labels)
            Its probabilities.
        """
        if self.marginals is None:
            raise InputError("An example needs marginals; this tagging has none.")
        arrays = [np.asarray(part, dtype=np.float64) for part in self.marginals]

        def rank(number: int) -> tuple[bool, float]:
            array = arrays[number]  # [T, L]
            return 6 <= len(array) <= 16, float((1.0 - array.max(axis=1)).sum())

        best = max((s for s, words in enumerate(self.tokens) if words), key=rank)
        return best, arrays[best]


@dataclass(frozen=True)
class Cleaned:
    """Training tokens, their candidates and the labels recovered for them.

    Parameters
    ----------
    tokens : sequence of sequences of str
        The words.
    candidates : sequence of sequences of sets of labels
        What the annotators left open.
    recovered : sequence of sequences of labels
        The label found for every token.
    classes : sequence of labels
        The label set.
    confidences : sequence of arrays of shape (length, n_labels), optional
        Confidence of every candidate.
    gold : sequence of sequences of labels, optional
        The truth, where it is known.
    """

    tokens: Sequence[Sequence[str]]
    candidates: Sequence[Sequence[Collection[Label]]]
    recovered: Sequence[Sequence[Label]]
    classes: Sequence[Label]
    confidences: Sequence[npt.ArrayLike] | None = None
    gold: Sequence[Sequence[Label]] | None = None

    @property
    def ambiguous(self) -> BoolArray:
        """Which of the stacked tokens have several candidates, [N]."""
        return ambiguous_tokens(self.candidates)

    def recovery(self) -> Recovery | None:
        """Share of recovered labels that are true; None where the truth is unknown."""
        if self.gold is None:
            return None
        return recovery(self.gold, self.recovered, self.candidates)

    def doubts(self) -> FloatArray:
        """Estimated probability that a recovered label is wrong, [N]."""
        if self.confidences is None:
            raise InputError("Doubts need confidences; this method gives none.")
        chosen = label_indices(self.recovered, self.classes, name="recovered")  # [N]
        filled = [np.asarray(c) for c in self.confidences if len(np.asarray(c))]
        return doubt(np.concatenate(filled), chosen)  # [N]

    def wrong(self) -> BoolArray | None:
        """Which recovered labels are not the truth, [N]."""
        if self.gold is None:
            return None
        return ~equal_labels(self.gold, self.recovered)

    def order(self) -> IntArray:
        """Ambiguous tokens by falling doubt."""
        doubts = np.where(self.ambiguous, self.doubts(), -1.0)  # [N]
        return rank_tokens(doubts)[: int(self.ambiguous.sum())]  # [A]

    def suspects(self, most: int = 15) -> list[tuple[int, int, float]]:
        """Sentence, position and confidence of the tokens to check first."""
        starts, doubts = offsets_of(map(len, self.tokens)), self.doubts()
        return [
            (*locate(n, starts), 1.0 - float(doubts[n]))
            for n in self.order()[:most].tolist()
        ]
