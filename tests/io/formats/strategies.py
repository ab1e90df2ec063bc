"""Documents and corpora of all kinds, as hypothesis draws them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from tagsift.data.annotators import Annotator
from tagsift.data.documents import Document, Kind, Layer, Mark, Tag
from tagsift.io.formats import CorpusInfo

#: Words of many kinds: emoji, right to left, combining marks, no spaces, quotes.
WORDS = (
    "Ann", "left", "New", "York", ".", "1,000", "naïve", "e\u0301te\u0301", "東京",
    "שלום", "مرحبا", "🦉", "👩‍👩‍👧", "𠮷野", '"', '""', "'s", "#", "O", "-",
    "a|b", "<c>",
)  # fmt: skip
GAPS = (" ", " ", " ", "  ", "\n", "\r\n", "\t", "\u00a0", "")
NAMES = ("ann", "bob", "eve", "zoë")
TYPES = ("PER", "LOC", "ORG")
KINDS: tuple[Kind, ...] = ("person", "model", "rule")


@st.composite
def texts(draw: Any, most: int = 12) -> Document:
    """A text, its tokens and sentences."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=most))
    if draw(st.integers(0, 30)) == 0:
        words *= 100
    parts, offsets, at = [], [], 0
    for word in words:
        gap = draw(st.sampled_from(GAPS)) if parts else ""
        parts += [gap, word]
        offsets.append((at + len(gap), at + len(gap) + len(word)))
        at += len(gap) + len(word)
    cuts = draw(st.sets(st.integers(1, max(len(words) - 1, 1)), max_size=2))
    return Document(
        "1",
        "".join(parts),
        tuple((word,) for word in words),
        tuple(offsets),
        tuple(sorted({0, len(words), *(cut for cut in cuts if cut < len(words))})),
    )


@st.composite
def tags(draw: Any, document: Document, sets: bool = True) -> tuple[Tag, ...]:
    """Tags of IOB2 that are well formed, at times sets of them, at times none."""
    found: list[Tag] = []
    for a, b in document.bounds():
        type_ = ""
        for t in range(a, b):
            goes_on = t > a and type_ and draw(st.booleans())
            type_ = type_ if goes_on else draw(st.sampled_from(("", "", *TYPES)))
            prefix = "I" if goes_on else "B"
            found.append(f"{prefix}-{type_}" if type_ else "O")
    odd = draw(st.sets(st.integers(0, len(found) - 1), max_size=2))
    for t in odd if sets else ():
        found[t] = draw(st.none() | st.just(frozenset({"O", "B-PER"})))
    return tuple(found)


@st.composite
def tagged(draw: Any) -> tuple[list[Document], CorpusInfo]:
    """Documents of tags by some annotators each, of a corpus that has others too."""
    people = draw(st.lists(st.sampled_from(NAMES), min_size=1, unique=True))
    kinds = {name: draw(st.sampled_from(KINDS)) for name in people}
    truth = draw(st.booleans())
    documents = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        text = draw(texts())
        said = [name for name in people if draw(st.booleans())]
        layers = [
            Layer(name, kinds[name], tags=draw(tags(text)), scheme="iob2")
            for name in said
        ]
        if draw(st.booleans()):
            exact = tuple(draw(st.none() | st.just("O")) for _ in text.tokens)
            layers.append(Layer("exact", "exact", tags=exact, scheme="iob2"))
        if truth:
            known = draw(tags(text, sets=False))
            layers.append(Layer("gold", "gold", tags=known, scheme="iob2"))
        whole = draw(st.booleans())
        bare = text if whole else replace(text, text=None, offsets=None)
        documents.append(replace(bare, id=str(number), layers=tuple(layers)))
    annotators = [_annotator(name, kinds[name], draw) for name in people]
    return documents, CorpusInfo(tuple(annotators), ("B-PER", "I-PER", "O"), "iob2")


def _annotator(name: str, kind: Kind, draw: Any) -> Annotator:
    if kind == "rule":
        return Annotator(name, "source", abstains=draw(st.booleans()))
    return Annotator(name, "model" if kind == "model" else "person")


@st.composite
def marked(draw: Any) -> tuple[list[Document], CorpusInfo]:
    """The same with spans of characters, on tokens or off them, and their scores."""
    documents, info = draw(tagged())
    made = []
    for document in documents:
        whole = document.with_text()
        places = [edge for pair in whole.offsets or () for edge in pair]
        layers = []
        for layer in whole.layers:
            edges = draw(st.lists(st.sampled_from(places), max_size=4))
            pairs = zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False)
            marks = [
                Mark(a, b, (draw(st.sampled_from(TYPES)),), draw(_scores(layer.kind)))
                for a, b in pairs
                if a < b
            ]
            layers.append(Layer(layer.annotator, layer.kind, tuple(marks)))
        cut, whole = draw(st.booleans()), replace(whole, layers=tuple(layers))
        made.append(whole if cut else whole.uncut())
    return made, info


def _scores(kind: Kind) -> Any:
    return st.none() | st.just(0.5) if kind == "model" else st.none()
