"""What is in force: decisions that were not taken back, and the spans under them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from copy import copy

import numpy as np

from tagsift.data import Span, spans, tags
from tagsift.data.corpus import Corpus
from tagsift.io.column_file import PathName
from tagsift.review.corpus_view import CorpusView
from tagsift.review.queue import Marks
from tagsift.review.rulings import Ruling, exact_tags, laid_over
from tagsift.review.state import State, first_look
from tagsift.review.store import Decision, Store

__all__ = ["Ledger", "decided_labels"]


def decided_labels(path: PathName, corpus: Corpus) -> list[list[str | None]]:
    """The labels that a review decided on, None elsewhere; of a store nobody uses."""
    view = CorpusView(corpus)
    with closing(Store.open(path, view.fingerprint)) as store:
        exact = Ledger(view, store.decisions()).exact()
    nothing: list[str | None] = [None]
    return [exact.get(s, nothing * n) for s, n in enumerate(view.lengths)]


class Ledger:
    """The entries of a store put into force, over what was found last."""

    def __init__(self, view: CorpusView, decisions: Iterable[Decision]) -> None:
        self.view, self.latest = view, first_look(view)
        self.marks = Marks(self.latest)
        self.by_reviewer: dict[str, list[Decision]] = {}
        self.entries = 0  # that said something of labels, taken back or not
        self._live: dict[int, list[Decision]] = {}  # by sentence
        self._versions: dict[int, int] = {}
        self._spans: dict[int, list[Span]] = {}
        for one in decisions:
            self._enter(one)
        for s in list(self._live):
            self._settle(s)

    def add(self, one: Decision) -> None:
        """Put a new entry into force."""
        self._enter(one)
        self._settle(one.sentence)

    def copy(self) -> Ledger:
        """What holds now, and will in this copy."""
        made = copy(self)
        made._live = {s: list(own) for s, own in self._live.items()}
        made._spans = dict(self._spans)
        made.marks = copy(self.marks)
        made.marks.checked = self.marks.checked.copy()
        return made

    def take_over(self, state: State) -> None:
        """Put the same decisions over what a new fit found."""
        self.latest = state
        self.marks.over(state)
        self._spans.clear()

    # What holds --------------------------------------------------------------------

    @property
    def live(self) -> list[Decision]:
        """Every decision in force."""
        return [one for own in self._live.values() for one in own]

    def of_sentence(self, s: int) -> list[Decision]:
        """The decisions in force on a sentence, in order."""
        return self._live.get(s, [])

    def version(self, s: int) -> int:
        """Number of the last entry that said something of a sentence's labels."""
        return self._versions.get(s, 0)

    def spans(self, s: int) -> list[Span]:
        """The spans of a sentence as they stand now."""
        if s not in self._spans:
            base = spans(self.latest.cleaned.sentences[s], self.view.scheme)
            self._spans[s] = laid_over(base, self._rulings(s))
        return self._spans[s]

    def labels(self) -> list[list[str]]:
        """The labels of all sentences as they stand now."""
        return [
            tags(self.spans(s), length, self.view.scheme)
            if self._rulings(s)
            else self.latest.cleaned.sentences[s]
            for s, length in enumerate(self.view.lengths)
        ]

    def exact(self) -> dict[int, list[str | None]]:
        """Labels that were decided, by sentence; None between them."""
        made = {}
        for s in self._live:
            if rulings := self._rulings(s):
                shape = self.view.lengths[s], self.view.scheme
                made[s] = exact_tags(self.spans(s), rulings, *shape)
        return made

    def flag(self, s: int, start: int, end: int) -> Decision | None:
        """The flag on some tokens of a sentence that no answer has settled."""
        found = None
        for one in self.of_sentence(s):
            if one.start < end and start < one.end:
                found = one if one.action == "flag" else None if one.answers else found
        return found

    def status(self, reviewer: str, stretch: int) -> str:
        """Whether a stretch is open, skipped, flagged or checked."""
        where = slice(*self.latest.begin[stretch : stretch + 2])
        if self.marks.checked[where].all():
            return "checked"
        if self.marks.flagged[where].any():
            return "flagged"
        own = self.marks.skipped.get(reviewer)
        return "skipped" if own is not None and own[where].any() else "open"

    # How it works ------------------------------------------------------------------

    def _rulings(self, s: int) -> list[Ruling]:
        return [
            Ruling(one.start, one.end, one.after)
            for one in self.of_sentence(s)
            if one.answers
        ]

    def _enter(self, one: Decision) -> None:
        live = self._live.setdefault(one.sentence, [])
        own = self.by_reviewer.setdefault(one.reviewer, [])
        counts = one.answers
        if one.undoes is None:
            live.append(one)
            own.append(one)
        else:
            counts = any(x.answers for x in live if x.id == one.undoes)
            live[:] = [x for x in live if x.id != one.undoes]
            own[:] = [x for x in own if x.id != one.undoes]
        if counts:
            self._versions[one.sentence] = one.id
            self.entries += 1

    def _settle(self, s: int) -> None:
        """Mark the tokens of a sentence by what is in force."""
        self._spans.pop(s, None)
        offset, marks = int(self.view.offsets[s]), self.marks
        here = slice(offset, offset + self.view.lengths[s])
        marks.checked[here] = marks.flagged[here] = False
        for own in marks.skipped.values():
            own[here] = False
        for one in self._live[s]:
            where = slice(offset + one.start, offset + one.end)
            if one.answers:
                marks.checked[where], marks.flagged[where] = True, False
            elif one.action == "flag":
                marks.flagged[where] = True
            else:
                nobody = np.zeros_like(marks.checked)  # [N]
                marks.skipped.setdefault(one.reviewer, nobody)[where] = True
        marks.settle(here.start, here.stop)
