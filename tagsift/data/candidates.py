"""Partial labels: every token carries a set of candidates, and the truth is in it.

In a column file the candidates stand in the last column, joined by ``|``
(``B-NP|I-NP``); ``?`` means any label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from tagsift.data.conll import (
    ANY,
    PathName,
    check_label,
    iter_blocks,
    write_blocks,
)
from tagsift.data.label_set import LabelSet
from tagsift.data.rows import RowCorpus
from tagsift.data.schemes import check_scheme, detect_scheme
from tagsift.data.sentence import Row, as_rows
from tagsift.errors import DataError, InputError

__all__ = [
    "PartialCorpus",
    "as_label_set",
    "check_lengths",
    "format_candidates",
    "parse_candidates",
    "partial_scheme",
    "read_partial",
    "write_partial",
]


@dataclass(frozen=True, repr=False)
class PartialCorpus(RowCorpus):
    """Sentences whose tokens carry candidate sets.

    Parameters
    ----------
    rows : list of lists of tuples of str
        Sentences of tokens with their columns.
    candidates : list of lists of frozensets of str
        A set per token, never empty; a singleton is an exact label, the full label set
        an unlabelled token.
    gold : list of lists of str or None
        The truth where it is known, for scoring only: no fit ever sees it. It may lie
        outside the candidates (annotators err).
    label_set : LabelSet
        All labels of the task.
    scheme : {"iob1", "iob2", "iobes", "plain"}
        The tag scheme of the labels.
    annotators : tuple of str or None
        Whose votes the sets come from.
    """

    candidates: list[list[frozenset[str]]]
    gold: list[list[str]] | None
    label_set: LabelSet
    scheme: str
    annotators: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_scheme(self.scheme)
        check_lengths(self.rows, self.candidates, "candidate sets")
        if self.gold is not None:
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

        Parameters
        ----------
        rows : list of sentences
            Each a list of words or of tuples of columns.
        candidates : list of sentences
            Each a list of labels (exact) or of sets of labels.
        gold : list of lists of str, optional
            The truth, for scoring only.
        labels : LabelSet or iterable of str, optional
            All labels of the task; default: the sorted union of the candidates.
        scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
            ``"auto"`` looks at `gold`, else at the sentences labelled exactly, else at
            the names of the labels.
        annotators : tuple of str, optional
            Whose votes the sets come from.

        Returns
        -------
        PartialCorpus
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
            scheme = partial_scheme(sets, truth, label_set)
        return cls(
            [list(as_rows(sentence)) for sentence in rows],
            sets,
            truth,
            label_set,
            scheme,
            annotators,
        )

    @cached_property
    def n_ambiguous(self) -> int:
        """Number of tokens with more than one candidate."""
        return sum(len(c) > 1 for sentence in self.candidates for c in sentence)

    def take(self, indices: Iterable[int]) -> Self:
        """Make a partial corpus of the sentences with these numbers, in this order."""
        chosen = [int(i) for i in indices]
        return replace(
            self,
            rows=[self.rows[i] for i in chosen],
            candidates=[self.candidates[i] for i in chosen],
            gold=None if self.gold is None else [self.gold[i] for i in chosen],
        )

    def __iter__(self) -> Iterator[tuple[list[Row], list[frozenset[str]]]]:
        return iter(zip(self.rows, self.candidates, strict=True))

    def __repr__(self) -> str:
        return (
            f"PartialCorpus({len(self)} sentences, {self.n_tokens} tokens, "
            f"{self.n_ambiguous} of them ambiguous, {len(self.label_set)} labels, "
            f"scheme={self.scheme!r})"
        )


def check_lengths(
    rows: Sequence[Sequence[object]], part: Sequence[Sequence[object]], name: str
) -> None:
    """Refuse entries that are not one per token, naming the sentence."""
    if len(rows) != len(part):
        raise InputError(
            f"expected {name} for every sentence, found {len(rows)} sentences and "
            f"{len(part)} sequences of {name}."
        )
    for number, (sentence, entries) in enumerate(zip(rows, part, strict=True)):
        if len(sentence) != len(entries):
            raise InputError(
                f"sentence {number}: expected {name} for every token, found "
                f"{len(sentence)} tokens and {len(entries)} {name}."
            )


def as_label_set(labels: LabelSet | Iterable[str] | None) -> LabelSet | None:
    """Take a label set as it is, make one of an iterable, pass None on."""
    if labels is None or isinstance(labels, LabelSet):
        return labels
    return LabelSet(tuple(labels))


def partial_scheme(
    candidates: Sequence[Sequence[frozenset[str]]],
    gold: Sequence[Sequence[str]] | None,
    label_set: LabelSet,
) -> str:
    """Find the scheme without looking at corrupted labels.

    Gold labels decide; without them the sentences whose tokens are all labelled
    exactly; without these the names of the labels, which cannot tell IOB1 from IOB2
    (IOB2 is taken).
    """
    if gold is not None:
        return detect_scheme(gold)
    by_name = detect_scheme([(name,) for name in label_set])
    if by_name in ("plain", "iobes"):
        return by_name
    exact = [
        [next(iter(c)) for c in sentence]
        for sentence in candidates
        if all(len(c) == 1 for c in sentence)
    ]
    return detect_scheme(exact) if exact else "iob2"


def parse_candidates(cell: str) -> frozenset[str] | None:
    """Read a cell of candidates.

    Parameters
    ----------
    cell : str
        Labels joined by ``|``, or ``?``.

    Returns
    -------
    frozenset of str or None
        None for ``?``: any label.

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
            raise DataError(
                f"expected labels joined by '|', found an empty one in {cell!r}; write "
                f"'{ANY}' for any label."
            )
        if name == ANY:
            raise DataError(
                f"expected '{ANY}' alone, found it among labels in {cell!r}; it means "
                "any label."
            )
        if name != name.strip():
            raise DataError(
                f"expected labels without white space around them, found {name!r}."
            )
    return frozenset(names)


def format_candidates(names: AbstractSet[str], label_set: LabelSet) -> str:
    """Write a cell of candidates, in the order of the label set."""
    for name in names:
        if "|" in name or name in ("", ANY) or name != name.strip():
            raise InputError(
                f"expected labels without '|' and white space, other than '{ANY}', "
                f"found {name!r}."
            )
    if not names:
        raise InputError("expected at least one candidate, found an empty set.")
    return "|".join(sorted(names, key=label_set.index))


def read_partial(
    path: PathName,
    *,
    labels: LabelSet | Iterable[str] | None = None,
    scheme: str = "auto",
    comments: bool = False,
    gold: bool = False,
) -> PartialCorpus:
    """Read a column file with candidate sets.

    Parameters
    ----------
    path : path-like
        The file; candidates stand in its last column.
    labels : LabelSet or iterable of str, optional
        All labels of the task; default: the sorted union of those named in the file.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; ``"auto"`` looks at gold and at exactly labelled
        sentences only, and else at the names of the labels.
    comments : bool
        Skip lines that start with ``#`` and have no second column.
    gold : bool
        Whether one more column follows the candidates: the truth, for scoring only.

    Returns
    -------
    PartialCorpus
    """
    if scheme != "auto":
        check_scheme(scheme)
    label_set = as_label_set(labels)
    reader = _CellReader(path, label_set, scheme)
    rows: list[list[Row]] = []
    parsed: list[list[frozenset[str] | None]] = []
    truth: list[list[str]] = []
    seen_gold: set[str] = set()
    for block in iter_blocks(path, comments=comments, columns=3 if gold else 2):
        if gold:
            last = [cells.pop() for cells in block.cells]
            for label, line in zip(last, block.lines, strict=True):
                if label not in seen_gold:
                    check_label(label, path, line, scheme)
                    seen_gold.add(label)
            truth.append(last)
        parsed.append(
            [
                reader.read(cells.pop(), line)
                for cells, line in zip(block.cells, block.lines, strict=True)
            ]
        )
        rows.append([tuple(cells) for cells in block.cells])
    if label_set is None:
        if not reader.names:
            raise DataError(
                "expected labels in the last column, found '?' alone; give labels= "
                "with the whole label set.",
                path,
            )
        label_set = LabelSet(tuple(sorted(reader.names)))
    full = label_set.full
    candidates = [[full if c is None else c for c in sentence] for sentence in parsed]
    if scheme == "auto":
        scheme = partial_scheme(candidates, truth if gold else None, label_set)
    return PartialCorpus(rows, candidates, truth if gold else None, label_set, scheme)


class _CellReader:
    """Parse cells of candidates, each distinct one once."""

    def __init__(self, path: PathName, label_set: LabelSet | None, scheme: str) -> None:
        self.path = path
        self.label_set = label_set
        self.scheme = scheme
        self.names: set[str] = set()
        self._known: dict[str, frozenset[str] | None] = {}

    def read(self, cell: str, line: int) -> frozenset[str] | None:
        if cell in self._known:
            return self._known[cell]
        try:
            names = parse_candidates(cell)
        except DataError as error:
            raise DataError(error.message, self.path, line) from None
        for name in sorted(names or ()):
            if self.label_set is not None and name not in self.label_set:
                raise DataError(
                    f"expected one of the {len(self.label_set)} labels given, found "
                    f"{name!r}; add it to labels=.",
                    self.path,
                    line,
                )
            check_label(name, self.path, line, self.scheme)
        self.names.update(names or ())
        self._known[cell] = names
        return names


def write_partial(
    path: PathName, partial: PartialCorpus, *, gold: bool = False
) -> None:
    """Write candidate sets as a column file, whole or not at all.

    The first full set is spelled out, so that the file names every label; later ones
    are ``?``.

    Parameters
    ----------
    path : path-like
        The file.
    partial : PartialCorpus
        What to write.
    gold : bool
        Write the truth as one more column, after the candidates.
    """
    truth = partial.gold
    if gold and truth is None:
        raise InputError("expected a partial corpus with gold labels, found none.")
    label_set = partial.label_set
    full = label_set.full
    cells: dict[frozenset[str], str] = {}
    spelled = len(full) == 1

    def cell(names: frozenset[str]) -> str:
        nonlocal spelled
        if names == full and spelled and len(full) > 1:
            return ANY
        spelled = spelled or names == full
        if names not in cells:
            cells[names] = format_candidates(names, label_set)
        return cells[names]

    def lines() -> Iterator[list[list[str]]]:
        for number, (rows, sets) in enumerate(partial):
            made = [[*row, cell(names)] for row, names in zip(rows, sets, strict=True)]
            if gold and truth is not None:
                for row, label in zip(made, truth[number], strict=True):
                    row.append(label)
            yield made

    write_blocks(path, lines())
