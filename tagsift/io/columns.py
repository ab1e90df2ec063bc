"""Column files become a corpus, and a corpus a column file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Any

import numpy as np

from tagsift.data._from_lists import ANY_LABEL, Codes, scheme_seen, stacked_columns
from tagsift.data.annotators import Annotator, Vote, Votes
from tagsift.data.corpus import Corpus
from tagsift.data.label_set import (
    ANY,
    LabelSet,
    as_label_set,
    check_label,
    check_written,
)
from tagsift.data.rows import Row
from tagsift.data.stacking import offsets_of
from tagsift.errors import DataError, InputError
from tagsift.io.column_file import PathName, write_blocks
from tagsift.io.column_reader import CellTable
from tagsift.io.column_roles import Columns, parse_columns, parse_names
from tagsift.typing import IntArray

__all__ = [
    "LabelCodes",
    "format_candidates",
    "iter_text",
    "parse_candidates",
    "read_columns",
    "write_columns",
]


def read_columns(
    path: PathName,
    *,
    votes: str | Sequence[int] | None = None,
    gold: int | None = None,
    exact: int | None = None,
    columns: Columns | None = None,
    header: bool = False,
    comments: bool = False,
    scheme: str = "auto",
    labels: LabelSet | Iterable[str] | Mapping[str, str] | None = None,
    annotators: Sequence[str] | None = None,
    features_hold_labels: bool = False,
) -> Corpus:
    """Read a column file.

    Parameters
    ----------
    path : path-like
        The file. Without `votes` and `columns`, the last column holds labels or
        candidates (``B-NP|I-NP``, ``?`` for any label), or the one before the truth.
    votes : str or sequence of int, optional
        The columns that hold votes, counted from 1: ``"2:48"`` (both ends in).
    gold, exact : int, optional
        The column of the truth (−1: the last) and of labels that are known.
    columns : str or sequence of str, optional
        A name for every column, such as ``"token,pos,-,label"``; see
        `tagsift.io.column_roles`.
    header, comments : bool
        Whether the first line names the columns; whether lines that start with ``#``
        and have one column are comments.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; ``"auto"`` looks at the truth, else at what follows
        what in labels that are exact.
    labels : LabelSet, iterable of str or mapping, optional
        All labels; by default those named in the file, sorted. A mapping renames labels
        (``{"person": "PER"}``).
    annotators : sequence of str, optional
        Their names; by default those in the header, or ``w00``, ``w01``, …
    features_hold_labels : bool
        Whether features that hold labels of the file are meant as such.
    """
    rename = labels if isinstance(labels, Mapping) else None
    label_set = None if isinstance(labels, Mapping) else as_label_set(labels)
    roles = None if columns is None else parse_names(columns)
    if roles is not None and votes is not None:
        raise InputError("expected columns= or votes=, found both; name the votes.")
    for role, number in (("gold", gold), ("exact", exact)):
        if roles is not None and number is not None and role not in roles:
            raise InputError(
                f"expected a column named {role!r} among columns=, found none; name it "
                f"{role!r}."
            )
    are_votes = votes is not None or (roles is not None and "vote" in roles)
    codes = LabelCodes(label_set, scheme)
    numbers = parse_columns(votes) if isinstance(votes, str) else tuple(votes or ())
    table = CellTable(
        path,
        "vote" if are_votes else "label",
        codes.vote if are_votes else codes.candidates,
        scheme=scheme,
        columns=columns,
        header=header,
        comments=comments,
        votes=numbers,
        gold=gold,
        exact=exact,
        features_hold_labels=features_hold_labels,
        rename=rename,
    )
    rows: list[tuple[str, ...]] = []
    cast: list[tuple[IntArray, IntArray, IntArray]] = []
    chosen: list[int] = []
    known: list[str | None] = []
    truth: list[str] = []
    lengths: list[int] = []
    for entry in table:
        if are_votes:
            said = np.array(entry.votes, dtype=np.int64)  # [A, T]
            token, annotator = np.nonzero(said.T >= 0)
            cast.append((len(rows) + token, annotator, said.T[token, annotator]))
        lengths.append(len(entry.rows))
        rows += entry.rows
        chosen += entry.labels
        truth += entry.gold
        known += entry.exact
    exact_codes = np.array([codes[name] for name in known], dtype=np.int64)
    label_set = label_set or codes.label_set(path, are_votes=are_votes)
    new, sets = codes.translated(label_set)
    token, annotator, code = (
        map(np.concatenate, zip(*cast, strict=True))
        if cast
        else (np.zeros(0, dtype=np.int64) for _ in range(3))
    )
    corpus = Corpus(
        columns=stacked_columns(rows),
        bounds=offsets_of(lengths),
        label_set=label_set,
        scheme="plain" if scheme == "auto" else scheme,
        annotators=_people(table, annotators, path) if are_votes else (),
        votes=Votes(token, annotator, new[code]),
        sets=sets,
        candidate_codes=None if are_votes else new[np.array(chosen, dtype=np.int64)],
        exact_codes=np.where(exact_codes < 0, -1, new[exact_codes]) if known else None,
        truth=tuple(truth) if table.layout.gold is not None else None,
    )
    return corpus if scheme != "auto" else corpus.with_scheme(scheme_seen(corpus))


class LabelCodes(Codes):
    """Cells as codes, checked when they are met first."""

    def __init__(self, label_set: LabelSet | None, scheme: str) -> None:
        self._given = label_set
        super().__init__(lambda name: self._checked(name, scheme))

    def _checked(self, name: str, scheme: str) -> str:
        if self._given is not None and name not in self._given:
            raise DataError(
                f"expected one of the {len(self._given)} labels given, found {name!r}; "
                "add it to labels=."
            )
        return check_label(name, scheme)

    def vote(self, cell: str) -> int:
        """The code of a vote; a missing one has that of nothing."""
        if cell == ANY:
            return ANY_LABEL
        return self[cell if "|" not in cell else frozenset(cell.split("|"))]

    def candidates(self, cell: str) -> int:
        """The code of a cell of candidates."""
        return self[parse_candidates(cell)]

    def label_set(self, path: PathName, *, are_votes: bool) -> LabelSet:
        """All labels that were met."""
        if self.labels:
            return LabelSet(tuple(sorted(self.labels)))
        if are_votes:
            raise DataError(
                "expected at least one vote, found none ('?' everywhere); check which "
                "columns are votes.",
                path,
            )
        raise DataError(
            "expected labels among the candidates, found '?' alone; give labels= with "
            "the whole label set.",
            path,
        )


def _people(
    table: CellTable[int], annotators: Sequence[str] | None, path: PathName
) -> tuple[Annotator, ...]:
    """The annotators of the columns, in their order."""
    size = len(table.layout.votes)
    names = annotators or table.annotators or [f"w{i:02d}" for i in range(size)]
    if len(names) != size:
        raise InputError(
            f"expected a name for each of the {size} vote columns, found {len(names)}."
        )
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise DataError(
            f"expected annotators with different names, found {twice!r} twice; name "
            "them in the header, or in Python by annotators=.",
            path,
        )
    return tuple(map(Annotator, names))


def iter_text(
    path: PathName, *, gold: bool = False, **options: Any
) -> Iterator[tuple[Row, ...]]:
    """Yield the sentences of a column file without labels, one by one.

    Columns named as labels, votes or gold are left out, and the last one with `gold`.
    What the file looks like is known, and said, at its end.
    """
    needed = "label" if gold else ""
    for entry in CellTable(path, needed, str, scheme="plain", **options):
        yield entry.rows


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


def write_columns(path: PathName, corpus: Corpus, *, gold: bool | None = None) -> None:
    """Write a corpus as a column file, whole or not at all.

    After the columns of the text come the votes, a column an annotator, or the
    candidates, and the truth where it is known and `gold` does not forbid it. The first
    full candidate set is spelled out, so that the file names every label; later ones
    are ``?``.
    """
    for name in corpus.label_set:
        check_written(name)
    if gold and corpus.truth is None:
        raise InputError("expected a corpus with gold labels, found none.")
    parts = list(corpus.columns)
    if corpus.annotators and corpus.candidate_codes is None:
        parts += _vote_columns(corpus)
    elif corpus.candidates is not None:
        parts.append(_candidate_column(corpus))
    if corpus.truth is not None and gold is not False:
        for name in set(corpus.truth):
            check_written(name)
        parts.append(corpus.truth)
    lines = list(zip(*parts, strict=True))
    bounds = corpus.bounds.tolist()
    write_blocks(path, (lines[a:b] for a, b in zip(bounds, bounds[1:], strict=False)))


def _cell(vote: Vote) -> str:
    return vote if isinstance(vote, str) else "|".join(sorted(vote))


def _vote_columns(corpus: Corpus) -> list[tuple[str, ...]]:
    cells = np.array([*map(_cell, corpus.meanings), ANY], dtype=object)
    order = np.lexsort((corpus.votes.token, corpus.votes.annotator))  # [K]
    token, annotator, code = (column[order] for column in corpus.votes)
    ends = np.searchsorted(annotator, np.arange(len(corpus.annotators) + 1))
    made = []
    for first, last in zip(ends, ends[1:], strict=False):
        column = np.full(corpus.n_tokens, len(cells) - 1)  # [N]
        column[token[first:last]] = code[first:last]
        made.append(tuple(cells[column]))
    return made


def _candidate_column(corpus: Corpus) -> tuple[str, ...]:
    assert corpus.candidates is not None
    label_set, full = corpus.label_set, corpus.label_set.full
    cells: dict[frozenset[str], str] = {}

    def cell(names: frozenset[str]) -> str:
        if names not in cells:
            cells[names] = format_candidates(names, label_set)
        elif names == full and len(full) > 1:
            return ANY
        return cells[names]

    return tuple(map(cell, chain.from_iterable(corpus.candidates)))
