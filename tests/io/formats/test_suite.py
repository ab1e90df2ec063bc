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
from pathlib import Path

import pytest

from tagsift.data.documents import Document
from tagsift.data.lossy import Losses
from tagsift.errors import DataError, TagsiftError
from tagsift.io import format_of, iter_documents, write_documents
from tagsift.io.formats import FORMATS
from tests.io.formats.examples import (
    ANN,
    CASES,
    EXAMPLES,
    Example,
    documents,
    with_tokens,
)

WRITTEN = pytest.mark.parametrize(
    "example",
    [one for one in EXAMPLES if one.source is None],
    ids=lambda one: one.format,
)
EACH = pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: one.format)
SINGLE = [case for case in CASES if case != "several"]


def many(size: int) -> Iterator[Document]:
    for number in range(1, size + 1):
        yield with_tokens(documents(str(number), ANN, CASES["plain"][1]))


def test_every_format_has_an_example() -> None:
    named = [one.format for one in EXAMPLES]
    assert named == [name for name in FORMATS if name in named]
    assert {name for name, one in FORMATS.items() if one.write} <= set(named)


@WRITTEN
@pytest.mark.parametrize("case", CASES)
def test_what_was_read_comes_back(example: Example, case: str, tmp_path: Path) -> None:
    """Whole: nothing is lost of what a file of the format had."""
    docs = example.built(tmp_path, case)
    path = example.put(tmp_path, docs, losses=Losses(strict=True))
    assert example.got(path) == docs


@EACH
def test_documents_stay_in_order(example: Example, tmp_path: Path) -> None:
    docs = example.built(tmp_path, *SINGLE)
    path = tmp_path / "made" / example.file
    texts = "".join(CASES[case][0] for case in SINGLE)
    words = "".join("".join(one.tokens or (one.text or "",)) for one in docs)
    assert "".join(words.split()) == "".join(texts.split())
    if example.source is None:
        second = example.put(tmp_path, docs)
        assert example.got(second) == docs
        if path.is_file() and not FORMATS[example.format].binary:
            assert path.read_bytes() == second.read_bytes()


@EACH
def test_the_format_is_told(example: Example, tmp_path: Path) -> None:
    example.built(tmp_path, "plain")
    assert format_of(tmp_path / "made" / example.file).name == example.format


@WRITTEN
def test_gzip(example: Example, tmp_path: Path) -> None:
    docs = example.built(tmp_path, "plain")
    if not example.zipped:
        return
    path = tmp_path / f"{example.file}.gz"
    write_documents(docs, path, example.format)
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert example.got(path) == docs
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError):
        example.got(path)


@WRITTEN
def test_standard_streams(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = example.built(tmp_path, "several")
    if not example.standard:
        return
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    monkeypatch.setattr(sys, "stdout", out)
    write_documents(docs, "-", example.format)
    written = out.buffer.getvalue()  # type: ignore[attr-defined]
    assert written == example.put(tmp_path, docs).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(written)))
    assert example.got("-") == docs


@WRITTEN
def test_nothing_is_half_written(example: Example, tmp_path: Path) -> None:
    def broken() -> Iterator[Document]:
        yield from many(50)
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
        write_documents(many(size), path, example.format)
        count = sum(1 for _ in iter_documents(path, example.format))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert count == size
    assert peaks[1] < peaks[0] + 2**19, peaks


@EACH
def test_the_first_document_comes_first(example: Example, tmp_path: Path) -> None:
    """What stands behind the first documents is not looked at before they are asked."""
    path = example.put(tmp_path, many(1500))
    if FORMATS[example.format].binary or path.is_dir():
        return
    with path.open("ab") as stream:
        stream.write(b"\xff\0\xff")
    reader = iter_documents(path, example.format)
    assert next(reader).id == "1"
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
    example.built(tmp_path, *SINGLE)
    path = tmp_path / "made" / example.file
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
            for document in example.got(path):
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
        example.got(path)
    except DataError as error:
        assert example.file in str(error)
    with pytest.raises(DataError, match="found none of this name"):
        example.got(tmp_path / "none")
    gzipped = tmp_path / f"{example.file}.gz"
    gzipped.write_bytes(gzip.compress(b"x")[:-2] if example.zipped else b"")
    with pytest.raises(DataError):
        example.got(gzipped)


@EACH
def test_duplicate_ids_are_two_documents(example: Example, tmp_path: Path) -> None:
    docs = [documents("1", *CASES[case]) for case in ("plain", "emoji")]
    made = example.got(example.put(tmp_path, docs))
    assert len(made) == 2 and made[0] != made[1]
