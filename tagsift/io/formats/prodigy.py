"""Prodigy's JSON lines: one answer of one annotator a line.

Answers to the same text that stand one after the other are one document. Only what was
accepted is a vote; what was rejected or ignored is kept, counted, and written back. A
line with spans and no answer is a suggestion of a model. What is neither, the truth
among it, says so under ``_kind``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

from tagsift.data.documents import Bounds, Document, Kind, Layer, Mark
from tagsift.io.column_file import PathName
from tagsift.io.formats import _spans
from tagsift.io.formats import _tables as tables
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place, first_record, iter_records, write_lines
from tagsift.io.formats._spans import Counted, as_own, own

__all__ = ["FORMAT"]

_NAME = "prodigy"
_DOCUMENT = ("id", "text", "tokens", "meta", "spans")
_SPAN = ("token_start", "token_end")
_ANSWERS = (None, "accept", "reject", "ignore")
_WHO = ("_annotator_id", "_session_id")


def _read_prodigy(path: PathName, options: Options) -> Iterator[Document]:
    numbered = enumerate(iter_records(path), 1)
    yield from _spans.joined(
        _prodigy_document(record, place, options, str(number))
        for number, (place, record) in numbered
    )


def _prodigy_document(
    record: dict[str, Any], place: Place, options: Options, number: str
) -> Document:
    text = place.need(record, options.text_key or "text", str)
    counted = Counted(text, _unit(record, text, options))
    tokens = place.take(record, "tokens", list, None)
    offsets = None if tokens is None else _token_offsets(tokens, counted, place)
    more = _token_data(tokens or (), counted, offsets or ())
    hashed = record.get("_input_hash")
    name = place.identity(record, "id", number if hashed is None else str(hashed))
    if "id" not in record and hashed is None:
        more["numbered"] = True
    keys = _spans.without(record, *_DOCUMENT)
    answer, spans = record.get("answer"), place.take(record, "spans", list, None)
    if answer not in _ANSWERS:
        shown = f"found {str(answer)[:40]!r}."
        raise place.at("answer").error(f"expected accept, reject or ignore, {shown}")
    layers = []
    if answer in ("reject", "ignore"):
        options.losses.note(f"answer {answer}, no vote", name, lost=False)
        more["answers"] = [{**keys, "spans": spans or []}]
    elif spans is not None or answer is not None:
        marks = tuple(
            _prodigy_mark(one, here, counted, offsets)
            for here, one in place.at("spans").items(spans or [], dict)
        )
        layers.append(_prodigy_layer(keys, marks, options))
    else:
        more |= keys
    meta = dict(place.take(record, "meta", dict, {})) | as_own(_NAME, more)
    rows = None if tokens is None else tuple((token["text"],) for token in tokens)
    made = Document(name, text, rows, offsets, None, tuple(layers), meta)
    return _spans.note_words(made, options.losses)


def _prodigy_layer(
    keys: dict[str, Any], marks: tuple[Mark, ...], options: Options
) -> Layer:
    who = next((str(keys[k]) for k in _WHO if keys.get(k) is not None), None)
    usual: Kind = "person" if keys.pop("answer", None) else "model"
    if who is not None and keys.get("_annotator_id") == who != keys.get("_session_id"):
        del keys["_annotator_id"]
    kind = _spans.kind_in(keys, "_kind", usual)
    name = who or options.annotator or _NAME
    return Layer(name, kind, marks, meta=as_own(_NAME, keys))


def _unit(record: dict[str, Any], text: str, options: Options) -> str:
    """How offsets count; the last token says it, which is furthest off."""
    tokens = record.get("tokens")
    last = tokens[-1] if isinstance(tokens, list) and tokens else None
    token = last if isinstance(last, dict) else {}
    start, end, word = (token.get(key) for key in ("start", "end", "text"))
    return _spans.unit_of(text, start, end, word, options.offsets)


def _token_offsets(
    tokens: list[Any], counted: Counted, place: Place
) -> tuple[Bounds, ...]:
    offsets, before = [], 0
    for here, token in place.at("tokens").items(tokens, dict):
        start, end = counted.read(token.get("start"), token.get("end"), here)
        if start < before:
            raise here.error(f"expected tokens in order, found {start}:{end}.")
        if not here.need(token, "text", str):
            raise here.error("expected a word, found an empty one.")
        before = end
        offsets.append((start, end))
    return tuple(offsets)


def _token_data(
    tokens: Iterable[dict[str, Any]], counted: Counted, offsets: Iterable[Bounds]
) -> dict[str, Any]:
    """What else is known of the tokens, by their numbers."""
    more = []
    for number, (token, (_, end)) in enumerate(zip(tokens, offsets, strict=True)):
        extra = _spans.without(token, "text", "start", "end")
        if extra.get("id") == number:
            del extra["id"]
        if extra.get("ws") is (counted.text[end : end + 1] == " "):
            del extra["ws"]
        if extra:
            more.append([number, extra])
    return {"tokens": more} if more else {}


def _prodigy_mark(
    span: dict[str, Any],
    place: Place,
    counted: Counted,
    offsets: tuple[Bounds, ...] | None,
) -> Mark:
    bounds = None
    if offsets and span.get("start") is None and span.get("end") is None:
        first = place.need(span, "token_start", int)
        last = place.need(span, "token_end", int)
        if not 0 <= first <= last < len(offsets):
            raise place.error(
                f"expected tokens among the {len(offsets)}, found {first} to {last}."
            )
        bounds = offsets[first][0], offsets[last][1]
    return _spans.mark_in(span, counted, place, _NAME, *_SPAN, bounds=bounds)


def _write_prodigy(
    path: PathName, documents: Iterable[Document], options: Options
) -> None:
    write_lines(
        path, (record for one in documents for record in _prodigy_records(one, options))
    )


def _prodigy_records(document: Document, options: Options) -> Iterator[dict[str, Any]]:
    losses = options.losses
    document = tables.check_words(document).with_text()
    if len(document.bounds()) > 1:
        losses.note(f"sentences, which {_NAME} does not keep", document.id)
    if any(len(row) > 1 for row in document.rows or ()):
        losses.note(f"columns of tokens, which {_NAME} does not keep", document.id)
    more = own(document.meta, _NAME)
    extra, answers = dict(more.pop("tokens", [])), more.pop("answers", [])
    hashes = [more, *(own(layer.meta, _NAME) for layer in document.layers)]
    numbered = more.pop("numbered", False)
    hashed = any(str(one.get("_input_hash")) == document.id for one in hashes)
    counted = Counted.of(document.text, options)
    record: dict[str, Any] = {} if numbered or hashed else {"id": document.id}
    record["text"] = counted.text
    if document.rows is not None and document.offsets is not None:
        pairs = zip(document.tokens, document.offsets, strict=True)
        record["tokens"] = [
            _token(n, word, bounds, counted) | extra.get(n, {})
            for n, (word, bounds) in enumerate(pairs)
        ]
    meta = _spans.users(document, _NAME)
    tail = {"meta": meta} if meta else {}
    for layer in document.layers:
        marks = _spans.spanned(document, layer, _NAME, losses)
        spans = [
            {**one, **_on_tokens(mark, document)}
            for mark in marks
            for one in _spans.spans_of(mark, counted, _NAME)
        ]
        keys = own(layer.meta, _NAME)
        if layer.annotator not in (_NAME, *(keys.get(key) for key in _WHO)):
            keys["_annotator_id"] = layer.annotator
        model = layer.kind in ("model", "rule")
        verdict = {} if model else {"answer": "accept"}
        if layer.kind not in ("model", "person"):
            verdict["_kind"] = layer.kind
        yield {**record, "spans": spans, **verdict, **keys, **tail}
    for one in answers:
        yield {**record, **one, **tail}
    if not document.layers and not answers:
        yield {**record, **more, **tail}


def _token(number: int, word: str, bounds: Bounds, counted: Counted) -> dict[str, Any]:
    start, end = counted.write(*bounds)
    space = counted.text[bounds[1] : bounds[1] + 1] == " "
    return {"text": word, "start": start, "end": end, "id": number, "ws": space}


def _on_tokens(mark: Mark, document: Document) -> dict[str, int]:
    if not document.offsets:
        return {}
    first = bisect_left(document.offsets, (mark.start, 0))
    last = bisect_left([b for _, b in document.offsets], mark.end)
    return {"token_start": first, "token_end": last}


def _tells(head: str) -> bool:
    record = first_record(head)
    if not isinstance(record.get("text"), str):
        return False
    hashed = {"_input_hash", "_task_hash"} & set(record)
    if hashed or record.get("answer", 0) in _ANSWERS:
        return True
    spans = record.get("spans")
    return isinstance(spans, list) and all(
        isinstance(one, dict) and "label" in one and "quote" not in one for one in spans
    )


FORMAT = Format(
    _NAME,
    "Prodigy's JSON lines",
    _read_prodigy,
    _write_prodigy,
    endings=(".jsonl",),
    tells=_tells,
    spans=True,
)
