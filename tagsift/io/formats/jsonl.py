"""Our own JSON lines, which hold everything that a document has.

One document a line: ``{"id": "7", "text": "Ann left.", "tokens": ["Ann", "left", "."],
"offsets": [[0, 3], [4, 8], [8, 9]], "sentences": [0, 3], "layers": [{"annotator":
"eve", "kind": "person", "spans": [{"start": 0, "end": 3, "label": "PER"}]}]}``.
Text or tokens must be there, the rest may be left out. A token may be a list of columns
instead of a word. A layer has ``spans`` or ``tags`` (one per token: a label, a list of
candidates, or null) with their ``scheme``. Candidate sets may also stand beside the
tokens, ``{"tokens": ["the", "lead"], "candidates": [["B-NP"], ["I-NP", "O"]]}``, with
``"gold"`` for the truth. Other keys are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, get_args

from tagsift.data.documents import Bounds, Document, Kind, Layer, Mark, Tag
from tagsift.data.label_set import ANY
from tagsift.data.rows import Row
from tagsift.io.column_file import PathName
from tagsift.io.formats._format import Format, Options
from tagsift.io.formats._json import Place, first_record, iter_records, write_lines
from tagsift.io.formats._spans import note_words

__all__ = ["FORMAT"]

_KINDS = get_args(Kind)
_KEYS = ("id", "text", "tokens", "offsets", "sentences", "layers", "meta")
_OLD = ("candidates", "gold")


def _read(path: PathName, options: Options) -> Iterator[Document]:
    for number, (place, record) in enumerate(iter_records(path), 1):
        yield _document(record, place, options, str(number))


def _document(
    record: dict[str, Any], place: Place, options: Options, number: str
) -> Document:
    text = record.get("text")
    if text is not None:
        text = place.need(record, "text", str)
    tokens = place.take(record, "tokens", list, None)
    if text is None and tokens is None:
        keys = ", ".join(sorted(record)[:9])[:200] or "no keys"
        raise place.error(f"expected 'text' or 'tokens', found {keys}.")
    rows = None if tokens is None else _rows(tokens, place.at("tokens"))
    offsets = None
    if record.get("offsets") is not None:
        offsets = _offsets(record, rows, text, place)
    size = 0 if rows is None else len(rows)
    layers = [
        _layer(one, here, size, text)
        for here, one in place.at("layers").items(
            place.take(record, "layers", list, []), dict
        )
    ]
    if "candidates" in record:
        tags = _tags(record, "candidates", size, place)
        layers.append(Layer(options.annotator or "candidates", tags=tags))
    if "gold" in record:
        tags = _tags(record, "gold", size, place)
        layers.append(Layer("gold", "gold", tags=tags))
    given = place.take(record, "meta", dict, {})
    others = {k: v for k, v in record.items() if k not in _KEYS and k not in _OLD}
    made = Document(
        place.identity(record, "id", number),
        text,
        rows,
        offsets,
        _sentences(record, size, place),
        tuple(layers),
        {**others, **given},
    )
    return note_words(made, options.losses)


def _rows(tokens: list[Any], place: Place) -> tuple[Row, ...]:
    rows: list[Row] = []
    for number, token in enumerate(tokens):
        if isinstance(token, str):
            rows.append((token,))
        elif (
            token
            and isinstance(token, list)
            and all(isinstance(cell, str) for cell in token)
        ):
            rows.append(tuple(token))
        else:
            raise place.at(number).error(
                f"expected a word or a list of columns, found {str(token)[:60]!r}."
            )
    return tuple(rows)


def _offsets(
    record: dict[str, Any],
    rows: tuple[Row, ...] | None,
    text: str | None,
    place: Place,
) -> tuple[Bounds, ...]:
    pairs = place.need(record, "offsets", list)
    if rows is None or text is None or len(pairs) != len(rows):
        raise place.error(
            "expected the offsets of every token in the text, found "
            f"{len(pairs)} of {len(rows or ())} tokens."
        )
    found = tuple(
        _bounds(pair, len(text), place.at("offsets").at(n))
        for n, pair in enumerate(pairs)
    )
    before = 0
    for number, (start, end) in enumerate(found):
        if start < before:
            raise (
                place.at("offsets")
                .at(number)
                .error(
                    f"expected tokens in the order of the text, found {start}:{end}."
                )
            )
        before = end
    return found


def _bounds(pair: Any, size: int, place: Place) -> Bounds:
    fits = isinstance(pair, list) and len(pair) == 2
    if not fits or not all(type(x) is int for x in pair):
        raise place.error(f"expected two whole numbers, found {str(pair)[:60]!r}.")
    if not 0 <= pair[0] <= pair[1] <= size:
        raise place.error(
            f"expected offsets inside the {size} characters, found "
            f"{str(pair[0])[:20]}:{str(pair[1])[:20]}."
        )
    return pair[0], pair[1]


def _sentences(
    record: dict[str, Any], size: int, place: Place
) -> tuple[int, ...] | None:
    if record.get("sentences") is None:
        return None
    cuts = place.need(record, "sentences", list)
    fits = all(type(cut) is int for cut in cuts) and cuts == sorted(cuts)
    if not fits or not cuts or (cuts[0], cuts[-1]) != (0, size):
        raise place.at("sentences").error(
            f"expected numbers of tokens in order from 0 to {size}, found "
            f"{str(cuts)[:60]}."
        )
    return tuple(cuts)


def _tags(record: dict[str, Any], key: str, size: int, place: Place) -> tuple[Tag, ...]:
    tags = place.need(record, key, list)
    if len(tags) != size:
        raise place.at(key).error(
            f"expected one entry for each of the {size} tokens, found {len(tags)}."
        )
    if all(type(tag) is str for tag in tags) and ANY not in tags:
        return tuple(tags)
    return tuple(_tag(tag, place.at(key).at(n)) for n, tag in enumerate(tags))


def _tag(entry: Any, place: Place) -> Tag:
    if entry is None or entry == ANY:
        return None
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, list) or not all(isinstance(x, str) for x in entry):
        raise place.error(
            f"expected a list of labels, one label or null, found {str(entry)[:60]}."
        )
    if not entry:
        raise place.error(
            "expected at least one candidate, found an empty list; write null for any "
            "label."
        )
    return entry[0] if len(entry) == 1 else frozenset(entry)


def _layer(record: dict[str, Any], place: Place, size: int, text: str | None) -> Layer:
    annotator = place.need(record, "annotator", str)
    if not annotator:
        raise place.at("annotator").error("expected a name, found an empty one.")
    kind = record.get("kind", "person")
    if kind not in _KINDS:
        raise place.at("kind").error(
            f"expected one of {', '.join(_KINDS)}, found {str(kind)[:40]!r}."
        )
    meta = place.take(record, "meta", dict, {})
    if ("spans" in record) == ("tags" in record):
        found = "both" if "spans" in record else "neither"
        raise place.error(f"expected 'spans' or 'tags', found {found}.")
    if "tags" in record:
        scores = place.take(record, "scores", list, None)
        if scores is not None and len(scores) != size:
            raise place.at("scores").error(
                f"expected one score for each of the {size} tokens, found "
                f"{len(scores)}."
            )
        return Layer(
            annotator,
            kind,
            tags=_tags(record, "tags", size, place),
            scheme=place.take(record, "scheme", str, None),
            scores=None
            if scores is None
            else tuple(place.at("scores").at(n).score(x) for n, x in enumerate(scores)),
            meta=meta,
        )
    marks = place.at("spans").items(place.need(record, "spans", list), dict)
    return Layer(
        annotator,
        kind,
        marks=tuple(_mark(one, here, text) for here, one in marks),
        meta=meta,
    )


def _mark(record: dict[str, Any], place: Place, text: str | None) -> Mark:
    if text is None:
        raise place.error("expected spans of a text, found a document without one.")
    given = record.get("labels")
    labels = [record.get("label")] if given is None else given
    if not (isinstance(labels, list) and labels) or not all(
        isinstance(name, str) and name for name in labels
    ):
        raise place.error(
            f"expected 'label' with a name or 'labels' with some, found "
            f"{str(labels)[:60]}."
        )
    pieces = place.take(record, "pieces", list, [])
    return Mark(
        *_bounds([record.get("start"), record.get("end")], len(text), place),
        tuple(labels),
        place.at("score").score(record.get("score")),
        tuple(
            _bounds(p, len(text), place.at("pieces").at(n))
            for n, p in enumerate(pieces)
        ),
        place.take(record, "meta", dict, {}),
    )


def _write(path: PathName, documents: Iterable[Document], options: Options) -> None:
    write_lines(path, map(_record, documents))


def _record(document: Document) -> dict[str, Any]:
    record: dict[str, Any] = {"id": document.id}
    if document.text is not None:
        record["text"] = document.text
    if document.rows is not None:
        record["tokens"] = [r[0] if len(r) == 1 else list(r) for r in document.rows]
    if document.offsets is not None:
        record["offsets"] = document.offsets
    if document.sentences is not None:
        record["sentences"] = document.sentences
    if document.layers:
        record["layers"] = [_layer_record(layer) for layer in document.layers]
    if document.meta:
        record["meta"] = dict(document.meta)
    return record


def _layer_record(layer: Layer) -> dict[str, Any]:
    record: dict[str, Any] = {"annotator": layer.annotator, "kind": layer.kind}
    if layer.tags is not None:
        record["tags"] = [
            sorted(tag) if isinstance(tag, frozenset) else tag for tag in layer.tags
        ]
        if layer.scheme is not None:
            record["scheme"] = layer.scheme
        if layer.scores is not None:
            record["scores"] = layer.scores
    else:
        record["spans"] = [_mark_record(mark) for mark in layer.marks or ()]
    if layer.meta:
        record["meta"] = dict(layer.meta)
    return record


def _mark_record(mark: Mark) -> dict[str, Any]:
    record: dict[str, Any] = {"start": mark.start, "end": mark.end}
    if len(mark.labels) == 1:
        record["label"] = mark.labels[0]
    else:
        record["labels"] = mark.labels
    if mark.score is not None:
        record["score"] = mark.score
    if mark.pieces:
        record["pieces"] = mark.pieces
    if mark.meta:
        record["meta"] = dict(mark.meta)
    return record


def _tells(head: str) -> bool:
    record = first_record(head)
    if "layers" in record or {"tokens", "candidates"} <= set(record):
        return True
    return bool({"text", "tokens"} & set(record)) and set(record) <= set(_KEYS)


FORMAT = Format(
    "jsonl",
    "JSON lines of documents or of candidate sets",
    _read,
    _write,
    endings=(".jsonl", ".ndjson"),
    tells=_tells,
)
