"""What is to be said about each annotator: how reliable, how confused, and why odd."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tagsift.annotators.copies import copy_groups, copy_weights
from tagsift.annotators.settings import CONSTANTS
from tagsift.annotators.vote_table import OUTSIDE, VoteTable, vote_table
from tagsift.annotators.whole_spans import marked_spans
from tagsift.data.corpus import Corpus
from tagsift.data.span_table import span_table
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = [
    "AnnotatorReport",
    "annotators_against",
    "compared",
    "describe",
    "habits",
    "looks_abstaining",
    "quiet_sources",
]


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
        cls, name: str, log_pi: FloatArray, reliability: float | None
    ) -> AnnotatorReport:
        """What a model file still knows: the table and the reliability, no counts."""
        confusion = np.exp(log_pi).mean(axis=1)  # [L, L]
        nan = float("nan")
        judged = nan if reliability is None else reliability
        return cls(name, 0, 0, judged, nan, nan, nan, confusion)


def describe(
    table: VoteTable,
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
    hits, given, wanted, sentences = _count(table, labels, classes, scheme)  # [A] each
    confusion = _confusions(table, labels)  # [A, L, L]
    total = np.where(table.abstains, given, (given + wanted) / 2)  # [A]
    mean = hits.sum() / max(total.sum(), 1.0)
    tokens = np.bincount(table.annotator, minlength=len(weights))  # [A]
    scored = (tokens > 0) & (True if judged is None else judged)  # [A]
    reliability = np.where(
        scored,
        (hits + CONSTANTS.reliability_spans * mean)
        / (total + CONSTANTS.reliability_spans),
        np.nan,
    )
    middle = float(np.median(reliability[scored])) if scored.any() else np.nan
    given, wanted = given * scored, wanted * scored  # [A] each
    copies = {a: group for group in groups for a in group}
    quiet = quiet_sources(table)
    reports = []
    for a, name in enumerate(table.names):
        report = AnnotatorReport(
            name=name,
            tokens=int(tokens[a]),
            sentences=int(sentences[a]),
            reliability=float(reliability[a]),
            precision=_share(hits[a], given[a]),
            recall=_share(hits[a], wanted[a]),
            f1=_share(2 * hits[a], given[a] + wanted[a]),
            confusion=confusion[a],
            weight=float(weights[a]),
            abstains=bool(table.abstains[a]),
        )
        others = [table.names[b] for b in copies.get(a, ()) if b != a]
        flags = _flags(report, table, quiet, middle)
        if others:
            flags = (f"says the same as {', '.join(others)}: counted as one", *flags)
        reports.append(replace(report, flags=flags))
    return tuple(reports)


def annotators_against(
    corpus: Corpus,
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
    table = vote_table(corpus, classes)
    groups = copy_groups(table)
    return describe(
        table,
        np.array([column[name] for name in flat]),
        classes,
        corpus.scheme,
        groups,
        copy_weights(table, groups),
        compared(table) if by_votes else None,
    )


def compared(table: VoteTable) -> BoolArray:
    """Annotators who said something of a token of which another did as well, [A]."""
    speaks = table.corpus.speaks  # [K]
    shared = table.sum_by_token(speaks) > 1  # [N]
    beside = np.zeros(table.n_annotators, dtype=bool)  # [A]
    beside[table.annotator[speaks & shared[table.token]]] = True
    return beside


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
        for i, j in np.argwhere(shares >= CONSTANTS.told_habit).tolist()
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
    table: VoteTable, *, least_tokens: int = CONSTANTS.quiet_tokens
) -> dict[str, float]:
    """Those whose `O` may not be a statement, though nobody said so.

    The share of `O` among the tokens of which another says something, by name.
    """
    if table.outside < 0:
        return {}
    spoken = table.code != table.outside  # [K]
    voices = table.sum_by_token(spoken)  # [N]
    asked = voices[table.token] > spoken  # [K]: another annotator says something
    n = table.n_annotators
    times = np.bincount(table.annotator[asked], minlength=n)  # [A]
    silent = np.bincount(table.annotator[asked & ~spoken], minlength=n)  # [A]
    shares = silent / np.maximum(times, 1)  # [A]
    quiet = (
        (times >= least_tokens) & (shares >= CONSTANTS.quiet) & ~table.abstains
    )  # [A]
    return {table.names[a]: float(shares[a]) for a in np.flatnonzero(quiet)}


def looks_abstaining(corpus: Corpus) -> dict[str, float]:
    """Find annotators who say `O` of nearly everything that others label.

    The shares of `O` on those tokens, by name; those who are known to abstain are not
    among them.
    """
    return quiet_sources(VoteTable(corpus), least_tokens=CONSTANTS.quiet_tokens_asked)


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")


def _count(
    table: VoteTable, labels: IntArray, classes: Sequence[Label], scheme: str
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Spans (tokens, for plain tags) in common, of the annotator, and of the labels.

    And in how many sentences; [A] each.
    """
    names, n = [str(name) for name in classes], table.n_annotators
    token, annotator, code = table.token, table.annotator, table.code  # [K] each
    lengths = np.diff(table.bounds)  # [S]
    sentence = np.repeat(np.arange(len(lengths)), lengths)  # [N]
    pairs = np.unique(annotator * len(lengths) + sentence[token])  # [P]
    who, where = np.divmod(pairs, max(len(lengths), 1))  # [P], [P]
    sentences = np.bincount(who, minlength=n)  # [A]
    if scheme == "plain":
        votes = np.bincount(annotator, minlength=n)  # [A]
        right = np.bincount(annotator[code == labels[token]], minlength=n)  # [A]
        return right, votes, votes, sentences
    true = span_table(labels, table.begins, names, scheme)
    said, by = marked_spans(table)
    size = int(max(true.type.max(initial=0), said.type.max(initial=0))) + 1
    keys = (true.start * (table.n_tokens + 1) + true.end) * size + true.type  # [P']
    mine = (said.start * (table.n_tokens + 1) + said.end) * size + said.type  # [Q]
    hits = np.bincount(by[np.isin(mine, keys)], minlength=n)  # [A]
    of_sentence = np.bincount(sentence[true.start], minlength=len(lengths))  # [S]
    wanted = np.bincount(who, of_sentence[where], n).astype(np.int64)  # [A]
    return hits, np.bincount(by, minlength=n), wanted, sentences


def _confusions(table: VoteTable, labels: IntArray) -> FloatArray:
    """Shares of every annotator's votes by label, a little smoothed, [A, L, L]."""
    n_labels, n = table.n_labels, table.n_annotators
    single = table.code < n_labels  # [K]
    cell = table.annotator * n_labels + labels[table.token]  # [K]
    cell = (cell * n_labels + table.code)[single]
    counts = np.bincount(cell, minlength=n * n_labels**2)
    smooth = counts.reshape(n, n_labels, n_labels) + 0.1 * np.eye(n_labels) + 1e-3
    return np.asarray(smooth / smooth.sum(axis=2, keepdims=True))


def _flags(
    report: AnnotatorReport, table: VoteTable, quiet: Collection[str], middle: float
) -> tuple[str, ...]:
    """What is odd about an annotator, in words."""
    flags = []
    if not report.tokens:
        return ("labelled nothing",)
    if np.isnan(report.reliability):
        return ("labelled alone: nobody to compare with",)
    if report.tokens < CONSTANTS.few_tokens:
        flags.append(f"labelled {report.tokens} tokens only: judged like the others")
    if report.reliability < middle - CONSTANTS.far_below:
        flags.append(
            f"far less reliable than the others ({report.reliability:.2f} against "
            f"{middle:.2f} in the middle)"
        )
    if report.abstains or table.outside < 0:
        return tuple(flags)
    if report.name in quiet:
        flags.append(
            "hardly ever says anything but O where others do: looks like a source that "
            "abstains; say so by o_means"
        )
    elif report.recall < CONSTANTS.hardly_any < report.precision:
        flags.append(
            f"finds {100 * report.recall:.0f} % of the spans, of which "
            f"{100 * report.precision:.0f} % are right"
        )
    return tuple(flags)
