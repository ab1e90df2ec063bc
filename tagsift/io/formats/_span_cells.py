"""Spans as lists in the cells of a table: JSON, or as Python prints them."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Mapping
from itertools import islice
from typing import Any

from tagsift.data.documents import Mark
from tagsift.data.lossy import Losses
from tagsift.io.formats._json import Place
from tagsift.io.formats._spans import Counted, as_own, labels_of, squeezed, unit_of

__all__ = ["NAME", "NOTHING", "holds_spans", "listed", "mark_of"]

NAME = "spans-csv"
#: Cells of annotators who have not labelled a document.
NOTHING = ("", "null", "None", "nan", "NaN")
_TRIPLE = ("start", "end", "label")
#: Other names of the keys of a span.
_KEYS = {
    "start": ("start", "start_offset", "begin", "start_char"),
    "end": ("end", "end_offset", "stop", "end_char"),
    "label": ("label", "labels", "type", "tag", "entity", "entity_group", "category"),
    "text": ("text", "quote", "word"),
    "score": ("score", "confidence"),
}
_LONGEST = 1 << 20  # signs of a cell
_ROWS = 20


def listed(cell: str) -> list[dict[str, Any]] | None:
    """The spans of a cell by the keys above; None where it is no list of spans."""
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")) or len(text) > _LONGEST:
        return None
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError):
        try:
            entries = ast.literal_eval(text)  # as pandas writes lists of objects
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
    spans = [_span(one) for one in entries]
    return [one for one in spans if one] if all(spans) else None


def _span(entry: Any) -> dict[str, Any]:
    """A span by the usual keys, what else it has under its own; empty for others."""
    if isinstance(entry, list | tuple) and len(entry) == 3:
        entry = dict(zip(_TRIPLE, entry, strict=True))
    if not isinstance(entry, Mapping):
        return {}
    called = {
        next((name for name in names if name in entry), key): key
        for key, names in _KEYS.items()
    }
    span = {called.get(key, str(key)): value for key, value in entry.items()}
    return span if set(_TRIPLE) <= span.keys() else {}


def mark_of(
    span: dict[str, Any], text: str, offsets: str, place: Place, losses: Losses
) -> Mark:
    """The span in a text; what it quotes says how its offsets count."""
    start, end, quote = span["start"], span["end"], span.get("text")
    counted = Counted(text, unit_of(text, start, end, quote, offsets))
    bounds = counted.read(start, end, place)
    quoted = text[slice(*bounds)]
    if isinstance(quote, str) and squeezed(quote) != squeezed(quoted):
        kind = "span whose quoted text stands elsewhere, kept by its offsets"
        losses.note(kind, f"{place.file}, line {place.line}")
    more = {key: one for key, one in span.items() if key not in _KEYS}
    return Mark(
        *bounds,
        labels_of(span["label"], place),
        place.at("score").score(span.get("score")),
        meta=as_own(NAME, more),
    )


def holds_spans(head: str) -> bool:
    """Whether the first rows of a table have lists of spans in their cells."""
    lines = [line for line in head.split("\n") if line.strip()]
    first = lines[0] if lines else ""
    sign = max("\t,;", key=first.count)
    if sign not in first or first.lstrip()[:1] in "[{" or "[" not in head:
        return False
    try:
        rows = list(islice(csv.reader(lines, delimiter=sign), _ROWS))
    except csv.Error:
        return False
    return any(listed(cell) for row in rows for cell in row)
