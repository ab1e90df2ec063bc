"""Tables of documents: CSV or TSV with a header, spans as lists in the cells.

A column holds the text (``text``, or ``text_key=``), others spans: one an annotator, or
one beside a column of annotators, with a row an annotation (the CSV export of Label
Studio). A span is an object with ``start``, ``end`` and ``label``, as JSON or as Python
prints it, or a list of the three. An empty cell is no annotation, ``[]`` one that found
nothing. ``votes=`` tells which columns hold spans; others are metadata.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any

from tagsift.data.documents import Document, Kind, Layer
from tagsift.data.span_alignment import once
from tagsift.errors import DataError
from tagsift.io.column_file import PathName, located
from tagsift.io.column_roles import role_of
from tagsift.io.formats import _spans
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._cells import read_table, table_writer
from tagsift.io.formats._format import Format, Options, open_source, open_target
from tagsift.io.formats._json import Place
from tagsift.io.formats._span_cells import (
    NAME,
    NOTHING,
    holds_spans,
    listed,
    mark_of,
)
from tagsift.io.formats._spans import Counted, as_own, joined, own

__all__ = ["FORMAT"]

_TEXTS = ("text", "content", "body", "sentence", "comment", "message")
_PEOPLE = ("annotator", "annotator_id", "worker", "worker_id", "completed_by")
_IDS = ("id", "task", "task_id")
#: What Label Studio says of an annotation.
_OF_ROWS = ("annotation_id", "created_at", "updated_at", "lead_time")
#: Columns of spans that are no names of annotators.
_LABELS = ("label", "labels", "spans", "entities", "annotations", "ner")
_LOOKED_AT = 200  # rows that tell which columns hold spans


@dataclass(frozen=True)
class _Layout:
    """Which columns, counted from 0, are what."""

    text: int
    layers: dict[int, tuple[str, Kind]]
    id: int | None
    annotator: int | None  # where a row is an annotation
    rest: list[int]


def _read_spans_csv(path: PathName, options: Options) -> Iterator[Document]:
    yield from joined(_spans_csv_documents(path, options))


def _spans_csv_documents(path: PathName, options: Options) -> Iterator[Document]:
    with open_source(path) as stream:
        header, lines, unusual = read_table(stream, path)
        source = as_own(NAME, unusual)
        rows = (line for line in lines if line[1])
        first = list(islice(rows, _LOOKED_AT))
        with located(path, 1):
            layout = _lay_out(header, [cells for _, cells in first], options)
        if layout.annotator is None:
            people = ((header[i], layer) for i, layer in layout.layers.items())
            options.info.add_annotators(tables.annotators_in(people))
        number, before = 0, ""
        for line, cells in chain(first, rows):
            text = cells[layout.text]
            number += layout.annotator is None or text != before or not number
            before = text
            place = Place(path, line)
            made = _row_document(header, cells, str(number), layout, place, options)
            yield replace(made, meta={**made.meta, **source})
    if not number:
        raise DataError("expected at least one document, found none.", path)


def _lay_out(
    header: list[str], rows: Sequence[Sequence[str]], options: Options
) -> _Layout:
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    lower = [name.strip().lower() for name in header]
    spans = [i for i, cells in enumerate(columns) if _are_spans(header[i], cells)]
    unused: list[int] = []
    if options.votes is not None:
        asked = tables.vote_columns(header, options)
        unused, spans = [i for i in spans if i not in asked], asked
    for i in unused:
        kind = "column of labels that is not among the votes, left out"
        options.losses.note(kind, header[i], lost=False)
    text = _text(header, [i for i in range(len(header)) if i not in spans], options)
    others = [i for i in range(len(header)) if i not in (text, *spans, *unused)]
    annotator = next((i for i in others if lower[i] in _PEOPLE), None)
    ids = [i for i in others if lower[i] in _IDS or role_of(header[i]) == "document"]
    nobody = options.annotator or tables.LABELS
    layers: dict[int, tuple[str, Kind]] = {
        i: (nobody, "person")
        if lower[i] in _LABELS
        else tables.layer_of(header[i]) or (header[i], "person")
        for i in spans
    }
    if annotator is None:
        tables.check_names([name for name, _ in layers.values()])
    rest = [i for i in others if i not in (annotator, *ids[:1])]
    return _Layout(text, layers, ids[0] if ids else None, annotator, rest)


def _are_spans(name: str, cells: Iterable[str]) -> bool:
    lists = [listed(cell) for cell in cells if cell.strip() not in NOTHING]
    if not lists:
        return tables.layer_of(name) not in (None, (tables.LABELS, "person"))
    return None not in lists


def _text(header: list[str], places: list[int], options: Options) -> int:
    names = _TEXTS if options.text_key is None else (options.text_key,)
    for name in names:
        for i in places:
            if name in (header[i], header[i].strip().lower()):
                return i
    raise DataError(
        f"expected a column {names[0]!r} with the text, found "
        f"{', '.join(header)[:200]}; say which with --text-key (in Python text_key=)."
    )


def _row_document(
    header: list[str],
    cells: list[str],
    number: str,
    layout: _Layout,
    place: Place,
    options: Options,
) -> Document:
    text, more = cells[layout.text], {}
    for i in layout.rest:
        if cells[i]:
            more[header[i]] = cells[i]
        if listed(cells[i]):
            raise place.error(
                f"expected no spans in the column {header[i]!r}, which has none in the "
                f"first {_LOOKED_AT} rows; say which columns have with --votes (in "
                "Python votes=)."
            )
    marks = {
        i: [
            mark_of(span, text, options.offsets, place.at(header[i]), options.losses)
            for span in _spans_in(cells[i], place.at(header[i]))
        ]
        for i in layout.layers
        if cells[i].strip() not in NOTHING
    }
    if layout.annotator is None:
        layers = [
            Layer(*layout.layers[i], marks=tuple(some)) for i, some in marks.items()
        ]
    else:
        about = {key: more.pop(key) for key in _OF_ROWS if key in more}
        who = cells[layout.annotator] or "unknown"
        whole = tuple(chain.from_iterable(marks.values()))
        layers = [Layer(who, marks=whole, meta=as_own(NAME, about))]
        layers *= bool(cells[layout.annotator] or whole)  # nobody has labelled it
    name = number if layout.id is None else cells[layout.id] or number
    return Document(name, text, layers=tuple(layers), meta=more)


def _spans_in(cell: str, place: Place) -> list[dict[str, Any]]:
    spans = listed(cell)
    if spans is None:
        raise place.error(f"expected a list of spans, found {cell[:60]!r}.")
    return spans


def _write_spans_csv(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    survey = tables.Survey(NAME, options.info)
    meta: dict[str, None] = {}

    def see(document: Document) -> None:
        survey.see(document)
        meta.update(dict.fromkeys(tables.metadata(document, NAME)))

    ready = (_ready(document, options) for document in documents)
    with tables.kept_twice(ready, see) as again, open_target(path) as stream:
        writer = table_writer(stream, path, options, survey.source)
        headings = survey.headings()
        names = (f"{name}_" if name in ("id", "text") else name for name in meta)
        writer.writerow(["id", "text", *names, *headings.values()])
        for document in again:
            data = tables.metadata(document, NAME)
            if any(not isinstance(value, str) for value in data.values()):
                options.losses.note("metadata that is no text, now JSON", document.id)
            cells = {
                (layer.annotator, layer.kind): _listed(document, layer, options)
                for layer in document.layers
            }
            values = [data.get(key, "") for key in meta]
            values += [cells.get(key, "") for key in headings]
            writer.writerow([document.id, document.text, *map(_cell, values)])


def _ready(document: Document, options: Options) -> Document:
    document = once(document, options.again, options.losses, lost=True)
    if any(own(layer.meta, NAME) for layer in document.layers):
        options.losses.note("data of annotations, left out", document.id)
    return _spans.text_of(document, NAME, options.losses)


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _listed(document: Document, layer: Layer, options: Options) -> list[dict[str, Any]]:
    counted, text = Counted.of(document.text, options), document.text or ""
    spans = []
    for mark in _spans.spanned(document, layer, NAME, options.losses):
        start, end = counted.write(mark.start, mark.end)
        span: dict[str, Any] = {"start": start, "end": end}
        span["text"] = text[mark.start : mark.end]
        one = len(mark.labels) == 1
        span |= {"label": mark.labels[0]} if one else {"labels": list(mark.labels)}
        if mark.score is not None:
            span["score"] = mark.score
        spans.append(span | own(mark.meta, NAME))
    return spans


FORMAT = Format(
    NAME,
    "CSV or TSV with a header, one document a row, lists of spans in cells",
    _read_spans_csv,
    _write_spans_csv,
    (".csv", ".tsv"),
    holds_spans,
    tokens=False,
    spans=True,
    keeps=lambda path, options: frozenset(("annotators", "sources")),
)
