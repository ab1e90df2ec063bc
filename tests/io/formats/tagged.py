"""Documents of tokens and tags, for the formats that hold no spans of characters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from tagsift.data.documents import Document, Layer, Mark
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import OnTokens, layer_tags

Spans = tuple[Mark, ...]
WORDS = re.compile(r"\w+|[^\w\s]")


def whole(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """Text, tokens and tags; None where spans do not fall on tokens, or have scores."""
    offsets = tuple(match.span() for match in WORDS.finditer(text))
    rows = tuple((text[a:b],) for a, b in offsets)
    document = Document(number, text, rows, offsets, (0, len(rows)))
    losses = Losses()
    layers = []
    for name, marks in spans.items():
        tags = layer_tags(document, Layer(name, marks=marks), OnTokens(losses=losses))
        layers.append(Layer(name, tags=tuple(tags)))
    scored = any(mark.score is not None for marks in spans.values() for mark in marks)
    return None if losses.counts or scored else replace(document, layers=tuple(layers))


def tokens(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """Tokens and tags alone, of any number of annotators."""
    found = whole(number, text, spans)
    return found and replace(found, text=None, offsets=None)


def columns(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """Tokens and the labels of one annotator whose name is not known."""
    if len(spans) != 1:
        return None
    found = tokens(number, text, {"labels": next(iter(spans.values()))})
    return found


def sentence(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """A sentence of CoNLL-U, with labels in the column of parts of speech."""
    found = whole(number, text, {"labels": next(iter(spans.values()), ())})
    if found is None or len(spans) > 1 or text != text.strip() or "\n" in text:
        return None
    layers = found.layers
    if any(not isinstance(tag, str) for one in layers for tag in one.tags or ()):
        return None
    tags = layers[0].tags or ()
    lines = [f"# sent_id = {number}", f"# text = {text}"]
    for word, ((form,), tag) in enumerate(zip(found.rows or (), tags, strict=True), 1):
        cells = [str(word), form, "_", str(tag), *"_" * 6]
        lines.append("\t".join(cells))
    layers = (replace(layers[0], meta={"conllu": {"column": "UPOS"}}),)
    return replace(found, layers=layers, meta={"conllu": lines})


def standoff(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """A text with the spans of one annotator whose name is not known, or of several."""
    marks = [mark for some in spans.values() for mark in some]
    if any(len(mark.labels) > 1 or " " in mark.labels[0] for mark in marks):
        return None
    names = ["brat"] if len(spans) == 1 else list(spans)
    pairs = zip(names, spans.values(), strict=True)
    return Document(number, text, layers=tuple(Layer(n, marks=m) for n, m in pairs))


def exact(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """Text, tokens and tags without candidates."""
    found = whole(number, text, spans)
    tags = [tag for x in found.layers for tag in x.tags or ()] if found else []
    return found if all(isinstance(tag, str) for tag in tags) else None


def weak(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """Tokens with the labels of rules, without candidates."""
    found = exact(number, text, spans)
    if found is None:
        return None
    layers = tuple(replace(layer, kind="rule") for layer in found.layers)
    return replace(found, text=None, offsets=None, layers=layers)


def pipeline(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """Text, tokens, and spans on them: of one annotator, or of several in groups."""
    found = whole(number, text, spans if len(spans) > 1 else {})
    for name, marks in spans.items():
        for mark in marks:
            if whole(number, text, {name: (replace(mark, score=None),)}) is None:
                return None
            if len(mark.labels) > 1:
                return None
    if (
        whole(
            number,
            text,
            {"": tuple(replace(m, score=None) for ms in spans.values() for m in ms)},
        )
        is None
        and len(spans) == 1
    ):
        return None
    names = ["spacy"] if len(spans) == 1 else list(spans)
    pairs = zip(names, spans.values(), strict=True)
    layers = tuple(Layer(n, marks=m) for n, m in pairs)
    assert found is not None
    return replace(found, sentences=None, layers=layers)
