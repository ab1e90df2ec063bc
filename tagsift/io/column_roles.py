"""Which column of a file is what: by position, by number, or by name.

By position the token comes first and the label (or the truth) last. By name, one name
stands for each column: ``token,pos,-,label``. ``token``, ``label``, ``gold``, ``vote``
and ``exact`` (labels known exactly, beside votes) say what a column is, ``sentence`` or
``document`` that a sentence ends where its cells change, ``-`` leaves it out, any other
name is a feature.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from tagsift.errors import DataError, InputError
from tagsift.visible import count

__all__ = [
    "ENDING",
    "Columns",
    "Layout",
    "by_name",
    "by_place",
    "parse_columns",
    "parse_names",
    "role_of",
    "write_columns",
    "write_names",
]

#: What users say about the columns: names joined by commas, or a sequence of them.
Columns: TypeAlias = str | Sequence[str]

_MOST = 100_000
_NUMBER = "(id|idx|index|key|n|no|nr|num|number)"
#: What columns are called, in small letters without signs (``Sentence #``, ``doc_id``).
_ROLES = {
    "token": re.compile(r"tokens?|words?|form"),
    "sentence": re.compile(
        rf"(sentence|sent|satz){_NUMBER}?|(sequence|seq|phrase|frase){_NUMBER}"
    ),
    "document": re.compile(
        rf"(document|doc){_NUMBER}?|(article|abstract|text|file){_NUMBER}"
        r"|(file|doc|document)name"
    ),
    "label": re.compile(r"labels?|tags?|ner|nertags?"),
}
#: Roles of columns that tell sentences apart.
ENDING = ("sentence", "document")
_SIGNS = re.compile(r"[\W_]+")


def role_of(name: str) -> str | None:
    """What a column holds by the name it usually has; None where that tells nothing.

    Examples
    --------
    >>> role_of("Sentence #"), role_of("doc_id"), role_of("pos")
    ('sentence', 'document', None)
    """
    spelled = _SIGNS.sub("", name.casefold())
    return next((role for role, x in _ROLES.items() if x.fullmatch(spelled)), None)


#: Columns of one name that are written out one by one.
_ALIKE = 4


@dataclass(frozen=True)
class Layout:
    """Which columns, counted from 0, hold what; the token is the first of `rows`."""

    rows: tuple[int, ...]
    votes: tuple[int, ...] = ()
    label: int | None = None
    gold: int | None = None
    exact: int | None = None
    ends: tuple[int, ...] = ()  # a sentence ends where their cells change
    ids: tuple[int, ...] = ()  # those that name sentences, if any do


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
        if not 1 <= low <= high <= _MOST:
            raise InputError(
                "expected column numbers counted from 1, such as 2:48 or 2,4,6, and "
                f"at most {_MOST}, found {text!r}."
            )
        numbers.extend(range(low, high + 1))
    return tuple(numbers)


def write_columns(numbers: Iterable[int]) -> str:
    """Write column numbers as `parse_columns` reads them.

    Examples
    --------
    >>> write_columns([2, 3, 4, 7])
    '2:4,7'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    ends = (dict.fromkeys((str(run[0]), str(run[-1]))) for run in runs)
    return ",".join(":".join(pair) for pair in ends)


def write_names(names: Iterable[str]) -> str:
    """Write names of columns, many of one name as two with an ellipsis between them.

    Examples
    --------
    >>> write_names(["token", "-", "vote", "vote", "vote", "vote", "vote", "gold"])
    'token,-,vote,…,vote,gold'
    """
    written: list[str] = []
    for name, group in groupby(names):
        size = len(list(group))
        written += [name, "…", name] if size > _ALIKE else [name] * size
    return ",".join(written)


def parse_names(columns: Columns) -> tuple[str, ...]:
    """Read names of columns such as ``token,pos,-,label``, and check their roles.

    Examples
    --------
    >>> parse_names("token,pos,-,label")
    ('token', 'pos', '-', 'label')
    """
    given = columns.split(",") if isinstance(columns, str) else list(columns)
    names = tuple(name.strip() for name in given)
    if not all(names):
        raise InputError(
            "expected a name for every column, such as token,pos,-,label, found "
            f"{','.join(names)!r}."
        )
    for role in ("token", "label", "gold", "exact"):
        if names.count(role) > 1 or (role == "token" and role not in names):
            raise InputError(
                f"expected one column to be named {role!r}, found "
                f"{names.count(role)} in {','.join(names)!r}."
            )
    return names


def by_name(names: Sequence[str], width: int, needed: str) -> Layout:
    """Lay out a file by the names of its columns."""
    if len(names) != width:
        raise DataError(
            f"expected {count(len(names), 'column')}, as many as were named "
            f"({','.join(names)}), found {width}; name every one, '-' leaves one out."
        )
    if needed and needed not in names:
        raise DataError(f"expected a column named {needed!r}, found {','.join(names)}.")
    places = {role: [i for i, n in enumerate(names) if n == role] for role in names}
    roles = ("token", "label", "vote", "gold", "exact", "-")
    ends = [i for i, name in enumerate(names) if role_of(name) in ENDING]
    rest = [i for i, name in enumerate(names) if name not in roles and i not in ends]
    label, gold, exact = (places.get(x, [None])[0] for x in ("label", "gold", "exact"))
    rows, votes = (*places["token"], *rest), tuple(places.get("vote", ()))
    ids = ends if "sentence" in (role_of(names[i]) for i in ends) else []
    return Layout(rows, votes, label, gold, exact, tuple(ends), tuple(ids))


def by_place(
    width: int, needed: str, votes: tuple[int, ...], gold: int | None, exact: int | None
) -> Layout:
    """Lay out a file by column numbers from 1, checked against its width."""
    truth = width + 1 + gold if gold is not None and gold < 0 else gold
    asked = (*votes, *(column for column in (truth, exact) if column is not None))
    wrong = [column for column in asked if not 1 <= column <= width]
    if wrong:
        raise DataError(
            f"expected the column numbers to lie in 1:{width}, the columns of the "
            f"file, found {wrong[0]}."
        )
    if len(set(asked)) != len(asked) or (needed == "vote" and not votes):
        raise DataError(
            "expected each column to be named once, and at least one of votes, found "
            f"votes {list(votes)}, gold {gold} and exact {exact}."
        )
    rest = [i for i in range(width) if i + 1 not in asked]
    last = rest.pop() if needed == "label" else None
    if not rest:
        raise DataError(
            f"expected one column for the token, found all {width} taken by votes and "
            "gold."
        )
    places = tuple(column - 1 for column in votes)
    return Layout(tuple(rest), places, last, truth and truth - 1, exact and exact - 1)
