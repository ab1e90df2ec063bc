"""Annotators made of chance, over the bundled sentences; their votes one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import tagsift
from tagsift.annotators import VoteTable
from tagsift.data import DEMO_ANNOTATORS, simulate_votes
from tagsift.data.annotators import Annotator
from tagsift.data.corpus import Corpus

CLASSES = ("B-X", "I-X", "O")


def corpus_of(annotators, seed=0, n=120) -> Corpus:
    """Bundled sentences with annotators made from functions (labels, rng) → votes."""
    gold = tagsift.bundled()[:n]
    rng = np.random.default_rng(seed)
    votes: dict[str, list[Any]] = {name: [] for name in annotators}
    for labels in gold.labels:
        for name, vote in annotators.items():
            votes[name].append(vote(labels, rng))
    return Corpus.from_lists(
        gold.rows, votes=votes, gold=gold.labels, scheme=gold.scheme
    )


def simulated(corpus, people=DEMO_ANNOTATORS) -> Corpus:
    """Votes of simulated annotators on a corpus of gold labels."""
    return simulate_votes(corpus, people)


def careful(share):
    """Misses or mistakes a span with some chance, and the whole of it."""

    def vote(labels, rng):
        found, state = [], "right"
        for label in labels:
            if not label.startswith("I-"):
                state = "right" if rng.random() > share else str(rng.choice(["O", "X"]))
            if label == "O" or state == "right":
                found.append(label)
            else:
                found.append("O" if state == "O" else label[:2] + "LOC")
        return found

    return vote


def table_of(
    votes: Any,
    classes: Sequence[str] = CLASSES,
    names: Sequence[str] = "",
    abstaining: Sequence[str] = (),
    scheme: str = "iob2",
    **more: Any,
) -> VoteTable:
    """Votes [N, A] as places of labels, −1 where there is none, or sentences of them.

    Annotators are called a, b, …
    """
    if isinstance(votes, np.ndarray):
        said = np.array([*classes, None], dtype=object)  # the last stands at −1
        votes = [said[votes].tolist()]
    width = len(next(entry for row in votes for entry in row))
    people = names or "abcdefghijkl"[:width]
    rows = [["w"] * len(row) for row in votes]
    corpus = Corpus.from_lists(
        more.pop("rows", rows),
        votes=votes,
        annotators=[Annotator(k, abstains=k in abstaining) for k in people],
        label_set=classes,
        scheme=scheme,
        **more,
    )
    return VoteTable(corpus)


class Cast(NamedTuple):
    """One vote, read from its sentence."""

    token: int
    annotator: int
    labels: list[int]  # columns of what was said
    before: int  # column of what the same one said of the token before; else the last
    silent: bool  # whether it is the ``O`` of who abstains


def cast(table: VoteTable) -> Iterator[Cast]:
    """Every vote by itself: the slow twin of a table."""
    corpus, start = table.corpus, table.n_contexts - 1
    column = {name: k for k, name in enumerate(corpus.label_set)}
    place = {one.name: a for a, one in enumerate(corpus.annotators)}
    for first, sentence in zip(corpus.bounds.tolist(), corpus, strict=False):
        for name, row in sentence.votes.items():
            quiet = corpus.annotators[place[name]].abstains
            for t, (before, vote) in enumerate(zip([None, *row], row, strict=False)):
                if vote is None:
                    continue
                names = [vote] if isinstance(vote, str) else sorted(vote)
                memory = isinstance(before, str) and start and not quiet
                yield Cast(
                    first + t,
                    place[name],
                    [column[k] for k in names],
                    column[before] if memory else start,
                    quiet and vote == "O",
                )
