"""The sheet that a person fills in: doubtful tokens, and the right label of each.

A table with a header, separated by TABs (commas or semicolons are read as well, since
spreadsheets write them). `sentence` and `token`, counted from 1, and `word` say which
token it is; the right label is typed into `right_label`, or ``ok`` where the proposed
`label` is right. Rows whose `right_label` is empty have not been looked at.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Mapping, Sequence

from tagsift.data.rows import Row
from tagsift.errors import DataError
from tagsift.io.column_file import PathName, decode_line, located, open_bytes
from tagsift.storage import atomic_write

__all__ = ["ANSWER", "has_answers", "read_checked", "write_sheet"]

#: The column to fill in, and what says there that the proposed label is right.
ANSWER, _RIGHT = "right_label", "ok"
_NEEDED = ("sentence", "token", "word", ANSWER)
_PREFIXES = ("B-", "I-", "E-", "S-")


def write_sheet(path: PathName, rows: Iterable[Mapping[str, object]]) -> None:
    """Write a sheet to fill in, whole or not at all; all rows have the same cells."""
    made = list(rows)
    with atomic_write(path) as stream:
        names = list(made[0]) if made else []
        writer = csv.DictWriter(stream, names, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(made)


def read_checked(
    path: PathName, rows: Sequence[Sequence[Row]], labels: Collection[str]
) -> list[list[str | None]]:
    """Read the labels that a person typed into a sheet; None for tokens not looked at.

    Besides `labels`, another prefix of a known type (``B-LOC`` where ``I-LOC`` is
    known) and ``O`` are taken.
    """
    found: list[list[str | None]] = [[None] * len(sentence) for sentence in rows]
    known = {*labels, "O"}
    allowed = _write(known)
    types = {name[2:] for name in known if name[1:2] == "-"}
    for line, cells in _lines(path):
        answer = cells[ANSWER].strip()
        if not answer:
            continue
        accepted = answer.lower() == _RIGHT and answer not in known  # "Ok" of a table
        if accepted:
            answer = cells.get("label", "").strip()
        with located(path, line):
            s, t = _place(cells, rows)
            prefix, type_ = answer[:2], answer[2:]
            if answer not in known and not (prefix in _PREFIXES and type_ in types):
                what = f"{answer!r} as its label" if accepted else f"{answer!r}"
                raise DataError(
                    f"the right label of {cells['word']!r}: {allowed}; found {what}."
                )
            if found[s][t] not in (None, answer):
                raise DataError(
                    f"expected one answer for token {t + 1} of sentence {s + 1}, found "
                    f"{found[s][t]!r} and {answer!r}."
                )
        found[s][t] = answer
    return found


def _write(labels: Collection[str], most: int = 12) -> str:
    """What may be written into the column of answers."""
    shown = sorted(labels, key=lambda name: (name[2:] * (name[1:2] == "-"), name))
    more = ", …" * (len(shown) > most)
    return (
        f"write {', '.join(shown[:most])}{more}, or {_RIGHT} where the label beside it "
        "is right, or nothing where you have not looked"
    )


def has_answers(path: PathName) -> bool:
    """Whether a file is a sheet in which somebody has filled in a right label."""
    try:
        return any(cells[ANSWER].strip() for _, cells in _lines(path))
    except DataError:
        return False


def _lines(path: PathName) -> Iterable[tuple[int, dict[str, str]]]:
    """Yield the number and the cells of every line below the header."""
    with open_bytes(path) as stream:
        lines = [decode_line(raw, path, n) for n, raw in enumerate(stream, 1)]
    head = lines[0] if lines else ""
    separator = max("\t;,", key=head.count)
    reader = csv.DictReader(lines, delimiter=separator, restval="")
    missing = [name for name in _NEEDED if name not in (reader.fieldnames or ())]
    if missing:
        raise DataError(
            "expected a sheet that tagsift rank -o wrote, with a column "
            f"{missing[0]!r}, found {head.strip()[:60]!r} as its first line.",
            path,
            1,
        )
    try:
        for cells in reader:
            yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(f"expected a table, found {error}.", path) from None


def _place(cells: Mapping[str, str], rows: Sequence[Sequence[Row]]) -> tuple[int, int]:
    """Sentence and token of a line, counted from 0, after a look at the word."""
    try:
        s, t = int(cells["sentence"]) - 1, int(cells["token"]) - 1
    except ValueError:
        raise DataError(
            f"expected the numbers of a sentence and a token, found "
            f"{cells['sentence']!r} and {cells['token']!r}; leave these columns as "
            "they were written."
        ) from None
    try:
        word = rows[s][t][0] if min(s, t) >= 0 else None
    except IndexError:
        word = None
    if word is None or word != cells["word"]:
        there = "no such token" if word is None else repr(word)
        raise DataError(
            f"expected {cells['word']!r} as token {cells['token']} of sentence "
            f"{cells['sentence']}, found {there}; the sheet belongs to another text."
        )
    return s, t
