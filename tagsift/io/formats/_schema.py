"""What a document is as a record of JSON: the one schema behind all rows of documents.

JSON lines hold it as it stands; Arrow, Parquet and Hugging Face regroup it into columns
(`tagsift.io.arrow`, `tagsift.io.formats.hf`). What kinds of values do not say (offsets
inside the text, as many tags as tokens), `Document` and its parts say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from tagsift.data.documents import Bounds, Document, Kind, Layer, Mark, Tag
from tagsift.data.label_set import ANY
from tagsift.io.formats._json import Place

__all__ = ["DOCUMENT", "document_of", "record_of"]


class _Either(NamedTuple):
    """One of several kinds of values, and how messages call it."""

    words: str
    kinds: tuple[type, ...]
    inner: type = str  # what lists among them are of
    size: int | None = None  # of such lists

    def fits(self, value: Any) -> bool:
        if isinstance(value, list | tuple) and type(value) in self.kinds:
            right = len(value) == self.size if self.size else bool(value)
            return right and all(type(one) is self.inner for one in value)
        return type(value) in self.kinds


_PAIR = _Either("two whole numbers", (list, tuple), int, 2)
_WORD = _Either("a word or a list of columns", (str, list))
_TAG = _Either("one label, a list of some, or null for any", (str, list, type(None)))
_NAME = _Either("a name or a number", (str, int))
#: Kinds of values: a type, [elements of a list], (choices), or {keys of an object},
#: where those that are not `_NEEDED` may be missing or null.
_SPAN = {
    "start": int,
    "end": int,  # exclusive
    "label": str,
    "labels": [str],  # instead of one: candidates
    "score": float,
    "pieces": [_PAIR],
    "meta": dict,
}
_LAYER = {
    "annotator": str,
    "kind": get_args(Kind),
    "spans": [_SPAN],  # these, or tags
    "tags": [_TAG],  # one per token
    "scheme": str,
    "scores": [float],  # one per tag
    "meta": dict,
}
DOCUMENT = {
    "id": _NAME,
    "text": str,  # this, or tokens, or both
    "tokens": [_WORD],
    "offsets": [_PAIR],  # of the tokens
    "sentences": [int],  # first tokens, and the number of tokens
    "layers": [_LAYER],
    "candidates": [_TAG],  # one layer beside the tokens
    "gold": [_TAG],
    "meta": dict,
}
_NEEDED = ("annotator", "start", "end")


def _check(value: Any, kind: Any, place: Place) -> None:
    """Refuse a value that is not of its kind; the message says where."""
    if isinstance(kind, dict):
        place.be(value, dict)
        for key in kind:
            if key in _NEEDED:
                place.need(value, key, kind[key])
            elif value.get(key) is not None:
                _check(value[key], kind[key], place.at(key))
    elif isinstance(kind, list):
        _check_elements(place.be(value, list), kind[0], place)
    elif isinstance(kind, _Either):
        if not kind.fits(value):
            shown = "null" if value is None else repr(value)
            raise place.error(f"expected {kind.words}, found {shown[:60]}.")
    elif isinstance(kind, tuple):
        place.choice(value, kind)
    elif kind is float:
        place.score(value)
    else:
        place.be(value, kind)


def _check_elements(values: list[Any], kind: Any, place: Place) -> None:
    wrong: Iterable[int] = range(len(values))
    if isinstance(kind, _Either):
        wrong = (n for n, value in enumerate(values) if not kind.fits(value))
    elif isinstance(kind, type) and set(map(type, values)) <= {kind, type(None)}:
        wrong = () if kind is float or None not in values else wrong
    for number in wrong:
        _check(values[number], kind, place.at(number))


def document_of(
    record: dict[str, Any], place: Place, number: str, who: str = "candidates"
) -> Document:
    """The document of a record; `number` is its id and `who` its annotator if need be.

    Keys that are not those of a document are data of it.
    """
    _check(record, DOCUMENT, place)
    text, tokens = record.get("text"), record.get("tokens")
    if text is None and tokens is None:
        keys = ", ".join(sorted(record)[:9])[:200] or "no keys"
        raise place.error(f"expected 'text' or 'tokens', found {keys}.")
    with place.located():
        layers = [
            _layer(one, place.at("layers").at(n))
            for n, one in enumerate(record.get("layers") or ())
        ]
        if record.get("candidates") is not None:
            layers.append(Layer(who, tags=_tags(record["candidates"])))
        if record.get("gold") is not None:
            layers.append(Layer("gold", "gold", tags=_tags(record["gold"])))
        others = {key: one for key, one in record.items() if key not in DOCUMENT}
        return Document(
            place.identity(record, "id", number),
            text,
            None if tokens is None else tuple(map(_row, tokens)),
            _pairs(record.get("offsets")),
            None if record.get("sentences") is None else tuple(record["sentences"]),
            tuple(layers),
            {**others, **(record.get("meta") or {})},
        )


def _row(token: str | list[str]) -> tuple[str, ...]:
    return (token,) if isinstance(token, str) else tuple(token)


def _pairs(pairs: Sequence[Sequence[int]] | None) -> tuple[Bounds, ...] | None:
    return None if pairs is None else tuple((a, b) for a, b in pairs)


def _tags(tags: list[Any]) -> tuple[Tag, ...]:
    if all(type(tag) is str for tag in tags) and ANY not in tags:
        return tuple(tags)
    return tuple(map(_tag, tags))


def _tag(entry: str | list[str] | None) -> Tag:
    if entry is None or isinstance(entry, str):
        return None if entry == ANY else entry
    return entry[0] if len(entry) == 1 else frozenset(entry)


def _layer(record: dict[str, Any], place: Place) -> Layer:
    spans, tags, scores = map(record.get, ("spans", "tags", "scores"))
    return Layer(
        place.name(record, "annotator"),
        record.get("kind") or "person",
        None if spans is None else tuple(map(_mark, spans)),
        None if tags is None else _tags(tags),
        record.get("scheme"),
        None if scores is None else tuple(scores),
        record.get("meta") or {},
    )


def _mark(record: dict[str, Any]) -> Mark:
    return Mark(
        record["start"],
        record["end"],
        tuple(record.get("labels") or [record.get("label") or ""]),
        record.get("score"),
        _pairs(record.get("pieces")) or (),
        record.get("meta") or {},
    )


def record_of(document: Document) -> dict[str, Any]:
    tokens = None
    if document.rows is not None:
        tokens = [row[0] if len(row) == 1 else list(row) for row in document.rows]
    record = {
        "text": document.text,
        "tokens": tokens,
        "offsets": document.offsets,
        "sentences": document.sentences,
        "layers": [_layer_record(layer) for layer in document.layers] or None,
        "meta": dict(document.meta) or None,
    }
    return {"id": document.id, **_there(record)}


def _there(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: one for key, one in record.items() if one is not None}


def _layer_record(layer: Layer) -> dict[str, Any]:
    content: dict[str, Any] = {
        "spans": [_mark_record(mark) for mark in layer.marks or ()]
    }
    if layer.tags is not None:
        tags = (sorted(x) if isinstance(x, frozenset) else x for x in layer.tags)
        content = {"tags": list(tags), "scheme": layer.scheme, "scores": layer.scores}
    whole = {**content, "meta": dict(layer.meta) or None}
    return {"annotator": layer.annotator, "kind": layer.kind, **_there(whole)}


def _mark_record(mark: Mark) -> dict[str, Any]:
    one = len(mark.labels) == 1
    more = {
        "label": mark.labels[0] if one else None,
        "labels": None if one else mark.labels,
        "score": mark.score,
        "pieces": mark.pieces or None,
        "meta": dict(mark.meta) or None,
    }
    return {"start": mark.start, "end": mark.end, **_there(more)}
