"""Annotators compared with labels that are given: gold, or those of Dawid–Skene."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tagsift.annotators.agreement import encode_votes
from tagsift.annotators.ballots import OUTSIDE, ballots_of
from tagsift.annotators.copies import copy_groups, copy_weights
from tagsift.annotators.hidden_labels import dawid_skene
from tagsift.annotators.people import AnnotatorReport, describe
from tagsift.data import VoteCorpus
from tagsift.typing import Label

__all__ = ["annotators_against", "habits", "quick_labels"]

#: A habit is an error in at least this share of the tokens of a type.
_HABIT = 0.1


def annotators_against(
    corpus: VoteCorpus, labels: Sequence[Sequence[str]]
) -> tuple[AnnotatorReport, ...]:
    """Report on every annotator as seen from labels that are held to be true."""
    flat = [name for row in labels for name in row]
    classes = tuple(sorted({*corpus.label_set, *flat}))
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
    )


def quick_labels(corpus: VoteCorpus) -> list[list[str]]:
    """Labels of Dawid–Skene, which does not look at the text."""
    names = list(corpus.label_set)
    found = dawid_skene(encode_votes(corpus.votes, names), len(names))
    best = iter(found.posterior.argmax(axis=1).tolist())
    return [[names[next(best)] for _ in row] for row in corpus.rows]


def habits(report: AnnotatorReport, classes: Sequence[Label], most: int = 2) -> str:
    """Say in words which types an annotator misses or takes for others, worst first."""
    types = np.array([_type_of(str(name)) for name in classes])
    found = []
    for true in sorted(set(types) - {""}):
        rows = report.confusion[types == true].mean(axis=0)  # [L]
        for said in sorted(set(types) - {true}):
            found.append((float(rows[types == said].sum()), true, said))
    worst = [one for one in sorted(found, reverse=True)[:most] if one[0] >= _HABIT]
    return ", ".join(
        f"takes {true} for {said} ({100 * share:.0f} %)"
        if said
        else f"misses {true} ({100 * share:.0f} %)"
        for share, true, said in worst
    )


def _type_of(name: str) -> str:
    """The type of a tag; nothing for ``O``, the label itself for plain tags."""
    if name == OUTSIDE:
        return ""
    return name[2:] if name[1:2] == "-" else name
