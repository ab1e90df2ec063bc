"""What a report on a tagger starts from: tagged text, and training labels recovered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tagsift.data import locate, offsets_of
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
from tagsift.typing import BoolArray, FloatArray, IntArray, Label, Labels

__all__ = ["Cleaned", "Tagged"]


@dataclass(frozen=True)
class Tagged:
    """Text with true and given labels."""

    tokens: Sequence[Sequence[str]]  # the words
    gold: Labels
    predicted: Labels  # the labels given
    classes: Sequence[Label]  # the label set
    marginals: Sequence[npt.ArrayLike] | None = None  # probabilities of all labels
    scheme: str = "auto"  # how the tags are written

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
        """Return the sentence worth drawing, the least sure of good length."""
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
    """Training tokens, their candidates and the labels recovered for them."""

    tokens: Sequence[Sequence[str]]  # the words
    candidates: Sequence[Sequence[Collection[Label]]]  # what the annotators left open
    recovered: Labels  # the label found for every token
    classes: Sequence[Label]  # the label set
    confidences: Sequence[npt.ArrayLike] | None = None  # confidence of every candidate
    gold: Labels | None = None  # the truth, where it is known

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
        first = self.order()[:most].tolist()
        return [(*locate(n, starts), 1.0 - float(doubts[n])) for n in first]
