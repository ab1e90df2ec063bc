"""What a report on a tagger starts from: tagged text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tagsift.errors import InputError
from tagsift.metrics import Scores, evaluate
from tagsift.typing import FloatArray, Label, Labels

__all__ = ["Tagged"]


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
