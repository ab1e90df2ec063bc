"""An item as the page shows it: the span in its sentence, votes and probabilities."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tagsift.annotators import AnnotatorReport, span_types
from tagsift.data import Span, spans
from tagsift.data.annotators import Vote
from tagsift.review.ledger import Ledger
from tagsift.review.rulings import touching
from tagsift.review.state import KINDS, State
from tagsift.typing import FloatArray

__all__ = ["Shown", "corpus_facts", "describe", "row"]

#: Tokens of a sentence that are sent on either side; characters of one token, and of
#: the sentences before and after.
_AROUND, _LONGEST, _NEIGHBOUR = 200, 500, 600
#: Tokens whose probabilities are sent, and the smallest of them.
_MOST, _LEAST = 50, 0.005
#: Kinds of reasons, as the filter names them.
_TITLES = {
    "exact": "known exactly",
    "unvoted": "nobody voted",
    "outvoted": "most votes say something else",
    "unanimous": "the text disagrees with all annotators",
    "split": "annotators are split",
    "text": "the text reads something else",
    "rare": "rare label",
    "unsure": "neither text nor votes are sure",
    "open": "the text leaves it open",
}
#: Words beside the span in a row of the search.
_BESIDE = 6


@dataclass(frozen=True)
class Shown:
    """A span in question, and what it is told from."""

    ledger: Ledger
    reviewer: str
    stretch: int
    sentence: int
    span: Span  # of type O: a token outside spans
    worst: int  # the most doubtful stacked token that nobody has checked

    @property
    def state(self) -> State:
        """What the last fit found."""
        return self.ledger.latest

    @property
    def name(self) -> str:
        """The item's own name."""
        return f"{self.sentence}:{self.span.start}-{self.span.end}"

    @property
    def score(self) -> float | None:
        """The chance that it is wrong; None before a fit."""
        return float(self.state.chance[self.worst]) if self.state.revision else None

    @property
    def kind(self) -> str:
        """The kind of reason for which it is here."""
        return KINDS[int(self.state.kinds[self.stretch])]

    @cached_property
    def offset(self) -> int:
        """Where its sentence begins among the stacked tokens."""
        return int(self.ledger.view.offsets[self.sentence])


def describe(item: Shown) -> dict[str, Any]:
    """Everything that the page needs to know about an item."""
    ledger, s, span = item.ledger, item.sentence, item.span
    view, state = ledger.view, item.state
    length, place = view.lengths[s], view.places[s]
    first = max(0, span.start - _AROUND)
    last = min(length, span.end + _AROUND)
    if length <= 2 * _AROUND:
        first, last = 0, length
    before, after = view.texts(s, _NEIGHBOUR)
    flag = ledger.flag(s, span.start, span.end)
    majority = _majority(item)
    return {
        "id": item.name,
        "sentence": s,
        "document": place.document,
        "start": span.start,
        "end": span.end,
        "label": span.type,
        "score": item.score,
        "reason": state.reason(item.stretch),
        "kind": item.kind,
        "version": ledger.version(s),
        "revision": state.revision,
        "state": ledger.status(item.reviewer, item.stretch),
        "from": first,
        "n_tokens": length,
        "tokens": [_cut(word) for word in view.words[s][first:last]],
        "spaces": [place.spaces is None or place.spaces[t] for t in range(first, last)],
        "before": before,
        "after": after,
        "spans": [
            _span(one) | _standing(item, one)
            for one in touching(ledger.spans(s), first, last)
        ],
        "checked": _ranges(item, first, last),
        **_probabilities(item),
        "votes": list(_votes(item)),
        "candidates": _candidates(item),
        "majority": [_span(one) for one in majority],
        "differs": majority != ([span] if span.type != "O" else []),
        "flagged": flag and {"by": flag.reviewer, "note": flag.note},
    }


def corpus_facts(ledger: Ledger) -> dict[str, Any]:
    """What the page needs to know once: sizes, labels, annotators, kinds."""
    view, state = ledger.view, ledger.latest
    counted = np.bincount(state.kinds, minlength=len(KINDS)).tolist()
    people = {one.name: one for one in state.annotators}
    who = view.corpus.annotators
    tokens = np.bincount(view.corpus.votes.annotator, minlength=len(who)).tolist()
    return {
        "title": view.title,
        "sentences": len(view.lengths),
        "tokens": int(view.offsets[-1]),
        "scheme": view.scheme,
        "revision": state.revision,
        "spans": view.scheme != "plain",
        "labels": list(view.types),
        "outside": "O" in view.classes,
        "annotators": [
            {
                "name": one.name,
                "reliability": _reliability(people, one.name),
                "tokens": tokens[a],
                "abstains": one.abstains,
                "flags": list(people[one.name].flags) if one.name in people else [],
            }
            for a, one in enumerate(who)
        ],
        "kinds": [
            {"name": name, "title": _TITLES[name], "items": count}
            for name, count in zip(KINDS, counted, strict=True)
            if name and count
        ],
    }


def row(item: Shown) -> dict[str, Any]:
    """An item in a list."""
    words, span = item.ledger.view.words[item.sentence], item.span
    left = words[max(0, span.start - _BESIDE) : span.start]
    inside = words[span.start : span.end][: 2 * _BESIDE]
    right = words[span.end : span.end + _BESIDE]
    return {
        "id": item.name,
        "sentence": item.sentence,
        "label": span.type,
        "score": item.score,
        "state": item.ledger.status(item.reviewer, item.stretch),
        "kind": item.kind,
        "left": " ".join(map(_cut, left)),
        "words": " ".join(map(_cut, inside)),
        "right": " ".join(map(_cut, right)),
    }


def _cut(word: str) -> str:
    return word if len(word) <= _LONGEST else word[:_LONGEST] + "…"


def _span(one: Span) -> dict[str, Any]:
    return {"start": one.start, "end": one.end, "label": one.type}


def _standing(item: Shown, one: Span) -> dict[str, Any]:
    """Whether a span was checked, and the chance that it is wrong."""
    where = slice(item.offset + one.start, item.offset + one.end)
    done = bool(item.ledger.marks.checked[where].all())
    chance = float(item.state.chance[where].max()) if item.state.revision else None
    return {"checked": done, "chance": 0.0 if done else chance}


def _ranges(item: Shown, first: int, last: int) -> list[list[int]]:
    """Stretches of tokens that were decided."""
    done = item.ledger.marks.checked[item.offset + first : item.offset + last]  # [T]
    steps = np.flatnonzero(np.diff(np.concatenate([[0], done, [0]])))  # [2 R]
    return (first + steps).reshape(-1, 2).tolist()


def _probabilities(item: Shown) -> dict[str, Any]:
    """By type: of the most doubtful token, and of each token of the span."""
    if not item.state.revision:
        return {"probabilities": [], "tokens_probabilities": []}
    view = item.ledger.view
    types = span_types(item.state.cleaned.classes, view.scheme)

    def by_type(p: FloatArray) -> list[tuple[str, float]]:
        summed: dict[str, float] = defaultdict(float)
        for name, share in zip(types, p.tolist(), strict=True):
            summed[name] += share
        ranked = sorted(summed.items(), key=lambda pair: -pair[1])
        return [(name, round(share, 4)) for name, share in ranked if share >= _LEAST]

    rows = item.state.cleaned.confidences
    where = range(item.span.start, min(item.span.end, item.span.start + _MOST))
    return {
        "probabilities": [
            {"label": name, "p": share} for name, share in by_type(rows[item.worst])
        ],
        "tokens_probabilities": [by_type(rows[item.offset + t]) for t in where],
    }


def _votes(item: Shown) -> Iterator[dict[str, Any]]:
    """What each annotator who labelled any of the tokens said of them."""
    corpus = item.ledger.view.corpus
    votes = corpus[item.sentence].votes
    people = {one.name: one for one in item.state.annotators}
    label, start, end = item.span
    for annotator in corpus.annotators:
        name, abstains = annotator.name, annotator.abstains
        if name not in votes:
            continue
        column = votes[name]
        said = [_written(vote) for vote in column[start:end]]
        if all(tag is None for tag in said):
            continue
        own = touching(_spans_of(column, corpus.scheme), start, end)
        yield {
            "annotator": name,
            "reliability": _reliability(people, name),
            "abstains": abstains,
            "agrees": own == ([item.span] if label != "O" else []),
            "spans": [_span(one) for one in own],
            "tags": said,
            "said": _in_words(own, item.span, abstains=abstains),
        }


def _spans_of(column: Sequence[Vote | None], scheme: str) -> list[Span]:
    """The spans of an annotator; of a set of labels, the first one counts."""
    tags = ["O" if v is None else v if isinstance(v, str) else min(v) for v in column]
    return spans(tags, scheme)


def _written(vote: Vote | None) -> str | None:
    return vote if vote is None or isinstance(vote, str) else "|".join(sorted(vote))


def _in_words(own: list[Span], span: Span, *, abstains: bool) -> str:
    if not own:
        return "nothing" if abstains else "O"
    return ", ".join(
        one.type
        if (one.start, one.end) == (span.start, span.end)
        else f"{one.type} {one.start + 1}–{one.end}"
        for one in own
    )


def _reliability(people: Mapping[str, AnnotatorReport], name: str) -> float | None:
    value = people[name].reliability if name in people else float("nan")
    return None if math.isnan(value) else round(value, 4)


def _candidates(item: Shown) -> list[list[str]] | None:
    view, span = item.ledger.view, item.span
    if view.counted.has_votes or view.corpus.candidates is None:
        return None
    rows = view.corpus.candidates[item.sentence][span.start : span.end]
    return [sorted(names) for names in rows]


def _majority(item: Shown) -> list[Span]:
    """The spans that most votes say, where they touch the one in question."""
    majority = item.ledger.view.counted.majority
    if majority is None:
        return []
    here = spans(majority[item.sentence], item.ledger.view.scheme)
    return touching(here, item.span.start, item.span.end)
