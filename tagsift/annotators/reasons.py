"""Why a look pays: what the text and the votes say against a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import VoteTable
from tagsift.typing import Float32Array, FloatArray, IntArray, Label

__all__ = ["REASONS", "Reasons"]

#: Kinds of reasons, from the strongest on, and what is said of a label.
REASONS = {
    "exact": "known exactly",
    "unvoted": "nobody voted on it",
    "outvoted": "most votes say {voted}, not {name}",
    "unanimous": "the text disagrees with all annotators: it reads {read}",
    "split": "annotators are split",
    "text": "the text reads {read}",
    "rare": "{name} is a rare label",
    "unsure": "neither text nor votes are sure",
    "open": "the text leaves it open",
    "": "",
}


@dataclass(frozen=True)
class Reasons:
    """What speaks against the labels of stacked tokens."""

    labels: IntArray  # [N]
    text: FloatArray | Float32Array  # [N, L]  what the text alone says
    table: VoteTable
    classes: Sequence[Label]

    @cached_property
    def kinds(self) -> IntArray:
        """The kind of every token, as its place in `REASONS`, [N]."""
        names, labels, counts = list(REASONS), self.labels, self.table.counts
        rows = np.arange(len(labels))  # [N]
        reads = self.text[rows, labels]  # [N]
        if not len(self.table.token):
            unclear = reads < CONSTANTS.clear  # [N]
            return np.where(unclear, names.index("open"), names.index(""))
        own, total = counts[rows, labels], counts.sum(axis=1)  # [N]
        majority, ties = self.table.majority  # [N], [N]
        doubted = reads < CONSTANTS.doubted  # [N]
        frequency = np.bincount(labels, minlength=counts.shape[1]) / max(len(labels), 1)
        found = {
            "exact": self.table.exact >= 0,
            "unvoted": total == 0,
            "outvoted": (majority != labels) & ~ties,
            "unanimous": (own == total) & doubted,
            "split": 1 - own / np.maximum(total, 1) >= CONSTANTS.split,
            "text": doubted,
            "rare": frequency[labels] < CONSTANTS.rare,
        }
        which = [names.index(kind) for kind in found]
        return np.select(list(found.values()), which, names.index("unsure"))  # [N]

    def sentence(self, n: int, kind: int | None = None) -> str:
        """The reason of one token, in words; its kind need not be found again."""
        name = list(REASONS)[int(self.kinds[n] if kind is None else kind)]
        voted, read = self.table.majority.labels[n], self.text[n].argmax()
        told = {"name": self.labels[n], "voted": voted, "read": read}
        return REASONS[name].format(
            **{key: self.classes[int(k)] for key, k in told.items()}
        )
