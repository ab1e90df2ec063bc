"""What is known of every token at one time: by a fit, or by the votes alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tagsift.annotators import REASONS, Reasons, most_doubtful, stretches
from tagsift.annotators.counting import majority_labels, majority_shares
from tagsift.metrics import entropy
from tagsift.review.corpus_view import Material
from tagsift.storage.state import Saved, listed, number, part, texts, whole, word
from tagsift.storage.state import array as numbers
from tagsift.typing import Float32Array, FloatArray, IntArray

__all__ = ["KINDS", "Found", "Person", "first_look", "queue_order"]

#: Kinds of reasons for a look.
KINDS = tuple(REASONS)


@dataclass(frozen=True)
class Person:
    """What a fit says of an annotator."""

    name: str
    reliability: float | None  # None where there is too little to judge by
    flags: tuple[str, ...] = ()  # what is odd about them, in words

    saved: ClassVar[Saved] = {
        "name": word(),
        "reliability": number(optional=True),
        "flags": texts(distinct=False),
    }


@dataclass(frozen=True, eq=False)
class Found:
    """Labels, how sure they are, and the stretches to look at.

    A stretch is a span or a single token outside spans; together they are all tokens.
    """

    saved: ClassVar[Saved] = {
        "revision": whole(least=1),
        "labels": numbers("N", "int", least=0, below="L"),
        "confidences": numbers("N L", least=0),
        "text": numbers("N L", least=0),
        "chance": numbers("N", least=0, most=1),
        "people": listed("A", part(Person)),
        "seconds": number(optional=True, least=0),
    }

    material: Material
    revision: int  # number of the fit; 0 is what the votes alone say
    labels: IntArray  # [N]  columns of `Material.classes`
    confidences: FloatArray | Float32Array  # [N, L]
    text: FloatArray | Float32Array  # [N, L]  what the text alone says
    chance: FloatArray  # [N]  that a label is wrong; entropy of the votes at first
    people: tuple[Person, ...] = ()
    seconds: float | None = None  # that the fit took

    @cached_property
    def begin(self) -> IntArray:
        """Where stretches begin, and where the last one ends, [K + 1]."""
        told = self.material
        return stretches(self.labels, told.offsets, told.classes, told.scheme)

    @cached_property
    def worst(self) -> IntArray:
        """The most doubtful token of each stretch, [K]."""
        return most_doubtful(self.chance, self.begin)

    @cached_property
    def sentence(self) -> IntArray:
        """The sentence of each stretch, [K]."""
        where = np.searchsorted(self.material.offsets, self.begin[:-1], side="right")
        return where - 1

    @cached_property
    def order(self) -> IntArray:
        """Stretches in the order of the queue, [K]."""
        return queue_order(self.chance[self.worst], self.sentence)

    @cached_property
    def kinds(self) -> IntArray:
        """The kind of reason of each stretch, as its place in `KINDS`, [K]."""
        kinds = self._reasons.kinds[self.worst]  # [K]
        if not self.revision:  # nobody has read the text yet
            kinds = np.where(kinds == KINDS.index("unsure"), KINDS.index(""), kinds)
        return kinds

    def reason(self, stretch: int) -> str:
        """Why a look at a stretch pays, in words."""
        n, kind = int(self.worst[stretch]), int(self.kinds[stretch])
        return self._reasons.sentence(n, kind)

    @property
    def _reasons(self) -> Reasons:
        told = self.material
        return Reasons(self.labels, self.text, told.table, told.classes)

    def ready(self) -> Found:
        """The same, with everything counted that the page will ask for."""
        _ = self.order, self.kinds
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "material"}

    def over(self, material: Material, revision: int) -> Found:
        """Put what comes from another process over the material here."""
        vars(self).update(material=material, revision=revision)
        return self

    def names(self, s: int) -> list[str]:
        """Labels of a sentence."""
        lo, hi = self.material.offsets[s : s + 2]
        return [self.material.classes[k] for k in self.labels[lo:hi]]


def queue_order(scores: FloatArray, sentences: IntArray) -> IntArray:
    """Order of stretches [K]: the most doubtful first, those of a sentence together.

    A sentence brings what is at least half as doubtful as the first of it; the rest of
    it comes later, in groups made in the same way. So a look is never worth less than
    half of what the best one would be. Within a group the text is read from the left.
    """
    scores = np.maximum(np.asarray(scores, dtype=float), 1e-12)  # [K]
    most = np.zeros(int(sentences.max(initial=-1)) + 1)  # [S]
    np.maximum.at(most, sentences, scores)
    level = np.floor(np.log2(most[sentences] / scores)).astype(np.int64)  # [K]
    group, member = np.unique(
        sentences * (int(level.max(initial=0)) + 1) + level, return_inverse=True
    )
    top = np.zeros(len(group))  # [G]
    np.maximum.at(top, member, scores)
    return np.lexsort((np.arange(len(scores)), member, -top[member]))


def first_look(material: Material) -> Found:
    """What votes or candidate sets say, before anything is fitted."""
    if material.has_votes:
        shares = majority_shares(material.table)  # [N, L]
        labels = majority_labels(material.table)  # [N]
    else:
        shares = _candidate_shares(material)  # [N, L]
        labels = shares.argmax(axis=1)  # [N]
    return Found(material, 0, labels, shares, shares, entropy(shares)).ready()


def _candidate_shares(material: Material) -> FloatArray:
    """Candidates, the more frequent labels a little ahead, [N, L]."""
    corpus = material.table.corpus
    assert corpus.candidate_codes is not None
    mask = corpus.members[corpus.candidate_codes]  # [N, L]
    shares = mask / mask.sum(axis=1, keepdims=True)  # [N, L]
    shares *= 1 + 1e-6 * shares.sum(axis=0) / max(len(mask), 1)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))
