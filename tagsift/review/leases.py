"""Sentences that are lent: one reviewer has each for ten minutes at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from tagsift.review.http_errors import Refusal
from tagsift.review.store import Store
from tagsift.typing import BoolArray

__all__ = ["LEASE", "Leases"]

#: Seconds for which a sentence is lent.
LEASE = 600.0


class Leases:
    """Who has which sentence; kept in the store, so that a new start knows it."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._lent = store.leases()

    @property
    def at_work(self) -> set[str]:
        """Reviewers who have something in hand."""
        now = self._clock()
        return {who for who, until in self._lent.values() if until > now}

    def others(self, reviewer: str, n_sentences: int) -> BoolArray:
        """Which sentences somebody else has, [S]."""
        now = self._clock()
        there = np.zeros(n_sentences, dtype=bool)  # [S]
        for s, (who, until) in self._lent.items():
            there[s] = who != reviewer and until > now
        return there

    def lend(self, sentences: Iterable[int], reviewer: str) -> None:
        """Lend sentences to a reviewer, or prolong it."""
        now, chosen = self._clock(), sorted(sentences)
        if chosen:
            self._store.lease(chosen, reviewer, now + LEASE)
        self._lent |= dict.fromkeys(chosen, (reviewer, now + LEASE))

    def hold(self, sentences: Iterable[int], reviewer: str) -> None:
        """Lend sentences to a reviewer, and take back all others that they had."""
        kept = set(sentences)
        self.release(reviewer, self._held(reviewer) - kept)
        self.lend(kept, reviewer)

    def _held(self, reviewer: str) -> set[int]:
        return {s for s, (who, _) in self._lent.items() if who == reviewer}

    def release(self, reviewer: str, sentences: Iterable[int] | None = None) -> int:
        """End leases of a reviewer, all unless they are named; how many there were."""
        held = self._held(reviewer)
        if sentences is not None:
            held &= set(sentences)
        for s in held:
            del self._lent[s]
        if held:
            self._store.release(sorted(held))
        return len(held)

    def refuse_others(self, s: int, reviewer: str) -> None:
        """Refuse a sentence that somebody else has."""
        who, until = self._lent.get(s, (reviewer, 0.0))
        if who != reviewer and until > self._clock():
            raise Refusal("leased", f"{who} is looking at this sentence.", by=who)
