"""Where a second look pays: tokens and spans by the chance that their label is wrong.

The confidence of the label says most. What the text alone says of it says a little
more: a token on which all agree is found by the text, which has not seen their votes.
How much it counts was chosen on simulated annotators. Annotators who are left out
(`left_out`) and tokens that somebody has checked tell where labels are wrong more often
than their confidences say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from tagsift.annotators.ballots import Ballots
from tagsift.data import spans
from tagsift.data.offsets import locate
from tagsift.typing import FloatArray, IntArray, Label

__all__ = [
    "Look",
    "error_chance",
    "error_odds",
    "label_lessons",
    "rank_spans",
    "rank_tokens",
]

#: What the log-odds of the text count beside those of the confidence.
_TEXT = 0.2
#: Log-odds are counted up to these chances.
SURE = 1e-4
#: Errors that are taken for granted of every label, expected and found.
_PRIOR = 5.0
#: Reasons: the share of votes against, the text's chance of the label, its frequency.
_SPLIT, _DOUBTED, _RARE = 0.25, 0.5, 0.005
#: What the text leaves open, where there are no votes.
_CLEAR = 0.95


@dataclass(frozen=True)
class Look:
    """A token or a span to look at."""

    sentence: int
    start: int
    end: int  # exclusive
    label: Label  # or the type of the span
    score: float  # estimated chance that one of its tokens is wrong
    tally: dict[Label, int]  # votes on the token that is doubted most
    probabilities: dict[Label, float]  # its labels with a chance of 1 % or more
    reason: str  # why, in words


def label_lessons(said: IntArray, chance: FloatArray, ballots: Ballots) -> FloatArray:
    """How much oftener each label was wrong than expected, as log-odds, [L].

    `said` are labels found without what is known exactly, [N], and `chance` the
    estimated chance that they are wrong, [N].
    """
    known, n_labels = ballots.exact >= 0, ballots.n_labels  # [N]
    label, true = said[known], ballots.exact[known]  # [K], [K]
    expected = np.bincount(label, weights=chance[known], minlength=n_labels)  # [L]
    wrong = np.bincount(label, weights=label != true, minlength=n_labels)  # [L]
    return np.asarray(np.log((wrong + _PRIOR) / (expected + _PRIOR)))  # [L]


def error_odds(
    labels: IntArray, confidences: FloatArray, text: FloatArray
) -> FloatArray:
    """Log-odds that labels are wrong, by their confidence and the text alone, [N]."""
    rows = np.arange(len(labels))  # [N]
    doubt = np.clip(1 - confidences[rows, labels], SURE, 1 - SURE)  # [N]
    unread = np.clip(1 - text[rows, labels], SURE, 1 - SURE)  # [N]
    return np.asarray((logit(doubt) + _TEXT * logit(unread)) / (1 + _TEXT))


def error_chance(
    labels: IntArray,
    confidences: FloatArray,
    text: FloatArray,
    ballots: Ballots,
    lessons: FloatArray | None = None,
) -> FloatArray:
    """Estimated chance that the label of a token is wrong, [N].

    `lessons` are what is known beyond confidences and text, as log-odds, [N].
    """
    odds = error_odds(labels, confidences, text)  # [N]
    chance = expit(odds if lessons is None else odds + lessons)  # [N]
    chance[ballots.exact >= 0] = 0.0
    return np.asarray(chance)


def rank_tokens(
    labels: IntArray,
    confidences: FloatArray,
    text: FloatArray,
    ballots: Ballots,
    classes: Sequence[Label],
    chance: FloatArray | None = None,
) -> Iterator[Look]:
    """Yield all tokens, the one to look at first in front; `chance` is their score."""
    if chance is None:
        chance = error_chance(labels, confidences, text, ballots)  # [N]
    about = _Reasons(labels, confidences, text, ballots, classes)
    for n in np.argsort(-chance, kind="stable"):
        s, t = locate(int(n), ballots.offsets)
        yield about.look(
            int(n), (s, t, t + 1), classes[int(labels[n])], float(chance[n])
        )


def rank_spans(
    labels: IntArray,
    confidences: FloatArray,
    text: FloatArray,
    ballots: Ballots,
    classes: Sequence[Label],
    scheme: str,
    chance: FloatArray | None = None,
) -> Iterator[Look]:
    """Yield spans and single tokens outside them, the one to look at first in front.

    A span is as doubtful as its most doubtful token.
    """
    if chance is None:
        chance = error_chance(labels, confidences, text, ballots)  # [N]
    about = _Reasons(labels, confidences, text, ballots, classes)
    found: list[tuple[float, int, tuple[int, int, int], Label]] = []
    for s, (lo, hi) in enumerate(
        zip(ballots.offsets[:-1], ballots.offsets[1:], strict=True)
    ):
        names = [str(classes[k]) for k in labels[lo:hi]]
        inside = np.zeros(hi - lo, dtype=bool)  # [T]
        for span in spans(names, scheme):
            inside[span.start : span.end] = True
            n = int(lo + span.start + chance[lo:hi][span.start : span.end].argmax())
            place = (s, span.start, span.end)
            found.append((float(chance[n]), n, place, span.type))
        for t in np.flatnonzero(~inside):
            n = int(lo + t)
            found.append((float(chance[n]), n, (s, int(t), int(t) + 1), names[int(t)]))
    found.sort(key=lambda entry: -entry[0])
    for score, n, place, label in found:
        yield about.look(n, place, label, score)


@dataclass(frozen=True)
class _Reasons:
    """What is said about a doubtful token."""

    labels: IntArray
    confidences: FloatArray
    text: FloatArray
    ballots: Ballots
    classes: Sequence[Label]

    @cached_property
    def frequency(self) -> FloatArray:
        """Share of every label, [L]."""
        counts = np.bincount(self.labels, minlength=len(self.classes))  # [L]
        return np.asarray(counts / len(self.labels))

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
        return Look(*place, label, score, self._tally(n), likely, self._reason(n))

    def _tally(self, n: int) -> dict[Label, int]:
        votes = self.ballots.votes[n]  # [A]
        counts = Counter(
            "|".join(str(self.classes[k]) for k in np.flatnonzero(said).tolist())
            if said.sum() > 1
            else self.classes[int(said.argmax())]
            for said in self.ballots.members[votes[votes >= 0]]
        )
        return dict(counts.most_common())

    def _reason(self, n: int) -> str:
        counts, label = self.ballots.counts[n], int(self.labels[n])  # [L]
        name, total = self.classes[label], counts.sum()
        reads = self.text[n, label]
        if not self.ballots.n_annotators:
            return "the text leaves it open" if reads < _CLEAR else ""
        if self.ballots.exact[n] >= 0:
            return "known exactly"
        if not total:
            return "nobody voted on it"
        if counts.argmax() != label and counts.max() > counts[label]:
            return f"most votes say {self.classes[int(counts.argmax())]}, not {name}"
        if counts[label] == total and reads < _DOUBTED:
            other = self.classes[int(self.text[n].argmax())]
            return f"the text disagrees with all annotators: it reads {other}"
        if 1 - counts[label] / total >= _SPLIT:
            return "annotators are split"
        if reads < _DOUBTED:
            other = self.classes[int(self.text[n].argmax())]
            return f"the text reads {other}"
        if self.frequency[label] < _RARE:
            return f"{name} is a rare label"
        return "neither text nor votes are sure"
