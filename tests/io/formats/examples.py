"""Examples of every format for the shared suite: one line of `EXAMPLES` each.

A builder takes a case (an id, a text, and the spans that each annotator marked in it)
and gives the document that a reader of its format returns, or None where the format
cannot hold the case.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tagsift.data.documents import Document, Layer, Mark
from tests.io.formats import tagged

Spans = tuple[Mark, ...]
Builder = Callable[[str, str, Mapping[str, Spans]], Document | None]


@dataclass(frozen=True)
class Example:
    format: str
    file: str  # a name that its ending tells
    build: Builder
    standard: bool = True  # whether it can be piped
    zipped: bool = True  # whether it can be gzipped
    told: bool = True  # whether the format is told by the file alone
    source: Callable[[Document], str] | None = None  # of a format that is only read


def documents(number: str, text: str, spans: Mapping[str, Spans]) -> Document:
    layers = tuple(Layer(name, marks=marks) for name, marks in spans.items())
    return Document(number, text, layers=layers)


def without_pieces(
    number: str, text: str, spans: Mapping[str, Spans]
) -> Document | None:
    if any(mark.pieces for marks in spans.values() for mark in marks):
        return None
    return documents(number, text, spans)


def doccano(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    marks = [mark for found in spans.values() for mark in found]
    if len(spans) > 1 or any(m.pieces or m.score or m.labels[1:] for m in marks):
        return None
    return documents(number, text, {"doccano": tuple(marks)} if spans else {})


def one_label(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    if any(m.pieces or m.labels[1:] for marks in spans.values() for m in marks):
        return None
    return documents(number, text, spans)


def models(number: str, text: str, spans: Mapping[str, Spans]) -> Document | None:
    """Quotes in the order of the text, each at its first place."""
    made = one_label(number, text, spans)
    if made is None:
        return None
    layers = tuple(replace(layer, kind="model") for layer in made.layers)
    return replace(made, layers=layers)


def quotes(document: Document) -> str:
    text = document.text or ""
    answers = {
        layer.annotator: [
            {"label": m.labels[0], "quote": text[m.start : m.end], "score": m.score}
            for m in layer.marks or ()
        ]
        for layer in document.layers
    }
    record = {"id": document.id, "text": document.text, "models": answers}
    return json.dumps(record) + "\n"


EXAMPLES = [
    Example("conll", "a.conll", tagged.columns),
    Example("jsonl", "a.jsonl", documents),
    Example("csv", "a.csv", tagged.tokens),
    Example("conllu", "a.conllu", tagged.sentence),
    Example("label-studio", "a.json", without_pieces),
    Example("doccano", "a.jsonl", doccano),
    Example("prodigy", "a.jsonl", one_label),
    Example("argilla", "a.json", one_label),
    Example("brat", "a", tagged.standoff, standard=False, zipped=False),
    Example("spacy", "a.spacy", tagged.pipeline),
    Example("hf", "a.jsonl", tagged.exact),
    Example("wrench", "a.json", tagged.weak),
    Example("votes-csv", "a.csv", tagged.tokens),
    Example("spans-csv", "a.csv", without_pieces),
    Example("llm", "a.jsonl", models, source=quotes),
]

ANN = "Ann lives in New York."
CASES: dict[str, tuple[str, dict[str, Spans]]] = {
    "plain": (ANN, {"ann": (Mark(0, 3, ("PER",)), Mark(13, 21, ("LOC",)))}),
    "nothing marked": (ANN, {"ann": ()}),
    "nobody": (ANN, {}),
    "several": (
        ANN,
        {
            "ann": (Mark(0, 3, ("PER",)), Mark(13, 21, ("LOC",))),
            "bob": (Mark(13, 21, ("ORG",)),),
            "eve": (),
        },
    ),
    "misaligned": (ANN, {"ann": (Mark(14, 20, ("LOC",)),)}),
    "overlapping": (ANN, {"ann": (Mark(0, 9, ("A",)), Mark(4, 12, ("B",)))}),
    "nested": (ANN, {"ann": (Mark(13, 21, ("LOC",)), Mark(17, 21, ("B",)))}),
    "pieces": (ANN, {"ann": (Mark(0, 12, ("X",), pieces=((0, 3), (10, 12))),)}),
    "candidates": (ANN, {"ann": (Mark(0, 3, ("PER", "ORG")),)}),
    "scores": (ANN, {"ann": (Mark(0, 3, ("PER",), 0.25),)}),
    "emoji": ("🦉👩‍👩‍👧 hoots 🦉", {"ann": (Mark(0, 6, ("X",)), Mark(13, 14, ("Y",)))}),
    "combining": ("e\u0301te\u0301 a\u0308", {"ann": (Mark(0, 5, ("X",)),)}),
    "right to left": ("שלום עולם مرحبا", {"ann": (Mark(5, 9, ("X",)),)}),
    "cjk": (
        "東京に行く。𠮷野家",
        {"ann": (Mark(0, 2, ("LOC",)), Mark(6, 9, ("ORG",)))},
    ),
    "line ends": ("a b\r\nc\td\n\ne", {"ann": (Mark(5, 8, ("X",)),)}),
    "odd spaces": ("  a\u00a0b\u2028c ", {"ann": (Mark(4, 5, ("X",)),)}),
    "quotes": ('a "b\\" <c> & {d} #e', {"ann": (Mark(3, 6, ("X",)),)}),
    "odd labels": ("a b", {"ann": (Mark(0, 1, ("Größe/x y",)),)}),
}
