"""Documents: text with identity, its tokens and sentences, and layers of annotation.

A layer is what one annotator (a person, a model, a rule) said, as spans of characters
or as tags of tokens. Candidate sets, votes and rows are views of documents
(`tagsift.data.span_alignment`). Offsets count Unicode code points,
and ends are exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from tagsift.data.cuts import Bounds, Cut, Tokenizer, around
from tagsift.data.lossy import Losses
from tagsift.data.rows import Row
from tagsift.errors import InputError

__all__ = ["Bounds", "Cut", "Document", "Kind", "Layer", "Mark", "Tag", "Tokenizer"]

#: What a token got: a label, a set of candidates, or None where nobody labelled it.
Tag: TypeAlias = str | frozenset[str] | None
#: Who made a layer. ``gold`` is the truth, ``exact`` what somebody has checked.
Kind: TypeAlias = Literal["person", "model", "rule", "gold", "exact"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled stretch of characters."""

    start: int
    end: int  # exclusive
    labels: tuple[str, ...]  # its type; several are a candidate set
    score: float | None = None  # how sure the annotator is
    pieces: tuple[Bounds, ...] = ()  # of a discontinuous span; else empty
    meta: Mapping[str, Any] = field(default_factory=dict)  # what else the source had


@dataclass(frozen=True, slots=True)
class Layer:
    """What one annotator said: `marks`, or `tags` with their `scheme`; not both."""

    annotator: str
    kind: Kind = "person"
    marks: tuple[Mark, ...] | None = None
    tags: tuple[Tag, ...] | None = None  # one per token
    scheme: str | None = None  # of the tags; None where it has to be found
    scores: tuple[float | None, ...] | None = None  # one per tag
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.marks is None) == (self.tags is None):
            raise InputError(
                f"layer of {self.annotator!r}: expected marks or tags, found "
                f"{'neither' if self.marks is None else 'both'}."
            )


@dataclass(frozen=True, slots=True)
class Document:
    """One document; at least its text or its tokens are known."""

    id: str
    text: str | None = None
    rows: tuple[Row, ...] | None = None  # the tokens with their columns
    offsets: tuple[Bounds, ...] | None = None  # of the tokens in the text
    sentences: tuple[int, ...] | None = None  # as in `Cut`
    layers: tuple[Layer, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.text is None and self.rows is None:
            raise InputError(f"document {self.id!r}: expected text or tokens.")

    @property
    def tokens(self) -> tuple[str, ...]:
        """The words; none where the text is not cut yet."""
        return tuple(row[0] for row in self.rows or ())

    @property
    def spans(self) -> tuple[Mark, ...]:
        """What the last layer marks in the text, in its order.

        Of a document of tokens alone, the text is that of `with_text`.
        """
        from tagsift.data.span_alignment import layer_marks  # which stand on documents

        if not self.layers:
            return ()
        return layer_marks(self.with_text(), self.layers[-1], Losses())

    def cut(self, tokenizer: Tokenizer) -> Document:
        """Give a document whose text is not cut yet its tokens and sentences.

        No bound of a token or a sentence is put inside of what a layer marks, and the
        layers share their tokens: take all of them together before.
        """
        if self.rows is not None or self.text is None:
            return self.aligned()
        marked = {
            piece: f"document {self.id!r}, {layer.annotator}"
            for layer in self.layers
            for mark in layer.marks or ()
            for piece in mark.pieces or ((mark.start, mark.end),)
        }
        offsets, sentences = around(tokenizer(self.text), self.text, marked)
        rows = tuple((self.text[a:b],) for a, b in offsets)
        return replace(self, rows=rows, offsets=offsets, sentences=sentences)

    def uncut(self) -> Document:
        """Give a document with text no tokens."""
        return replace(self, rows=None, offsets=None, sentences=None)

    def with_text(self) -> Document:
        """Give a document of tokens alone a text.

        Tokens are joined by a space, sentences by a line feed.
        """
        if self.text is not None or self.rows is None:
            return self.aligned()
        starts = set((self.sentences or (0, 0))[1:-1])
        parts: list[str] = []
        offsets: list[Bounds] = []
        at = 0
        for t, word in enumerate(self.tokens):
            if t:
                parts.append("\n" if t in starts else " ")
                at += 1
            parts.append(word)
            offsets.append((at, at + len(word)))
            at += len(word)
        return replace(self, text="".join(parts), offsets=tuple(offsets))

    def aligned(self) -> Document:
        """Find tokens in a text whose offsets are not known, one after the other."""
        if self.text is None or self.rows is None or self.offsets is not None:
            return self
        offsets: list[Bounds] = []
        at = 0
        for word in self.tokens:
            start = self.text.find(word, at)
            if start < 0:
                raise InputError(
                    f"document {self.id!r}: expected the tokens in the order of the "
                    f"text, found no {word!r} after character {at}."
                )
            at = start + len(word)
            offsets.append((start, at))
        return replace(self, offsets=tuple(offsets))

    def bounds(self) -> list[Bounds]:
        """First token of each sentence, and the one after its last."""
        cuts: Sequence[int] = self.sentences or (0, len(self.rows or ()))
        return [(a, b) for a, b in zip(cuts, cuts[1:], strict=False) if b > a]

    def joined(self, other: Document) -> Document:
        """The same document with the layers and the data of another reading of it."""
        meta = _both(self.meta, other.meta)
        return replace(self, layers=(*self.layers, *other.layers), meta=meta)

    def with_layers(self, layers: Iterable[Layer]) -> Document:
        """Make the same document with more layers."""
        return replace(self, layers=(*self.layers, *layers))


def _both(mine: Any, other: Any) -> Any:
    """Join data: objects by their keys, lists one after the other; else mine stays."""
    if mine == other:
        return mine
    if isinstance(mine, Mapping) and isinstance(other, Mapping):
        shared = {key: _both(mine[key], other[key]) for key in mine if key in other}
        return {**other, **mine, **shared}
    return (
        [*mine, *other] if isinstance(mine, list) and isinstance(other, list) else mine
    )
