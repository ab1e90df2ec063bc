"""Prodigy's JSON lines: one answer of one annotator a line.

Answers to the same text that stand one after the other are one document. Only what was
accepted is a vote; what was rejected or ignored is kept, counted, and written back. A
line with spans and no answer is a suggestion of a model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

from tagsift.data.documents import Bounds, Document, Layer, Mark
from tagsift.data.rows import Row
from tagsift.io.column_file import PathName
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place, first_record, iter_records, write_lines
from tagsift.io.formats._spans import (
    Counted,
    joined,
    kept,
    labels_of,
    note_words,
    own,
    spanned,
    unit_of,
    users,
)

__all__ = ["FORMAT"]

_NAME = "prodigy"
_DOCUMENT = ("id", "text", "tokens", "meta")
_SPAN = ("start", "end", "token_start", "token_end", "label", "score")
_ANSWERS = (None, "accept", "reject", "ignore")
_WHO = ("_annotator_id", "_session_id")


def _read(path: PathName, options: Options) -> Iterator[Document]:
    numbered = enumerate(iter_records(path), 1)
    yield from joined(
        _document(record, place, options, str(number))
        for number, (place, record) in numbered
    )


def _document(
    record: dict[str, Any], place: Place, options: Options, number: str
) -> Document:
    text = place.need(record, options.text_key or "text", str)
    counted = Counted(text, _unit(record, text, options))
    rows, offsets, more = _tokens(record, counted, place)
    hashed = record.get("_input_hash")
    name = place.identity(record, "id", number if hashed is None else str(hashed))
    meta = dict(place.take(record, "meta", dict, {}))
    keys = {k: v for k, v in record.items() if k not in (*_DOCUMENT, "spans")}
    if "id" not in record and hashed is None:
        more["numbered"] = True
    answer = record.get("answer")
    if answer not in _ANSWERS:
        found = f"found {str(answer)[:40]!r}."
        raise place.at("answer").error(f"expected accept, reject or ignore, {found}")
    spans = place.take(record, "spans", list, None)
    layers = []
    if answer in ("reject", "ignore"):
        options.losses.note(f"answer {answer}, no vote", name, lost=False)
        more["answers"] = [{**keys, "spans": spans or []}]
    elif spans is not None or answer is not None:
        who = next((str(keys[k]) for k in _WHO if keys.get(k) is not None), None)
        marks = place.at("spans").items(spans or [], dict)
        keys.pop("answer", None)
        if who is not None and keys.get("_annotator_id") == who:
            if keys.get("_session_id") != who:
                del keys["_annotator_id"]
        layers.append(
            Layer(
                who or options.annotator or _NAME,
                "model" if answer is None else "person",
                marks=tuple(_mark(one, here, counted, offsets) for here, one in marks),
                meta=kept(_NAME, keys),
            )
        )
    else:
        more |= keys
    meta |= kept(_NAME, more)
    made = Document(name, text, rows, offsets, None, tuple(layers), meta)
    return note_words(made, options.losses)


def _unit(record: dict[str, Any], text: str, options: Options) -> str:
    """How offsets count; the last token says it, which is furthest off."""
    tokens = record.get("tokens")
    last = tokens[-1] if isinstance(tokens, list) and tokens else None
    token = last if isinstance(last, dict) else {}
    start, end, word = (token.get(key) for key in ("start", "end", "text"))
    return unit_of(text, start, end, word, options.offsets)


def _tokens(
    record: dict[str, Any], counted: Counted, place: Place
) -> tuple[tuple[Row, ...] | None, tuple[Bounds, ...] | None, dict[str, Any]]:
    """The tokens, where they stand, and what else is known of them."""
    found = place.take(record, "tokens", list, None)
    if found is None:
        return None, None, {}
    rows, offsets, more = [], [], []
    before = 0
    for number, (here, token) in enumerate(place.at("tokens").items(found, dict)):
        start, end = counted.read(token.get("start"), token.get("end"), here)
        if start < before:
            raise here.error(f"expected tokens in order, found {start}:{end}.")
        before = end
        word = here.need(token, "text", str)
        if not word:
            raise here.error("expected a word, found an empty one.")
        rows.append((word,))
        offsets.append((start, end))
        space = counted.text[end : end + 1] == " "
        usual = {"id": number, "ws": space}
        known = ("text", "start", "end")
        extra = {
            k: v
            for k, v in token.items()
            if k not in known and (k not in usual or v != usual[k])
        }
        if extra:
            more.append([number, extra])
    return tuple(rows), tuple(offsets), {"tokens": more} if more else {}


def _mark(
    span: dict[str, Any],
    place: Place,
    counted: Counted,
    offsets: tuple[Bounds, ...] | None,
) -> Mark:
    start, end = span.get("start"), span.get("end")
    if start is None and end is None and offsets:
        first = place.need(span, "token_start", int)
        last = place.need(span, "token_end", int)
        if not 0 <= first <= last < len(offsets):
            raise place.error(
                f"expected tokens among the {len(offsets)}, found {first} to {last}."
            )
        bounds = offsets[first][0], offsets[last][1]
    else:
        bounds = counted.read(start, end, place)
    more = {k: v for k, v in span.items() if k not in _SPAN}
    return Mark(
        *bounds,
        labels_of(span.get("label"), place.at("label")),
        place.at("score").score(span.get("score")),
        meta=kept(_NAME, more),
    )


def _write(path: PathName, documents: Iterable[Document], options: Options) -> None:
    write_lines(
        path, (record for one in documents for record in _records(one, options))
    )


def _records(document: Document, options: Options) -> Iterator[dict[str, Any]]:
    losses = options.losses
    document = tables.check_words(document).with_text()
    if len(document.bounds()) > 1:
        losses.note(f"sentences, which {_NAME} does not keep", document.id)
    if any(len(row) > 1 for row in document.rows or ()):
        losses.note(f"columns of tokens, which {_NAME} does not keep", document.id)
    more = own(document.meta, _NAME)
    extra = dict(more.pop("tokens", []))
    answers = more.pop("answers", [])
    record: dict[str, Any] = {} if more.pop("numbered", 0) else {"id": document.id}
    if str(more.get("_input_hash")) == document.id or any(
        str(own(layer.meta, _NAME).get("_input_hash")) == document.id
        for layer in document.layers
    ):
        record = {}
    unit = "characters" if options.offsets == "auto" else options.offsets
    text = document.text or ""
    counted = Counted(text, unit)
    record["text"] = text
    if document.rows is not None and document.offsets is not None:
        record["tokens"] = [
            _token(n, row[0], bounds, counted) | extra.get(n, {})
            for n, (row, bounds) in enumerate(
                zip(document.rows, document.offsets, strict=True)
            )
        ]
    meta = users(document, _NAME)
    tail = {"meta": meta} if meta else {}
    for layer in document.layers:
        kinds = ("person", "model")
        marks = spanned(document, layer, _NAME, losses, kinds=kinds)
        spans = [one for mark in marks for one in _spans(mark, counted, document)]
        keys = own(layer.meta, _NAME)
        if layer.annotator not in (_NAME, *(keys.get(key) for key in _WHO)):
            keys["_annotator_id"] = layer.annotator
        answer = {} if layer.kind in ("model", "rule") else {"answer": "accept"}
        yield {**record, "spans": spans, **answer, **keys, **tail}
    for one in answers:
        yield {**record, **one, **tail}
    if not document.layers and not answers:
        yield {**record, **more, **tail}


def _token(number: int, word: str, bounds: Bounds, counted: Counted) -> dict[str, Any]:
    start, end = counted.write(*bounds)
    space = counted.text[bounds[1] : bounds[1] + 1] == " "
    return {"text": word, "start": start, "end": end, "id": number, "ws": space}


def _spans(
    mark: Mark, counted: Counted, document: Document
) -> Iterator[dict[str, Any]]:
    start, end = counted.write(mark.start, mark.end)
    for label in mark.labels:
        span: dict[str, Any] = {"start": start, "end": end}
        if document.offsets:
            first = bisect_left(document.offsets, (mark.start, 0))
            last = bisect_left([b for _, b in document.offsets], mark.end)
            span |= {"token_start": first, "token_end": last}
        span["label"] = label
        if mark.score is not None:
            span["score"] = mark.score
        yield {**span, **own(mark.meta, _NAME)}


def _tells(head: str) -> bool:
    record = first_record(head)
    if not isinstance(record.get("text"), str):
        return False
    if {"_input_hash", "_task_hash"} & set(record) or record.get(
        "answer", 0
    ) in _ANSWERS:
        return True
    spans = record.get("spans")
    return isinstance(spans, list) and all(
        isinstance(one, dict) and "label" in one and "quote" not in one for one in spans
    )


FORMAT = Format(
    _NAME,
    "Prodigy's JSON lines",
    _read,
    _write,
    endings=(".jsonl",),
    tells=_tells,
)
