"""What is known of every token at one time: a result, cut into what is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tagsift.annotators import (
    REASONS,
    AnnotatorReport,
    Reasons,
    most_doubtful,
    stretches,
)
from tagsift.cleaned import Cleaned
from tagsift.metrics import entropy
from tagsift.review.corpus_view import CorpusView
from tagsift.typing import BoolArray, FloatArray, IntArray

__all__ = ["KINDS", "State", "first_look", "queue_order"]

#: Kinds of reasons for a look.
KINDS = tuple(REASONS)


@dataclass(frozen=True, eq=False)
class State:
    """A result, and the stretches to look at in it.

    A stretch is a span or a single token outside spans; together they are all tokens.
    """

    view: CorpusView
    cleaned: Cleaned
    revision: int  # number of the fit; 0 is what counting alone says
    seconds: float | None = None  # that the fit took

    @property
    def labels(self) -> IntArray:
        """The label of every token, as its place in `Cleaned.classes`, [N]."""
        return self.cleaned.codes

    @property
    def annotators(self) -> tuple[AnnotatorReport, ...]:
        """The annotators against the labels, once a fit has found these."""
        return self.cleaned.annotators if self.revision else ()

    @cached_property
    def chance(self) -> FloatArray:
        """The chance that a label is wrong, [N]; of counts, their entropy."""
        if self.revision:
            return self.cleaned.chance_wrong
        return np.asarray(entropy(self.cleaned.confidences))

    @cached_property
    def begin(self) -> IntArray:
        """Where stretches begin, and where the last one ends, [K + 1]."""
        about = self.view.offsets, self.cleaned.classes, self.view.scheme
        return stretches(self.labels, *about)

    @cached_property
    def worst(self) -> IntArray:
        """The most doubtful token of each stretch, [K]."""
        return most_doubtful(self.chance, self.begin)

    @cached_property
    def sentence(self) -> IntArray:
        """The sentence of each stretch, [K]."""
        return np.searchsorted(self.view.offsets, self.begin[:-1], side="right") - 1

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

    @cached_property
    def _reasons(self) -> Reasons:
        one = self.cleaned
        return Reasons(one.codes, one.text, one.table, one.classes)

    def disputed(self, annotator: str) -> BoolArray:
        """Tokens of which an annotator says something else than the labels, [N]."""
        table = self.cleaned.table
        differs = np.zeros(table.n_tokens, dtype=bool)  # [N]
        if annotator in table.names:
            mine = table.annotator == table.names.index(annotator)  # [K]
            differs[table.token[mine & (table.code != self.labels[table.token])]] = True
        return differs

    def ready(self) -> State:
        """The same, with everything counted that the page will ask for."""
        _ = self.order, self.kinds, self.cleaned.sentences
        return self


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


def first_look(view: CorpusView) -> State:
    """What votes or candidate sets say, before anything is fitted."""
    return State(view, view.counted, 0).ready()
