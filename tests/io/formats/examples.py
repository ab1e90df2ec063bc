"""Examples of every format for the shared suite: one line of `EXAMPLES` each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tagsift.data.documents import Cut, Document, Layer, Mark
from tagsift.io import iter_documents, write_documents
from tagsift.io.formats import Options

Spans = tuple[Mark, ...]
_WORD = re.compile(r"\w+|[^\w\s]")


def documents(number: str, text: str, spans: Mapping[str, Spans]) -> Document:
    layers = tuple(Layer(name, marks=marks) for name, marks in spans.items())
    return Document(number, text, layers=layers)


def with_tokens(document: Document) -> Document:
    """A document cut simply, so that no time goes into it."""
    text = document.text or ""
    bounds = tuple(match.span() for match in _WORD.finditer(text))
    return document.cut(lambda _: Cut(bounds, (0, len(bounds))))


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


@dataclass(frozen=True)
class Example:
    format: str
    file: str  # a name that its ending tells
    standard: bool = True  # whether it can be piped
    zipped: bool = True  # whether it can be gzipped
    one: bool = False  # whether a file holds the labels of one annotator
    source: Callable[[Document], str] | None = None  # of a format that is only read

    def put(self, folder: Path, docs: Iterable[Document], **options: Any) -> Path:
        path = folder / self.file
        if self.source is not None:
            text = "".join(map(self.source, docs))
            path.write_text(text, encoding="utf-8", newline="")
        else:
            write_documents(docs, path, self.format, Options(**options))
        return path

    def got(self, path: Path | str, **options: Any) -> list[Document]:
        return list(iter_documents(path, self.format, Options(**options)))

    def built(self, folder: Path, *cases: str) -> list[Document]:
        """Documents of cases, as a reader of the format gives them."""
        docs = [documents(str(n), *CASES[one]) for n, one in enumerate(cases, 1)]
        several = self.one and any(len(one.layers) > 1 for one in docs)
        made = folder / "made"
        made.mkdir()
        return self.got(self.put(made, docs, layer="bob" if several else None))


EXAMPLES = [
    Example("conll", "a.conll"),
    Example("jsonl", "a.jsonl"),
    Example("csv", "a.csv"),
    Example("conllu", "a.conllu", one=True),
    Example("label-studio", "a.json"),
    Example("doccano", "a.jsonl", one=True),
    Example("prodigy", "a.jsonl"),
    Example("argilla", "a.json"),
    Example("brat", "a", standard=False, zipped=False),
    Example("spacy", "a.spacy"),
    Example("hf", "a.jsonl"),
    Example("wrench", "a.json"),
    Example("votes-csv", "a.csv"),
    Example("spans-csv", "a.csv"),
    Example("llm", "a.jsonl", source=quotes),
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
