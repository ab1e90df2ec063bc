"""What is to be said about each annotator: how reliable, how confused, and why odd."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from tagsift.annotators.ballots import OUTSIDE, Ballots, ballots_of
from tagsift.annotators.copies import copy_groups, copy_weights
from tagsift.data import VoteCorpus, spans
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = [
    "AnnotatorReport",
    "annotators_against",
    "compared",
    "describe",
    "habits",
    "quiet_sources",
]

#: Spans (or tokens) of the average annotator that each one's figures are drawn by.
_PRIOR = 10.0
#: Who labelled fewer tokens than this is too little known.
_FEW_TOKENS = 200
#: Odd: reliability so far below the middle one, or so little found of what others see.
_FAR_BELOW, _HARDLY_ANY = 0.25, 0.3
#: Looks like abstaining: so large a share of `O` at so many tokens of which another
#: annotator says something.
_SILENT, _LEAST_TOKENS = 0.99, 50
#: A habit is an error in at least this share of the tokens of a type.
_HABIT = 0.1


@dataclass(frozen=True)
class AnnotatorReport:
    """One annotator, as the labels found from all votes show them.

    Reliability is the span F1 against the labels (precision, for one who abstains;
    accuracy, for plain tags), drawn a little towards the others' where there is little
    to judge by. Scores are NaN where there is nothing to count, or nobody to judge by.
    """

    name: str
    tokens: int  # that they labelled
    sentences: int
    reliability: float
    precision: float  # of their spans, against the labels; so recall and f1
    recall: float
    f1: float
    confusion: FloatArray  # [L, L]  chance of a vote (last axis) by true label
    weight: float = 1.0  # how much a vote counts: less than 1 among copies
    abstains: bool = False  # whether their `O` says nothing
    flags: tuple[str, ...] = ()  # what is odd about them, in words

    def as_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists and numbers."""
        return vars(self) | {
            "confusion": self.confusion.tolist(),
            "flags": list(self.flags),
        }

    @classmethod
    def of_table(
        cls, name: str, log_pi: FloatArray, classes: Sequence[Label]
    ) -> AnnotatorReport:
        """What a model file still knows: the table, and no counts."""
        confusion = np.exp(log_pi).mean(axis=1)  # [L, L]
        speaks = np.array([str(k) != "O" for k in classes])  # [L]
        right = np.diag(confusion)[speaks]  # [L']
        nan = float("nan")
        reliability = float(right.mean()) if len(right) else nan
        return cls(name, 0, 0, reliability, nan, nan, nan, confusion)


def describe(
    ballots: Ballots,
    labels: IntArray,
    classes: Sequence[Label],
    scheme: str,
    groups: Sequence[tuple[int, ...]],
    weights: FloatArray,
    judged: BoolArray | None = None,
) -> tuple[AnnotatorReport, ...]:
    """Report on every annotator, given the labels found from all votes, [N].

    Those who are not `judged` by others, [A], have no scores.
    """
    counted = [_count(ballots, a, labels, classes, scheme) for a in range(len(weights))]
    hits, given, wanted, sentences = np.array(counted).reshape(-1, 4).T  # [A] each
    total = np.where(ballots.abstains, given, (given + wanted) / 2)  # [A]
    mean = hits.sum() / max(total.sum(), 1.0)
    tokens = (ballots.votes >= 0).sum(axis=0)  # [A]
    scored = (tokens > 0) & (True if judged is None else judged)  # [A]
    reliability = np.where(scored, (hits + _PRIOR * mean) / (total + _PRIOR), np.nan)
    middle = float(np.median(reliability[scored])) if scored.any() else np.nan
    given, wanted = given * scored, wanted * scored  # [A] each
    copies = {a: group for group in groups for a in group}
    quiet = quiet_sources(ballots)
    reports = []
    for a, name in enumerate(ballots.names):
        report = AnnotatorReport(
            name=name,
            tokens=int(tokens[a]),
            sentences=int(sentences[a]),
            reliability=float(reliability[a]),
            precision=_share(hits[a], given[a]),
            recall=_share(hits[a], wanted[a]),
            f1=_share(2 * hits[a], given[a] + wanted[a]),
            confusion=_confusion(ballots, a, labels),
            weight=float(weights[a]),
            abstains=bool(ballots.abstains[a]),
        )
        others = [ballots.names[b] for b in copies.get(a, ()) if b != a]
        flags = _flags(report, ballots, quiet, middle)
        if others:
            flags = (f"says the same as {', '.join(others)}: counted as one", *flags)
        reports.append(replace(report, flags=flags))
    return tuple(reports)


def annotators_against(
    corpus: VoteCorpus,
    labels: Sequence[Sequence[str]],
    classes: Sequence[str] | None = None,
    *,
    by_votes: bool = False,
) -> tuple[AnnotatorReport, ...]:
    """Report on every annotator as seen from labels that are held to be true.

    Confusions are of `classes`, by default all labels that there are, in order. Where
    the labels are made of these votes (`by_votes`), who shares no token with others is
    not judged.
    """
    flat = [name for row in labels for name in row]
    classes = classes or tuple(sorted({*corpus.label_set, *flat}))
    column = {name: k for k, name in enumerate(classes)}
    ballots = ballots_of(corpus, classes, [len(row) for row in corpus.rows])
    groups = copy_groups(ballots)
    return describe(
        ballots,
        np.array([column[name] for name in flat]),
        classes,
        corpus.scheme,
        groups,
        copy_weights(ballots, groups),
        compared(ballots) if by_votes else None,
    )


def compared(ballots: Ballots) -> BoolArray:
    """Annotators who said something of a token of which another did as well, [A]."""
    silent = ballots.abstains & (ballots.votes == ballots.outside)  # [N, A]
    voted = (ballots.votes >= 0) & ~silent  # [N, A]
    return np.asarray((voted & (voted.sum(axis=1) > 1)[:, None]).any(axis=0))


def habits(report: AnnotatorReport, classes: Sequence[Label], most: int = 2) -> str:
    """Say in words which types an annotator misses or takes for others, worst first."""
    names = [str(name) for name in classes]
    types = [  # nothing for ``O``, the label itself for plain tags
        "" if k == OUTSIDE else k[2:] if k[1:2] == "-" else k for k in names
    ]
    kinds = sorted(set(types))
    member = np.array([[k == kind for kind in kinds] for k in types], float)  # [L, K]
    shares = (member / member.sum(axis=0)).T @ report.confusion @ member  # [K, K]
    found = [
        (float(shares[i, j]), kinds[i], kinds[j])
        for i, j in np.argwhere(shares >= _HABIT).tolist()
        if i != j and kinds[i]
    ]
    worst = sorted(found, reverse=True)[:most]
    return ", ".join(
        f"takes {true} for {said} ({100 * share:.0f} %)"
        if said
        else f"misses {true} ({100 * share:.0f} %)"
        for share, true, said in worst
    )


def quiet_sources(
    ballots: Ballots, *, least_tokens: int = _LEAST_TOKENS
) -> dict[str, float]:
    """Those whose `O` may not be a statement, though nobody said so.

    The share of `O` among the tokens of which another says something, by name.
    """
    if ballots.outside < 0:
        return {}
    spoken = (ballots.votes >= 0) & (ballots.votes != ballots.outside)  # [N, A]
    voices = spoken.sum(axis=1)  # [N]
    found = {}
    for a, name in enumerate(ballots.names):
        asked = (ballots.votes[:, a] >= 0) & (voices > spoken[:, a])  # [N]
        if asked.sum() >= least_tokens and not ballots.abstains[a]:
            found[name] = 1.0 - float(spoken[asked, a].mean())
    return {name: share for name, share in found.items() if share >= _SILENT}


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")


def _count(
    ballots: Ballots, a: int, labels: IntArray, classes: Sequence[Label], scheme: str
) -> tuple[int, int, int, int]:
    """Spans (tokens, for plain tags) in common, of the annotator, and of the labels."""
    names = [str(name) for name in classes]
    hits = given = wanted = sentences = 0
    marks: list[Any]
    for lo, hi in pairwise(ballots.offsets):
        said, true = ballots.votes[lo:hi, a], labels[lo:hi]  # [T], [T]
        voted = said >= 0  # [T]
        if not voted.any():
            continue
        if scheme == "plain":
            marks = [list(enumerate(k[voted])) for k in (said, true)]
        else:
            single = voted & (said < len(names))  # [T]
            tags = np.where(single, np.take(names, said, mode="clip"), "O").tolist()
            marks = [spans(k, scheme) for k in (tags, [names[k] for k in true])]
        mine, truth = map(set, marks)
        sentences += 1
        hits += len(mine & truth)
        given, wanted = given + len(mine), wanted + len(truth)
    return hits, given, wanted, sentences


def _confusion(ballots: Ballots, a: int, labels: IntArray) -> FloatArray:
    """Shares of the votes by label, a little smoothed, [L, L]."""
    n_labels = ballots.n_labels
    votes = ballots.votes[:, a]  # [N]
    single = (votes >= 0) & (votes < n_labels)  # [N]
    cell = labels[single] * n_labels + votes[single]  # [K]
    counts = np.bincount(cell, minlength=n_labels**2).reshape(n_labels, n_labels)
    smooth = counts + 0.1 * np.eye(n_labels) + 1e-3  # [L, L]
    return np.asarray(smooth / smooth.sum(axis=1, keepdims=True))


def _flags(
    report: AnnotatorReport, ballots: Ballots, quiet: Collection[str], middle: float
) -> tuple[str, ...]:
    """What is odd about an annotator, in words."""
    flags = []
    if not report.tokens:
        return ("labelled nothing",)
    if np.isnan(report.reliability):
        return ("labelled alone: nobody to compare with",)
    if report.tokens < _FEW_TOKENS:
        flags.append(f"labelled {report.tokens} tokens only: judged like the others")
    if report.reliability < middle - _FAR_BELOW:
        flags.append(
            f"far less reliable than the others ({report.reliability:.2f} against "
            f"{middle:.2f} in the middle)"
        )
    if report.abstains or ballots.outside < 0:
        return tuple(flags)
    if report.name in quiet:
        flags.append(
            "hardly ever says anything but O where others do: looks like a source that "
            "abstains; say so by o_means"
        )
    elif report.recall < _HARDLY_ANY < report.precision:
        flags.append(
            f"finds {100 * report.recall:.0f} % of the spans, of which "
            f"{100 * report.precision:.0f} % are right"
        )
    return tuple(flags)
