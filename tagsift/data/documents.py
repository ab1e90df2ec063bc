"""Documents: text with identity, its tokens and sentences, and layers of annotation.

A layer is what one annotator (a person, a model, a rule) said, as spans of characters
or as tags of tokens. Candidate sets, votes and rows are views of documents
(`tagsift.data.span_alignment`). Offsets count Unicode code points,
and ends are exclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Literal, TypeAlias, get_args

from tagsift.data.cuts import Bounds, Cut, Tokenizer, around
from tagsift.data.label_set import label_problem
from tagsift.data.lossy import Losses
from tagsift.data.rows import Row
from tagsift.data.schemes import check_scheme
from tagsift.errors import InputError

__all__ = ["Bounds", "Cut", "Document", "Kind", "Layer", "Mark", "Tag", "Tokenizer"]

#: What a token got: a label, a set of candidates, or None where nobody labelled it.
Tag: TypeAlias = str | frozenset[str] | None
#: Who made a layer. ``gold`` is the truth, ``exact`` what somebody has checked.
Kind: TypeAlias = Literal["person", "model", "rule", "gold", "exact"]
_KINDS = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled stretch of characters."""

    start: int
    end: int  # exclusive
    labels: tuple[str, ...]  # its type; several are a candidate set
    score: float | None = None  # how sure the annotator is
    pieces: tuple[Bounds, ...] = ()  # of a discontinuous span; else empty
    meta: Mapping[str, Any] = field(default_factory=dict)  # what else the source had

    def __post_init__(self) -> None:
        ends = [place for piece in self.pieces for place in piece]
        if not 0 <= self.start <= self.end or ends != sorted(ends):
            raise InputError(
                f"expected a span from its first character to its last, found "
                f"{self.start}:{self.end}{' in pieces' * bool(ends)}."
            )
        if not self.labels or not all(self.labels):
            raise InputError(
                f"span {self.start}:{self.end}: expected a label, found none."
            )
        if self.score is not None and not isfinite(self.score):
            raise InputError(
                f"span {self.start}:{self.end}: expected a finite score, found "
                f"{self.score}."
            )


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
        problem = self._problem()
        if problem is not None:
            raise InputError(f"layer of {self.annotator!r}: expected {problem}.")

    def _problem(self) -> str | None:
        """What a layer should have been; None where all is well."""
        if self.kind not in _KINDS:
            return f"one of the kinds {', '.join(_KINDS)}, found {self.kind!r}"
        if self.scheme is not None:
            check_scheme(self.scheme)
        for tag in set(self.tags or ()) - {None}:
            if not tag:
                return "a label or a set of some, found an empty one"
            for name in (tag,) if isinstance(tag, str) else tag:
                problem = label_problem(name)
                if problem is not None:
                    return f"{problem}, found {name!r}"
        if self.scores is None:
            return None
        if self.tags is None or len(self.scores) != len(self.tags):
            return f"a score for every tag, found {len(self.scores)}"
        for score in set(self.scores) - {None}:
            if not 0 <= score <= 1:  # type: ignore[operator]
                return f"scores between 0 and 1, found {score}"
        return None


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
        problem = self._problem()
        if problem is not None:
            raise InputError(f"document {self.id!r}: expected {problem}.")

    def _problem(self) -> str | None:
        """What a document should have been; None where all is well."""
        size, length = len(self.rows or ()), len(self.text or "")
        width = len(self.rows[0]) if self.rows else 1
        if any(len(row) != width for row in self.rows or ()) or not width:
            return "tokens of as many columns throughout"
        if self.offsets is not None:
            places = [place for pair in self.offsets for place in pair]
            ends = (0, *places, length)
            if len(places) != 2 * size or list(ends) != sorted(ends):
                return (
                    f"offsets of the {size} tokens, in order, in {length} characters "
                    "of text"
                )
        cuts = self.sentences
        ordered = cuts is None or list(cuts) == sorted(cuts)
        if not ordered or (cuts and (cuts[0], cuts[-1]) != (0, size)):
            return f"sentences as numbers of tokens in order from 0 to {size}"
        for layer in self.layers:
            if layer.tags is not None and len(layer.tags) != size:
                return f"a tag for each of the {size} tokens, found {len(layer.tags)}"
            for mark in layer.marks or ():
                last = max((mark.end, *(b for _, b in mark.pieces)))
                if last > length:
                    return (
                        f"spans in the {length} characters of text, found "
                        f"{mark.start}:{mark.end} of {layer.annotator}"
                    )
        return None

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
        """Give a document with text no tokens, unless a layer has tags for them."""
        if any(layer.tags is not None for layer in self.layers):
            return self
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
