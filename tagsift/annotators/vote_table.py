"""The votes of a corpus as tables count them: which annotator said what after what.

With a vote goes what the same annotator said of the token before: a person who has
opened a span continues it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from tagsift.annotators.settings import CONSTANTS
from tagsift.data.corpus import Corpus
from tagsift.data.schemes import spans
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["OUTSIDE", "TableMajority", "VoteTable", "vote_table"]

#: The label of a token outside all spans, with which a rule or a dictionary abstains.
OUTSIDE = "O"


class TableMajority(NamedTuple):
    """What most annotators say of every token."""

    labels: IntArray  # [N]  columns
    ties: BoolArray  # [N]  whether others had as many votes


@dataclass(frozen=True)
class VoteTable:
    """Votes on stacked tokens, and what is derived of them once."""

    corpus: Corpus
    context: bool = True  # whether what an annotator said of the token before counts

    @property
    def token(self) -> IntArray:
        """Token of every vote, [K]."""
        return self.corpus.votes.token

    @property
    def annotator(self) -> IntArray:
        """Annotator of every vote, [K]."""
        return self.corpus.votes.annotator

    @property
    def code(self) -> IntArray:
        """What every vote says, [K]: label k where it is less than L, else a set."""
        return self.corpus.votes.code

    @property
    def members(self) -> BoolArray:
        """The labels of every code, [V, L]."""
        return self.corpus.members

    @property
    def bounds(self) -> IntArray:
        """Where sentences begin, [S + 1]."""
        return self.corpus.bounds

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The annotators."""
        return tuple(one.name for one in self.corpus.annotators)

    @property
    def abstains(self) -> BoolArray:
        """Whether the ``O`` of an annotator says nothing, [A]."""
        return self.corpus.abstains

    @cached_property
    def models(self) -> BoolArray:
        """Whether an annotator is a model, [A]."""
        kinds = [one.kind == "model" for one in self.corpus.annotators]
        return np.array(kinds, dtype=bool) & ~self.abstains

    @property
    def people_lead(self) -> bool:
        """Whether models' votes stand beside those of people on most of the tokens."""
        people = ~self.models & ~self.abstains  # [A]
        theirs = self.sum_by_token(people[self.annotator]) > 0  # [N]
        return bool(theirs.sum() >= 0.5 * max(int(self.voted.sum()), 1))

    def without(self, annotators: BoolArray) -> VoteTable:
        """The same annotators, some of whom, [A], say nothing."""
        heard = ~annotators[self.annotator]  # [K]
        return VoteTable(self.corpus.with_votes(heard), self.context)

    def with_models(self, models: BoolArray) -> VoteTable:
        """The same votes, some annotators, [A], being models."""
        people = tuple(
            replace(one, kind="model") if model else one
            for one, model in zip(self.corpus.annotators, models, strict=True)
        )
        return VoteTable(replace(self.corpus, annotators=people), self.context)

    @cached_property
    def begins(self) -> BoolArray:
        """Where sentences begin, [N]."""
        begins = np.zeros(self.n_tokens, dtype=bool)  # [N]
        begins[self.bounds[:-1][np.diff(self.bounds) > 0]] = True
        return begins

    @property
    def outside(self) -> int:
        """Column of the label ``O``; −1 where there is none."""
        return self.corpus.outside

    @property
    def words(self) -> Sequence[str]:
        """The tokens."""
        return self.corpus.columns[0]

    @cached_property
    def exact(self) -> IntArray:
        """Labels that are known exactly, −1 elsewhere, [N]."""
        codes = self.corpus.exact_codes
        return np.full(self.n_tokens, -1) if codes is None else codes

    @property
    def n_tokens(self) -> int:
        """Number of stacked tokens, N."""
        return self.corpus.n_tokens

    @property
    def n_annotators(self) -> int:
        """Number of annotators, A."""
        return len(self.corpus.annotators)

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return len(self.corpus.label_set)

    @cached_property
    def voted(self) -> BoolArray:
        """Whether a token has any vote, [N]."""
        voted = np.zeros(self.n_tokens, dtype=bool)  # [N]
        voted[self.token] = True
        return voted

    @cached_property
    def n_contexts(self) -> int:
        """Number of votes that can stand before a vote, B: labels and the start."""
        n_labels = self.n_labels
        cells = self.n_annotators * n_labels**2 * (n_labels + 1)
        if cells > CONSTANTS.most_cells or self.abstains.all() or not self.context:
            return 1
        return n_labels + 1

    @cached_property
    def before(self) -> IntArray:
        """What stands before every vote: a label, or B − 1 for the start, [K].

        The start stands for a missing vote, for a set, and before all votes of
        annotators who abstain, too: a rule has no memory.
        """
        start = self.n_contexts - 1
        if not start:
            return np.zeros(len(self.token), dtype=np.int64)  # [K]
        previous = self.corpus.previous  # [K]
        label = self.code[previous]  # [K]
        unknown = (previous < 0) | (label >= self.n_labels)  # [K]
        unknown |= self.abstains[self.annotator]
        return np.where(unknown, start, label)

    @cached_property
    def entries(self) -> tuple[IntArray, IntArray]:
        """Vote and label of every label that is voted for, [E] each; see `cells`."""
        which, label = np.nonzero(self.members)  # of all codes, in order
        size = self.members.sum(axis=1)  # [V]
        first = np.cumsum(size) - size  # [V]
        copies = size[self.code]  # [K]
        k = np.repeat(np.arange(len(self.code)), copies)  # [E]
        place = np.arange(len(k)) - np.repeat(np.cumsum(copies) - copies, copies)
        return k, label[first[self.code[k]] + place]

    @cached_property
    def spoken(self) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Token, annotator, label and part of every label voted for, [E] each.

        A set is one vote in equal parts; those with which who abstains says nothing are
        left out.
        """
        k, label = self.entries  # [E'], [E']
        k, label = (column[self.corpus.speaks[k]] for column in (k, label))
        part = 1.0 / self.members.sum(axis=1)[self.code[k]]  # [E]
        return self.token[k], self.annotator[k], label, part

    @cached_property
    def cells(self) -> sp.csr_matrix:
        """How often a token counts in each cell (annotator, before, label), [A·B·L, N].

        A set counts with equal shares for its labels.
        """
        k, label = self.entries  # [E], [E]
        row = (self.annotator[k] * self.n_contexts + self.before[k]) * self.n_labels
        share = 1.0 / self.members.sum(axis=1)[self.code[k]]  # [E]
        shape = (self.n_annotators * self.n_contexts * self.n_labels, self.n_tokens)
        return sp.csr_matrix((share, (row + label, self.token[k])), shape=shape)

    @cached_property
    def counts(self) -> FloatArray:
        """Votes for every label, [N, L]; those with which an annotator abstains not."""
        speaks = self.corpus.speaks  # [K]
        shares = self.members / self.members.sum(axis=1, keepdims=True)  # [V, L]
        chosen = sp.csr_matrix(
            (np.ones(int(speaks.sum())), (self.token[speaks], self.code[speaks])),
            shape=(self.n_tokens, len(self.members)),
        )  # [N, V]
        return np.asarray(chosen @ shares)  # [N, L]

    @cached_property
    def majority(self) -> TableMajority:
        """What most annotators say; see `Corpus.majority`."""
        if not len(self.token):
            silent = max(self.outside, 0)
            return TableMajority(
                np.full(self.n_tokens, silent), np.zeros(self.n_tokens, dtype=bool)
            )
        rows, ties = self.corpus.majority()
        columns = _Columns(self.corpus)
        labels = [columns[name] for name in chain.from_iterable(rows)]
        return TableMajority(
            np.array(labels, dtype=np.int64),
            np.fromiter(chain.from_iterable(ties), bool, self.n_tokens),
        )

    @property
    def pinned(self) -> FloatArray:
        """Log evidence of what is known exactly: 0 for the label, else −inf, [N, L]."""
        exact = self.exact >= 0  # [N]
        pinned = np.zeros((self.n_tokens, self.n_labels))  # [N, L]
        pinned[exact] = -np.inf
        pinned[exact, self.exact[exact]] = 0.0
        return pinned

    def sum_by_token(self, values: FloatArray | BoolArray) -> FloatArray:
        """Sums over the votes on every token, [N]."""
        return np.bincount(self.token, values, self.n_tokens).astype(float)

    def of(self, token: IntArray, annotator: IntArray) -> IntArray:
        """The codes of votes by token and annotator, −1 where there is none."""
        size = max(self.n_annotators, 1)
        keys = self.token * size + self.annotator  # [K], in order
        wanted = token * size + annotator
        place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        if not len(keys):
            return np.full(len(wanted), -1)
        there = (keys[place] == wanted) & (annotator >= 0)
        return np.where(there, self.code[place], -1)


class _Columns(dict[str, int]):
    """Columns of labels; a tag that nobody gave has that of another of its type."""

    def __init__(self, corpus: Corpus) -> None:
        super().__init__({name: k for k, name in enumerate(corpus.label_set)})
        self._scheme = corpus.scheme

    def __missing__(self, name: str) -> int:
        (span,) = spans([name], self._scheme)
        same = (k for k in self if spans([k], self._scheme)[:1] == [span])
        return self[next(same)]


def vote_table(
    corpus: Corpus, classes: Sequence[Label], context: bool = True
) -> VoteTable:
    """The votes of a corpus over the labels `classes`, which are its columns."""
    return VoteTable(corpus.with_labels([str(name) for name in classes]), context)
