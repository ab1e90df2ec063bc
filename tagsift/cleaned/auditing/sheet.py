"""The sheet of an audit: the sentences that were drawn, to be read and mended.

A table with a header, separated by TABs (or, from a spreadsheet, by semicolons or
commas). Who has read a sentence writes ``yes`` into `looked` beside its first word, and
the right label into `right_label` wherever `label` is wrong.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from os import PathLike

from tagsift.cleaned.auditing.labels import AuditedLabels
from tagsift.errors import DataError
from tagsift.io.column_file import decode_line, open_bytes
from tagsift.storage import atomic_write

__all__ = ["read_sheet", "write_sheet"]

_COLUMNS = ("draw", "sentence", "looked", "word", "label", "right_label")


def write_sheet(
    path: str | PathLike[str],
    draw: str,
    labels: AuditedLabels,
    sentences: Sequence[int],
    answers: Mapping[int, Sequence[str]],
) -> None:
    """Write the sentences, with what was answered; whole or not at all."""
    with atomic_write(path) as stream:
        writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
        writer.writerow(_COLUMNS)
        for s in sentences:
            own = _labels(labels, s)
            right = answers.get(s)
            for t, word in enumerate(labels.corpus.tokens[s]):
                looked = "yes" if right is not None and t == 0 else ""
                mended = right[t] if right is not None and right[t] != own[t] else ""
                writer.writerow((draw, s + 1, looked, word, own[t], mended))


def read_sheet(
    path: str | PathLike[str],
    draw: str,
    labels: AuditedLabels,
    sentences: Sequence[int],
) -> dict[int, list[str]]:
    """The right labels of the sentences that were looked at.

    Raises
    ------
    DataError
        For a sheet of another draw, a sentence that was not drawn or that comes twice,
        words that are not those of the corpus, and corrections of a sentence that
        nobody says to have read.
    """
    rows: dict[int, list[dict[str, str]]] = {}
    at = dict[int, int]()
    drawn, before = set(sentences), -1
    for line, cells in _lines(path):
        if cells["draw"] != draw:
            raise DataError(
                f"expected the sheet of the draw {draw}, found {cells['draw']!r}; it "
                "is of another corpus, other labels or another seed. " + _NOTHING,
                path,
                line,
            )
        number = cells["sentence"]
        s = int(number) - 1 if number.isdecimal() else -1
        if s not in drawn:
            raise DataError(
                f"expected a sentence that was drawn, found {number!r}. {_NOTHING}",
                path,
                line,
            )
        if s != before and s in rows:
            raise DataError(
                f"expected every sentence once, found {number} again. {_NOTHING}",
                path,
                line,
            )
        rows.setdefault(s, []).append(cells)
        at.setdefault(s, line)
        before = s
    answers = {}
    for s, own_rows in rows.items():
        words = labels.corpus.tokens[s]
        if [one["word"] for one in own_rows] != words:
            raise DataError(
                f"expected the {len(words)} words of sentence {s + 1}, found others; "
                f"the corpus or the sheet has changed. {_NOTHING}",
                path,
                at[s],
            )
        own, mended = _labels(labels, s), [one["right_label"] for one in own_rows]
        looked = {one["looked"].lower() for one in own_rows} - {""}
        if looked - {"yes"} or (not looked and any(mended)):
            what = min(looked - {"yes"}) if looked else "corrections alone"
            raise DataError(
                f"expected 'yes' as looked beside sentence {s + 1}, once all of it has "
                f"been read, found {what}. {_NOTHING}",
                path,
                at[s],
            )
        if looked:
            answers[s] = [x or y for x, y in zip(mended, own, strict=True)]
            _check(answers[s], labels, s, path, at[s])
    return answers


_NOTHING = "Nothing was counted."


def _check(
    answer: list[str],
    labels: AuditedLabels,
    s: int,
    path: str | PathLike[str],
    line: int,
) -> None:
    for t, name in enumerate(answer):
        if name not in labels.corpus.label_set:
            shown = ", ".join(labels.names[:12])
            raise DataError(
                f"expected one of the labels {shown} for word {t + 1} of sentence "
                f"{s + 1}, found {name!r}. {_NOTHING}",
                path,
                line + t,
            )


def _labels(labels: AuditedLabels, s: int) -> list[str]:
    lo, hi = labels.corpus.bounds[s : s + 2]
    return [labels.names[code] for code in labels.codes[lo:hi]]


def _lines(path: str | PathLike[str]) -> list[tuple[int, dict[str, str]]]:
    """The number and the cells of every line below the header."""
    with open_bytes(path) as stream:
        lines = [decode_line(raw, path, n) for n, raw in enumerate(stream, 1)]
    head = lines[0] if lines else ""
    reader = csv.DictReader(lines, delimiter=max("\t;,", key=head.count), restval="")
    missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise DataError(
            "expected a sheet that tagsift audit wrote, with a column "
            f"{missing[0]!r}, found {head.strip()[:60]!r} as its first line. "
            + _NOTHING,
            path,
            1,
        )
    word = "word"
    return [
        (
            reader.line_num,
            {k: v if k == word else (v or "").strip() for k, v in cells.items() if k},
        )
        for cells in reader
    ]
