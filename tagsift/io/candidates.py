"""Partial labels: every token carries a set of candidates, and the truth is in it.

In a column file the candidates stand in the last column, joined by ``|``
(``B-NP|I-NP``); ``?`` means any label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from tagsift.data.label_set import (
    ANY,
    LabelSet,
    as_label_set,
    check_label,
    check_written,
)
from tagsift.data.rows import Row, RowCorpus, as_rows, check_lengths
from tagsift.data.schemes import check_scheme, detect_scheme
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName, write_blocks
from tagsift.io.column_reader import CellTable
from tagsift.io.column_roles import Columns

__all__ = [
    "CandidateReader",
    "PartialCorpus",
    "format_candidates",
    "parse_candidates",
    "read_partial",
    "write_partial",
]


@dataclass(frozen=True, repr=False)
class PartialCorpus(RowCorpus):
    """Sentences whose tokens carry candidate sets.

    A singleton is an exact label, the full label set an unlabelled token. No fit ever
    sees the truth, which may lie outside the candidates (annotators err).
    """

    per_sentence: ClassVar[tuple[str, ...]] = ("rows", "candidates", "gold")

    rows: list[list[Row]]  # sentences of tokens with their columns
    candidates: list[list[frozenset[str]]]  # a set per token, never empty
    gold: list[list[str]] | None  # the truth where it is known, for scoring only
    label_set: LabelSet  # all labels of the task
    scheme: str  # of the labels: iob1, iob2, iobes or plain
    annotators: tuple[str, ...] | None = None  # whose votes the sets come from

    def __post_init__(self) -> None:
        check_scheme(self.scheme)
        check_lengths(self.rows, self.candidates, "candidate sets")
        check_lengths(self.rows, self.gold, "gold labels")
        full = self.label_set.full
        for number, sentence in enumerate(self.candidates):
            for token, names in enumerate(sentence):
                if not names or not names <= full:
                    word = self.rows[number][token][0]
                    found = "an empty set" if not names else repr(min(names - full))
                    raise InputError(
                        f"sentence {number}, token {token} ({word!r}): expected "
                        f"candidates from the label set, found {found}; give the full "
                        "label set for an unlabelled token."
                    )

    @classmethod
    def from_lists(
        cls,
        rows: Sequence[Sequence[str | Row]],
        candidates: Sequence[Sequence[AbstractSet[str] | str]],
        *,
        gold: Sequence[Sequence[str]] | None = None,
        labels: LabelSet | Iterable[str] | None = None,
        scheme: str = "auto",
        annotators: tuple[str, ...] | None = None,
    ) -> PartialCorpus:
        """Build a partial corpus from lists.

        Rows are sentences of words or tuples of columns, candidates are labels (exact)
        or sets of labels; all labels of the task are by default those of the
        candidates, sorted. The scheme ``"auto"`` is found from `gold`, else from the
        sentences labelled exactly, else from the names of the labels.
        """
        sets = [
            [frozenset((c,) if isinstance(c, str) else c) for c in sentence]
            for sentence in candidates
        ]
        label_set = as_label_set(labels)
        if label_set is None:
            label_set = LabelSet.union(names for sentence in sets for names in sentence)
        truth = None if gold is None else [list(sequence) for sequence in gold]
        if scheme == "auto":
            exact = (
                [name for names in sentence for name in names]
                for sentence in sets
                if all(len(names) == 1 for names in sentence)
            )
            scheme = detect_scheme(exact if truth is None else truth, label_set)
        tokens = [list(as_rows(sentence)) for sentence in rows]
        return cls(tokens, sets, truth, label_set, scheme, annotators)

    def as_corpus(self) -> Any:
        """The same as one `tagsift.data.corpus.Corpus`."""
        from tagsift.data.corpus import Corpus

        return Corpus.from_lists(
            self.rows,
            self.candidates,
            gold=self.gold,
            label_set=self.label_set,
            scheme=self.scheme,
        )

    @cached_property
    def n_ambiguous(self) -> int:
        """Number of tokens with more than one candidate."""
        return sum(len(c) > 1 for sentence in self.candidates for c in sentence)

    def __iter__(self) -> Iterator[tuple[list[Row], list[frozenset[str]]]]:
        return iter(zip(self.rows, self.candidates, strict=True))

    def __repr__(self) -> str:
        return (
            f"PartialCorpus({len(self)} sentences, {self.n_tokens} tokens, "
            f"{self.n_ambiguous} of them ambiguous, {len(self.label_set)} labels, "
            f"scheme={self.scheme!r})"
        )


def parse_candidates(cell: str) -> frozenset[str] | None:
    """Read a cell of candidates joined by ``|``; None for ``?``, any label.

    Examples
    --------
    >>> sorted(parse_candidates("B-NP|I-NP"))
    ['B-NP', 'I-NP']
    """
    if cell == ANY:
        return None
    names = cell.split("|")
    for name in names:
        if not name.strip():
            problem = f"joined by '|', found an empty one in {cell!r}"
        elif name == ANY:
            problem = f"or '{ANY}' alone, found it among labels in {cell!r}"
        elif name != name.strip():
            problem = f"without white space around them, found {name!r}"
        else:
            continue
        raise DataError(f"expected labels {problem}; '{ANY}' means any label.")
    return frozenset(names)


def format_candidates(names: AbstractSet[str], label_set: LabelSet) -> str:
    """Write a cell of candidates, in the order of the label set."""
    for name in names:
        check_written(name)
    if not names:
        raise InputError("expected at least one candidate, found an empty set.")
    return "|".join(sorted(names, key=label_set.index))


def read_partial(
    path: PathName,
    *,
    labels: LabelSet | Iterable[str] | Mapping[str, str] | None = None,
    scheme: str = "auto",
    comments: bool = False,
    gold: bool = False,
    columns: Columns | None = None,
    header: bool = False,
    features_hold_labels: bool = False,
) -> PartialCorpus:
    """Read a column file with candidate sets.

    Parameters
    ----------
    path : path-like
        The file; candidates stand in its last column.
    labels : LabelSet or iterable of str, optional
        All labels of the task; default: the sorted union of those named in the file.
        A mapping renames labels (``{"person": "PER"}``).
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; ``"auto"`` looks at gold and at exactly labelled
        sentences only, and else at the names of the labels.
    gold : bool
        Whether one more column follows the candidates: the truth, for scoring only.
    comments, columns, header, features_hold_labels
        As in `read_conll`; the column named ``gold`` is the truth.
    """
    rename = labels if isinstance(labels, Mapping) else None
    label_set = None if rename else as_label_set(labels)
    reader = CandidateReader(path, label_set, scheme)
    table = CellTable(
        path,
        "label",
        reader.read,
        scheme=scheme,
        columns=columns,
        header=header,
        comments=comments,
        gold=-1 if gold and columns is None else None,
        features_hold_labels=features_hold_labels,
        rename=rename,
    )
    entries = list(table)
    truth = None if table.layout.gold is None else [entry.gold for entry in entries]
    if gold and truth is None:
        raise InputError("expected a column named 'gold' among columns=, found none.")
    rows = [list(entry.rows) for entry in entries]
    return reader.corpus(rows, [entry.labels for entry in entries], truth)


@dataclass
class CandidateReader:
    """Parse cells of candidates, and gather the labels of a file on the way."""

    path: PathName
    label_set: LabelSet | None  # all labels of the task, if they were given
    scheme: str
    names: set[str] = field(default_factory=set)  # labels met so far

    def read(self, cell: str) -> frozenset[str] | None:
        """Parse one cell; None for any label."""
        names = parse_candidates(cell)
        return None if names is None else self.check(names)

    def check(self, names: frozenset[str]) -> frozenset[str]:
        """Check the candidates of one token against the label set and the scheme."""
        for name in sorted(names - self.names):
            if self.label_set is not None and name not in self.label_set:
                raise DataError(
                    f"expected one of the {len(self.label_set)} labels given, found "
                    f"{name!r}; add it to labels=."
                )
            check_label(name, self.scheme)
        self.names.update(names)
        return names

    def corpus(
        self,
        rows: list[list[Row]],
        parsed: list[list[frozenset[str] | None]],
        gold: list[list[str]] | None,
    ) -> PartialCorpus:
        """Make the corpus once all labels are known."""
        if self.label_set is None and not self.names:
            raise DataError(
                "expected labels among the candidates, found '?' alone; give labels= "
                "with the whole label set.",
                self.path,
            )
        label_set = self.label_set or LabelSet(tuple(sorted(self.names)))
        sets = [[label_set.full if c is None else c for c in row] for row in parsed]
        return PartialCorpus.from_lists(
            rows, sets, gold=gold, labels=label_set, scheme=self.scheme
        )


def write_partial(
    path: PathName, partial: PartialCorpus | Any, *, gold: bool = False
) -> None:
    """Write candidate sets as a column file, whole or not at all.

    The first full set is spelled out, so that the file names every label; later ones
    are ``?``. With `gold`, the truth is one more column, after the candidates.
    """
    if not isinstance(partial, PartialCorpus):
        from tagsift.io.columns import write_columns

        return write_columns(path, partial, gold=gold)
    if gold and partial.gold is None:
        raise InputError("expected a partial corpus with gold labels, found none.")
    full = partial.label_set.full
    cells: dict[frozenset[str], str] = {}

    def cell(names: frozenset[str]) -> str:
        if names not in cells:
            cells[names] = format_candidates(names, partial.label_set)
        elif names == full and len(full) > 1:
            return ANY
        return cells[names]

    lines = (
        [[*row, cell(names)] for row, names in zip(rows, sets, strict=True)]
        for rows, sets in partial
    )
    write_blocks(path, lines, partial.gold if gold else None)
