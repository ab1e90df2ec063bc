"""Votes: every token carries the labels that several annotators gave it.

In a column file each annotator has a column, with ``?`` where one did not label. Which
columns are votes is always said, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeAlias

from tagsift.data.candidates import PartialCorpus, check_lengths
from tagsift.data.conll import ANY, PathName, check_label, iter_blocks, write_blocks
from tagsift.data.label_set import LabelSet
from tagsift.data.rows import RowCorpus
from tagsift.data.schemes import check_scheme, detect_scheme
from tagsift.data.sentence import Corpus, Row, Sentence
from tagsift.errors import DataError, InputError

__all__ = ["Vote", "VoteCorpus", "parse_columns", "read_votes", "write_votes"]

#: What one token got: a label from each annotator, None where one did not label.
Vote: TypeAlias = tuple[str | None, ...]


@dataclass(frozen=True, repr=False)
class VoteCorpus(RowCorpus):
    """Sentences labelled by several annotators.

    Parameters
    ----------
    rows : list of lists of tuples of str
        Sentences of tokens with their columns.
    votes : list of lists of tuples of (str or None)
        Per token, one entry per annotator; None where one did not label.
    annotators : tuple of str
        Their names, in the order of the entries.
    gold : list of lists of str or None
        The truth where it is known, for scoring only.
    scheme : {"iob1", "iob2", "iobes", "plain"}
        The tag scheme of the labels.
    """

    votes: list[list[Vote]]
    annotators: tuple[str, ...]
    gold: list[list[str]] | None
    scheme: str

    def __post_init__(self) -> None:
        check_scheme(self.scheme)
        if len(set(self.annotators)) != len(self.annotators) or not self.annotators:
            raise InputError(
                f"expected annotators with different names, found {self.annotators!r}."
            )
        width = len(self.annotators)
        check_lengths(self.rows, self.votes, "votes")
        if self.gold is not None:
            check_lengths(self.rows, self.gold, "gold labels")
        for number, votes in enumerate(self.votes):
            for token, entry in enumerate(votes):
                if len(entry) != width:
                    raise InputError(
                        f"sentence {number}, token {token}: expected one entry for "
                        f"each of the {width} annotators, found {len(entry)}."
                    )

    @cached_property
    def label_set(self) -> LabelSet:
        """The sorted union of the labels that annotators gave."""
        seen = {v for sentence in self.votes for votes in sentence for v in votes}
        names = tuple(sorted(name for name in seen if name is not None))
        if not names:
            raise InputError("expected at least one vote, found none in the corpus.")
        return LabelSet(names)

    @cached_property
    def n_annotations(self) -> int:
        """Number of pairs of a sentence and an annotator who labelled some of it."""
        return sum(
            any(vote is not None for vote in column)
            for sentence in self.votes
            for column in zip(*sentence, strict=True)
        )

    def candidates(self, min_votes: int = 1) -> PartialCorpus:
        """Turn votes into candidate sets.

        Parameters
        ----------
        min_votes : int
            A label is a candidate if at least so many annotators gave it. Where no
            label got so many, those with the most votes are; a token nobody labelled
            gets the full label set.

        Returns
        -------
        PartialCorpus
        """
        if min_votes < 1:
            raise InputError(f"expected min_votes of at least 1, found {min_votes}.")
        full = self.label_set.full
        made: dict[Vote, frozenset[str]] = {}

        def chosen(votes: Vote) -> frozenset[str]:
            counts = Counter(vote for vote in votes if vote is not None)
            if not counts:
                return full
            least = min(min_votes, max(counts.values()))
            return frozenset(name for name, count in counts.items() if count >= least)

        for sentence in self.votes:
            for votes in sentence:
                if votes not in made:
                    made[votes] = chosen(votes)
        return PartialCorpus(
            rows=self.rows,
            candidates=[[made[votes] for votes in sentence] for sentence in self.votes],
            gold=self.gold,
            label_set=self.label_set,
            scheme=self.scheme,
            annotators=self.annotators,
        )

    def majority(self) -> Corpus:
        """Label every token by majority vote.

        Ties go to the label of the annotator who comes first; a token nobody labelled
        gets the label most frequent among all votes.

        Returns
        -------
        Corpus
            Its ``labels`` are the majority's.
        """
        overall: Counter[str] = Counter()
        for sentence in self.votes:
            for votes in sentence:
                overall.update(vote for vote in votes if vote is not None)
        if not overall:
            raise InputError("expected at least one vote, found none in the corpus.")
        usual = overall.most_common(1)[0][0]
        made: dict[Vote, str] = {}

        def label(votes: Vote) -> str:
            if votes not in made:
                counts = Counter(vote for vote in votes if vote is not None)
                # Counter keeps the order of the annotators among equal counts.
                made[votes] = counts.most_common(1)[0][0] if counts else usual
            return made[votes]

        return Corpus(
            tuple(
                Sentence(tuple(rows), tuple(map(label, votes)))
                for rows, votes in zip(self.rows, self.votes, strict=True)
            ),
            self.scheme,
        )

    def without(self, annotators: Iterable[str]) -> VoteCorpus:
        """Make the same corpus without the votes of some annotators."""
        gone = set(annotators)
        unknown = gone - set(self.annotators)
        if unknown:
            raise InputError(
                f"expected names of annotators, found {min(unknown)!r}; they are "
                f"{', '.join(self.annotators)}."
            )
        kept = [i for i, name in enumerate(self.annotators) if name not in gone]
        return replace(
            self,
            votes=[
                [tuple(votes[i] for i in kept) for votes in sentence]
                for sentence in self.votes
            ],
            annotators=tuple(self.annotators[i] for i in kept),
        )

    def take(self, indices: Iterable[int]) -> Self:
        """Make a corpus of the sentences with these numbers, in this order."""
        chosen = [int(i) for i in indices]
        return replace(
            self,
            rows=[self.rows[i] for i in chosen],
            votes=[self.votes[i] for i in chosen],
            gold=None if self.gold is None else [self.gold[i] for i in chosen],
        )

    def __repr__(self) -> str:
        return (
            f"VoteCorpus({len(self)} sentences, {self.n_tokens} tokens, "
            f"{len(self.annotators)} annotators, scheme={self.scheme!r})"
        )


def parse_columns(text: str) -> tuple[int, ...]:
    """Read column numbers such as ``2:48`` or ``2,4,6:8``, counted from 1, ends in.

    Examples
    --------
    >>> parse_columns("2:4,7")
    (2, 3, 4, 7)
    """
    numbers: list[int] = []
    for part in text.split(","):
        first, colon, last = part.strip().partition(":")
        try:
            low = int(first)
            high = int(last) if colon else low
        except ValueError:
            low, high = 0, 0
        if not 1 <= low <= high:
            raise InputError(
                "expected column numbers counted from 1, such as 2:48 or 2,4,6, found "
                f"{text!r}."
            )
        numbers.extend(range(low, high + 1))
    return tuple(numbers)


def read_votes(
    path: PathName,
    *,
    columns: str | Iterable[int],
    gold: int | None = None,
    scheme: str = "auto",
    comments: bool = False,
    annotators: Sequence[str] | None = None,
) -> VoteCorpus:
    """Read a column file in which each annotator has a column.

    Parameters
    ----------
    path : path-like
        The file.
    columns : str or iterable of int
        The columns that hold votes, counted from 1: ``"2:48"`` (both ends in) or
        ``range(2, 49)``.
    gold : int, optional
        The column of the truth, counted from 1; ``-1`` is the last one. It is kept for
        scoring only.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; ``"auto"`` looks at the truth where it is given,
        and else at the sequences of the single annotators.
    comments : bool
        Skip lines that start with ``#`` and have no second column.
    annotators : sequence of str, optional
        Their names; default ``w00``, ``w01``, …

    Returns
    -------
    VoteCorpus
        The columns that are neither votes nor truth are its ``rows``.
    """
    if scheme != "auto":
        check_scheme(scheme)
    wanted = parse_columns(columns) if isinstance(columns, str) else tuple(columns)
    names = _annotator_names(wanted, annotators)
    rows: list[list[Row]] = []
    votes: list[list[Vote]] = []
    truth: list[list[str]] = []
    layout: _Layout | None = None
    known: dict[str, str | None] = {ANY: None}
    seen_gold: set[str] = set()
    for block in iter_blocks(path, comments=comments, columns=2):
        if layout is None:
            layout = _layout(wanted, gold, len(block.cells[0]), path, block.lines[0])
        for cells, line in zip(block.cells, block.lines, strict=True):
            for i in layout.votes:
                if cells[i] not in known:
                    check_label(
                        cells[i],
                        path,
                        line,
                        scheme,
                        hint="an annotator gives one label",
                    )
                    known[cells[i]] = cells[i]
            if layout.gold is not None and cells[layout.gold] not in seen_gold:
                check_label(cells[layout.gold], path, line, scheme)
                seen_gold.add(cells[layout.gold])
        here = layout
        rows.append([tuple([cells[i] for i in here.rows]) for cells in block.cells])
        votes.append(
            [tuple([known[cells[i]] for i in here.votes]) for cells in block.cells]
        )
        if here.gold is not None:
            truth.append([cells[here.gold] for cells in block.cells])
    if scheme == "auto":
        scheme = detect_scheme(truth if gold is not None else _sequences(votes))
    return VoteCorpus(rows, votes, names, truth if gold is not None else None, scheme)


@dataclass(frozen=True)
class _Layout:
    """Which columns, counted from 0, hold what."""

    rows: tuple[int, ...]
    votes: tuple[int, ...]
    gold: int | None


def _annotator_names(
    columns: tuple[int, ...], names: Sequence[str] | None
) -> tuple[str, ...]:
    if names is None:
        return tuple(f"w{i:02d}" for i in range(len(columns)))
    if len(names) != len(columns):
        raise InputError(
            f"expected a name for each of the {len(columns)} vote columns, found "
            f"{len(names)} names."
        )
    return tuple(names)


def _layout(
    columns: tuple[int, ...], gold: int | None, width: int, path: PathName, line: int
) -> _Layout:
    """Check the column numbers against the width of the file."""
    truth = width + 1 + gold if gold is not None and gold < 0 else gold
    asked = columns if truth is None else (*columns, truth)
    wrong = [column for column in asked if not 1 <= column <= width]
    if wrong:
        raise DataError(
            f"expected the column numbers to lie in 1:{width}, the columns of the "
            f"file, found {wrong[0]}.",
            path,
            line,
        )
    if len(set(asked)) != len(asked) or not columns:
        raise DataError(
            "expected each column to be named once, and at least one of votes, found "
            f"votes {list(columns)} and gold {gold}.",
            path,
            line,
        )
    rest = tuple(i for i in range(width) if i + 1 not in asked)
    if not rest:
        raise DataError(
            f"expected one column for the token, found all {width} taken by votes and "
            "gold.",
            path,
            line,
        )
    return _Layout(rest, tuple(c - 1 for c in columns), truth and truth - 1)


def _sequences(votes: list[list[Vote]]) -> Iterator[list[str]]:
    """Yield the label sequences of the single annotators."""
    for sentence in votes:
        for column in zip(*sentence, strict=True):
            labels = [vote for vote in column if vote is not None]
            if len(labels) == len(column):
                yield labels


def write_votes(path: PathName, corpus: VoteCorpus, *, gold: bool = False) -> None:
    """Write votes as a column file: the rows, a column per annotator, the truth.

    Parameters
    ----------
    path : path-like
        The file, written whole or not at all.
    corpus : VoteCorpus
        What to write.
    gold : bool
        Write the truth as the last column.
    """
    truth = corpus.gold
    if gold and truth is None:
        raise InputError("expected votes with gold labels, found none.")
    for name in corpus.label_set:
        if "|" in name or name == ANY or name != name.strip():
            raise InputError(
                f"expected labels without '|' and white space, other than '{ANY}', "
                f"found {name!r}."
            )

    def lines() -> Iterator[list[list[str]]]:
        for number, (rows, votes) in enumerate(
            zip(corpus.rows, corpus.votes, strict=True)
        ):
            yield [
                [*row, *(v or ANY for v in entry)]
                + ([truth[number][token]] if gold and truth is not None else [])
                for token, (row, entry) in enumerate(zip(rows, votes, strict=True))
            ]

    write_blocks(path, lines())
