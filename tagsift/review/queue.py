"""What to look at next: which stretches are open, for whom, and under which filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from tagsift.annotators import span_types
from tagsift.review.http_errors import Refusal
from tagsift.review.state import KINDS, State
from tagsift.typing import BoolArray

__all__ = ["Filter", "Marks", "matching"]

_STATES = ("open", "skipped", "flagged", "checked")
#: Characters of a search.
_LONGEST = 200


@dataclass(frozen=True)
class Filter:
    """What a reviewer wants to see; nothing said is everything that is open."""

    label: frozenset[str] = frozenset()  # types of the spans in question, or O
    annotator: frozenset[str] = frozenset()  # who say something else there
    kind: frozenset[str] = frozenset()  # of disagreement
    state: str = "open"
    q: str = ""  # words of the sentence

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Self:
        """Read what a request says: texts joined by commas, or lists of them."""
        made: dict[str, Any] = {}
        if not isinstance(told, Mapping):
            raise Refusal("bad", "expected filters by their names.")
        for one in fields(cls):
            value = told.get(one.name)
            if not value:
                continue
            if one.default == frozenset():
                value = value.split(",") if isinstance(value, str) else value
                if not isinstance(value, list) or len(value) > 1000:
                    raise Refusal("bad", f"expected names as the filter {one.name}.")
                value = frozenset(map(str, value))
            elif not isinstance(value, str) or len(value) > _LONGEST:
                raise Refusal("bad", f"expected a short text as the filter {one.name}.")
            made[one.name] = value
        if made.get("state", "open") not in _STATES:
            raise Refusal("bad", f"expected a state among {', '.join(_STATES)}.")
        return cls(**made)


class Marks:
    """What people have said of tokens so far, and what that makes of stretches."""

    def __init__(self, state: State) -> None:
        self.checked = np.zeros(len(state.labels), dtype=bool)  # [N]
        self.flagged = self.checked.copy()  # [N]
        self.skipped: dict[str, BoolArray] = {}  # [N], by reviewer
        self.over(state)

    def over(self, state: State) -> None:
        """Take the stretches of a new fit."""
        self._begin = state.begin[:-1]
        self.done = np.logical_and.reduceat(self.checked, self._begin)  # [K]
        self.raised = np.logical_or.reduceat(self.flagged, self._begin)  # [K]

    def settle(self, lo: int, hi: int) -> None:
        """Look at the stretches between two places again, the tokens of a sentence."""
        k = slice(*np.searchsorted(self._begin, [lo, hi]))
        begin = self._begin[k] - lo  # [K']
        self.done[k] = np.logical_and.reduceat(self.checked[lo:hi], begin)
        self.raised[k] = np.logical_or.reduceat(self.flagged[lo:hi], begin)

    def passed(self, reviewer: str) -> BoolArray:
        """Stretches that a reviewer has skipped, [K]."""
        own = self.skipped.get(reviewer)
        if own is None:
            return np.zeros_like(self.done)
        return np.asarray(np.logical_or.reduceat(own, self._begin))


def matching(
    state: State, marks: Marks, reviewer: str | None, wanted: Filter
) -> BoolArray:
    """Stretches that a reviewer may be shown, leases apart, [K].

    Without a reviewer nothing counts as skipped.
    """
    done, flagged = marks.done, marks.raised  # [K]
    skipped = marks.passed(reviewer or "")  # [K]
    right = {
        "open": ~done & ~flagged & ~skipped,
        "skipped": ~done & skipped,
        "flagged": ~done & flagged,
        "checked": done.copy(),
    }[wanted.state]
    if wanted.label:
        right &= _of_types(state, wanted.label)
    if wanted.kind:
        numbers = [KINDS.index(kind) for kind in wanted.kind if kind in KINDS]
        right &= np.isin(state.kinds, numbers)
    if wanted.annotator:
        right &= _disputed(state, wanted.annotator)
    if wanted.q:
        right &= _with_words(state, wanted.q)
    return right


def _of_types(state: State, names: frozenset[str]) -> BoolArray:
    types = span_types(state.cleaned.classes, state.view.scheme)
    kinds = np.array([kind in names for kind in types])  # [L]
    return np.asarray(kinds[state.labels[state.begin[:-1]]])


def _disputed(state: State, annotators: frozenset[str]) -> BoolArray:
    """Stretches of which one of the annotators says something else."""
    other = np.zeros(len(state.labels), dtype=bool)  # [N]
    for name in annotators:
        other |= state.disputed(name)
    return np.asarray(np.logical_or.reduceat(other, state.begin[:-1]))


def _with_words(state: State, q: str) -> BoolArray:
    text = q.casefold()
    there = np.array([text in sentence for sentence in state.view.searched])  # [S]
    return np.asarray(there[state.sentence])
