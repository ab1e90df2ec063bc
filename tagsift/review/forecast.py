"""How far a review is, and what is left: figures for those who decide when to stop."""

from __future__ import annotations

import time
from typing import Any

from tagsift.review.ledger import Ledger
from tagsift.review.queue import Filter, matching
from tagsift.typing import BoolArray

__all__ = ["Forecast", "thinned"]

#: Points of the history that are shown.
_POINTS = 200
#: CPU seconds that are no while.
_QUICK = 0.005


class Forecast:
    """The figures of a ledger, counted again when it has changed.

    In a large corpus that takes a while, so that it is done for a tenth of the time at
    most: many reviewers at a time see figures that are some tenths of a second old.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._told: dict[str, Any] = {}
        self._old, self._until = True, 0.0

    def outdated(self) -> None:
        """Something has changed."""
        self._old = True

    def figures(self, *, now: bool = False) -> dict[str, Any]:
        """What was decided, and how many wrong labels should be left."""
        if self._old and (now or time.monotonic() >= self._until):
            began = time.thread_time()
            self._told, self._old = _counts(self._ledger), False
            taken = time.thread_time() - began
            self._until = time.monotonic() + (10 * taken if taken > _QUICK else 0)
        return self._told


def _counts(ledger: Ledger) -> dict[str, Any]:
    state, live = ledger.latest, ledger.live
    mask = matching(state, ledger.marks, None, Filter())  # [K]
    told = {
        "decisions": sum(one.answers for one in live),
        "checked_tokens": int(ledger.marks.checked.sum()),
        "changed": sum(one.changed for one in live),
        "skipped": sum(one.action == "skip" for one in live),
        "flagged": sum(one.action == "flag" for one in live),
        "items": len(state.begin) - 1,
        "open": int(mask.sum()),
        "revision": state.revision,
        "fit_seconds": state.seconds,
        **dict.fromkeys(("left", "left_range", "next", "stated")),
    }
    return told | _expected(ledger, mask) if state.revision else told


def _expected(ledger: Ledger, mask: BoolArray) -> dict[str, Any]:
    """Wrong labels, as the chances say and what was found so far."""
    state = ledger.latest
    order = state.order[mask[state.order]]  # [K']
    answers = [
        (one.score, one.changed)
        for one in ledger.live
        if one.answers and one.score is not None
    ]
    ahead = state.cleaned.outlook(
        state.chance[state.worst[order]],
        [score for score, _ in answers],
        [changed for _, changed in answers],
    )
    return {
        "left": ahead.left,
        "left_range": list(ahead.left_range),
        "stated": ahead.stated,
        "next": {
            "looks": ahead.looks,
            "found": ahead.gain,
            "found_range": list(ahead.gain_range),
        },
    }


def thinned(points: list[tuple[int, float]]) -> list[dict[str, float]]:
    """The history, in as many points as are shown; the last is among them."""
    step = -(-len(points) // _POINTS) or 1
    chosen = points[::-step][::-1]
    return [{"decisions": n, "left": left} for n, left in chosen]
