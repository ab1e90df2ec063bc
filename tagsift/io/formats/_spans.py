"""What formats of spans share: how offsets count, and what other formats know more."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import accumulate, groupby
from typing import Any, get_args

from tagsift.data.documents import Bounds, Document, Kind, Layer, Mark
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import layer_marks
from tagsift.io.formats._format import Options
from tagsift.io.formats._json import Place

__all__ = [
    "Counted",
    "as_number",
    "as_own",
    "joined",
    "kind_in",
    "labels_of",
    "looked_at",
    "mark_in",
    "note_kind",
    "note_words",
    "own",
    "spanned",
    "spans_of",
    "squeezed",
    "text_of",
    "unit_of",
    "users",
    "without",
]

_SPACE = re.compile(r"(\s|\\n)+")


@dataclass(frozen=True)
class Counted:
    """Offsets in a text, counted in characters, UTF-16 units or bytes."""

    text: str
    unit: str  # characters, utf-16 or bytes

    @classmethod
    def of(cls, text: str | None, options: Options) -> Counted:
        """Offsets as somebody says they count, else in characters."""
        unit = "characters" if options.offsets == "auto" else options.offsets
        return cls(text or "", unit)

    @cached_property
    def _at(self) -> list[int] | None:
        """Where each character begins, and the end; None where units are characters."""
        if self.unit == "characters" or self.text.isascii():
            return None
        if self.unit == "bytes":
            sizes = (len(sign.encode()) for sign in self.text)
        elif max(self.text) < "\U00010000":
            return None
        else:
            sizes = (1 + (sign > "\uffff") for sign in self.text)
        return list(accumulate(sizes, initial=0))

    def find(self, start: int, end: int) -> Bounds | None:
        """The characters between two offsets, or None where they hold none."""
        at = self._at
        size = len(self.text) if at is None else at[-1]
        if not 0 <= start <= end <= size:
            return None
        if at is None:
            return start, end
        first, last = bisect_left(at, start), bisect_left(at, end)
        return (first, last) if (at[first], at[last]) == (start, end) else None

    def read(self, start: Any, end: Any, place: Place) -> Bounds:
        """The characters between two offsets of a file."""
        if not (type(start) is int and type(end) is int):
            raise place.error(
                "expected two whole numbers as offsets, found "
                f"{str(start)[:20]!r} and {str(end)[:20]!r}."
            )
        bounds = self.find(start, end)
        if bounds is None:
            raise place.error(
                f"expected offsets in the {len(self.text)} characters of the text, "
                f"found {str(start)[:20]}:{str(end)[:20]}; see --offsets."
            )
        return bounds

    def write(self, start: int, end: int) -> Bounds:
        at = self._at
        return (start, end) if at is None else (at[start], at[end])


def note_words(document: Document, losses: Losses) -> Document:
    """Count tokens that are not what the text has at their offsets."""
    text, rows = document.text or "", document.rows or ()
    for row, (start, end) in zip(rows, document.offsets or (), strict=False):
        if text[start:end] != row[0]:
            kind = "token that is not what the text has at its offsets; see --offsets"
            losses.note(kind, f"{document.id}, {row[0][:40]!r} at {start}:{end}")
    return document


def squeezed(text: str) -> str:
    """A text without white space and line ends that were spelled out."""
    return _SPACE.sub("", text)


def unit_of(text: str, start: Any, end: Any, quote: Any, asked: str) -> str:
    """How the offsets of a span count, if need be by the text that it quotes."""
    if asked != "auto":
        return asked
    if not isinstance(quote, str) or type(start) is not int or type(end) is not int:
        return "characters"
    if text.isascii() or max(text) < "\U00010000":
        return "characters"
    for unit in ("characters", "utf-16"):
        bounds = Counted(text, unit).find(start, end)
        if bounds and squeezed(text[slice(*bounds)]) == squeezed(quote):
            return unit
    return "characters"


def as_number(name: str) -> int | str:
    return int(name) if re.fullmatch(r"0|[1-9]\d{0,17}", name, re.A) else name


def labels_of(value: Any, place: Place) -> tuple[str, ...]:
    """Check a label, or a list of them."""
    names = [value] if isinstance(value, str) else value
    if isinstance(names, list) and names and all(isinstance(x, str) for x in names):
        if all(names):
            return tuple(names)
    raise place.error(f"expected the name of a label, found {str(value)[:60]!r}.")


def without(record: Mapping[str, Any], *keys: str | None) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in keys}


def kind_in(record: dict[str, Any], key: str, usual: Kind) -> Kind:
    """The kind of a layer, which is taken from a record that tells it."""
    return record.pop(key) if record.get(key) in get_args(Kind) else usual


def mark_in(
    span: Mapping[str, Any],
    counted: Counted,
    place: Place,
    name: str,
    *used: str,
    bounds: Bounds | None = None,
    score: Any = None,
) -> Mark:
    """The mark of a span of the usual keys; others, but the `used`, are its data."""
    if bounds is None:
        bounds = counted.read(span.get("start"), span.get("end"), place)
    score = span.get("score") if score is None else score
    return Mark(
        *bounds,
        labels_of(span.get("label"), place.at("label")),
        place.at("score").score(score),
        meta=as_own(name, without(span, "start", "end", "label", "score", *used)),
    )


def spans_of(mark: Mark, counted: Counted, name: str) -> list[dict[str, Any]]:
    """The spans of a mark, one a label, by the usual keys."""
    start, end = counted.write(mark.start, mark.end)
    score = {} if mark.score is None else {"score": mark.score}
    return [
        {"start": start, "end": end, "label": label, **score, **own(mark.meta, name)}
        for label in mark.labels
    ]


def own(meta: Mapping[str, Any], name: str) -> dict[str, Any]:
    data = meta.get(name)
    return dict(data) if isinstance(data, Mapping) else {}


def as_own(name: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """What a format keeps for itself; nothing where there is nothing."""
    return {name: dict(more)} if more else {}


def users(document: Document, name: str) -> dict[str, Any]:
    """The user's own data, and what other formats kept."""
    return {key: value for key, value in document.meta.items() if key != name}


def looked_at(document: Document, options: Options) -> Document:
    """Count layers without a span, or leave them out where nobody looked there.

    Some tools write a document that nobody has touched like one in which nothing is.
    """
    note = options.losses.note
    empty = [layer for layer in document.layers if not layer.marks]
    if options.empty == "skipped":
        layers = tuple(layer for layer in document.layers if layer.marks)
        return replace(document, layers=layers) if empty else document
    if not empty or options.empty is not None:
        return document
    taken = "taken as looked at; else say --empty skipped"
    if len(empty) == len(document.layers):
        kind = f"document in which nobody marked anything, {taken}"
        note(kind, document.id, lost=False)
        return document
    for layer in empty:
        kind = f"document in which {layer.annotator} marked nothing and others did"
        note(f"{kind}, {taken}", f"{document.id}, {layer.annotator}", lost=False)
    return document


def text_of(document: Document, name: str, losses: Losses) -> Document:
    """A document with text, for a format that keeps no tokens."""
    if document.rows is not None:
        losses.note(f"tokens and sentences, which {name} does not keep", document.id)
    return document.with_text()


def note_kind(layer: Layer, name: str, where: str, losses: Losses) -> None:
    """Count a kind of annotator that is read as a person."""
    if layer.kind != "person":
        losses.note(f"annotator's kind {layer.kind}, which {name} does not keep", where)


def spanned(
    document: Document,
    layer: Layer,
    name: str,
    losses: Losses,
    *,
    scores: bool = True,
    pieces: bool = False,
    several: bool = True,
) -> Iterator[Mark]:
    """Spans of a layer, less what a format cannot hold, which is counted."""
    where = f"{document.id}, {layer.annotator}"
    if set(layer.meta) - {name}:
        losses.note(f"data of a layer, which {name} does not keep", where)
    for mark in layer_marks(document, layer, losses):
        at = f"{where}, {mark.start}:{mark.end}"
        if mark.score is not None and not scores:
            losses.note(f"score of a span, which {name} does not keep", at)
        if mark.pieces and not pieces:
            losses.note(f"span in pieces, of which {name} keeps the hull", at)
        if len(mark.labels) > 1 and not several:
            losses.note(f"span with several labels, of which {name} keeps one", at)
        if set(mark.meta) - {name}:
            losses.note(f"data of a span, which {name} does not keep", at)
        yield mark


def joined(documents: Iterable[Document]) -> Iterator[Document]:
    """Join neighbours of the same id and text: the layers of several annotators."""
    for _, group in groupby(documents, lambda one: (one.id, one.text, one.rows)):
        yield reduce(Document.joined, group)
