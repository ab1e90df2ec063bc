"""One review: items go out to reviewers, decisions come in, the model learns.

All methods may be called from several threads; one works at a time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial, wraps
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np

from tagsift.data import Span
from tagsift.errors import DataError
from tagsift.review.corpus_view import CorpusView
from tagsift.review.describing import Shown, corpus_facts, describe, row
from tagsift.review.exports import Export, checked_corpus, decision_lines
from tagsift.review.forecast import Forecast, thinned
from tagsift.review.http_errors import Refusal
from tagsift.review.learning import Learner
from tagsift.review.leases import LEASE, Leases
from tagsift.review.ledger import Ledger
from tagsift.review.queue import Filter, matching
from tagsift.review.requests import ruled_spans
from tagsift.review.results import Results
from tagsift.review.rulings import touching
from tagsift.review.state import State
from tagsift.review.store import ANSWERS, Decision, Store

__all__ = ["Desk"]

#: Decisions between two points of the history.
_STEP = 10
#: Rows of a page of the search.
_ROWS = 50

Method = TypeVar("Method", bound=Callable[..., Any])


def _alone(method: Method) -> Method:
    """Let one thread at a time into a method."""

    @wraps(method)
    def locked(self: Desk, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return method(self, *args, **kwargs)

    return cast(Method, locked)


class Desk:
    """A review: what is looked at, who looks, and what was decided.

    Parameters
    ----------
    view : CorpusView
        What is looked at.
    store : Store
        Where decisions and the last result are kept; what it holds is there at once.
    learner : Learner, optional
        Fits the model again; without one the order stays that of the votes.
    every : int
        Decisions after which it does so by itself; 0 for never.
    clock : callable
        Seconds since 1970.
    """

    def __init__(
        self,
        view: CorpusView,
        store: Store,
        learner: Learner | None = None,
        *,
        every: int = 25,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.view, self.store, self.learner = view.ready(), store, learner
        self.every, self._lock = every, RLock()
        self.ledger = Ledger(view, store.decisions())
        self.leases = Leases(store, clock)
        self._learnt = 0  # entries that the last fit knew
        self._results = Results(store, view, learner.model if learner else "")
        self._unkept: str | None = None  # why the last result is not in the store
        if last := self._results.last():
            self.ledger.take_over(last[0])
            self._learnt = last[1]
        self._forecast = Forecast(self.ledger)

    # What reviewers ask ----------------------------------------------------------

    @_alone
    def next_items(
        self, reviewer: str, count: int, have: Iterable[str], wanted: Filter
    ) -> dict[str, Any]:
        """Lend the next items to a reviewer.

        `have` are those that they hold; what they had beside them is free again.
        """
        state = self.ledger.latest
        mask = matching(state, self.ledger.marks, reviewer, wanted)  # [K]
        left = int(mask.sum())
        held = [self.place_of(name) for name in have]
        mask[[self._stretch(s, start) for s, start, _ in held]] = False
        others = self.leases.others(reviewer, len(self.view.lengths))  # [S]
        mask &= ~others[state.sentence]
        chosen = state.order[np.flatnonzero(mask[state.order])[:count]].tolist()
        mine = {s for s, _, _ in held if not others[s]}
        self.leases.hold(mine | {int(state.sentence[k]) for k in chosen}, reviewer)
        items = [describe(self._shown(k, reviewer)) for k in chosen]
        return {"items": items, "left": left, "revision": state.revision}

    @_alone
    def one_item(self, reviewer: str, name: str) -> dict[str, Any]:
        """Lend one item, unless somebody else has it."""
        s, start, _ = self.place_of(name)
        self.leases.refuse_others(s, reviewer)
        self.leases.lend({s}, reviewer)
        return describe(self._shown(self._stretch(s, start), reviewer, start))

    @_alone
    def browse(self, reviewer: str, wanted: Filter, page: int) -> dict[str, Any]:
        """Rows about items, a page of them; nothing is lent."""
        state = self.ledger.latest
        mask = matching(state, self.ledger.marks, reviewer, wanted)  # [K]
        chosen = state.order[mask[state.order]]  # [K']
        rows = chosen[_ROWS * page :][:_ROWS].tolist()
        return {
            "found": len(chosen),
            "page": page,
            "rows": [row(self._shown(k, reviewer)) for k in rows],
        }

    @_alone
    def about(self, **more: Any) -> dict[str, Any]:
        """What hardly changes: labels, annotators, kinds of disagreement."""
        facts = {"every": self.every, "lease_seconds": int(LEASE), **more}
        return corpus_facts(self.ledger) | facts

    def export(self, kind: str, form: str = "", layers: str = "") -> Export:
        """A file: ``corpus`` in a format, ``decisions``, or ``label-studio``.

        Others go on deciding while it is made. Before the first fit there are votes and
        decisions, and no labels.
        """
        with self._lock:
            ledger, decisions = self.ledger.copy(), list(self.store.decisions())
        if kind == "decisions":
            return decision_lines(decisions, self.view)
        if kind == "label-studio":
            return checked_corpus(ledger, "label-studio", "predictions")
        if kind != "corpus":
            raise Refusal("missing", "there is no such export.")
        return checked_corpus(ledger, form, "votes" if layers == "votes" else "labels")

    @_alone
    def release(self, reviewer: str, names: Iterable[str] | None = None) -> int:
        """End leases of a reviewer: those of some items, or all."""
        named = None if names is None else [self.place_of(name)[0] for name in names]
        return self.leases.release(reviewer, named)

    # What reviewers decide -------------------------------------------------------

    @_alone
    def decide(
        self,
        reviewer: str,
        key: str,
        item: str,
        version: int,
        action: str,
        *,
        region: tuple[int, int] | None = None,
        ruled: Sequence[Span] | None = None,
        revision: int | None = None,
        note: str | None = None,
    ) -> Decision:
        """Keep a decision; sent twice with one key, it is kept once.

        `region` are the tokens that were judged, those of the item unless given, and
        `ruled` the spans that hold there. To accept what was shown, the `revision` that
        it was shown by will do.
        """
        if same := self._sent_before(key, reviewer, action):
            return same
        s, start, end = self.place_of(item)
        self.leases.refuse_others(s, reviewer)
        self._refuse_stale(s, version)
        lo, hi = region or (start, end)
        if not 0 <= lo < hi <= self.view.lengths[s]:
            raise Refusal("bad", "expected a region inside the sentence.")
        before = touching(self.ledger.spans(s), lo, hi)
        after = before
        if ruled is not None and action in ANSWERS:
            after = ruled_spans(self.view, lo, hi, ruled)
        elif action == "accept":
            if revision != self.ledger.latest.revision:
                raise Refusal("stale", "the model was fitted again since; look again.")
            lo = min([lo, *(one.start for one in before)])
            hi = max([hi, *(one.end for one in before)])
        elif action in ANSWERS:
            raise Refusal("bad", f"expected the spans that hold after {action!r}.")
        return self._keep(
            key=key,
            reviewer=reviewer,
            sentence=s,
            start=lo,
            end=hi,
            action=action,
            before=tuple(before),
            after=tuple(after),
            score=self._shown(self._stretch(s, start), reviewer, start).score,
            note=note,
        )

    @_alone
    def undo(
        self, reviewer: str, key: str, number: int | None = None
    ) -> tuple[Decision, Decision]:
        """Take back a decision of a reviewer, the last one unless it is named.

        The new entry, and the one that it takes back.
        """
        if same := self._sent_before(key, reviewer, "undo"):
            (taken,) = (x for x in self.store.decisions() if x.id == same.undoes)
            return same, taken
        own = self.ledger.by_reviewer.get(reviewer, [])
        named = [one for one in own if number in (None, one.id)]
        if not named:
            raise Refusal("nothing", "there is no decision of yours to take back.")
        last = named[-1]
        self.leases.refuse_others(last.sentence, reviewer)
        for one in self.ledger.of_sentence(last.sentence):
            if one.id > last.id and one.answers and one.reviewer != reviewer:
                raise Refusal(
                    "stale",
                    f"{one.reviewer} has decided on this sentence since.",
                    by=one.reviewer,
                )
        made = self._keep(
            key=key,
            reviewer=reviewer,
            sentence=last.sentence,
            start=last.start,
            end=last.end,
            action="undo",
            before=last.after,
            after=last.before,
            undoes=last.id,
        )
        return made, last

    @_alone
    def refit(self) -> None:
        """Fit again, now, if there is anything new."""
        if self.learner is None:
            raise Refusal("nothing", "this review has nothing to fit.")
        new = self.learner.failed or self._learnt < self.ledger.entries
        if not self.learner.busy and not new:
            raise Refusal("nothing", "nothing was decided since the last fit.")
        self.learn()

    # What it learns --------------------------------------------------------------

    @_alone
    def begin(self) -> None:
        """Fit where there is no result yet, or where one is due."""
        if self.ledger.latest.revision:
            self._learn_if_due()
        else:
            self.learn()

    @_alone
    def learn(self) -> None:
        """Begin a fit with all that has been decided, unless one runs."""
        if self.learner is not None and not self.learner.busy:
            self._learnt, revision = self.ledger.entries, self.ledger.latest.revision
            then = partial(self.install, entries=self._learnt)
            self.learner.learn(self.ledger.exact(), then, revision)

    @_alone
    def install(
        self, state: State, content: bytes | None = None, *, entries: int = 0
    ) -> None:
        """Keep and take over what a fit found that knew so many entries."""
        try:
            self._results.keep(state, entries, content)
            self._unkept = None
        except DataError as error:
            self._unkept = error.message
        self.ledger.take_over(state)
        self._forecast.outdated()
        self._remember()
        self._learn_if_due()

    @_alone
    def progress(self) -> dict[str, Any]:
        """How far the review is, and what is left."""
        learner, at_work = self.learner, self.leases.at_work
        return self._forecast.figures() | {
            "new": self.ledger.entries - self._learnt,
            "history": thinned(self.store.history()),
            "refitting": learner is not None and learner.busy,
            "failed": None if learner is None else learner.failed,
            "unkept": self._unkept,
            "reviewers": [
                {
                    "name": name,
                    "decisions": sum(one.answers for one in own),
                    "now": name in at_work,
                }
                for name, own in sorted(self.ledger.by_reviewer.items())
            ],
        }

    # How it works ----------------------------------------------------------------

    def _keep(self, **fields: Any) -> Decision:
        """Store an entry, put it into force, and learn where it is time."""
        try:
            made = self.store.add(revision=self.ledger.latest.revision, **fields)
        except DataError as error:
            raise Refusal("unstored", f"nothing was stored: {error.message}") from error
        known = self.ledger.entries
        self.ledger.add(made)
        self.leases.lend({made.sentence}, made.reviewer)
        self._forecast.outdated()
        if self.ledger.entries > known:
            if self.ledger.entries % _STEP == 0:
                self._remember()
            self._learn_if_due()
        return made

    def _learn_if_due(self) -> None:
        if self.every and self.ledger.entries - self._learnt >= self.every:
            self.learn()

    def _remember(self) -> None:
        """Add a point to the history of what is left."""
        figures = self._forecast.figures(now=True)
        if figures["left"] is not None:
            self.store.remember(figures["decisions"], figures["left"])

    def _shown(self, stretch: int, reviewer: str, start: int | None = None) -> Shown:
        """An item: the span in question now in a stretch, or at one of its tokens."""
        state, checked = self.ledger.latest, self.ledger.marks.checked
        lo, hi = map(int, state.begin[stretch : stretch + 2])
        s = int(state.sentence[stretch])
        doubt = np.where(checked[lo:hi], -1.0, state.chance[lo:hi])
        n = lo + int(doubt.argmax())
        at = n - int(self.view.offsets[s]) if start is None else start
        there = touching(self.ledger.spans(s), at, at + 1)
        span = there[0] if there else Span("O", at, at + 1)
        return Shown(self.ledger, reviewer, stretch, s, span, n)

    def place_of(self, name: str) -> tuple[int, int, int]:
        """Sentence, first token and the one after the last of an item."""
        try:
            s, _, place = name.partition(":")
            start, _, end = place.partition("-")
            where = int(s), int(start), int(end)
        except ValueError:
            raise Refusal("bad", "expected an item such as 17:3-5.") from None
        if not 0 <= where[0] < len(self.view.lengths):
            raise Refusal("missing", "there is no such sentence.")
        if not 0 <= where[1] < where[2] <= self.view.lengths[where[0]]:
            raise Refusal("missing", "there are no such tokens in the sentence.")
        return where

    def _stretch(self, s: int, start: int) -> int:
        n = int(self.view.offsets[s]) + start
        return int(np.searchsorted(self.ledger.latest.begin, n, side="right")) - 1

    def _refuse_stale(self, s: int, version: int) -> None:
        if version != self.ledger.version(s):
            last = [one for one in self.ledger.of_sentence(s) if one.answers]
            raise Refusal(
                "stale",
                "the sentence has changed since it was shown; nothing was stored.",
                by=last[-1].reviewer if last else None,
            )

    def _sent_before(self, key: str, reviewer: str, action: str) -> Decision | None:
        """The decision that came with a key before."""
        before = self.store.keyed(key)
        if before and (before.reviewer, before.action) != (reviewer, action):
            raise Refusal("bad", "expected a new key for a new decision.")
        return before
