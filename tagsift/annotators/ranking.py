"""Where a second look pays: tokens and spans by the chance that their label is wrong.

The confidence of the label says most. What the text alone says of it says a little
more: a token on which all agree is found by the text, which has not seen their votes.
How much it counts was chosen on simulated annotators. Annotators who are left out
(`left_out`) and tokens that somebody has checked tell where labels are wrong more often
than their confidences say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from tagsift.annotators.reasons import Reasons
from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import OUTSIDE, VoteTable
from tagsift.data import Span, opening_transitions, spans
from tagsift.data.stacking import locate
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = [
    "Look",
    "error_chance",
    "error_odds",
    "label_lessons",
    "matched",
    "most_doubtful",
    "rank_spans",
    "rank_tokens",
    "span_types",
    "stretches",
]

#: Log-odds are counted up to these chances.
SURE = 1e-4
_OUTSIDE = Span(OUTSIDE, 0, 1)


@dataclass(frozen=True)
class Look:
    """A token or a span to look at."""

    sentence: int
    start: int
    end: int  # exclusive
    label: Label  # or the type of the span
    score: float  # estimated chance that one of its tokens is wrong
    tally: dict[str, int]  # votes on the token that is doubted most
    probabilities: dict[Label, float]  # its labels with a chance of 1 % or more
    reason: str  # why, in words


def label_lessons(said: IntArray, chance: FloatArray, table: VoteTable) -> FloatArray:
    """How much oftener each label was wrong than expected, as log-odds, [L].

    `said` are labels found without what is known exactly, [N], and `chance` the
    estimated chance that they are wrong, [N].
    """
    known, n_labels = table.exact >= 0, table.n_labels  # [N]
    label, true = said[known], table.exact[known]  # [K], [K]
    expected = np.bincount(label, weights=chance[known], minlength=n_labels)  # [L]
    wrong = np.bincount(label, weights=label != true, minlength=n_labels)  # [L]
    return np.asarray(
        np.log((wrong + CONSTANTS.label_errors) / (expected + CONSTANTS.label_errors))
    )  # [L]


def error_odds(
    labels: IntArray, confidences: FloatArray, text: FloatArray
) -> FloatArray:
    """Log-odds that labels are wrong, by their confidence and the text alone, [N]."""
    rows = np.arange(len(labels))  # [N]
    doubt = np.clip(1 - confidences[rows, labels], SURE, 1 - SURE)  # [N]
    unread = np.clip(1 - text[rows, labels], SURE, 1 - SURE)  # [N]
    by_text = CONSTANTS.text_odds
    odds = (logit(doubt) + by_text * logit(unread)) / (1 + by_text)  # [N]
    return matched(odds, float(doubt.sum()))


def matched(odds: FloatArray, total: float) -> FloatArray:
    """Log-odds moved alike, so that their chances add up to `total`, [N].

    What else is known tells which labels are wrong; how many are, the confidences tell.
    """
    if not 0 < total < len(odds):
        return odds
    shift = brentq(lambda x: float(expit(odds + x).sum()) - total, -40.0, 40.0)
    return np.asarray(odds + shift)


def error_chance(
    labels: IntArray,
    confidences: FloatArray,
    text: FloatArray,
    table: VoteTable,
    lessons: FloatArray | None = None,
) -> FloatArray:
    """Estimated chance that the label of a token is wrong, [N].

    `lessons` are what is known beyond confidences and text, as log-odds, [N].
    """
    odds = error_odds(labels, confidences, text)  # [N]
    chance = expit(odds if lessons is None else odds + lessons)  # [N]
    chance[table.exact >= 0] = 0.0
    return np.asarray(chance)


def rank_tokens(
    labels: IntArray,
    confidences: FloatArray,
    text: FloatArray,
    table: VoteTable,
    classes: Sequence[Label],
    chance: FloatArray | None = None,
) -> Iterator[Look]:
    """Yield all tokens, the one to look at first in front; `chance` is their score."""
    if chance is None:
        chance = error_chance(labels, confidences, text, table)  # [N]
    about = _Looks(labels, text, table, classes, confidences)
    for n in np.argsort(-chance, kind="stable"):
        s, t = locate(int(n), table.bounds)
        yield about.look(
            int(n), (s, t, t + 1), classes[int(labels[n])], float(chance[n])
        )


def rank_spans(
    labels: IntArray,
    confidences: FloatArray,
    text: FloatArray,
    table: VoteTable,
    classes: Sequence[Label],
    scheme: str,
    chance: FloatArray | None = None,
) -> Iterator[Look]:
    """Yield spans, and tokens outside them, the one to look at first in front.

    Neighbours outside all spans that are likely one which was missed come as one. A
    span is as doubtful as its most doubtful token.
    """
    if chance is None:
        chance = error_chance(labels, confidences, text, table)  # [N]
    about = _Looks(labels, text, table, classes, confidences)
    begin = stretches(labels, table.bounds, classes, scheme)  # [K + 1]
    going_on = _going_on(labels, confidences, table.bounds, classes, scheme)  # [N]
    begin = begin[~np.append(going_on, False)[begin]]  # [K + 1]
    worst = most_doubtful(chance, begin)  # [K]
    types = span_types(classes, scheme)
    for k in np.argsort(-chance[worst], kind="stable").tolist():
        n = int(worst[k])
        s, t = locate(int(begin[k]), table.bounds)
        place = (s, t, t + int(begin[k + 1] - begin[k]))
        yield about.look(n, place, types[int(labels[n])], float(chance[n]))


def span_types(classes: Sequence[Label], scheme: str) -> list[str]:
    """The type of the spans of every label; ``O`` stays what it is."""
    return [one.type for k in classes for one in spans([str(k)], scheme) or [_OUTSIDE]]


def stretches(
    labels: IntArray, offsets: IntArray, classes: Sequence[Label], scheme: str
) -> IntArray:
    """Where spans and single tokens outside them begin, and where the last ends, [K+1].

    `labels` are those of stacked tokens, [N], `offsets` where sentences begin.
    """
    after, at_once = opening_transitions([str(k) for k in classes], scheme)
    outside = np.array([str(k) == OUTSIDE for k in classes])  # [L]
    begins = outside[labels] | after[np.roll(labels, 1), labels]  # [N]
    first = offsets[:-1][np.diff(offsets) > 0]  # [S']
    begins[first] = (outside | at_once)[labels[first]]
    return np.append(np.flatnonzero(begins), len(labels))


def _going_on(
    labels: IntArray,
    confidences: FloatArray,
    offsets: IntArray,
    classes: Sequence[Label],
    scheme: str,
) -> BoolArray:
    """Tokens that go on with a span which was missed, if there is one, [N].

    It and the token before are labelled `O`, may well be none, and going on with a span
    is likelier than the start of another.
    """
    after, _ = opening_transitions([str(k) for k in classes], scheme)  # [L, L]
    outside = np.array([str(k) == OUTSIDE for k in classes])  # [L]
    inner = ~outside & ~after.all(axis=0)  # [L]
    start = confidences[:, ~outside & ~inner].sum(axis=1)  # [N]
    within = confidences[:, inner].sum(axis=1)  # [N]
    missed = outside[labels] & (start + within >= CONSTANTS.missed)  # [N]
    going_on = missed & np.roll(missed, 1) & (within > start)  # [N]
    going_on[offsets[:-1][np.diff(offsets) > 0]] = False
    return np.asarray(going_on)


def most_doubtful(chance: FloatArray, begin: IntArray) -> IntArray:
    """The token of each stretch that is likeliest wrong, the first of several, [K]."""
    if len(begin) < 2:
        return np.zeros(0, dtype=np.int64)
    most = np.maximum.reduceat(chance, begin[:-1])  # [K]
    there = chance == np.repeat(most, np.diff(begin))  # [N]
    place = np.where(there, np.arange(len(chance)), len(chance))  # [N]
    return np.asarray(np.minimum.reduceat(place, begin[:-1]))


@dataclass(frozen=True)
class _Looks(Reasons):
    """What is said about doubtful tokens."""

    confidences: FloatArray  # [N, L]

    def look(
        self, n: int, place: tuple[int, int, int], label: Label, score: float
    ) -> Look:
        """Describe one token."""
        row, classes = self.confidences[n], self.classes
        likely = {
            classes[k]: round(float(row[k]), 4)
            for k in np.argsort(-row, kind="stable").tolist()
            if row[k] >= 0.01
        }
        tally = self.table.corpus.tally(n)
        return Look(*place, label, score, tally, likely, self.sentence(n))
