"""Examples of every format for the shared suite: one line of `EXAMPLES` each.

A builder takes a case (an id, a text, and the spans that each annotator marked in it)
and gives the document that a reader of its format returns, or None where the format
cannot hold the case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tagsift.data.documents import Document, Layer, Mark
from tests.data.formats import tagged

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


def documents(number: str, text: str, spans: Mapping[str, Spans]) -> Document:
    layers = tuple(Layer(name, marks=marks) for name, marks in spans.items())
    return Document(number, text, layers=layers)


EXAMPLES = [
    Example("conll", "a.conll", tagged.columns),
    Example("jsonl", "a.jsonl", documents),
    Example("csv", "a.csv", tagged.tokens),
    Example("conllu", "a.conllu", tagged.sentence),
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
