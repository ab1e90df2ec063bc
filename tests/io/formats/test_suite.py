"""The one suite that every format passes; `examples.EXAMPLES` says which there are."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import random
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tagsift.data.documents import Document, Layer, Mark
from tagsift.data.lossy import Losses
from tagsift.data.span_alignment import layer_marks
from tagsift.errors import DataError, InputError, TagsiftError
from tagsift.io.formats import (
    FORMATS,
    Options,
    detect,
    read_documents,
    write_documents,
)
from tests.io.formats.examples import ANN, CASES, EXAMPLES, Example, documents

WRITTEN = pytest.mark.parametrize(
    "example",
    [one for one in EXAMPLES if one.source is None],
    ids=lambda one: one.format,
)
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.format)
#: Formats of which a file holds the labels of one annotator.
ONE_ANNOTATOR = ("conllu", "doccano")
CASE = pytest.mark.parametrize("case", CASES)


def put(example: Example, folder: Path, docs: list[Document], **told: Any) -> Path:
    path = folder / example.file
    if example.source is not None:
        text = "".join(map(example.source, docs))
        path.write_text(text, encoding="utf-8", newline="")
    else:
        write_documents(docs, path, example.format, Options(**told))
    return path


def got(example: Example, path: Path | str, **told: Any) -> list[Document]:
    return list(read_documents(path, example.format, Options(**told)))


def built(example: Example, case: str, number: str = "1") -> list[Document]:
    text, spans = CASES[case]
    made = example.build(number, text, spans)
    return [] if made is None else [made]


def many(example: Example, size: int) -> Iterator[Document]:
    spans = CASES["plain"][1]
    for number in range(1, size + 1):
        made = example.build(str(number), ANN, spans)
        assert made is not None
        yield made


def test_every_format_has_an_example() -> None:
    named = [one.format for one in EXAMPLES]
    assert named == [name for name in FORMATS if name in named]
    assert {name for name, one in FORMATS.items() if one.write} <= set(named)


@EACH
@CASE
def test_round_trip(example: Example, case: str, tmp_path: Path) -> None:
    docs = built(example, case)
    if docs:
        path = put(example, tmp_path, docs, losses=Losses(strict=True))
        assert got(example, path) == docs


@EACH
def test_documents_stay_in_order(example: Example, tmp_path: Path) -> None:
    docs = [
        one for n, case in enumerate(CASES, 1) for one in built(example, case, str(n))
    ]
    path = put(example, tmp_path, docs)
    assert [d.tokens or d.text for d in got(example, path)] == [
        d.tokens or d.text for d in docs
    ]
    again = tmp_path / "again"
    again.mkdir()
    second = put(example, again, got(example, path))
    assert got(example, second) == got(example, path)
    if path.is_file() and not FORMATS[example.format].binary:
        assert path.read_bytes() == second.read_bytes()


@WRITTEN
@CASE
def test_what_is_lost_is_counted(example: Example, case: str, tmp_path: Path) -> None:
    """A document with everything comes back whole, or with a count of what did not."""
    text, spans = CASES[case]
    whole = documents("1", text, spans)
    losses = Losses()
    path = tmp_path / example.file
    several = len(spans) > 1 and example.format in ONE_ANNOTATOR
    if several:
        with pytest.raises(InputError, match="of ann, bob, eve; say whose"):
            write_documents([whole], path, example.format)
        assert not path.exists()
    options = Options(losses=losses, layer="bob" if several else None)
    write_documents([whole], path, example.format, options)
    back = got(example, path)

    def said(docs: list[Document]) -> Any:
        return [(doc.text, [spoken(doc, a) for a in doc.layers]) for doc in docs]

    if said(back) != said([whole]):
        assert losses.counts, "something is gone, and nothing was said"
        with pytest.raises(DataError, match="--strict"):
            write_documents(
                [whole],
                tmp_path / f"b{example.file[1:]}",
                example.format,
                replace(options, losses=Losses(strict=True)),
            )
        assert not (tmp_path / f"b{example.file[1:]}").exists()


def spoken(document: Document, layer: Layer) -> Any:
    """Annotator and spans of a layer."""
    marks: tuple[Mark, ...] = layer.marks or ()
    if layer.tags is not None and document.offsets is not None:
        marks = layer_marks(document, layer, Losses())
    return layer.annotator, [
        (m.start, m.end, label, m.score, m.pieces) for m in marks for label in m.labels
    ]


@EACH
def test_the_format_is_told(example: Example, tmp_path: Path) -> None:
    path = put(example, tmp_path, built(example, "plain"))
    if example.told:
        assert detect(path).name == example.format
    else:
        with pytest.raises(DataError, match="--from"):
            detect(path)


@WRITTEN
def test_gzip(example: Example, tmp_path: Path) -> None:
    docs = built(example, "plain")
    if not example.zipped:
        return
    path = tmp_path / f"{example.file}.gz"
    write_documents(docs, path, example.format)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert got(example, path) == docs
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError):
        got(example, path)


@WRITTEN
def test_standard_streams(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = built(example, "several") or built(example, "plain")
    if not example.standard:
        return
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    monkeypatch.setattr(sys, "stdout", out)
    write_documents(docs, "-", example.format)
    written = out.buffer.getvalue()  # type: ignore[attr-defined]
    assert written == put(example, tmp_path, docs).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(written)))
    assert got(example, "-") == docs


@WRITTEN
def test_nothing_is_half_written(example: Example, tmp_path: Path) -> None:
    def broken() -> Iterator[Document]:
        yield from many(example, 50)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        write_documents(broken(), tmp_path / example.file, example.format)
    assert list(tmp_path.iterdir()) == []


@WRITTEN
def test_streams(example: Example, tmp_path: Path) -> None:
    """Reading and writing 2,000 documents takes little more memory than 200."""
    if FORMATS[example.format].binary:
        return
    peaks = []
    for size in (200, 2000):
        (tmp_path / str(size)).mkdir()
        path = tmp_path / str(size) / example.file
        tracemalloc.start()
        write_documents(many(example, size), path, example.format)
        count = sum(1 for _ in read_documents(path, example.format))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == size
    assert peaks[1] < peaks[0] + 2**19, peaks


@EACH
def test_the_first_document_comes_first(example: Example, tmp_path: Path) -> None:
    """What stands behind the first documents is not looked at before they are asked."""
    path = put(example, tmp_path, list(many(example, 1500)))
    if FORMATS[example.format].binary or path.is_dir():
        return
    with path.open("ab") as stream:
        stream.write(b"\xff\0\xff")
    reader = read_documents(path, example.format)
    assert next(reader).layers
    with pytest.raises(DataError):
        list(reader)


def damaged(content: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(content))
    size = dice.choice([1, 1, 2, 5, 40])
    junk = dice.choice(
        [b"", b"\0", b"\xff", b"null", b"-1", b"1e999", b"9" * 5000, b'"', b"{}", b"[]",
         b"true", b"\r", b"\n\n", b"\t", b"../../x", b"[" * 3000, b"\xef\xbb\xbf",
         b"\\ud800", b"NaN", b"-0.5", b"99999999999999999999", "🦉".encode()]
    )  # fmt: skip
    if dice.random() < 0.1:
        return content[:at]
    return content[:at] + junk + content[at + size :]


@EACH
def test_hostile_files(example: Example, tmp_path: Path) -> None:
    """Any damage ends in documents or in one sentence with the file, never else."""
    docs = [d for n, c in enumerate(CASES, 1) for d in built(example, c, str(n))]
    path = put(example, tmp_path, docs)
    files = (
        sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    )
    contents = {one: one.read_bytes() for one in files}
    dice = random.Random(0)
    refused = 0
    for _ in range(200):
        victim = dice.choice(files)
        if not contents[victim]:
            continue
        victim.write_bytes(damaged(contents[victim], dice))
        try:
            for document in got(example, path):
                check(document)
        except TagsiftError as error:
            refused += 1
            sentence = str(error)
            assert "\n" not in sentence and len(sentence) < 600, sentence
            assert path.name in sentence, sentence
        victim.write_bytes(contents[victim])
    assert refused > 2


def check(document: Document) -> None:
    """What a reader gives is sound, whatever it read."""
    size = len(document.rows or ())
    for layer in document.layers:
        assert layer.tags is None or len(layer.tags) == size
        for mark in layer.marks or ():
            assert document.text is not None
            for start, end in ((mark.start, mark.end), *mark.pieces):
                assert 0 <= start <= end <= len(document.text)
    if document.offsets is not None:
        assert document.text is not None and len(document.offsets) == size
        flat = list(itertools.chain.from_iterable(document.offsets))
        assert flat == sorted(flat) and (not flat or flat[-1] <= len(document.text))
    if document.sentences is not None:
        assert document.sentences[0] == 0 and document.sentences[-1] == size
    json.dumps(document.meta)


@EACH
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\0", b"\xff\xfe", b"[]", b"{}"])
def test_empty_and_binary_files(
    example: Example, content: bytes, tmp_path: Path
) -> None:
    if not example.standard:
        return
    path = tmp_path / example.file
    path.write_bytes(content)
    try:
        got(example, path)
    except DataError as error:
        assert example.file in str(error)
    with pytest.raises(DataError, match="found none of this name"):
        got(example, tmp_path / "none")
    gzipped = tmp_path / f"{example.file}.gz"
    gzipped.write_bytes(gzip.compress(b"x")[:-2] if example.zipped else b"")
    with pytest.raises(DataError):
        got(example, gzipped)


@EACH
def test_duplicate_ids_are_two_documents(example: Example, tmp_path: Path) -> None:
    one = built(example, "plain", "1") + built(example, "emoji", "1")
    if len(one) == 2:
        read = got(example, put(example, tmp_path, one))
        assert [d.tokens or d.text for d in read] == [d.tokens or d.text for d in one]


def test_marks_are_what_they_say() -> None:
    for text, spans in CASES.values():
        for marks in spans.values():
            for mark in marks:
                assert isinstance(mark, Mark) and 0 <= mark.start < mark.end <= len(
                    text
                )
