"""Votes: every token carries the labels that several annotators gave it.

In a column file each annotator has a column, with ``?`` where one did not label. Which
columns are votes is always said, never guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress
from typing import Any, ClassVar, Literal, Self, TypeAlias, overload

from tagsift.data.label_set import ANY, LabelSet, check_label, check_written
from tagsift.data.rows import Row, RowCorpus, check_lengths
from tagsift.data.schemes import check_scheme, detect_scheme, scheme_of_pairs
from tagsift.errors import DataError, InputError
from tagsift.io.candidates import PartialCorpus
from tagsift.io.column_file import PathName, write_blocks
from tagsift.io.column_reader import CellTable
from tagsift.io.column_roles import parse_columns
from tagsift.io.columns import write_columns
from tagsift.io.sentence import Corpus

__all__ = ["Vote", "VoteCorpus", "read_votes", "write_votes"]

#: What one token got: a label from each annotator, a set of labels where one could not
#: decide, None where one did not label.
Vote: TypeAlias = tuple[str | frozenset[str] | None, ...]
_NO_VOTE = (
    "expected at least one vote, found none in the corpus ('?' or None everywhere); "
    "check which columns are votes."
)


@dataclass(frozen=True, repr=False)
class VoteCorpus(RowCorpus):
    """Sentences labelled by several annotators.

    A vote is a label, a set of labels where one could not decide, or None where one did
    not label. The ``O`` of those who abstain (rules, dictionaries) says nothing.
    """

    per_sentence: ClassVar[tuple[str, ...]] = ("rows", "votes", "gold", "exact")

    rows: list[list[Row]]  # sentences of tokens with their columns
    votes: list[list[Vote]]  # per token, one entry per annotator
    annotators: tuple[str, ...]  # their names, in the order of the entries
    gold: list[list[str]] | None  # the truth where it is known, for scoring only
    scheme: str  # of the labels: iob1, iob2, iobes or plain
    abstaining: tuple[str, ...] = ()  # annotators whose ``O`` says nothing
    exact: list[list[str | None]] | None = None  # labels known, checked by a person say

    def __post_init__(self) -> None:
        check_scheme(self.scheme)
        if len(set(self.annotators)) != len(self.annotators) or not self.annotators:
            raise InputError(
                f"expected annotators with different names, found {self.annotators!r}."
            )
        width = len(self.annotators)
        check_lengths(self.rows, self.votes, "votes")
        check_lengths(self.rows, self.gold, "gold labels")
        check_lengths(self.rows, self.exact, "exact labels")
        self._check_names(self.abstaining, " in abstaining")
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
        try:
            names = tuple(sorted(set(chain.from_iterable(self._counts().values()))))
        except TypeError as error:
            raise InputError(
                "expected every vote to be a label (str), a frozenset of labels, or "
                f"None; found others ({error})."
            ) from error
        if not names:
            raise InputError(_NO_VOTE)
        return LabelSet(names)

    @overload
    def __getitem__(self, key: int) -> Self: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | slice) -> Self:
        """Some sentences, or a corpus of one, as scikit-learn takes them apart."""
        if isinstance(key, slice):
            return super().__getitem__(key)
        return self.take([range(len(self))[key]])

    @classmethod
    def joined(cls, parts: Any) -> Self | None:
        """One corpus of parts that were taken of one; None where they are no votes."""
        if isinstance(parts, cls):
            return parts
        if not isinstance(parts, list) or not parts or not isinstance(parts[0], cls):
            return None
        first = parts[0]
        if any(part.annotators != first.annotators for part in parts):
            raise InputError("expected parts of one corpus, found other annotators.")
        fields = {
            name: list(chain.from_iterable(getattr(part, name) for part in parts))
            for name in cls.per_sentence
            if getattr(first, name) is not None
        }
        return first._replace(**fields)

    @cached_property
    def n_annotations(self) -> int:
        """Number of pairs of a sentence and an annotator who labelled some of it."""
        return sum(
            any(vote is not None for vote in column)
            for sentence in self.votes
            for column in zip(*sentence, strict=True)
        )

    def _check_names(self, names: Iterable[str], where: str = "") -> None:
        unknown = set(names) - set(self.annotators)
        if unknown:
            raise InputError(
                f"expected names of annotators{where}, found {min(unknown)!r}; they "
                f"are {', '.join(self.annotators)}."
            )

    def _counts(self) -> dict[Vote, Counter[str]]:
        """How many annotators gave each label, of every combination of votes there is.

        A counter keeps the order of the annotators among equal counts.
        """
        made = set(chain.from_iterable(self.votes))
        return {vote: Counter(chain.from_iterable(map(_said, vote))) for vote in made}

    def candidates(self, min_votes: int = 1) -> PartialCorpus:
        """Turn votes into candidate sets: labels that `min_votes` annotators gave.

        Where no label got so many, those with the most votes are candidates; a token
        nobody labelled gets the full label set.
        """
        if min_votes < 1:
            raise InputError(f"expected min_votes of at least 1, found {min_votes}.")
        full = self.label_set.full

        def chosen(counts: Counter[str]) -> frozenset[str]:
            least = min(min_votes, max(counts.values(), default=0))
            names = frozenset(name for name, count in counts.items() if count >= least)
            return names or full

        made = {votes: chosen(counts) for votes, counts in self._counts().items()}
        sets = [[made[votes] for votes in sentence] for sentence in self.votes]
        return PartialCorpus(
            self.rows, sets, self.gold, self.label_set, self.scheme, self.annotators
        )

    def majority(self) -> Corpus:
        """Label every token by majority vote.

        Ties go to the label of the annotator who comes first; a token nobody labelled
        gets the label most frequent among all votes.
        """
        counted = self._counts()
        overall: Counter[str] = Counter()
        for votes in chain.from_iterable(self.votes):
            overall.update(counted[votes])
        if not overall:
            raise InputError(_NO_VOTE)
        made = {v: (own or overall).most_common(1)[0][0] for v, own in counted.items()}
        labels = [[made[votes] for votes in sentence] for sentence in self.votes]
        return Corpus.from_lists(self.rows, labels, self.scheme)

    def as_corpus(self) -> Any:
        """The same as one `tagsift.data.corpus.Corpus`."""
        from tagsift.data.annotators import Annotator
        from tagsift.data.corpus import Corpus as NewCorpus

        return NewCorpus.from_lists(
            self.rows,
            votes=self.votes,
            annotators=[
                Annotator(n, abstains=n in self.abstaining) for n in self.annotators
            ],
            gold=self.gold,
            exact=self.exact,
            scheme=self.scheme,
        )

    def without(self, annotators: Iterable[str]) -> VoteCorpus:
        """Make the same corpus without the votes of some annotators."""
        _refuse_text(annotators)
        gone = set(annotators)
        self._check_names(gone)
        kept = [name not in gone for name in self.annotators]
        return replace(
            self,
            votes=[[tuple(compress(v, kept)) for v in votes] for votes in self.votes],
            annotators=tuple(compress(self.annotators, kept)),
            abstaining=tuple(name for name in self.abstaining if name not in gone),
        )

    def __repr__(self) -> str:
        return (
            f"VoteCorpus({len(self)} sentences, {self.n_tokens} tokens, "
            f"{len(self.annotators)} annotators, scheme={self.scheme!r})"
        )


def _refuse_text(names: Iterable[str]) -> None:
    """Refuse a name where a list of names is due: its letters are no names."""
    if isinstance(names, str):
        raise InputError(
            f"expected a list of names of annotators, found a text; give [{names!r}]."
        )


def _said(vote: str | frozenset[str] | None) -> Iterable[str]:
    """The labels that a vote names: none, one, or several, in order."""
    if vote is None:
        return ()
    return (vote,) if isinstance(vote, str) else sorted(vote)


def read_votes(
    path: PathName,
    *,
    columns: str | Sequence[int] | Sequence[str],
    gold: int | None = None,
    scheme: str = "auto",
    comments: bool = False,
    annotators: Sequence[str] | None = None,
    header: bool = False,
    o_means: Literal["outside", "abstain"] = "outside",
    abstaining: Sequence[str] = (),
    exact: int | None = None,
    features_hold_labels: bool = False,
    labels: Mapping[str, str] | None = None,
) -> VoteCorpus:
    """Read a column file in which each annotator has a column.

    The columns that are neither votes nor truth are the rows.

    Parameters
    ----------
    path : path-like
        The file.
    columns : str or iterable of int or of str
        The columns that hold votes, counted from 1: ``"2:48"`` (both ends in) or
        ``range(2, 49)``; or a name for every column, such as
        ``"token,pos,vote,vote,gold"``, as in `read_conll`.
    gold : int, optional
        The column of the truth, counted from 1; ``-1`` is the last one. It is kept for
        scoring only.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; ``"auto"`` looks at the truth where it is given,
        and else at what follows what in the labels of the single annotators.
    comments, header, features_hold_labels
        As in `read_conll`.
    annotators : sequence of str, optional
        Their names; default: those in the header, or ``w00``, ``w01``, …
    o_means : {"outside", "abstain"}
        What the vote ``O`` means: that a token is outside (people), or that an
        annotator (a rule, a dictionary) has nothing to say.
    abstaining : sequence of str
        The annotators who abstain, where not all of them do.
    exact : int, optional
        The column of labels that are known exactly, ``?`` where they are not, counted
        from 1.
    labels : mapping of str to str, optional
        Other names for labels (``{"person": "PER"}``).
    """
    _refuse_text(abstaining)
    numbers, names = _numbers_or_names(columns)
    for role, number in (("gold", gold), ("exact", exact)):
        if names is not None and number is not None:
            raise InputError(f"expected {role}= with numbers only; name it {role!r}.")
    if o_means not in ("outside", "abstain"):
        raise InputError(f"o_means must be 'outside' or 'abstain', found {o_means!r}.")

    def parse(cell: str) -> str | frozenset[str] | None:
        if cell == ANY:
            return None
        said = [check_label(name, scheme) for name in cell.split("|")]
        return cell if len(said) == 1 else frozenset(said)

    table = CellTable(
        path,
        "vote",
        parse,
        scheme=scheme,
        columns=names,
        header=header,
        comments=comments,
        votes=numbers,
        gold=gold,
        exact=exact,
        features_hold_labels=features_hold_labels,
        rename=labels,
    )
    entries = list(table)
    votes = [list(zip(*entry.votes, strict=True)) for entry in entries]
    truth = None if table.layout.gold is None else [entry.gold for entry in entries]
    if scheme == "auto":
        if truth is None:
            given = chain.from_iterable(set(chain.from_iterable(votes)))
            names = sorted(set(chain.from_iterable(map(_said, given))))
            scheme = scheme_of_pairs(_pairs(votes), names)
        else:
            scheme = detect_scheme(truth)
    size = len(table.layout.votes)
    usual = table.annotators or [f"w{i:02d}" for i in range(size)]
    people = tuple(annotators or usual)
    double = [name for name, times in Counter(people).items() if times > 1]
    if double:
        raise DataError(
            f"expected annotators with different names, found {double[0]!r} twice; "
            "name them in the header, or in Python by annotators=.",
            path,
        )
    if len(people) != size:
        raise InputError(
            f"expected a name for each of the {size} vote columns, found "
            f"{len(people)} names."
        )
    return VoteCorpus(
        [list(entry.rows) for entry in entries],
        votes,
        people,
        truth,
        scheme,
        people if o_means == "abstain" else tuple(abstaining),
        None if table.layout.exact is None else [entry.exact for entry in entries],
    )


def _numbers_or_names(
    columns: str | Sequence[int] | Sequence[str],
) -> tuple[tuple[int, ...], list[str] | None]:
    """Tell numbers of vote columns from names of all columns."""
    if isinstance(columns, str):
        named = "token" in columns
        return ((), columns.split(",")) if named else (parse_columns(columns), None)
    if isinstance(columns, int):
        raise InputError(
            f"expected column numbers such as '2:6' or [2, 3], found {columns!r}; give "
            f"[{columns!r}] for one column."
        )
    names = [entry for entry in columns if isinstance(entry, str)]
    numbers = tuple(entry for entry in columns if not isinstance(entry, str))
    return ((), names) if names else (numbers, None)


def _pairs(votes: list[list[Vote]]) -> dict[tuple[str | None, str], int]:
    """How often an annotator lets a label follow another; None: it begins a sentence.

    What follows a token that one did not label, or gave a set, is not known.
    """
    seen: Counter[tuple[Any, Any]] = Counter()
    for sentence in votes:
        for column in zip(*sentence, strict=True):
            seen.update(zip(("", *column), column, strict=False))
    return {
        (before or None, name): times
        for (before, name), times in seen.items()
        if isinstance(before, str) and isinstance(name, str)
    }


def write_votes(
    path: PathName, corpus: VoteCorpus | Any, *, gold: bool = False
) -> None:
    """Write votes as a column file, whole or not at all.

    After the rows comes a column per annotator and, with `gold`, the truth.
    """
    if not isinstance(corpus, VoteCorpus):
        return write_columns(path, corpus, gold=gold)
    if gold and corpus.gold is None:
        raise InputError("expected votes with gold labels, found none.")
    for name in corpus.label_set:
        check_written(name)
    lines = (
        [
            [*row, *("|".join(_said(vote)) or ANY for vote in entry)]
            for row, entry in zip(rows, votes, strict=True)
        ]
        for rows, votes in zip(corpus.rows, corpus.votes, strict=True)
    )
    write_blocks(path, lines, corpus.gold if gold else None)
