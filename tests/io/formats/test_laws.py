"""Laws of all formats: what was written is read again, or was counted as lost."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagsift.data.annotators import Annotator
from tagsift.data.documents import Document, Kind, Layer, Mark
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import layer_marks
from tagsift.errors import InputError, TagsiftError
from tagsift.io.formats import FORMATS, CorpusInfo, Options
from tests.io.formats.strategies import marked, tagged

#: A file of each format that can be written, and what is asked for besides.
FILES: dict[str, list[tuple[str, dict[str, Any], dict[str, Any]]]] = {
    "conll": [("a.conll", {"header": True}, {})],
    "jsonl": [("a.jsonl", {}, {}), ("a.jsonl.gz", {}, {})],
    "csv": [("a.csv", {}, {}), ("a.tsv", {}, {})],
    "conllu": [("a.conllu", {}, {"label_key": "NER"})],
    "label-studio": [("a.json", {}, {}), ("a.json", {"shape": "full"}, {})],
    "doccano": [("a.jsonl", {}, {}), ("a", {}, {}), ("a.zip", {}, {})],
    "prodigy": [("a.jsonl", {}, {})],
    "argilla": [("a.json", {}, {})],
    "brat": [("a", {}, {})],
    "spacy": [("a.spacy", {}, {})],
    "hf": [
        ("a.jsonl", {}, {}),
        ("a.parquet", {}, {}),
        ("a.parquet", {"shape": "documents"}, {}),
    ],
    "wrench": [("a.json", {}, {})],
    "votes-csv": [("a.csv", {}, {}), ("a.parquet", {}, {})],
    "spans-csv": [("a.csv", {}, {})],
}
CASES = [(name, *case) for name, cases in FILES.items() for case in cases]
IDS = [f"{name}-{file}-{'-'.join(map(str, how))}" for name, file, how, _ in CASES]


def test_every_format_obeys() -> None:
    assert set(FILES) == {name for name, one in FORMATS.items() if one.write}


def again(
    case: Any, documents: list[Document], info: CorpusInfo, losses: Losses
) -> tuple[list[Document], CorpusInfo]:
    """Write, and read what was written."""
    name, file, how, asked = case
    folder = Path(tempfile.mkdtemp())
    try:
        write, read = FORMATS[name].write, FORMATS[name].read
        assert write is not None
        if name == "conll":
            many = len(info.annotators) > 1
            columns = ["vote"] * len(info.annotators) if many else ["label"]
            kinds = {layer.kind for one in documents for layer in one.layers}
            width = sum("gold" in {x.kind for x in one.layers} for one in documents)
            columns += ["exact"] * ("exact" in kinds)
            columns += ["gold"] * (width == len(documents))
            asked = {"header": True, "columns": ",".join(["token", *columns])}
        options = Options(losses=losses, info=info, **how)
        write(folder / file, iter(documents), options)
        back = Options(info=CorpusInfo(), **asked)
        return list(read(folder / file, back)), back.info
    finally:
        shutil.rmtree(folder)


def said(documents: list[Document], info: CorpusInfo) -> list[Any]:
    """What all documents say, by the words; an annotator's name, kind and spans."""
    people = {one.name: one for one in info.annotators}
    return [
        (
            one.text or one.tokens,
            {
                (layer.kind in ("gold", "exact") and layer.kind)
                or people.get(layer.annotator, annotator(layer)): votes(one, layer)
                for layer in one.layers
            },
        )
        for one in documents
    ]


def annotator(layer: Layer) -> Annotator:
    kind = "source" if layer.kind == "rule" else layer.kind
    return Annotator(layer.annotator, kind, layer.kind == "rule")  # type: ignore[arg-type]


def votes(document: Document, layer: Layer) -> Any:
    if layer.tags is not None:
        return layer.tags
    return tuple((x.start, x.end, x.labels, x.score) for x in layer.marks or ())


def as_spans(document: Document) -> Document:
    whole = document.with_text()
    layers = tuple(
        Layer(x.annotator, x.kind, layer_marks(whole, x, Losses()))
        for x in whole.layers
    )
    return replace(whole, layers=layers).uncut()


@pytest.mark.parametrize("case", CASES, ids=IDS)
@settings(max_examples=15)
@given(data=st.data())
def test_what_is_written_is_read_or_counted(case: Any, data: Any) -> None:
    documents, info = data.draw(marked() if data.draw(st.booleans()) else tagged())
    losses = Losses()
    try:
        back, there = again(case, documents, info, losses)
    except InputError as error:  # one annotator, or a label, word that it cannot hold
        assert "say whose" in str(error) or "expected" in str(error)
        return
    if losses.counts:
        return
    of_spans = any(x.marks is not None for one in documents for x in one.layers)
    if of_spans or FORMATS[case[0]].spans:
        documents, back = list(map(as_spans, documents)), list(map(as_spans, back))
    assert said(back, there) == said(documents, info)
    order = [one.name for one in info.annotators]
    layers = (layer for one in back for layer in one.layers)
    met = [x.annotator for x in layers if x.kind not in ("gold", "exact")]
    assert list(dict.fromkeys([*map(_name, there.annotators), *met])) == order


def _name(one: Annotator) -> str:
    return one.name


@pytest.mark.parametrize("case", CASES, ids=IDS)
@settings(max_examples=5)
@given(data=st.data())
def test_strict_writes_whole_or_not_at_all(case: Any, data: Any) -> None:
    documents, info = data.draw(tagged())
    losses = Losses()
    try:
        again(case, documents, info, losses)
    except InputError:
        return
    strict = Losses(strict=True)
    if losses.counts:
        with pytest.raises(TagsiftError):
            again(case, documents, info, strict)
    else:
        again(case, documents, info, strict)


@pytest.mark.parametrize("name", ["prodigy", "argilla", "brat", "doccano", "jsonl",
    "label-studio", "spacy", "spans-csv"])  # fmt: skip
def test_the_truth_is_no_vote(name: str, tmp_path: Path) -> None:
    """It comes back as the truth, and what somebody has checked as that."""
    people: dict[str, Kind] = {"eve": "person", "exact": "exact", "gold": "gold"}
    marks = (Mark(0, 3, ("PER",)),)
    layers = tuple(Layer(who, kind, marks=marks) for who, kind in people.items())
    write, read = FORMATS[name].write, FORMATS[name].read
    assert write is not None
    for number, some in enumerate((layers, layers[2:])):
        losses = Losses(strict=True)
        path = tmp_path / f"{number}"
        write(path, [Document("1", "Ann", layers=some)], Options(losses=losses))
        (document,) = read(path, Options())
        kinds = {layer.kind: layer.marks for layer in document.layers}
        assert kinds == {layer.kind: layer.marks for layer in some}
