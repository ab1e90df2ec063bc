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
`tagsift.tag_table` adds them) are one layer of tags. What is known of the corpus as a
whole is JSON under ``tagsift`` in the metadata of the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from tagsift.data.documents import Document
from tagsift.errors import DataError, InputError, MissingExtraError
from tagsift.io.formats._corpus import CorpusInfo
from tagsift.io.formats._json import Place, dumped
from tagsift.io.formats._schema import document_of as document_of_record
from tagsift.io.formats._schema import record_of as document_record

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "arrow_schema",
    "arrow_table",
    "document_batches",
    "document_of",
    "iter_arrow",
    "read_info",
    "record_of",
    "with_info",
]

#: Documents of one record batch.
_BATCH = 1000
#: Who made the spans and tags of tables that do not say it.
_SOMEBODY = "annotator"
#: The key of `CorpusInfo` in the metadata of a schema.
_KEY = b"tagsift"


def arrow_schema(info: CorpusInfo | None = None) -> pa.Schema:
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
    schema = pa.schema(
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
    return schema if info is None else with_info(schema, info)


def with_info(schema: pa.Schema, info: CorpusInfo) -> pa.Schema:
    """A schema that says what is known of the corpus as a whole."""
    if not info:
        return schema
    more = {_KEY: dumped(info.record()).encode()}
    return schema.with_metadata({**(schema.metadata or {}), **more})


def read_info(schema: pa.Schema, info: CorpusInfo, file: Any = "table") -> None:
    """Take what a schema says of the corpus."""
    text = (schema.metadata or {}).get(_KEY)
    if text is not None:
        place = Place(file, None).at("tagsift")
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise place.error(
                f"expected JSON, found something else ({error})."
            ) from None
        info.add(place.be(record, dict), place)


def arrow_table(
    documents: Iterable[Document], info: CorpusInfo | None = None
) -> pa.Table:
    """Table of documents, one row each."""
    table = _pyarrow().Table.from_batches(document_batches(documents), arrow_schema())
    return table if info is None else table.cast(arrow_schema(info))


def document_batches(documents: Iterable[Document]) -> Iterator[pa.RecordBatch]:
    """Record batches of documents, made as they come."""
    batch_of = _pyarrow().RecordBatch.from_pylist
    schema = arrow_schema()
    records = map(record_of, documents)
    while chunk := list(islice(records, _BATCH)):
        yield batch_of(chunk, schema=schema)


def record_of(document: Document) -> dict[str, Any]:
    """One row of a table of documents, as plain Python."""
    record, rows = document_record(document), document.rows
    layers, spans, tags = [], [], []
    for number, layer in enumerate(record.get("layers", ())):
        who = {"annotator": layer["annotator"], "layer": number}
        about = {key: layer.get(key) for key in ("annotator", "kind", "scheme")}
        layers.append({**about, "meta": _json(layer, document.id)})
        spans += [_span_row(one, document.id) | who for one in layer.pop("spans", ())]
        if "tags" in layer:
            tags.append(_tags_row(layer) | who)
    wide = rows is not None and any(len(row) > 1 for row in rows)
    return {
        "id": document.id,
        "text": document.text,
        "tokens": None if rows is None else list(document.tokens),
        "columns": [list(row[1:]) for row in rows or ()] if wide else None,
        "offsets": _bounds_rows(document.offsets),
        "sentences": None if document.sentences is None else list(document.sentences),
        "spans": spans,
        "tags": tags,
        "layers": layers,
        "meta": _json(record, document.id),
    }


def _span_row(span: Mapping[str, Any], name: str) -> dict[str, Any]:
    labels = list(span.get("labels", ()))
    return {
        **span,
        "label": (labels or [span.get("label")])[0],
        "candidates": labels or None,
        "pieces": _bounds_rows(span.get("pieces")),
        "meta": _json(span, name),
    }


def _tags_row(layer: Mapping[str, Any]) -> dict[str, Any]:
    tags = layer["tags"]
    several = any(isinstance(tag, list) for tag in tags)
    sets = [[tag] if isinstance(tag, str) else tag for tag in tags]
    return {
        "labels": [tag if isinstance(tag, str) else None for tag in tags],
        "scores": None if layer.get("scores") is None else list(layer["scores"]),
        "candidates": sets if several else None,
    }


def _bounds_rows(
    bounds: Sequence[tuple[int, int]] | None,
) -> list[dict[str, int]] | None:
    return None if bounds is None else [{"start": a, "end": b} for a, b in bounds]


def _json(record: Mapping[str, Any], name: str) -> str | None:
    if not record.get("meta"):
        return None
    try:
        return json.dumps(record["meta"], ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"document {name!r}: expected metadata that JSON can hold; {error}."
        ) from None


def iter_arrow(table: Any, info: CorpusInfo | None = None) -> Iterator[Document]:
    """Documents of an Arrow table, batch or stream, one by one; `info` is filled."""
    pa = _pyarrow()
    if isinstance(table, pa.RecordBatch):
        batches: Iterable[Any] = [table]
    elif isinstance(table, pa.Table):
        batches = table.to_batches(_BATCH)
    elif hasattr(table, "__arrow_c_stream__"):
        batches = table = pa.RecordBatchReader.from_stream(table)
    else:
        raise InputError(
            f"expected an Arrow table or stream, found {type(table).__name__}."
        )
    if info is not None:
        read_info(table.schema, info)
    rows = (row for batch in batches for row in batch.to_pylist())
    for number, row in enumerate(rows):
        yield document_of(row, number)


def document_of(row: Mapping[str, Any], number: int, file: Any = None) -> Document:
    """Document of one row, the `number`-th of its table."""
    there = {name: value for name, value in row.items() if value is not None}
    place = Place(file, None).at(f"row {number}")
    try:
        if isinstance(there.get("labels"), list) and "tags" not in there:
            _take_labels(there, "confidences" in row)
        record = _record(there)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise InputError(
            f"row {number}: expected the columns of to_arrow, "
            f"found others ({type(error).__name__}: {error})."
        ) from None
    try:
        record |= {"id": str(record["id"])} if "id" in record else {}
        return document_of_record(record, place, str(number))
    except DataError as error:
        if file is not None:
            raise
        raise InputError(error.message) from None


def _take_labels(row: dict[str, Any], tagged: bool) -> None:
    """Labels of tokens as a layer of tags; spans that `tag_table` made of them go."""
    labels, scores = row.pop("labels"), row.pop("confidences", None)
    row["tags"] = [{"labels": labels, "scores": scores}]
    if tagged:
        row.pop("spans", None)
        row["tags"][0] |= {"annotator": "tagsift", "layer": 0}
        row["layers"] = [{"annotator": "tagsift", "kind": "model"}]


def _record(row: dict[str, Any]) -> dict[str, Any]:
    """The record of a document, of the columns of a row."""
    layers = _layers(row.pop("layers", None), row.pop("spans", ()), row.pop("tags", ()))
    tokens, columns = row.get("tokens"), row.pop("columns", None)
    if isinstance(tokens, str):
        raise TypeError("a string of tokens")
    if tokens is not None and columns is not None:
        pairs = zip(tokens, columns, strict=True)
        row["tokens"] = [[word, *more] if more else word for word, more in pairs]
    elif tokens is not None:
        row["tokens"] = list(tokens)
    if "offsets" in row:
        row["offsets"] = list(map(_pair, row["offsets"]))
    if "sentences" in row:
        row["sentences"] = list(map(int, row["sentences"]))
    row |= {"layers": layers} if layers else {}
    return row | ({"meta": _data(row["meta"])} if "meta" in row else {})


def _layers(
    layers: Sequence[Mapping[str, Any]] | None,
    spans: Sequence[Mapping[str, Any]],
    tags: Sequence[Any],
) -> list[dict[str, Any]]:
    """Layers as they were, or one an annotator where the table does not say."""
    if len(tags) and not isinstance(tags[0], Mapping):
        tags = [{"labels": tags}]
    key = "annotator" if layers is None else "layer"
    marks: dict[Any, list[dict[str, Any]]] = {}
    for span in spans:
        marks.setdefault(span.get(key) or 0, []).append(_span(span))
    tagged = {entry.get(key) or 0: entry for entry in tags}
    if layers is None:
        who = [*marks, *tagged]
        pairs = [(name, {"annotator": name or _SOMEBODY}) for name in who]
    else:
        pairs = list(enumerate(map(dict, layers)))
    made = []
    for number, about in pairs:
        layer = {**about, "meta": _data(about.get("meta"))}
        if number in tagged:
            entry = tagged[number]
            sets = entry.get("candidates")
            layer["tags"] = list(entry["labels"] if sets is None else sets)
            layer["scores"] = entry.get("scores")
        else:
            layer["spans"] = marks.get(number, [])
        made.append(layer)
    return made


def _span(span: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **span,
        "start": int(span["start"]),
        "end": int(span["end"]),
        "labels": span.get("candidates"),
        "pieces": list(map(_pair, span.get("pieces") or ())),
        "meta": _data(span.get("meta")),
    }


def _pair(entry: Any) -> list[int]:
    if isinstance(entry, Mapping):
        return [int(entry["start"]), int(entry["end"])]
    return list(map(int, entry))


def _data(text: Any) -> dict[str, Any]:
    """Data that a table has as JSON."""
    if text is None or isinstance(text, Mapping):
        return dict(text or {})
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"expected metadata as a JSON object, found {text[:40]!r}")
    return found


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError.for_package(
            "pyarrow", extra="arrow", what="a table of documents"
        ) from None
    return pyarrow
