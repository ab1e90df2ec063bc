"""Documents as Arrow tables, one row a document, and back; nothing is lost.

The columns, all but ``id`` null where a document has none:

============= ==================================================================
``id``        string
``text``      string
``tokens``    list of strings
``columns``   per token, the list of its further columns (part of speech, …)
``offsets``   per token, ``{start, end}``: characters of the text, end exclusive
``sentences`` first token of each sentence, and the number of tokens
``spans``     ``{start, end, label, score, annotator, …}``: spans of all annotators
``tags``      ``{annotator, labels, scores, …}``: one entry a layer of tags
``layers``    ``{annotator, kind, scheme, meta}``, to which the entries of ``spans``
              and ``tags`` point by number (``layer``)
``meta``      JSON: what else the source had
============= ==================================================================

Where a span or a token has several labels, they are in ``candidates``, and the label is
the first of a span and null of a token. `iter_arrow` reads tables with some of these
columns too: ``text`` or ``tokens`` is enough, and ``labels`` (with ``confidences``, as
`tagsift.tag_table` adds them) are one layer of tags.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from tagsift.data.documents import Bounds, Document, Kind, Layer, Mark, Tag
from tagsift.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "arrow_schema",
    "arrow_table",
    "document_batches",
    "document_of",
    "iter_arrow",
    "record_of",
]

#: Documents of one record batch.
_BATCH = 1000
#: Who made the spans and tags of tables that do not say it.
_SOMEBODY = "annotator"


def arrow_schema() -> pa.Schema:
    """Schema of tables of documents, as above."""
    pa = _pyarrow()
    word, whole = pa.string(), pa.int64()
    words, bounds = pa.list_(word), pa.struct([("start", whole), ("end", whole)])
    span = [
        ("start", whole),
        ("end", whole),
        ("label", word),
        ("score", pa.float64()),
        ("annotator", word),
        ("layer", whole),
        ("candidates", words),
        ("pieces", pa.list_(bounds)),
        ("meta", word),
    ]
    tags = [
        ("annotator", word),
        ("layer", whole),
        ("labels", words),
        ("scores", pa.list_(pa.float64())),
        ("candidates", pa.list_(words)),
    ]
    layer = [("annotator", word), ("kind", word), ("scheme", word), ("meta", word)]
    return pa.schema(
        [
            pa.field("id", word, nullable=False),
            ("text", word),
            ("tokens", words),
            ("columns", pa.list_(words)),
            ("offsets", pa.list_(bounds)),
            ("sentences", pa.list_(whole)),
            ("spans", pa.list_(pa.struct(span))),
            ("tags", pa.list_(pa.struct(tags))),
            ("layers", pa.list_(pa.struct(layer))),
            ("meta", word),
        ]
    )


def arrow_table(documents: Iterable[Document]) -> pa.Table:
    """Table of documents, one row each."""
    return _pyarrow().Table.from_batches(document_batches(documents), arrow_schema())


def document_batches(documents: Iterable[Document]) -> Iterator[pa.RecordBatch]:
    """Record batches of documents, made as they come."""
    batch_of = _pyarrow().RecordBatch.from_pylist
    schema = arrow_schema()
    records = map(record_of, documents)
    while chunk := list(islice(records, _BATCH)):
        yield batch_of(chunk, schema=schema)


def record_of(document: Document) -> dict[str, Any]:
    """One row of a table of documents, as plain Python."""
    rows, spans, tags = document.rows, [], []
    for number, layer in enumerate(document.layers):
        who = {"annotator": layer.annotator, "layer": number}
        spans += [_span_record(mark, document.id) | who for mark in layer.marks or ()]
        if layer.tags is not None:
            tags.append(_tags_record(layer) | who)
    wide = rows is not None and any(len(row) > 1 for row in rows)
    return {
        "id": document.id,
        "text": document.text,
        "tokens": None if rows is None else [row[0] for row in rows],
        "columns": [list(row[1:]) for row in rows or ()] if wide else None,
        "offsets": _bounds_records(document.offsets),
        "sentences": _list_or_none(document.sentences),
        "spans": spans,
        "tags": tags,
        "layers": [
            {
                "annotator": layer.annotator,
                "kind": layer.kind,
                "scheme": layer.scheme,
                "meta": _json(layer.meta, document.id),
            }
            for layer in document.layers
        ],
        "meta": _json(document.meta, document.id),
    }


def _span_record(mark: Mark, name: str) -> dict[str, Any]:
    return {
        "start": mark.start,
        "end": mark.end,
        "label": mark.labels[0] if mark.labels else None,
        "score": mark.score,
        "candidates": list(mark.labels) if len(mark.labels) > 1 else None,
        "pieces": _bounds_records(mark.pieces) if mark.pieces else None,
        "meta": _json(mark.meta, name),
    }


def _tags_record(layer: Layer) -> dict[str, Any]:
    assert layer.tags is not None
    plain = all(tag is None or isinstance(tag, str) for tag in layer.tags)
    sets = None if plain else [_names(tag) for tag in layer.tags]
    several = sets is not None and any(names and len(names) > 1 for names in sets)
    return {
        "labels": list(layer.tags)
        if sets is None
        else [names[0] if names and len(names) == 1 else None for names in sets],
        "scores": _list_or_none(layer.scores),
        "candidates": sets if several else None,
    }


def _names(tag: Tag) -> list[str] | None:
    return tag if tag is None else [tag] if isinstance(tag, str) else sorted(tag)


def _bounds_records(bounds: Sequence[Bounds] | None) -> list[dict[str, int]] | None:
    return None if bounds is None else [{"start": a, "end": b} for a, b in bounds]


def _list_or_none(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _json(meta: Mapping[str, Any], name: str) -> str | None:
    if not meta:
        return None
    try:
        return json.dumps(meta, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"document {name!r}: expected metadata that JSON can hold; {error}."
        ) from None


def iter_arrow(table: Any) -> Iterator[Document]:
    """Documents of an Arrow table, batch or stream, one by one."""
    pa = _pyarrow()
    if isinstance(table, pa.RecordBatch):
        batches: Iterable[Any] = [table]
    elif isinstance(table, pa.Table):
        batches = table.to_batches(_BATCH)
    elif hasattr(table, "__arrow_c_stream__"):
        batches = pa.RecordBatchReader.from_stream(table)
    else:
        raise InputError(
            f"expected an Arrow table or stream, found {type(table).__name__}."
        )
    records = (record for batch in batches for record in batch.to_pylist())
    for number, record in enumerate(records):
        yield document_of(record, number)


def document_of(record: Mapping[str, Any], number: int) -> Document:
    """Document of one row, the `number`-th of its table."""
    given = {name: value for name, value in record.items() if value is not None}
    name = str(given.pop("id", number))
    try:
        text, offsets = given.pop("text", None), given.pop("offsets", None)
        rows = _rows(given.pop("tokens", None), given.pop("columns", None))
        sentences = given.pop("sentences", None)
        if isinstance(given.get("labels"), list) and "tags" not in given:
            _take_labels(given, "confidences" in record)
        layers = _layers(
            given.pop("layers", None), given.pop("spans", ()), given.pop("tags", ())
        )
        meta = _from_json(given.pop("meta", None))
        document = Document(
            name,
            text,
            rows,
            None if offsets is None else tuple(map(_bounds, offsets)),
            None if sentences is None else tuple(map(int, sentences)),
            layers,
            {**meta, **given},
        )
    except InputError:
        raise
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(
            f"row {number} ({name!r}): expected the columns of to_arrow, found others "
            f"({type(error).__name__}: {error})."
        ) from None
    wrong = _wrong(document)
    if wrong:
        raise InputError(f"row {number} ({name!r}): expected {wrong}.")
    return document


def _wrong(document: Document) -> str | None:
    """What a document of a table should have been; None where all is well."""
    text, rows = document.text, document.rows
    if not isinstance(text or "", str):
        return f"text as a string, found {type(text).__name__}"
    size, length = len(rows or ()), len(text or "")
    if not all(isinstance(cell, str) for row in rows or () for cell in row):
        return "tokens as lists of strings"
    flat = [place for pair in document.offsets or () for place in pair]
    if document.offsets is not None and (
        len(flat) != 2 * size or flat != sorted(flat) or not _inside(flat, length)
    ):
        return f"offsets of the {size} tokens, in order, in {length} characters of text"
    cuts = document.sentences
    if cuts is not None and (list(cuts) != sorted(cuts) or not _inside(cuts, size)):
        return f"sentences as numbers of tokens, in order, up to {size}"
    for layer in document.layers:
        if layer.tags is not None and (rows is None or len(layer.tags) != size):
            return f"a tag for each of the {size} tokens, found {len(layer.tags)}"
        for mark in layer.marks or ():
            bounds = mark.pieces or ((mark.start, mark.end),)
            if text is not None and not all(0 <= a < b <= length for a, b in bounds):
                where = f"{mark.start}:{mark.end}"
                return f"spans in the {length} characters of the text, found {where}"
    return None


def _inside(places: Sequence[int], end: int) -> bool:
    return not places or (places[0] >= 0 and places[-1] <= end)


def _take_labels(given: dict[str, Any], tagged: bool) -> None:
    """Labels of tokens as a layer of tags; spans that `tag_table` made of them go."""
    labels, scores = given.pop("labels"), given.pop("confidences", None)
    given["tags"] = [{"labels": labels, "scores": scores}]
    if tagged:
        given.pop("spans", None)
        given["tags"][0] |= {"annotator": "tagsift", "layer": 0}
        given["layers"] = [{"annotator": "tagsift", "kind": "model"}]


def _rows(
    tokens: Sequence[str] | None, columns: Sequence[Sequence[str]] | None
) -> tuple[tuple[str, ...], ...] | None:
    if tokens is None:
        return None
    if isinstance(tokens, str):
        raise TypeError("a string of tokens")
    more: Iterable[Sequence[str]] = [()] * len(tokens) if columns is None else columns
    return tuple((word, *rest) for word, rest in zip(tokens, more, strict=True))


def _layers(
    layers: Sequence[Mapping[str, Any]] | None,
    spans: Sequence[Mapping[str, Any]],
    tags: Sequence[Any],
) -> tuple[Layer, ...]:
    """Layers as they were, or one an annotator where the table does not say."""
    if len(tags) and not isinstance(tags[0], Mapping):
        tags = [{"labels": tags}]
    marks: dict[Any, list[Mark]] = {}
    tagged: dict[Any, Mapping[str, Any]] = {}
    key = "annotator" if layers is None else "layer"
    for span in spans:
        marks.setdefault(span.get(key) or 0, []).append(_mark(span))
    for entry in tags:
        tagged[entry.get(key) or 0] = entry
    if layers is None:
        found = [{"annotator": who or _SOMEBODY} for who in (*marks, *tagged)]
        said = zip((*marks, *tagged), found, strict=True)
    else:
        said = zip(range(len(layers)), layers, strict=True)  # type: ignore[arg-type]
    return tuple(
        _layer(about, marks.get(number, []), tagged.get(number))
        for number, about in said
    )


def _layer(
    about: Mapping[str, Any], marks: list[Mark], tags: Mapping[str, Any] | None
) -> Layer:
    entry = tags or {}
    scores = entry.get("scores")
    return Layer(
        about["annotator"],
        cast(Kind, about.get("kind") or "person"),
        None if tags is not None else tuple(marks),
        None if tags is None else _tags(entry),
        about.get("scheme"),
        None if scores is None else tuple(scores),
        _from_json(about.get("meta")),
    )


def _tags(entry: Mapping[str, Any]) -> tuple[Tag, ...]:
    candidates = entry.get("candidates")
    if candidates is None:
        return tuple(entry["labels"])
    return tuple(
        names if names is None else names[0] if len(names) == 1 else frozenset(names)
        for names in candidates
    )


def _mark(span: Mapping[str, Any]) -> Mark:
    label = span.get("label")
    return Mark(
        int(span["start"]),
        int(span["end"]),
        tuple(span.get("candidates") or ([] if label is None else [label])),
        span.get("score"),
        tuple(map(_bounds, span.get("pieces") or ())),
        _from_json(span.get("meta")),
    )


def _bounds(entry: Any) -> Bounds:
    if isinstance(entry, Mapping):
        return int(entry["start"]), int(entry["end"])
    start, end = entry
    return int(start), int(end)


def _from_json(text: Any) -> dict[str, Any]:
    if text is None or isinstance(text, Mapping):
        return dict(text or {})
    found = json.loads(text)
    if not isinstance(found, dict):
        raise InputError(f"expected metadata as a JSON object, found {text[:40]!r}.")
    return found


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", extra="arrow", what="a table of documents"
        ) from None
    return pyarrow
