"""The votes of a corpus as one list: which annotator said what of which token.

An annotator's vote is a label, or a set of labels where one could not decide. With it
goes what the same annotator said of the token before: who has opened a span goes on
with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import scipy.sparse as sp

from tagsift.data import VoteCorpus
from tagsift.data.offsets import offsets_of
from tagsift.errors import InputError
from tagsift.typing import BoolArray, FloatArray, IntArray, Label

__all__ = ["OUTSIDE", "Ballots", "ballots_of", "read_ballots"]

#: The label of a token outside all spans, with which a rule or a dictionary abstains.
OUTSIDE = "O"
#: Cells of the tables from which on annotators' votes are counted without context.
_MOST_CELLS = 50_000_000


@dataclass(frozen=True)
class Ballots:
    """Votes on stacked tokens."""

    votes: IntArray  # [N, A]  number of the vote, −1 where there is none
    members: BoolArray  # [V, L]  vote k < L is label k, the others are sets of labels
    offsets: IntArray  # [S + 1]  where each sentence begins
    names: tuple[str, ...]
    abstains: BoolArray  # [A]  whether an `O` means "nothing to say"
    outside: int  # column of the label `O`; −1 where there is none
    exact: IntArray  # [N]  labels that are known exactly, else −1
    memory: bool = True  # whether what an annotator said of the token before counts
    words: Sequence[str] = ()  # the tokens, where they are known

    @property
    def n_tokens(self) -> int:
        """Number of stacked tokens, N."""
        return len(self.votes)

    @property
    def n_annotators(self) -> int:
        """Number of annotators, A."""
        return len(self.names)

    @property
    def n_labels(self) -> int:
        """Number of labels, L."""
        return int(self.members.shape[1])

    @cached_property
    def voted(self) -> BoolArray:
        """Whether a token has any vote, [N]."""
        return np.asarray((self.votes >= 0).any(axis=1))

    @cached_property
    def given(self) -> tuple[IntArray, IntArray]:
        """Token and annotator of every vote, [K] and [K]."""
        token, annotator = np.nonzero(self.votes >= 0)
        return token, annotator

    @cached_property
    def n_contexts(self) -> int:
        """Number of votes that can stand before a vote, B: labels and the start."""
        n_labels = self.n_labels
        cells = self.n_annotators * n_labels**2 * (n_labels + 1)
        if cells > _MOST_CELLS or self.abstains.all() or not self.memory:
            return 1
        return n_labels + 1

    @cached_property
    def before(self) -> IntArray:
        """What stands before every vote: a label, or B − 1 for the start, [K].

        The start stands for a missing vote, for a set, and before all votes of
        annotators who abstain, too: a rule has no memory.
        """
        token, annotator = self.given
        start = self.n_contexts - 1
        if not start:
            return np.zeros(len(token), dtype=np.int64)  # [K]
        previous = np.full_like(self.votes, start)  # [N, A]
        known = (self.votes[:-1] >= 0) & (self.votes[:-1] < self.n_labels)  # [N-1, A]
        previous[1:] = np.where(known, self.votes[:-1], start)
        previous[self.offsets[:-1][np.diff(self.offsets) > 0]] = start
        previous[:, self.abstains] = start
        return np.asarray(previous[token, annotator])  # [K]

    @cached_property
    def cells(self) -> sp.csr_matrix:
        """How often a token counts in each cell (annotator, before, label), [A·B·L, N].

        A set counts with equal shares for its labels.
        """
        token, annotator = self.given
        which, label = np.nonzero(self.members)  # [E], [E]: votes and their labels
        size = self.members.sum(axis=1)  # [V]
        first = np.searchsorted(which, np.arange(len(size)))  # [V]
        vote = self.votes[token, annotator]  # [K]
        copies = size[vote]  # [K]
        k = np.repeat(np.arange(len(vote)), copies)  # [E']
        place = np.arange(len(k)) - np.repeat(np.cumsum(copies) - copies, copies)
        labels = label[first[vote[k]] + place]  # [E']
        row = (annotator[k] * self.n_contexts + self.before[k]) * self.n_labels + labels
        shape = (self.n_annotators * self.n_contexts * self.n_labels, self.n_tokens)
        return sp.csr_matrix((1.0 / copies[k], (row, token[k])), shape=shape)

    @cached_property
    def counts(self) -> FloatArray:
        """Votes for every label, [N, L]; those with which an annotator abstains not."""
        token, annotator = self.given
        vote = self.votes[token, annotator]  # [K]
        speaks = ~(self.abstains[annotator] & (vote == self.outside))  # [K]
        shares = self.members / self.members.sum(axis=1, keepdims=True)  # [V, L]
        chosen = sp.csr_matrix(
            (np.ones(int(speaks.sum())), (token[speaks], vote[speaks])),
            shape=(self.n_tokens, len(self.members)),
        )  # [N, V]
        return np.asarray(chosen @ shares)  # [N, L]

    @property
    def pinned(self) -> FloatArray:
        """Log evidence of what is known exactly: 0 for the label, else −inf, [N, L]."""
        known = self.exact >= 0  # [N]
        pinned = np.zeros((self.n_tokens, self.n_labels))  # [N, L]
        pinned[known] = -np.inf
        pinned[known, self.exact[known]] = 0.0
        return pinned


def read_ballots(
    votes: Sequence[Sequence[Sequence[Any]]],
    classes: tuple[Label, ...],
    lengths: IntArray,
    *,
    names: Sequence[str],
    abstaining: Iterable[str] = (),
    exact: Sequence[Sequence[Label | None]] | None = None,
) -> Ballots:
    """Stack the votes of all sentences: a label, a set of labels, or None each.

    The `O` of those named in `abstaining` means "nothing to say".
    """
    if len(votes) != len(lengths):
        raise InputError(
            f"X has {len(lengths)} sentences and the votes have {len(votes)}; they "
            "must be as many."
        )
    for s, (sentence, length) in enumerate(zip(votes, lengths, strict=True)):
        if len(sentence) != length:
            raise InputError(
                f"sentence {s}: X has {length} tokens, the votes have {len(sentence)}."
            )
    table, members = _number(votes, classes, len(names))
    quiet = set(abstaining)
    if quiet - set(names):
        raise InputError(
            f"there is no annotator {min(quiet - set(names))!r} that could abstain; "
            f"they are {', '.join(names)}."
        )
    place = {name: k for k, name in enumerate(classes)}
    known = np.full(len(table), -1, dtype=np.int64)  # [N]
    if exact is not None:
        known = _read_exact(exact, place, lengths)
    return Ballots(
        table,
        members,
        offsets_of(lengths),
        tuple(names),
        np.array([name in quiet for name in names], dtype=bool),
        place.get(OUTSIDE, -1),
        known,
    )


def ballots_of(
    corpus: VoteCorpus | None,
    classes: Sequence[Label],
    lengths: Sequence[int] | IntArray,
    *,
    abstaining: Iterable[str] | None = None,
    exact: Any = None,
) -> Ballots:
    """The votes of a corpus; those of nobody where there is no corpus.

    Who abstains and what is known exactly is as the corpus says, unless it is given.
    """
    columns = tuple(classes), np.array(lengths, dtype=np.int64)
    if corpus is None:
        return read_ballots([[()] * n for n in lengths], *columns, names=())
    found = read_ballots(
        corpus.votes,
        *columns,
        names=corpus.annotators,
        abstaining=corpus.abstaining if abstaining is None else abstaining,
        exact=corpus.exact if exact is None else exact,
    )
    return replace(found, words=list(chain.from_iterable(corpus.tokens)))


def _number(
    votes: Sequence[Sequence[Sequence[Any]]], classes: tuple[Label, ...], width: int
) -> tuple[IntArray, BoolArray]:
    """Votes as numbers, and what every number says."""
    place: dict[Any, int] = {name: k for k, name in enumerate(classes)}
    place[None] = -1
    sets: list[frozenset[Label]] = [frozenset([name]) for name in classes]
    rows = []
    for s, sentence in enumerate(votes):
        for t, token in enumerate(sentence):
            try:
                row = [place[vote] for vote in token]
            except (KeyError, TypeError):
                row = [_look_up(vote, place, sets, (s, t)) for vote in token]
            if len(row) != width:
                raise InputError(
                    f"sentence {s}, token {t}: expected one vote (or None) for each of "
                    f"the {width} annotators, found {len(row)}."
                )
            rows.append(row)
    members = np.zeros((len(sets), len(classes)), dtype=bool)  # [V, L]
    for k, names in enumerate(sets):
        members[k, [place[name] for name in names]] = True
    return np.array(rows, dtype=np.int64).reshape(len(rows), width), members


def _look_up(
    vote: Any,
    place: dict[Any, int],
    sets: list[frozenset[Label]],
    where: tuple[int, int],
) -> int:
    """Number of a vote; a set that is new gets the next one."""
    if isinstance(vote, set | frozenset | list | tuple):
        names = frozenset(vote)
        if len(names) == 1:
            (vote,) = names
        elif names and all(name in place for name in names):
            if names not in place:
                place[names] = len(sets)
                sets.append(names)
            return place[names]
    if vote in place:
        return place[vote]
    raise InputError(
        f"sentence {where[0]}, token {where[1]}: the vote {vote!r} is neither one of "
        "the labels nor a set of them; name it in labels or correct it."
    )


def _read_exact(
    exact: Sequence[Sequence[Label | None]],
    place: Mapping[Any, int],
    lengths: IntArray,
) -> IntArray:
    """Columns of the exactly known labels, −1 elsewhere, [N]."""
    if [len(sentence) for sentence in exact] != [int(length) for length in lengths]:
        raise InputError(
            "exact must have one entry (a label or None) for every token of X."
        )
    entries = [entry for sentence in exact for entry in sentence]
    for n, entry in enumerate(entries):
        if entry is not None and entry not in place:
            raise InputError(
                f"token {n} is said to be {entry!r} exactly, which is not among the "
                "labels; name it in labels or correct it."
            )
    return np.array(
        [-1 if entry is None else place[entry] for entry in entries], dtype=np.int64
    )
