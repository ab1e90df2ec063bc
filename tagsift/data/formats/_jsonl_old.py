"""Candidate sets as JSON lines, for exchange with other programs.

One sentence a line: ``{"tokens": ["the", "lead"], "candidates": [["B-NP"], ["I-NP",
"O"]]}``. A token may be a list of columns instead of a word, a candidate list may be
one label or ``null`` (any label), and ``"gold"`` may hold the truth. Other keys are
ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tagsift.data.candidates import CandidateReader, PartialCorpus, as_label_set
from tagsift.data.columns import ANY, PathName, located
from tagsift.data.formats._json_old import iter_json_lines, write_json_lines
from tagsift.data.label_set import LabelSet
from tagsift.data.rows import Row
from tagsift.data.schemes import check_scheme
from tagsift.errors import DataError, InputError

__all__ = ["read_jsonl", "write_jsonl"]


def read_jsonl(
    path: PathName,
    *,
    labels: LabelSet | Iterable[str] | None = None,
    scheme: str = "auto",
) -> PartialCorpus:
    """Read candidate sets from JSON lines.

    Parameters
    ----------
    path : path-like
        The file: objects with ``tokens``, ``candidates`` and, in all lines or in none,
        ``gold``.
    labels : LabelSet or iterable of str, optional
        All labels of the task; default: the sorted union of those in the file.
    scheme : {"auto", "iob1", "iob2", "iobes", "plain"}
        How the labels are written; see `tagsift.data.read_partial`.

    Returns
    -------
    PartialCorpus
    """
    if scheme != "auto":
        check_scheme(scheme)
    reader = CandidateReader(path, as_label_set(labels), scheme)
    rows: list[list[Row]] = []
    parsed: list[list[frozenset[str] | None]] = []
    gold: list[list[str]] = []
    for line, record in iter_json_lines(path):
        tokens = _tokens(record, path, line)
        sets = [_names(c, path, line) for c in _list(record, "candidates", path, line)]
        if len(sets) != len(tokens):
            raise DataError(
                f"expected candidates for every token, found {len(tokens)} tokens and "
                f"{len(sets)} candidate lists.",
                path,
                line,
            )
        with located(path, line):
            for names in sets:
                reader.check(names or frozenset())
        if rows and ("gold" in record) != bool(gold):
            raise DataError(
                "expected gold labels in all lines or in none, found both kinds.",
                path,
                line,
            )
        if "gold" in record:
            gold.append(_gold(record, len(tokens), path, line))
        rows.append(tokens)
        parsed.append(sets)
    return reader.corpus(rows, parsed, gold or None)


def _list(record: dict[str, Any], key: str, path: PathName, line: int) -> list[Any]:
    value = record.get(key)
    if not isinstance(value, list):
        found = "none" if key not in record else type(value).__name__
        raise DataError(f"expected a list under {key!r}, found {found}.", path, line)
    return value


def _tokens(record: dict[str, Any], path: PathName, line: int) -> list[Row]:
    rows: list[Row] = []
    for token in _list(record, "tokens", path, line):
        columns = [token] if isinstance(token, str) else token
        if not (
            isinstance(columns, list)
            and columns
            and all(isinstance(c, str) for c in columns)
        ):
            raise DataError(
                f"expected tokens to be words or lists of columns, found {token!r}.",
                path,
                line,
            )
        rows.append(tuple(columns))
    return rows


def _names(entry: object, path: PathName, line: int) -> frozenset[str] | None:
    """Labels of one candidate list; None for any label."""
    if entry is None or entry == ANY:
        return None
    names = [entry] if isinstance(entry, str) else entry
    if not (isinstance(names, list) and all(isinstance(n, str) for n in names)):
        raise DataError(
            f"expected a list of labels, one label or null, found {entry!r}.",
            path,
            line,
        )
    if not names:
        raise DataError(
            "expected at least one candidate, found an empty list; write null for any "
            "label.",
            path,
            line,
        )
    return frozenset(names)


def _gold(record: dict[str, Any], length: int, path: PathName, line: int) -> list[str]:
    truth = _list(record, "gold", path, line)
    if len(truth) != length or not all(isinstance(name, str) for name in truth):
        raise DataError(
            f"expected a gold label for each of the {length} tokens, found {truth!r}.",
            path,
            line,
        )
    return truth


def write_jsonl(path: PathName, partial: PartialCorpus, *, gold: bool = False) -> None:
    """Write candidate sets as JSON lines, whole or not at all.

    Parameters
    ----------
    path : path-like
        The file.
    partial : PartialCorpus
        What to write; rows of one column are written as words.
    gold : bool
        Write the truth too.
    """
    truth = partial.gold if gold else None
    if gold and truth is None:
        raise InputError("expected a partial corpus with gold labels, found none.")
    order = partial.label_set.index

    def records() -> Iterator[dict[str, Any]]:
        for number, (rows, sets) in enumerate(partial):
            record: dict[str, Any] = {
                "tokens": [row[0] if len(row) == 1 else list(row) for row in rows],
                "candidates": [sorted(names, key=order) for names in sets],
            }
            if truth is not None:
                record["gold"] = truth[number]
            yield record

    write_json_lines(path, records())
