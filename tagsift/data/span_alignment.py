"""Views of documents: tags of spans, spans of tags, labels, candidate sets, votes.

Spans keep their characters in a document, and only a view puts them on tokens. Where
the text was cut here, it was cut around them (`tagsift.data.cuts`); of tokens that came
with the text they get those that they touch, by default. Of spans that overlap, one is
kept. Each such case is counted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from tagsift.data.cuts import trimmed
from tagsift.data.documents import Document, Layer, Mark, Tag
from tagsift.data.lossy import Losses
from tagsift.data.rows import Row
from tagsift.data.schemes import (
    Span,
    check_one_kind,
    detect_scheme,
    spans,
    tags,
)
from tagsift.errors import DataError

__all__ = [
    "Again",
    "OnTokens",
    "layer_marks",
    "layer_tags",
    "layers_scheme",
    "once",
    "sentences_of",
    "with_labels",
    "without_unsure",
]


#: Which of several annotations of one text by one annotator counts.
Again: TypeAlias = Literal["last", "first", "error"]


@dataclass(frozen=True)
class OnTokens:
    """How spans of characters become tags of tokens."""

    scheme: str = "auto"  # of the tags; "auto" is that of tags, and IOB2 of spans
    misaligned: Literal["expand", "contract", "drop", "error"] = "expand"
    overlap: Literal["longest", "first", "error"] = "longest"
    again: Again = "last"
    losses: Losses = field(default_factory=Losses)


def layer_tags(document: Document, layer: Layer, how: OnTokens) -> list[Tag]:
    """Tags of a layer, one per token of a document that has been cut."""
    if layer.tags is not None:
        return list(layer.tags)
    scheme = "iob2" if how.scheme == "auto" else how.scheme
    found: list[Tag] = ["O"] * len(document.rows or ())
    bounds = document.bounds()
    starts = [a for a, _ in bounds]
    for start, end, labels in _kept(document, layer, how):
        if any(name[1:2] == "-" and name[0] in "BIES" for name in labels):
            kind = "span whose label is a tag, taken for the name of a type"
            where = f"{document.id}, {layer.annotator}, {labels[0]}"
            how.losses.note(kind, where, lost=False)
        parts = bounds[bisect_right(starts, start) - 1 : bisect_left(starts, end)]
        if len(parts) > 1:
            where = f"{document.id}, {layer.annotator}, tokens {start}:{end}"
            how.losses.note("span over the end of a sentence, cut there", where)
        for a, b in parts:
            lo, hi = max(a, start), min(b, end)
            before = found[lo - 1] if lo > a else "O"
            found[lo:hi] = _names(labels, hi - lo, scheme, before)
    return found


@lru_cache(4096)
def _names(
    labels: tuple[str, ...], length: int, scheme: str, before: Tag
) -> tuple[Tag, ...]:
    """Tags of one span; its neighbour on the left matters to some schemes."""
    left = spans([before], scheme) if isinstance(before, str) else []
    lead = [Span(one.type, 0, 1) for one in left]
    written = []
    for label in labels:
        chunk = Span(label, len(lead), len(lead) + length)
        written.append(tags([*lead, chunk], len(lead) + length, scheme)[len(lead) :])
    if len(written) == 1:
        return tuple(written[0])
    return tuple(frozenset(names) for names in zip(*written, strict=True))


def _placed(
    document: Document, layer: Layer, how: OnTokens
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """First token, the one after the last, and the labels of every span."""
    offsets = document.offsets or ()
    starts, ends = [a for a, _ in offsets], [b for _, b in offsets]
    note = how.losses.note
    for mark in layer.marks or ():
        where = f"{document.id}, {layer.annotator}, {mark.start}:{mark.end}"
        begin, stop = mark.start, mark.end
        if len(mark.pieces) > 1:
            if how.overlap == "error":
                raise DataError(f"{where}: expected spans in one piece, found several.")
            longest = how.overlap == "longest"
            begin, stop = max(
                mark.pieces, key=lambda piece: longest and piece[1] - piece[0]
            )
            note(f"span in pieces, of which the {how.overlap} is kept", where)
        lo, hi = bisect_right(ends, begin), bisect_left(starts, stop)
        if lo < hi and (starts[lo], ends[hi - 1]) != (begin, stop) and document.text:
            whole = begin, stop
            begin, stop = trimmed(document.text, begin, stop)
            lo, hi = bisect_right(ends, begin), bisect_left(starts, stop)
            if lo < hi and (begin, stop) != whole:
                note("span with blanks at its ends, which are trimmed", where)
        if lo >= hi:
            note("span over no token, left out", where)
            continue
        if (starts[lo], ends[hi - 1]) != (begin, stop):
            if how.misaligned == "error":
                raise DataError(
                    f"{where}: expected a span on token bounds, found one that cuts "
                    "tokens; see --misaligned."
                )
            if how.misaligned == "contract":
                lo, hi = bisect_left(starts, begin), bisect_right(ends, stop)
            if how.misaligned == "drop" or lo >= hi:
                note("span off the token bounds, left out", where)
                continue
            kept = "widened" if how.misaligned == "expand" else "narrowed"
            note(f"span off the token bounds, {kept} to tokens", where)
        yield lo, hi, mark.labels


def _kept(
    document: Document, layer: Layer, how: OnTokens
) -> list[tuple[int, int, tuple[str, ...]]]:
    """Spans that do not overlap, in order; those on the same tokens are joined."""
    joined: dict[tuple[int, int], tuple[str, ...]] = {}
    for lo, hi, labels in _placed(document, layer, how):
        before = joined.get((lo, hi), ())
        joined[lo, hi] = before + tuple(x for x in labels if x not in before)
    order = sorted(joined, key=lambda b: (b[0], -b[1]))
    if how.overlap == "longest":
        order.sort(key=lambda b: b[0] - b[1])
    taken: list[tuple[int, int]] = []  # in order, without overlaps
    for lo, hi in order:
        at = bisect_left(taken, (lo, hi))
        beside = taken[max(at - 1, 0) : at + 1]
        if any(a < hi and lo < b for a, b in beside):
            where = f"{document.id}, {layer.annotator}, tokens {lo}:{hi}"
            if how.overlap == "error":
                raise DataError(f"{where}: expected spans that do not overlap.")
            how.losses.note(
                f"overlapping span, of which the {how.overlap} stays", where
            )
            continue
        taken.insert(at, (lo, hi))
    return [(lo, hi, joined[lo, hi]) for lo, hi in taken]


def layer_marks(document: Document, layer: Layer, losses: Losses) -> tuple[Mark, ...]:
    """Spans of a layer, in the characters of a document that has text and tokens."""
    if layer.marks is not None:
        return layer.marks
    assert layer.tags is not None and document.offsets is not None
    scheme = layer.scheme or layers_scheme([layer])
    found = []
    for a, b in document.bounds():
        rows = [_one_prefix(tag) for tag in layer.tags[a:b]]
        odd = sum(names is None for names in rows)
        if odd:
            kind = "token without a label, or with candidates of several prefixes"
            losses.note(f"{kind}, which spans cannot hold", f"{document.id}, {a}:{b}")
        first = [names[0] if names else "O" for names in rows]
        chunks = spans(first, scheme)
        if scheme != "plain" and tags(chunks, b - a, scheme) != first:
            kind = "sentence with tags that break their scheme, mended as spans"
            losses.note(kind, f"{document.id}, {layer.annotator}, {a}:{b}")
        for type_, lo, hi in chunks:
            others = [
                {one.type for name in names or () for one in spans([name], scheme)}
                for names in rows[lo:hi]
            ]
            more = sorted(set.intersection(*others) - {type_})
            scores = (layer.scores or (None,) * len(layer.tags))[a + lo : a + hi]
            known = [score for score in scores if score is not None]
            where = document.offsets[a + lo][0], document.offsets[a + hi - 1][1]
            score = min(known) if known else None
            found.append(Mark(*where, (type_, *more), score))
    return tuple(found)


def _one_prefix(tag: Tag) -> tuple[str, ...] | None:
    """Labels of a token that differ in their types only, else None."""
    if tag is None:
        return None
    names = (tag,) if isinstance(tag, str) else tuple(sorted(tag))
    return names if len({name[:1] for name in names}) == 1 else None


def layers_scheme(layers: Iterable[Layer]) -> str:
    """The scheme in which tags are written; IOB2 where there are none."""
    layers = list(layers)
    told = {layer.scheme for layer in layers if layer.tags is not None}
    if len(told) == 1 and None not in told:
        return str(told.pop())
    exact = (
        [tag for tag in layer.tags or () if isinstance(tag, str)] for layer in layers
    )
    names = {
        name
        for layer in layers
        for tag in layer.tags or ()
        for name in ([tag] if isinstance(tag, str) else tag or ())
    }
    check_one_kind(names)
    return detect_scheme(exact, names) if names else "iob2"


def sentences_of(documents: Iterable[Document]) -> list[list[Row]]:
    """The rows of all sentences of documents that have been cut."""
    return [
        list((document.rows or ())[a:b])
        for document in documents
        for a, b in document.bounds()
    ]


def once(
    document: Document, again: Again, losses: Losses, *, lost: bool = False
) -> Document:
    """A document with one layer of each annotator, where some have several.

    The others are `lost` where the document is written without them.
    """
    layers: dict[tuple[str, str], Layer] = {}
    for layer in document.layers:
        key = (layer.annotator, layer.kind)
        if key in layers:
            where = f"{document.id}, {layer.annotator}"
            if again == "error":
                raise DataError(
                    f"{where}: expected one annotation by each annotator, found "
                    "several; say which counts with --again last or first (in Python "
                    "again=)."
                )
            kind = f"annotation made anew by its annotator, of which the {again} counts"
            losses.note(f"{kind}; see --again", where, lost=lost)
        if key not in layers or again == "last":
            layers[key] = layer
    if len(layers) == len(document.layers):
        return document
    return replace(document, layers=tuple(layers.values()))


def with_labels(
    documents: Iterable[Document],
    labels: Iterable[Sequence[Tag]],
    scheme: str,
    *,
    confidences: Iterable[Sequence[float]] | None = None,
    annotator: str = "tagsift",
) -> Iterator[Document]:
    """Documents with one more layer: what a model says of their sentences, in order."""
    said = iter(labels)
    sure = None if confidences is None else iter(confidences)
    for document in documents:
        found: list[Tag] = []
        scores: list[float] = []
        for _ in document.bounds():
            found.extend(next(said))
            scores.extend(() if sure is None else map(float, next(sure)))
        layer = Layer(
            annotator,
            "model",
            tags=tuple(found),
            scheme=scheme,
            scores=None if sure is None else tuple(scores),
        )
        yield document.with_layers([layer])


def without_unsure(document: Document, layer: Layer, least: float) -> Layer:
    """A layer of tags without the spans, and without the `O`, that are less sure.

    A span is as sure as its least sure token, and goes as a whole.
    """
    assert layer.tags is not None and layer.scores is not None
    unsure = [score is not None and score < least for score in layer.scores]
    for a, b in document.bounds():
        names = [str(tag) for tag in layer.tags[a:b]]
        for _, lo, hi in spans(names, layer.scheme or "plain"):
            unsure[a + lo : a + hi] = [any(unsure[a + lo : a + hi])] * (hi - lo)
    pairs = zip(layer.tags, unsure, strict=True)
    return replace(layer, tags=tuple(None if gone else tag for tag, gone in pairs))
